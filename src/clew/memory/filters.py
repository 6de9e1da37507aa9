"""Metadata filters: a closed grammar of fields, operators and bound values. No identifier ever comes from a caller."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from psycopg import sql
from psycopg.types.json import Jsonb

from clew.errors import InvalidInput
from clew.limits import check_json, check_text

FILTERS_MAX: Final = 32
FILTER_VALUES_MAX: Final = 1_000
METADATA_PREFIX: Final = "metadata."


class Field(StrEnum):
    """What can be filtered by its own column; `metadata.<key>` reaches every other key."""

    THREAD_ID = "thread_id"
    SPEAKER = "speaker"
    SOURCE = "source"
    AGENT_ID = "agent_id"
    OCCURRED_AT = "occurred_at"
    CREATED_AT = "created_at"


class Operator(StrEnum):
    """How a field is compared."""

    EQUAL = "="
    NOT_EQUAL = "!="
    IN = "in"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    EXISTS = "exists"


_TIMES: Final = frozenset({Field.OCCURRED_AT, Field.CREATED_AT})
_ORDERED: Final = frozenset({Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL})
_COLUMN: Final = {one: sql.SQL("m.") + sql.Identifier(one.value) for one in Field}
_COMPARED: Final = {
    Operator.EQUAL: sql.SQL(" = "),
    Operator.NOT_EQUAL: sql.SQL(" IS DISTINCT FROM "),
    Operator.LESS: sql.SQL(" < "),
    Operator.LESS_OR_EQUAL: sql.SQL(" <= "),
    Operator.GREATER: sql.SQL(" > "),
    Operator.GREATER_OR_EQUAL: sql.SQL(" >= "),
}


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition: `Filter("speaker", "=", "Ana")`, `Filter("metadata.topic", "in", ["tax", "law"])`."""

    field: str
    operator: str = "="
    value: Any = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Conditions on `clew.memories m`, each with AND before it, and the values bound to them."""

    conditions: sql.Composed
    values: dict[str, Any]

    @property
    def open(self) -> bool:
        """Whether everything of the tenant's is in it."""
        return not self.values and not list(self.conditions)


class _Bound:
    """Values by placeholder: a `%` or a quote in one is data like any other."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def __call__(self, value: Any) -> sql.Placeholder:
        name = f"scope_{len(self.values)}"
        self.values[name] = value
        return sql.Placeholder(name)


def scope_of(filters: Any, agent_id: str | None) -> Scope:
    """The filters of a search, read and checked."""
    parsed = _parsed(filters)
    if agent_id is not None:
        parsed.append(Filter("agent_id", "=", agent_id))
    if len(parsed) > FILTERS_MAX:
        raise InvalidInput(f"{len(parsed)} filters; the limit is {FILTERS_MAX}", where="filters")
    bound = _Bound()
    found = [sql.SQL(" AND ") + _condition(one, f"filters[{n}]", bound) for n, one in enumerate(parsed)]
    return Scope(sql.Composed(found), bound.values)


def _parsed(filters: Any) -> list[Filter]:
    if filters is None:
        return []
    if isinstance(filters, Filter):
        return [filters]
    if isinstance(filters, Mapping):
        return [
            Filter(str(key), "in" if isinstance(value, list | tuple | set) else "=", value)
            for key, value in filters.items()
        ]
    if isinstance(filters, Iterable) and not isinstance(filters, str | bytes):
        return [_one(item, f"filters[{n}]") for n, item in enumerate(filters)]
    raise _malformed("filters")


def _one(item: Any, where: str) -> Filter:
    if isinstance(item, Filter):
        return item
    if isinstance(item, tuple | list) and len(item) in (2, 3):
        return Filter(*item)
    raise _malformed(where)


def _malformed(where: str) -> InvalidInput:
    return InvalidInput(
        "this is not a filter", where=where, fix='Write {"speaker": "Ana"}, or [("occurred_at", ">=", "2024-05-01")]'
    )


def _condition(one: Filter, where: str, bound: _Bound) -> sql.Composable:
    try:
        operator = Operator(one.operator)
    except ValueError:
        raise InvalidInput(
            f"{one.operator!r} is not an operator", where=where, fix=f"Use one of {', '.join(Operator)}"
        ) from None
    if isinstance(one.field, str) and one.field.startswith(METADATA_PREFIX):
        key = check_text(one.field.removeprefix(METADATA_PREFIX), where, max_bytes=1024, allow_empty=False)
        return _on_metadata(key, operator, one.value, where, bound)
    try:
        column = Field(one.field)
    except ValueError:
        raise InvalidInput(
            f"{one.field!r} is not a field", where=where, fix=f"Use one of {', '.join(Field)}, or metadata.<key>"
        ) from None
    return _on_column(column, operator, one.value, where, bound)


def _on_column(column: Field, operator: Operator, value: Any, where: str, bound: _Bound) -> sql.Composable:
    name = _COLUMN[column]
    if operator is Operator.EXISTS:
        return name + sql.SQL(" IS NOT NULL" if _truth(value, where) else " IS NULL")
    if operator in _ORDERED and column not in _TIMES:
        raise InvalidInput(f"{column} has no order", where=where, fix="Compare occurred_at or created_at")
    read = _moment if column in _TIMES else _name
    if operator is Operator.IN:
        kind = "::timestamptz[])" if column in _TIMES else "::text[])"
        items = [read(item, where) for item in _listed(value, where)]
        return name + sql.SQL(" = ANY(") + bound(items) + sql.SQL(kind)
    return name + _COMPARED[operator] + bound(read(value, where))


def _on_metadata(key: str, operator: Operator, value: Any, where: str, bound: _Bound) -> sql.Composable:
    if operator in _ORDERED:
        raise InvalidInput(f"{METADATA_PREFIX}{key} has no order", where=where, fix="Use =, !=, in or exists")
    held = sql.SQL("m.metadata -> ") + bound(key) + sql.SQL("::text")
    if operator is Operator.EXISTS:
        return sql.SQL("(") + held + sql.SQL(") IS NOT NULL" if _truth(value, where) else ") IS NULL")
    if operator is Operator.IN:
        values = [Jsonb(check_json(item, where)) for item in _listed(value, where)]
        return sql.SQL("(") + held + sql.SQL(") = ANY(") + bound(values) + sql.SQL("::jsonb[])")
    return sql.SQL("(") + held + sql.SQL(")") + _COMPARED[operator] + bound(Jsonb(check_json(value, where)))


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInput("`in` wants a list of values", where=where)
    if len(value) > FILTER_VALUES_MAX:
        raise InvalidInput(f"{len(value):,} values; the limit is {FILTER_VALUES_MAX:,}", where=where)
    return list(value)


def _truth(value: Any, where: str) -> bool:
    if value is None or isinstance(value, bool):
        return value is not False
    raise InvalidInput("`exists` wants true or false", where=where)


def _name(value: Any, where: str) -> str:
    return check_text(str(value) if isinstance(value, int) and not isinstance(value, bool) else value, where)


def _moment(value: Any, where: str) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, datetime):
        raise InvalidInput("this is not a time", where=where, fix="Write ISO 8601: 2024-05-01T12:00:00+00:00")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value

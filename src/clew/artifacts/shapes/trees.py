"""A bounded picture of a nested value: what can be shown of it, each part with its worth and its cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from clew.artifacts.shapes.cleaning import one_line
from clew.artifacts.shapes.logs import error_lines
from clew.artifacts.shapes.values import KEY_CHARS, form, names_amount, names_identity, needs_label, plain, shown, worth
from clew.tokens import count

# A text in a document that is longer is looked through for errors.
LOG_CHARS_MIN: Final = 400
# What is looked at of a huge value: more than a hundred tokens could ever show.
DEPTH_MAX: Final = 8
LEAVES_MAX: Final = 600
ROWS_MAX: Final = 60
# A later row tells less than the first: a reader sees the kind of rows there are, and opens the rest.
ROW_DECAY: Final = 0.12
# Beside a long list, what stands by itself at the top (a total, a cursor, a state) is what the list does not tell.
LONG_LIST_ROWS: Final = 20
BESIDE_A_LIST: Final = 2.5
BESIDE_CHARS_MAX: Final = 40
# A value that was shown before tells little more than where it stands.
SEEN_BEFORE: Final = 0.4
# A value that the row before had as well is not written again.
CARRIED_COST: Final = 0.75
# From here on a column of numbers also gets its range.
RANGE_ROWS_MIN: Final = 5
# Beyond this a range would take longer than a summary may; one of some rows only would mislead.
RANGE_ROWS_MAX: Final = 50_000
RANGES_MAX: Final = 3
RANGE_WORTH: Final = 1.2


@dataclass(slots=True)
class Leaf:
    """One value as it would be shown."""

    text: str
    label: str
    rank_worth: float
    cost: float
    index: int = 0


@dataclass(slots=True)
class Branch:
    """A mapping (`fields`), a list of rows or a list of plain items, with how many there are in all."""

    kind: str
    label: str
    total: int
    children: list["Leaf | Branch"] = field(default_factory=list)


@dataclass(slots=True)
class Grower:
    """Builds the picture of one value; knows what it has met already, so that cycles and repeats cost nothing."""

    leaves: list[Leaf] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    above: list[int] = field(default_factory=list)
    before: dict[tuple[str, ...], str] = field(default_factory=dict)

    def grow(
        self, value: Any, keys: tuple[str, ...] = (), row: int = 0, *, record: bool = False
    ) -> Leaf | Branch | None:
        """The picture of a value, None where the bounds are reached or the value holds itself."""
        value = plain(value)
        if not isinstance(value, dict | list | tuple):
            return self._leaf(value, keys, row)
        if len(self.above) >= DEPTH_MAX or id(value) in self.above:
            return self._text(f"{type(value).__name__}({len(value)})", keys, row)
        self.above.append(id(value))
        try:
            if isinstance(value, dict):
                return self._mapping(value, keys, row, record=record)
            return self._list(value, keys, row)
        finally:
            self.above.pop()

    def _mapping(self, value: dict[Any, Any], keys: tuple[str, ...], row: int, *, record: bool) -> Branch:
        label = keys[-1] if keys else ""
        pairs = [(one_line(shown(key), KEY_CHARS), item) for key, item in islice(value.items(), LEAVES_MAX)]
        if not record and _keys_are_data(pairs):
            branch = Branch("rows", label, len(value))
            for number, (key, item) in enumerate(islice(pairs, ROWS_MAX)):
                self._add(branch, [self._keyed(key, item, keys, row + number)])
            return branch
        branch = Branch("fields", label, len(value))
        self._add(branch, (self.grow(item, (*keys, key), row) for key, item in pairs))
        if not keys and any(isinstance(child, Branch) and child.total >= LONG_LIST_ROWS for child in branch.children):
            for child in branch.children:
                if isinstance(child, Leaf) and len(child.text) <= BESIDE_CHARS_MAX:
                    child.rank_worth = max(child.rank_worth, BESIDE_A_LIST)
        return branch

    def _keyed(self, key: str, item: Any, keys: tuple[str, ...], row: int) -> Branch:
        """A row whose first column is the key it was filed under."""
        line = Branch("fields", "", 1)
        self._add(line, [self._text(key, (*keys, "id"), row)])
        item = plain(item)
        if isinstance(item, dict):
            pairs = ((one_line(shown(name), KEY_CHARS), part) for name, part in islice(item.items(), LEAVES_MAX))
            self._add(
                line,
                (
                    self.grow(part, (*keys, name), row)
                    for name, part in pairs
                    if not (isinstance(part, str) and part == key)
                ),
            )
        else:
            self._add(line, [self.grow(item, (*keys, ""), row)])
        return line

    def _list(self, value: Sequence[Any], keys: tuple[str, ...], row: int) -> Branch:
        nested = any(isinstance(plain(item), dict | list | tuple) for item in value[:ROWS_MAX])
        branch = Branch("rows" if nested else "items", keys[-1] if keys else "", len(value))
        if nested and RANGE_ROWS_MIN <= len(value) <= RANGE_ROWS_MAX:
            self._add(branch, (self._text(text, (), 0, RANGE_WORTH / len(self.above)) for text in ranges(value)))
        # Plain items are cheap and often the ids to go on with, so a later one is worth as much as the first.
        step = 1 if nested else 0
        alike = nested and _alike(value)
        rows = enumerate(value[:ROWS_MAX])
        self._add(branch, (self.grow(item, keys, row + step * at, record=alike) for at, item in rows))
        return branch

    def _add(self, branch: Branch, parts: Iterable[Leaf | Branch | None]) -> None:
        for part in parts:
            if part is not None:
                branch.children.append(part)
            if len(self.leaves) >= LEAVES_MAX:
                return

    def _leaf(self, value: Any, keys: tuple[str, ...], row: int) -> Leaf | None:
        if isinstance(value, str) and len(value) > LOG_CHARS_MIN and (errors := error_lines(value, 1)):
            # A log inside a document: what went wrong in it, not how it begins.
            return self._text(shown(errors[0]), keys, row)
        return self._text(shown(value), keys, row)

    def _text(self, text: str, keys: tuple[str, ...], row: int, found: float | None = None) -> Leaf | None:
        if len(self.leaves) >= LEAVES_MAX or not text:
            return None
        label = keys[-1] if keys else ""
        cost = float(count(f" {text}"))
        if self.before.get(keys) == text and row:
            cost = CARRIED_COST
        elif needs_label(label, text):
            # Its label is written about once in two rows.
            cost += count(f" {label}=") / 2
        self.before[keys] = text
        tells = worth(keys, text) if found is None else found
        # Equal small numbers are rarely the same thing.
        again = text in self.seen and (len(text) > 2 or form(text) != "number")
        tells *= SEEN_BEFORE if again else 1.0
        self.seen |= {text, text.rstrip("0123456789").rstrip("_-")}
        leaf = Leaf(text, label, tells / (1 + ROW_DECAY * row), cost, len(self.leaves))
        self.leaves.append(leaf)
        return leaf


def _keys_are_data(pairs: Sequence[tuple[str, Any]]) -> bool:
    """Whether a mapping's keys are ids and not names of fields: `{"card_1": {…}, "card_2": {…}}`."""
    kinds = {type(item) for _, item in pairs}
    # Capitals are names of columns too, so they must be several and stand for the same kind of thing.
    telling = (
        ("code", "date", "number", "capitals") if len(pairs) > 3 and len(kinds) == 1 else ("code", "date", "number")
    )
    coded = sum(form(key) in telling for key, _ in pairs)
    return bool(pairs) and 2 * coded > len(pairs)


def _alike(rows: Sequence[Any]) -> bool:
    """Whether rows are mappings of the same keys, which then name fields whatever they look like."""
    first = plain(rows[0])
    return (
        len(rows) > 1
        and isinstance(first, dict)
        and all(isinstance(row := plain(other), dict) and row.keys() == first.keys() for other in rows[1:20])
    )


def ranges(rows: Sequence[Any]) -> list[str]:
    """The least and the greatest of the columns of numbers that vary, amounts first: `price 113-198`."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        _collect(plain(row), "", columns, 0)
    telling = [name for name, found in columns.items() if min(found) < max(found) and not names_identity(name)]
    telling.sort(key=lambda name: not names_amount(name))
    return [f"{name} {_span(min(columns[name]), max(columns[name]))}" for name in telling[:RANGES_MAX]]


def _span(low: float, high: float) -> str:
    return f"{low:.6g} to {high:.6g}" if low < 0 else f"{low:.6g}-{high:.6g}"


def _collect(value: Any, name: str, columns: dict[str, list[float]], depth: int) -> None:
    if isinstance(value, bool) or depth > 3 or len(columns) > 24:
        return
    if isinstance(value, int | float) and abs(value) < 1e15 and name:
        columns.setdefault(name, []).append(float(value))
    elif isinstance(value, dict):
        for key, item in islice(value.items(), 40):
            _collect(item, f"{name}.{shown(key)}" if name else shown(key), columns, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value[:20]:
            _collect(item, name, columns, depth + 1)

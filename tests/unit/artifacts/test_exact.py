"""Whatever a tool returns comes back exactly, types too; and nothing is imported or run because stored data says so."""

import dataclasses
import enum
import json
import math
import subprocess
import sys
from collections import OrderedDict, namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, TypeAdapter, field_validator

from clew.artifacts.isolation.classes import NotExact
from clew.artifacts.isolation.exact import exactly, json_in_lines, restored
from clew.errors import ClewError, Damaged, Misconfigured

T = TypeVar("T")
ran: list[str] = []


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Text(enum.StrEnum):
    A = "a"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0
    tags: set[str] = dataclasses.field(default_factory=set)

    def __post_init__(self) -> None:
        ran.append("Point")


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    path: Path
    made: int = dataclasses.field(init=False, default=3)


@dataclasses.dataclass
class Parent:
    @dataclasses.dataclass
    class Child:
        name: str

    child: Child


class Pair(NamedTuple):
    left: str
    right: int


Old = namedtuple("Old", "a b")


class Order(BaseModel):
    model_config = ConfigDict(extra="allow")

    number: int = Field(alias="orderNumber")
    placed: datetime
    lines: list[tuple[str, Decimal]] = []
    note: str | None = None
    _seen: int = PrivateAttr(default=0)

    @cached_property
    def total(self) -> Decimal:
        return sum((price for _, price in self.lines), Decimal())


class Basket(BaseModel):
    model_config = ConfigDict(frozen=True)

    orders: list[Order]
    colour: Colour


class Names(RootModel[list[str]]):
    pass


class Page(BaseModel, Generic[T]):
    items: list[T]


IntPage = Page[int]


class Doubling(BaseModel):
    """Gives back other than it was given: what it holds can't be kept by what it says."""

    value: int

    @field_validator("value")
    @classmethod
    def doubled(cls, value: int) -> int:
        return value * 2


def order(**more: Any) -> Order:
    made = Order(
        orderNumber=7, placed=datetime(2025, 3, 1, tzinfo=UTC), lines=[("tea", Decimal("4.50"))], colour="blue", **more
    )
    made._seen = 4
    return made


VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "a negative number": -(2**70),
    "a number of 6,000 digits": 10**6_000 + 1,
    "minus zero": -0.0,
    "infinity": math.inf,
    "a tiny float": 5e-324,
    "text": "plain",
    "empty text": "",
    "NUL": "a\0b",
    "a lone surrogate": "half \ud83d of it",
    "two halves side by side": "\ud83d\ude00",
    "the character they would make": "\U0001f600",
    "line ends": "a\r\nb\u2028c\x85",
    "bytes": b"\x00\xff",
    "a bytearray": bytearray(b"ab"),
    "a list": [1, "two", None, [True, 2.5]],
    "a tuple": (1, (2,), []),
    "a dict": {"b": 1, "a": [2]},
    "a dict of odd keys": {1: "a", "1": "b", (2, 3): "c", None: "d", 2.5: "e"},
    "a dict with our tag": {"$clew": "tuple", "items": [1]},
    "the same deeper": [({"$clew": 1},)],
    "surrogates in a dict": {"\ud800": ["\udfff", "\ud83d\ude00"]},
    "not a number deep down": [{"x": [math.inf, -math.inf]}],
    "a set": {1, "a", (2, 3), frozenset({4})},
    "an ordered dict": OrderedDict(b=1, a=2),
    "a date": date(2025, 2, 28),
    "a datetime": datetime(2025, 2, 28, 1, 2, 3, 45),
    "in UTC": datetime(2025, 2, 28, tzinfo=UTC),
    "five and a half hours off": datetime(2025, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30, microseconds=7))),
    "a named offset": datetime(2025, 1, 1, tzinfo=timezone(timedelta(0), "Z")),
    "in a zone, the second time": datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    "parsed by Pydantic": TypeAdapter(datetime).validate_json('"2025-01-01T00:00:00+02:00"'),
    "a time": time(23, 59, 59, 9, tzinfo=UTC, fold=1),
    "a timedelta": timedelta(days=-1, microseconds=1),
    "a decimal": Decimal("1.10"),
    "an odd decimal": Decimal("-0E+3"),
    "a fraction": Fraction(1, 3),
    "a complex number": complex(-0.0, math.inf),
    "a UUID": UUID(int=5),
    "a path": Path("/tmp/a b"),
    "a path that is no text": Path("/tmp/\udcff"),
    "other paths": [PurePosixPath("a"), PureWindowsPath("c:/x")],
    "enum members": [Colour.RED, Level.HIGH, Right.READ | Right.WRITE, Text.A],
    "an enum as a key": {Colour.GREEN: Level.LOW},
    "a dataclass": Point(1, -0.0, {"a"}),
    "a frozen one": Frozen(Path("x")),
    "a nested class": Parent(Parent.Child("n")),
    "named tuples": [Pair("l", 1), Old(1, (2,))],
    "a model": order(),
    "models in models": Basket(orders=[order(note=None), order()], colour=Colour.RED),
    "a root model": Names(["a"]),
    "a generic model": IntPage(items=[1, 2]),
    "a mix": {"rows": [(1, Decimal("2.0")), {"when": date(2025, 1, 1)}], "raw": b"\xff"},
}


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down: 1 == True == 1.0, and -0.0 == 0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(k, m) and same(v, w) for (k, v), (m, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, set | frozenset):
        return a == b and sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, datetime | time):
        return repr(a) == repr(b) and a == b and a.fold == b.fold
    if isinstance(a, Decimal | complex):
        return repr(a) == repr(b)
    if isinstance(a, BaseModel):
        return a == b and a.model_fields_set == b.model_fields_set and same(a.model_dump(), b.model_dump())
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    return bool(a == b)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_result_comes_back_exactly(value: Any):
    exact = exactly(value)
    assert same(restored(exact.data, exact.form), value)


def test_the_comparison_above_sees_differences():
    assert not same(1, True)
    assert not same([-0.0], [0.0])
    assert not same(Decimal("1.0"), Decimal("1.00"))
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same(order(), order(note=None))


_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones() | st.just(UTC))
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.uuids()
    | st.complex_numbers(allow_nan=False)
    | st.sampled_from(Colour)
)
_keys = st.integers() | st.text() | st.booleans() | st.dates() | st.tuples(st.integers(), st.text())
values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(_keys, inner)
        | st.dictionaries(st.sampled_from(["$clew", "items", "value", "class"]), inner)
        | st.sets(_keys)
        | st.frozensets(_keys)
    ),
    max_leaves=20,
)


@given(values)
def test_any_nesting_of_them_comes_back_exactly(value: Any):
    exact = exactly(value)
    assert same(restored(exact.data, exact.form), value)


def test_not_a_number_is_still_not_a_number():
    exact = exactly([math.nan])
    assert math.isnan(restored(exact.data, exact.form)[0])
    exact = exactly(Decimal("sNaN12"))
    assert str(restored(exact.data, exact.form)) == "sNaN12"


def test_a_models_private_and_unset_fields_come_back_too():
    exact = exactly(order())
    back = restored(exact.data, exact.form)
    assert back._seen == 4
    assert "note" not in back.model_fields_set
    assert back.total == Decimal("4.50")


def test_reading_a_dataclass_back_runs_none_of_its_code():
    exact = exactly(Point(1))
    ran.clear()
    restored(exact.data, exact.form)
    assert ran == []
    Point(1)
    assert ran == ["Point"], "the control: making one does run it"


@pytest.mark.parametrize(
    ("value", "seems", "data", "media_type", "form"),
    [
        ("text", None, b"text", "text/plain", "text"),
        ("<p>", "text/html", b"<p>", "text/html", "text"),
        ('{"a": 1}', "application/json", b'{"a": 1}', "application/json; charset=utf-8", "text"),
        (b"\x89PNG", "image/png", b"\x89PNG", "image/png", "bytes"),
        (b"<p>", "text/html", b"<p>", "application/octet-stream", "bytes"),
        ({"a": 1}, None, b'{"a": 1}', "application/json", "json"),
        ((1,), None, b'{"$clew": "tuple", "items": [1]}', "application/vnd.clew.result+json", "tagged"),
    ],
)
def test_what_is_stored_can_be_read(value: Any, seems: str | None, data: bytes, media_type: str, form: str):
    exact = exactly(value, seems)
    assert (exact.data, exact.media_type, exact.form) == (data, media_type, form)


def test_no_two_results_that_differ_are_the_same_bytes_of_the_same_kind():
    alike: list[Any] = ["[1]", b"[1]", bytearray(b"[1]"), [1], (1,), {"$clew": "tuple", "items": [1]}]
    kinds: dict[tuple[bytes, str], set[str]] = {}
    for value in alike:
        for seems in ("text/plain", "application/json", "image/png", None):
            exact = exactly(value, seems)
            kinds.setdefault((exact.data, exact.media_type), set()).add(repr(value))
    assert [found for found in kinds.values() if len(found) > 1] == []
    assert len({data for data, _ in kinds}) < len(alike), "the control: some of them are the same bytes"


def test_json_has_a_line_for_each_item_that_fits_on_one():
    rows = [{"id": n, "title": f"number {n}", "tags": ["a", "b"]} for n in range(40)]
    text = json_in_lines({"rows": rows, "count": 40})
    assert json.loads(text) == {"rows": rows, "count": 40}
    assert text.splitlines()[:3] == ["{", ' "rows": [', '  {"id": 0, "title": "number 0", "tags": ["a", "b"]},']
    assert len(text.splitlines()) == 45


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("do not look at me")


class Sub(str):
    pass


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep(levels: int, bottom: Any) -> Any:
    for _ in range(levels):
        bottom = [bottom]
    return bottom


def local_class() -> Any:
    @dataclasses.dataclass
    class Local:
        x: int

    return Local(1)


def with_more() -> Point:
    point = Point(1)
    point.more = 2  # type: ignore[attr-defined]
    return point


NOT_EXACT = {
    "an object": object(),
    "a rude one": Rude(),
    "one deep down": {"a": [Rude()]},
    "a generator": (n for n in [1]),
    "a function": test_not_a_number_is_still_not_a_number,
    "a class": Point,
    "a subclass of text": Sub("x"),
    "an exception": ValueError("x"),
    "endless": endless(),
    "too deep": deep(5_000, 1),
    "too deep for tags": deep(5_000, (1,)),
    "a class in a function": local_class(),
    "attributes that are no fields": with_more(),
    "a model that changes what it is given": Doubling(value=1),
    "a model that would not pass": Order.model_construct(number="x", placed=1),
}


@pytest.mark.parametrize("value", NOT_EXACT.values(), ids=NOT_EXACT)
def test_what_cannot_be_kept_exactly_is_said_so(value: Any):
    with pytest.raises(NotExact):
        exactly(value)


def test_a_hundred_levels_are_not_too_deep():
    for value in (deep(100, 1), deep(100, (1,))):
        exact = exactly(value)
        assert same(restored(exact.data, exact.form), value)


def tagged(**node: Any) -> bytes:
    return json.dumps({"$clew": node.pop("tag"), **node}).encode()


def test_a_class_that_is_not_loaded_is_not_imported():
    assert "antigravity" not in sys.modules
    with pytest.raises(Misconfigured, match="Import 'antigravity' first"):
        restored(tagged(tag="dataclass", **{"class": "antigravity:Anything", "fields": {}}), "tagged")
    assert "antigravity" not in sys.modules


def test_a_modules_own_getattr_is_not_asked():
    """`clew` loads its rooms when they are first named; being named by stored data must not do it."""
    code = (
        "from clew.artifacts.isolation.exact import restored\nimport sys, json\n"
        "node = {'$clew': 'dataclass', 'class': 'clew:Clew', 'fields': {}}\n"
        "try: restored(json.dumps(node).encode(), 'tagged')\n"
        "except Exception as error: print(type(error).__name__, 'clew.engine' in sys.modules)\n"
        "import clew; clew.Clew; print('clew.engine' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Misconfigured", "False", "True"]


@pytest.mark.parametrize("name", ["os:system", "builtins:eval", "subprocess:Popen", "sys:modules", "builtins:object"])
@pytest.mark.parametrize("kind", ["dataclass", "model", "enum", "namedtuple"])
def test_only_classes_of_the_kind_they_were_are_made(name: str, kind: str):
    parts = {"class": name, "fields": {"args": ["true"]}, "member": "x"}
    with pytest.raises(Misconfigured, match="no longer the class"):
        restored(tagged(tag=kind, **parts), "tagged")


def test_a_class_that_has_changed_is_noticed():
    here = f"{__name__}:"
    for kind, parts in {
        "dataclass": {"class": f"{here}Point", "fields": {"x": 1, "z": 2}},
        "model": {"class": f"{here}Order", "fields": {"number": "seven"}},
        "enum": {"class": f"{here}Colour", "member": "BLUE"},
        "namedtuple": {"class": f"{here}Pair", "fields": {"right": 1, "left": "l"}},
    }.items():
        with pytest.raises(Misconfigured, match="no longer the class"):
            restored(tagged(tag=kind, **parts), "tagged")


@pytest.mark.parametrize(
    "node",
    [
        {"$clew": "gone"},
        {"$clew": []},
        {"$clew": "int", "value": "zz"},
        {"$clew": "datetime", "value": 5},
        {"$clew": "decimal", "value": "x"},
        {"$clew": "bytes", "value": "***"},
        {"$clew": "set", "items": [[1]]},
        {"$clew": "dataclass"},
        {"$clew": "datetime", "value": "2025-01-01", "zone": "../../etc/passwd"},
    ],
)
def test_what_no_version_wrote_is_refused_as_damaged(node: Any):
    with pytest.raises(ClewError) as caught:
        restored(json.dumps(node).encode(), "tagged")
    assert isinstance(caught.value, Damaged | Misconfigured)


def test_an_unknown_form_is_refused():
    with pytest.raises(Damaged, match="can't read: 'pickle'"):
        restored(b"", "pickle")

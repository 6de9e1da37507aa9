"""`ToolResultCache`: the full result, exactly as it was returned, after a restart too, and only for its tenant."""

import dataclasses
import enum
import json
import math
import uuid
from collections import namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

import pydantic
import pytest

import clew
from clew import tokens

from .conftest import assistant, user
from .test_isolate_tool import FINDINGS, LONG, reference

Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Step:
    name: str
    seconds: float
    notes: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    key: tuple[int, ...]


class Row(pydantic.BaseModel):
    sku: str
    price: Decimal
    tags: set[str] = set()


PADDING = "padding that makes the result long enough to be isolated " * 40


def exactly(a: Any, b: Any) -> bool:
    """Equal in type too, all the way down; NaN is NaN, -0.0 is not 0.0, and dicts are in the same order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, complex):
        return exactly(a.real, b.real) and exactly(a.imag, b.imag)
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            exactly(k, m) and exactly(v, w) for (k, v), (m, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(exactly(v, w) for v, w in zip(a, b, strict=True))
    if isinstance(a, datetime | time):
        return a == b and a.fold == b.fold and str(a.tzinfo) == str(b.tzinfo)
    return bool(a == b)


EXACT: dict[str, Any] = {
    "nested dicts": {"a": {"b": {"c": [1, {"d": [None, True, False, 1.5]}]}}},
    "keys in their order": {"z": 1, "a": 2, "m": 3},
    "tuples in lists in tuples": (1, [2, (3, [4, ()])]),
    "bytes": {"png": bytes(range(256)), "none": b""},
    "a bytearray": [bytearray(b"\x00\xff")],
    "a datetime": datetime(2026, 2, 28, 23, 59, 59, 999_999, tzinfo=UTC),
    "a naive datetime": datetime(2026, 2, 28),
    "a datetime with an offset": datetime(2026, 2, 28, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    "a datetime with a zone": datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Lisbon"), fold=1),
    "dates and times": [date(1, 1, 1), time(12, 0, 1), time(12, tzinfo=UTC), timedelta(days=-1, microseconds=1)],
    "numbers that are none": [math.nan, math.inf, -math.inf],
    "minus zero": [-0.0, 0.0],
    "tiny and huge floats": [5e-324, 1.7976931348623157e308, 0.1 + 0.2],
    "integers beyond 64 bits": [2**64, -(2**200), 10**4_000],
    "true is not one": [True, 1, 1.0, False, 0, 0.0],
    "empty containers": [[], {}, (), set(), frozenset(), "", b""],
    "sets": [{1, 2, 3}, frozenset({"a", "b"}), {(1, 2), (3,)}],
    "keys of other types": {1: "int", "1": "str", (1, 2): "tuple", None: "none", 1.5: "float", b"x": "bytes"},
    "a date as key": {date(2026, 1, 1): 1},
    "unicode": "Kyōto 京都 👩‍👩‍👧‍👦 \u202e \ufeff \u2028 e\u0301",
    "lone surrogates": ["\ud83d", "half \udfff of it", {"\ud800": 1}],
    "NUL": ["a\0b", {"\0": "\0"}],
    "control characters": "".join(map(chr, range(32))),
    "newlines of all kinds": "a\r\nb\rc\nd\x85e\u2029f",
    "decimals": [Decimal("1.10"), Decimal("1E+400"), Decimal("-0"), Decimal("Infinity")],
    "fractions and complex": [Fraction(1, 3), complex(1, -0.0)],
    "uuids and paths": [uuid.UUID(int=5), PurePosixPath("/etc/passwd")],
    "enums": [Colour.RED, Level.HIGH, {Colour.BLUE: 1}],
    "a named tuple": Point(1, [2]),
    "a dataclass": Step("login", 1.5, ["ok"]),
    "a frozen dataclass": [Frozen((1, 2))],
    "a pydantic model": [Row(sku="A", price=Decimal("9.90"), tags={"new"})],
    "what looks like a tag of ours": {"__tuple__": [1], "$type": "tuple", "__clew__": 1, "@": "x", "t": "bytes"},
    "JSON in text": '{"a": [1, 2, NaN]}',
    "a reference in text": "(full result: artifact art_k3v5x2qa7bydm4zp)",
}


async def _kept(engine: Any, tenant: str, result: Any) -> tuple[Any, str]:
    shown = await clew.isolate_tool(lambda: result, engine.tool_results, "tool", tenant)()
    assert isinstance(shown, str), "it was not isolated"
    assert tokens.count(shown) <= 100
    return await engine.tool_results.get_tool_result(reference(shown), tenant_id=tenant), shown


@pytest.mark.parametrize("value", EXACT.values(), ids=EXACT)
async def test_it_comes_back_exactly(engine, tenant, value):
    result = {"value": value, "padding": PADDING}
    found, _ = await _kept(engine, tenant, result)
    assert exactly(found, result)


@pytest.mark.parametrize("kind", [list, tuple])
async def test_the_outermost_too(engine, tenant, kind):
    result = kind([*EXACT.values(), PADDING])
    found, _ = await _kept(engine, tenant, result)
    assert exactly(found, result)


TEXTS = {
    "prose": LONG,
    "unicode": "Kyōto 京都 👩‍👩‍👧‍👦 " * 300,
    "lone surrogates": "half \ud83d of it " * 300,
    "NUL": "a\0b " * 500,
    "carriage returns": "one\r\ntwo\rthree\n" * 300,
    "a byte order mark": "\ufeff" + LONG,
    "blanks around it": "  \n\t " + LONG + " \n\n ",
    "only blanks": " \n" * 5_000,
    "JSON text": '{"b": 1, "a": [1.0, 1e3, 10000000000000000000000]}' + " " * 3_000,
    "numbers": "0123456789" * 500,
    "one long word": "x" * 50_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_a_text_comes_back_as_the_same_text(engine, tenant, text):
    found, _ = await _kept(engine, tenant, text)
    assert found == text


async def test_bytes_come_back_as_bytes_and_text_as_text(engine, tenant):
    as_bytes, _ = await _kept(engine, tenant, LONG.encode())
    as_text, _ = await _kept(engine, tenant, LONG)
    assert as_bytes == LONG.encode()
    assert as_text == LONG
    as_array, _ = await _kept(engine, tenant, bytearray(LONG.encode()))
    assert type(as_array) is bytearray


async def test_text_and_the_structure_it_spells_are_not_confused(engine, tenant):
    structure = FINDINGS
    found, _ = await _kept(engine, tenant, structure)
    assert found == structure
    for spelled in (
        json.dumps(structure),
        json.dumps(structure, indent=2),
        json.dumps(structure, separators=(",", ":")),
    ):
        found, _ = await _kept(engine, tenant, spelled)
        assert found == spelled
    lists, _ = await _kept(engine, tenant, [[1, 2]] * 300)
    pairs, _ = await _kept(engine, tenant, [(1, 2)] * 300)
    assert exactly(lists, [[1, 2]] * 300)
    assert exactly(pairs, [(1, 2)] * 300)


async def test_five_megabytes_of_text(engine, tenant):
    text = "".join(f"{n}: é京👍 {n * n}\n" for n in range(230_000))
    assert len(text.encode()) > 5_000_000
    found, _ = await _kept(engine, tenant, text)
    assert found == text


async def test_what_comes_back_is_a_copy(engine, tenant):
    result = [dict(finding) for finding in FINDINGS]
    shown = await clew.isolate_tool(lambda: result, engine.tool_results, "kb", tenant)()
    result.clear()
    found = await engine.tool_results.get_tool_result(reference(shown), tenant_id=tenant)
    assert found == FINDINGS
    found.clear()
    assert await engine.tool_results.get_tool_result(reference(shown), tenant_id=tenant) == FINDINGS


async def test_a_result_nested_too_deep_is_shown_as_it_is(engine, tenant):
    deep: Any = PADDING
    for _ in range(1_000):
        deep = [deep]
    assert await clew.isolate_tool(lambda: deep, engine.tool_results, "deep", tenant)() is deep


async def test_one_nested_a_hundred_levels_comes_back(engine, tenant):
    deep: Any = PADDING
    for level in range(100):
        deep = {"level": level, "in": deep}
    found, _ = await _kept(engine, tenant, deep)
    assert found == deep


# ---- after a restart


async def test_after_the_engine_is_opened_again(server, settings, tenant, thread_id):
    result = {"value": EXACT, "padding": PADDING}
    async with clew.open(settings=settings) as engine:
        with clew.tool_call("call_1", thread_id):
            shown = await clew.isolate_tool(lambda: result, engine.tool_results, "tool", tenant)()
        by_hand = await engine.tool_results.put_tool_result("call_2", b"\x00\x01", tool="hand", tenant_id=tenant)
    async with clew.open(settings=settings) as engine:
        for found_by in ("call_1", reference(shown)):
            assert exactly(await engine.tool_results.get_tool_result(found_by, tenant_id=tenant), result)
        for found_by in ("call_2", by_hand.artifact_id):
            assert await engine.tool_results.get_tool_result(found_by, tenant_id=tenant) == b"\x00\x01"


def test_in_another_process(python, cli, tenant):
    """Plain data, of course: a class of the first program is not loaded in the second."""
    first = python(f"""
import asyncio, clew
async def main():
    async with clew.open() as engine:
        rows = {{"rows": [(n, n / 7, str(n)) for n in range(500)]}}
        tool = clew.isolate_tool(lambda: rows, engine.tool_results, "t", "{tenant}")
        with clew.tool_call("call_p"):
            print(await tool())
asyncio.run(main())
""")
    assert first.returncode == 0, first.stderr
    second = python(f"""
import asyncio, clew
async def main():
    async with clew.open() as engine:
        found = await engine.tool_results.get_tool_result("{reference(first.stdout)}", tenant_id="{tenant}")
        assert found == {{"rows": [(n, n / 7, str(n)) for n in range(500)]}}, found
        assert await engine.tool_results.get_tool_result("call_p", tenant_id="{tenant}") == found
asyncio.run(main())
""")
    assert second.returncode == 0, second.stderr


# ---- other tenants


async def test_another_tenants_result_is_as_if_it_were_not(engine, tenant, other, thread_id):
    with clew.tool_call("call_1", thread_id):
        shown = await clew.isolate_tool(lambda: LONG, engine.tool_results, "t", tenant)()
    artifact_id = reference(shown)
    unknown = artifact_id[:4] + artifact_id[4:][::-1]

    async def refused(found_by: str, whose: str) -> str:
        with pytest.raises(clew.NotFound) as caught:
            await engine.tool_results.get_tool_result(found_by, tenant_id=whose)
        return str(caught.value).replace(found_by, "…")

    assert await engine.tool_results.get_tool_result(artifact_id, tenant_id=tenant) == LONG
    assert await refused(artifact_id, other) == await refused(unknown, other) == await refused(unknown, tenant)
    assert await refused("call_1", other) == await refused("call_7", other)


async def test_two_tenants_with_one_call_id_have_each_their_own(engine, tenant, other):
    for whose in (tenant, other):
        with clew.tool_call("call_1", "same"):
            await clew.isolate_tool(lambda whose=whose: whose + LONG, engine.tool_results, "t", whose)()
    for whose in (tenant, other):
        assert await engine.tool_results.get_tool_result("call_1", tenant_id=whose) == whose + LONG


async def test_a_small_result_leaves_nothing_to_be_found(engine, tenant):
    with clew.tool_call("call_1"):
        await clew.isolate_tool(lambda: "ok", engine.tool_results, "t", tenant)()
    with pytest.raises(clew.NotFound):
        await engine.tool_results.get_tool_result("call_1", tenant_id=tenant)


# ---- by hand


async def test_a_result_may_be_kept_by_hand(engine, tenant):
    ref = await engine.tool_results.put_tool_result(
        "call_1", FINDINGS, tool="kb", tenant_id=tenant, shown="15 findings"
    )
    assert await engine.tool_results.get_tool_result("call_1", tenant_id=tenant) == FINDINGS
    assert await engine.tool_results.get_tool_result(ref.artifact_id, tenant_id=tenant) == FINDINGS


async def test_by_hand_what_cannot_be_kept_is_refused(engine, tenant):
    with pytest.raises(clew.InvalidInput):
        await engine.tool_results.put_tool_result("call_1", object(), tool="kb", tenant_id=tenant)


# ---- savings


async def test_savings_are_counted_per_tool_per_thread_and_in_total(engine, tenant, other):
    async def call(name: str, result: Any, thread: str) -> str:
        with clew.tool_call(None, thread):
            return await clew.isolate_tool(lambda: result, engine.tool_results, name, tenant)()

    shown = [
        await call("fox", LONG, "one"),
        await call("fox", LONG + "!", "one"),
        await call("fox", LONG + "?", "two"),
        await call("kb", FINDINGS, "two"),
    ]
    await call("small", "ok", "two")

    def by_tool(savings: list[Any]) -> dict[str, Any]:
        return {saved.tool: saved for saved in savings if saved.isolated}

    one = by_tool(await engine.tool_results.savings(tenant_id=tenant, thread_id="one"))
    assert set(one) == {"fox"}
    assert one["fox"].isolated == 2
    assert one["fox"].shown_tokens == sum(tokens.count(text) for text in shown[:2])
    assert one["fox"].full_tokens == tokens.count(LONG + "!") + tokens.count(LONG)
    assert one["fox"].saved_tokens == one["fox"].full_tokens - one["fox"].shown_tokens
    two = by_tool(await engine.tool_results.savings(tenant_id=tenant, thread_id="two"))
    assert {tool: saved.isolated for tool, saved in two.items()} == {"fox": 1, "kb": 1}
    everything = await engine.tool_results.savings(tenant_id=tenant)
    total = clew.Savings.total(everything)
    assert total.isolated == 4
    assert total.calls == 5
    assert total.shown_tokens == sum(tokens.count(text) for text in shown)
    assert await engine.tool_results.savings(tenant_id=other) == []
    assert clew.Savings.total([]).saved_tokens == 0


async def test_savings_are_there_after_a_restart(server, settings, tenant):
    async with clew.open(settings=settings) as engine:
        with clew.tool_call("c", "t"):
            await engine.tenant(tenant).isolate(lambda: LONG, "fox")()
        before = await engine.tenant(tenant).thread("t").savings()
    async with clew.open(settings=settings) as engine:
        after = await engine.tenant(tenant).thread("t").savings()
        assert [s.saved_tokens for s in after] == [s.saved_tokens for s in before]
        assert after[0].saved_tokens > 3_000


async def test_savings_are_logged(engine, tenant, caplog):
    with caplog.at_level("INFO"):
        await clew.isolate_tool(lambda: LONG, engine.tool_results, "fox", tenant)()
    said = [record for record in caplog.records if "fox" in record.getMessage() or getattr(record, "tool", "") == "fox"]
    assert said
    assert "quick brown" not in caplog.text, "what a tool returned is nobody's business"


# ---- with the thread


async def test_with_a_thread_go_its_results(engine, tenant, thread_id):
    thread = engine.tenant(tenant).thread(thread_id)
    with clew.tool_call("call_1", thread_id):
        shown = await engine.tenant(tenant).isolate(lambda: LONG, "fox")()
    with clew.tool_call("call_2", "another"):
        await engine.tenant(tenant).isolate(lambda: LONG + "!", "fox")()
    await thread.append([user("Look it up"), assistant(shown)])
    await thread.clear()
    with pytest.raises(clew.NotFound):
        await engine.tool_results.get_tool_result("call_1", tenant_id=tenant)
    assert await engine.tool_results.get_tool_result("call_2", tenant_id=tenant) == LONG + "!"
    assert clew.Savings.total(await thread.savings()).isolated == 0


def test_without_await_it_is_the_same(server, settings, tenant):
    with clew.open_sync(settings=settings) as engine:
        ref = engine.tool_results.put_tool_result("call_1", FINDINGS, tool="kb", tenant_id=tenant)
        assert engine.tool_results.get_tool_result("call_1", tenant_id=tenant) == FINDINGS
        assert engine.tool_results.get_tool_result(ref.artifact_id, tenant_id=tenant) == FINDINGS
        with pytest.raises(clew.NotFound):
            engine.tool_results.get_tool_result("call_2", tenant_id=tenant)
        assert clew.Savings.total(engine.tool_results.savings(tenant_id=tenant)).isolated == 1

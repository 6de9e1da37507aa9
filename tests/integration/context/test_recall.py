"""The way back to what a summary stands for: by positions, by words, and as a tool."""

import inspect
from typing import Any

import pytest

import clew
from clew.context.recall import RECALL_MAX_TOKENS
from clew.tokens import count

from .conftest import engine_with, fact, said, shown_texts, talk


def positions(rows: Any) -> list[int]:
    return [row.position for row in rows]


@pytest.fixture
async def compacted(thread: Any) -> Any:
    await thread.append(talk(1, 21))
    assert (await thread.compact()).through == 11
    return thread


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("3", [3]),
        ("3-7, 12", [3, 4, 5, 6, 7, 12]),
        (" 12 ,3 – 4,3", [3, 4, 12]),
        ("20-30", [20, 21]),
        ("999", []),
        ([5, 3, 5], [3, 5]),
        ((1, 21), [1, 21]),
        (range(2, 4), [2, 3]),
    ],
)
async def test_positions_are_numbers_ranges_or_lists_of_them(compacted, asked, given):
    rows = await compacted.recall_messages(positions=asked)
    assert positions(rows) == given
    assert [row.message.text for row in rows] == [said(n)["content"] for n in given]


@pytest.mark.parametrize(
    "asked",
    ["", ",", "x", "3-", "-3", "7-3", "0", "3 4", "1;2", "1-99999999", "9" * 19, "1e3", "1.5", "\0", "\ud800", "²",
     5, 1.5, [1.5], ["1"], ["a", 1], [None], [[1]], [True], [-1], [0], [2**63], [float("inf")], b"12", {"a": 1},
     object(), list(range(1, 20_000))],
    ids=lambda value: ascii(value)[:20],
)  # fmt: skip
async def test_what_are_no_positions_is_refused(compacted, asked):
    with pytest.raises(clew.InvalidInput):
        await compacted.recall_messages(positions=asked)


async def test_many_ranges_are_refused_before_they_are_counted_out(compacted):
    """A billion positions would fit in a short text."""
    text = ",".join(f"{n}0000-{n}9999" for n in range(100, 700))
    with pytest.raises(clew.InvalidInput):
        await compacted.recall_messages(positions=text)


async def test_either_words_or_positions(compacted):
    both = {"query": "valve", "positions": "3"}
    for asked in (both, {}, {"query": ""}, {"query": "  "}, {"query": 5}, {"query": "\0"}):
        with pytest.raises(clew.InvalidInput):
            await compacted.recall_messages(**asked)
    for limit in (0, -1, "3", True, 10**9):
        with pytest.raises(clew.InvalidInput):
            await compacted.recall_messages("valve", limit=limit)


async def test_words_find_messages_that_are_shown_no_more(compacted):
    assert said(4)["content"] not in await shown_texts(compacted)
    assert positions(await compacted.recall_messages("V-1004")) == [4]
    assert positions(await compacted.recall_messages("v-1004 V-1006 nonsense")) == [6, 4], "any of the words"
    found = await compacted.recall_messages("V-1006 204 V-1004")
    assert positions(found)[0] == 4, "what holds the most of them first"
    assert positions(await compacted.recall_messages("valve", limit=3)) == [21, 20, 19]
    assert await compacted.recall_messages("elephant") == []


async def test_another_tenant_and_another_thread_get_nothing(compacted, engine, tenant, other_tenant):
    elsewhere = [engine.tenant(other_tenant).thread("t"), engine.tenant(tenant).thread("u")]
    for other in elsewhere:
        assert await other.recall_messages("valve") == []
        assert await other.recall_messages(positions="1-21") == []
        assert await other.tools()[-1](positions="1-21") == "No message of this conversation matches."
    assert len(await compacted.recall_messages(positions="1-21")) == 21


async def test_the_tool_gives_the_words_under_their_position(compacted):
    tool = compacted.tools()[-1]
    assert tool.__name__ == "recall_messages"
    assert tool.__doc__
    assert list(inspect.signature(tool).parameters) == ["query", "positions", "limit", "page"]
    told = await tool(positions="3-4")
    assert "[3] user" in told
    assert said(3)["content"] in told
    assert said(4)["content"] in told
    assert said(5)["content"] not in told
    assert said(7)["content"] in await tool(query="V-1007")
    assert (await tool("V-1007", None, 1)).startswith("[7]")


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"query": "", "positions": ""},
        {"query": "a", "positions": "1"},
        {"positions": "x"},
        {"positions": "0"},
        {"positions": "1-99999999"},
        {"positions": 3},
        {"positions": [3, 4]},
        {"positions": [None]},
        {"positions": {"from": 1}},
        {"query": 5},
        {"query": ["valve"]},
        {"query": "\0"},
        {"query": "\ud800"},
        {"query": "a" * 100_000},
        {"query": "valve", "limit": "5"},
        {"query": "valve", "limit": None},
        {"query": "valve", "limit": 0},
        {"query": "valve", "limit": -3},
        {"query": "valve", "limit": 2.5},
        {"query": "valve", "limit": 10**30},
        {"positions": "3", "page": 0},
        {"positions": "3", "page": "2"},
        {"positions": "3", "page": 10**30},
    ],
    ids=lambda value: ascii(value)[:40],
)
async def test_the_tool_answers_a_model_that_asks_badly_and_raises_nothing(compacted, asked):
    told = await compacted.tools()[-1](**asked)
    assert isinstance(told, str)
    assert told.strip()


async def test_the_tool_never_says_more_than_its_limit(thread):
    long = " ".join(f"part{n}" for n in range(4_000))
    await thread.append([{"role": "user", "content": f"{fact(1)} {long}"}, *talk(2, 900)])
    tool = thread.tools()[-1]
    for asked in ({"positions": "1"}, {"positions": "1-900"}, {"positions": "2-900"}, {"query": "valve", "limit": 20}):
        told = await tool(**asked)
        assert count(told) <= RECALL_MAX_TOKENS + 200, asked
    told = await tool(positions="2-900")
    assert "not shown" in told, "and what is missing is said"
    assert said(2)["content"] in told


async def test_a_message_longer_than_the_limit_can_be_read_to_its_end(thread):
    """Every byte is a few calls away for the model too, not only for the program."""
    long = " ".join(f"part{n} größer" for n in range(4_000))
    await thread.append({"role": "user", "content": long})
    tool = thread.tools()[-1]
    parts = []
    for page in range(1, 20):
        head, _, told = (await tool(positions="1", page=page)).partition("\n")
        assert head.startswith("[1] user")
        part, _, goes_on = told.partition("\n[Goes on: ")
        parts.append(part)
        if not goes_on:
            break
    assert "".join(parts) == long
    assert len(parts) > 3
    assert "no page" in await tool(positions="1", page=20)


async def test_the_part_around_the_word_is_told_in_any_spelling(thread):
    await thread.append({"role": "user", "content": " ".join(f"part{n} größer" for n in range(4_000))})
    tool = thread.tools()[-1]
    assert "part3 " in await tool(query="PART3")
    assert "part3999" in await tool(query="Part3999")


async def test_tool_calls_are_told_with_their_arguments(thread):
    call = {"id": "c1", "type": "function", "function": {"name": "read_gauge", "arguments": '{"valve": "V-7"}'}}
    await thread.append([
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "7 bar"},
    ])  # fmt: skip
    told = await thread.tools()[-1](positions="1-2")
    assert 'read_gauge({"valve": "V-7"})' in told
    assert "7 bar" in told
    assert [row.position for row in await thread.recall_messages("V-7")] == [1]


async def test_it_is_never_isolated_again(compacted, engine, tenant):
    tool = compacted.tools()[-1]
    assert engine.tenant(tenant).isolate(tool) is tool


async def test_the_api_and_the_engine_s_handle_give_the_same(database, compacted, tenant):
    compactor = engine_with(database, threshold_messages=30).compactor
    assert await compactor.recall_messages("t", positions="1-5", tenant_id=tenant) == (
        await compacted.recall_messages(positions=[1, 2, 3, 4, 5])
    )

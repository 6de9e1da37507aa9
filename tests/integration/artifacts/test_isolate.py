"""Isolated tools: the model sees a summary, nothing is lost, and what goes wrong in between stops no agent."""

import asyncio
import functools
import inspect
import logging
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest

import clew.artifacts.isolation.summaries as summaries
import clew.artifacts.isolation.tool_results as tool_results
from clew import InvalidInput, NotFound, Unavailable
from clew.artifacts import ArtifactStore, ToolResultCache, isolate_tool, read_back_tools
from clew.artifacts.isolation.calls import ToolCall, current_call, tool_call
from clew.tokens import count

ROWS = [{"id": n, "title": f"Finding {n}", "confidence": round(0.8 + n / 100, 2)} for n in range(15)] * 4
REFERENCE = "(full result: artifact art_"
context: ContextVar[str] = ContextVar("context", default="unset")


@pytest.fixture
def cache(store: ArtifactStore) -> ToolResultCache:
    return ToolResultCache(store)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="clew.artifacts"):
        yield caplog


async def search(query: str, limit: int = 5) -> list[dict[str, Any]]:
    """Search the knowledge base."""
    return ROWS


async def full(cache: ToolResultCache, tenant: str, summary: str) -> Any:
    """The result behind the id in a summary."""
    return await cache.get_tool_result(summary.split("artifact ")[1].rstrip(")"), tenant_id=tenant)


async def test_the_model_sees_a_summary_and_the_result_is_one_reference_away(cache: ToolResultCache, tenant: str):
    tool = isolate_tool(search, cache, tenant_id=tenant)
    with tool_call("call_1"):
        summary = await tool("revenue")
    assert summary.startswith("[search] ")
    assert REFERENCE in summary
    assert count(summary) <= 100
    assert await full(cache, tenant, summary) == ROWS
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == ROWS


async def test_a_small_result_passes_as_it_is_and_leaves_no_trace(
    cache: ToolResultCache, store: ArtifactStore, tenant: str
):
    small = {"ok": True}
    tool = isolate_tool(lambda: small, cache, "check", tenant)
    with tool_call("call_1"):
        assert await tool() is small
    assert await store.list(tenant_id=tenant) == []
    with pytest.raises(NotFound):
        await cache.get_tool_result("call_1", tenant_id=tenant)
    assert [(one.tool, one.calls, one.isolated) for one in await cache.savings(tenant_id=tenant)] == [("check", 1, 0)]


@pytest.mark.parametrize("words", [1, 5, 20, 30, 40, 60, 80, 100, 120, 200, 1_000])
async def test_isolation_never_makes_a_message_longer(cache: ToolResultCache, tenant: str, words: int):
    text = " ".join(f"w{n}" for n in range(words))
    for summarise in (None, lambda result: result * 2):
        for references in (True, False):
            tool = isolate_tool(lambda: text, cache, "t", tenant, summarise=summarise, references=references)
            shown = await tool()
            assert shown == text or count(shown) < count(text)


@pytest.mark.parametrize("max_tokens", [40, 60, 100, 300])
async def test_a_summary_keeps_to_its_tokens(cache: ToolResultCache, tenant: str, max_tokens: int):
    for summarise in (None, lambda result: "schön 🎉 " * 500):
        tool = isolate_tool(search, cache, tenant_id=tenant, max_tokens=max_tokens, summarise=summarise)
        shown = await tool("q")
        assert count(shown) <= max_tokens
        assert await full(cache, tenant, shown) == ROWS


async def test_without_references_none_is_shown_and_the_result_is_kept_all_the_same(
    cache: ToolResultCache, tenant: str
):
    tool = isolate_tool(search, cache, tenant_id=tenant, references=False)
    with tool_call("call_1"):
        assert "art_" not in await tool("q")
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == ROWS


async def test_a_sync_tool_runs_beside_the_event_loop_in_the_callers_context(cache: ToolResultCache, tenant: str):
    seen: dict[str, Any] = {}

    def slow(seconds: float) -> str:
        seen.update(thread=threading.get_ident(), context=context.get(), call=current_call())
        time.sleep(seconds)
        return "done"

    tool = isolate_tool(slow, cache, tenant_id=tenant)
    context.set("mine")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    with tool_call("call_1", "thread"):
        assert await tool(0.3) == "done"
    ticking.cancel()
    assert ticks > 5
    assert seen["thread"] != threading.get_ident()
    assert seen["context"] == "mine"
    assert seen["call"] == ToolCall("call_1", "thread")


class Custom(Exception):
    pass


@pytest.mark.parametrize("kind", [Custom, KeyError, SystemExit])
async def test_what_the_tool_raises_comes_out_as_it_is(cache: ToolResultCache, tenant: str, kind: type[BaseException]):
    error = kind("mine")

    async def breaks() -> str:
        raise error

    def breaks_sync() -> str:
        raise error

    for tool in (breaks, breaks_sync) if kind is not SystemExit else (breaks,):
        with pytest.raises(kind) as caught:
            await isolate_tool(tool, cache, tenant_id=tenant)()
        assert caught.value is error


async def test_a_sync_tool_that_raises_stop_iteration_does_not_hang(cache: ToolResultCache, tenant: str):
    def breaks() -> str:
        return next(iter(()))

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        async with asyncio.timeout(5):
            await isolate_tool(breaks, cache, tenant_id=tenant)()


async def test_a_cancelled_tool_is_cancelled(cache: ToolResultCache, tenant: str):
    tool = isolate_tool(asyncio.sleep, cache, "sleep", tenant)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await tool(60)


def test_the_tool_looks_the_same_from_outside(cache: ToolResultCache):
    tool = isolate_tool(search, cache)
    assert (tool.__name__, tool.__doc__, tool.__module__) == (search.__name__, search.__doc__, search.__module__)
    assert inspect.signature(tool).parameters == inspect.signature(search).parameters
    assert inspect.iscoroutinefunction(tool)
    assert tool.__annotations__["query"] is str
    assert search.__annotations__["return"] == list[dict[str, Any]], "the tool itself was not touched"


class Service:
    async def __call__(self, query: str) -> Any:
        return ROWS

    def method(self, query: str) -> Any:
        return ROWS


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (Service(), "Service"),
        (Service().method, "method"),
        (functools.partial(search, limit=3), "search"),
        (lambda query: search(query, limit=3), "<lambda>"),
    ],
)
async def test_anything_that_can_be_called_can_be_isolated(cache: ToolResultCache, tenant: str, tool: Any, name: str):
    shown = await isolate_tool(tool, cache, tenant_id=tenant)("q")
    assert shown.startswith(f"[{name}]")
    assert await full(cache, tenant, shown) == ROWS


async def test_a_failing_store_loses_no_result(
    cache: ToolResultCache, tenant: str, monkeypatch: pytest.MonkeyPatch, warnings: pytest.LogCaptureFixture
):
    async def put(*args: Any, **kwargs: Any) -> Any:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(cache.artifacts, "put", put)
    assert await isolate_tool(search, cache, tenant_id=tenant)("q") is ROWS
    assert "the disk is full" in warnings.text
    assert "tool_result_not_isolated" in warnings.text


async def test_what_cannot_be_kept_exactly_is_shown_as_it_is(
    cache: ToolResultCache, store: ArtifactStore, tenant: str, warnings: pytest.LogCaptureFixture
):
    class Opaque:
        def __repr__(self) -> str:
            return "opaque " * 500

    odd = [Opaque()]
    assert await isolate_tool(lambda: odd, cache, "odd", tenant)() is odd
    assert "Opaque is not a kind of value that can be kept" in warnings.text
    assert await store.list(tenant_id=tenant) == []


async def test_a_mistake_of_any_kind_between_tool_and_store_loses_no_result(
    cache: ToolResultCache, tenant: str, monkeypatch: pytest.MonkeyPatch, warnings: pytest.LogCaptureFixture
):
    async def keep(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(cache, "keep", keep)
    assert await isolate_tool(search, cache, tenant_id=tenant)("q") is ROWS
    assert "ZeroDivisionError" in warnings.text


async def test_a_result_larger_than_one_put_takes_is_streamed(
    cache: ToolResultCache, tenant: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tool_results, "PUT_MAX_BYTES", 1_000)
    monkeypatch.setattr(tool_results, "STREAM_CHUNK_BYTES", 700)
    shown = await isolate_tool(search, cache, tenant_id=tenant)("q")
    assert await full(cache, tenant, shown) == ROWS


async def test_a_tools_own_summariser_is_used_and_the_reference_is_added(cache: ToolResultCache, tenant: str):
    async def asynchronous(result: Any) -> str:
        return f"{len(result)} findings, the best {result[-1]['title']}"

    for summarise in (lambda result: f"{len(result)} findings, the best {result[-1]['title']}", asynchronous):
        shown = await isolate_tool(search, cache, tenant_id=tenant, summarise=summarise)("q")
        assert shown.startswith(f"60 findings, the best Finding 14 {REFERENCE}")
        assert await full(cache, tenant, shown) == ROWS


def _fails(result: Any) -> str:
    raise Custom("no")


async def _hangs(result: Any) -> str:
    await asyncio.sleep(3_600)
    return "late"


def _hangs_in_a_thread(result: Any) -> str:
    time.sleep(3)
    return "late"


def _changes(result: Any) -> str:
    result.clear()
    return ""


@pytest.mark.parametrize(
    "summarise",
    [_fails, _hangs, _hangs_in_a_thread, lambda result: "", lambda result: " \n\0", lambda result: None, lambda: "x"],
    ids=["fails", "hangs", "hangs in a thread", "empty", "blank", "None", "takes nothing"],
)
async def test_a_summariser_that_does_not_work_is_done_without(
    cache: ToolResultCache,
    tenant: str,
    summarise: Any,
    monkeypatch: pytest.MonkeyPatch,
    warnings: pytest.LogCaptureFixture,
):
    monkeypatch.setattr(summaries, "SUMMARISER_TIMEOUT_S", 0.2)
    expected = await isolate_tool(search, cache, tenant_id=tenant)("q")
    async with asyncio.timeout(2):
        assert await isolate_tool(search, cache, tenant_id=tenant, summarise=summarise)("q") == expected
    assert "summary_refused" in warnings.text


async def test_a_summariser_that_changes_the_result_changes_nothing_of_what_is_kept(
    cache: ToolResultCache, tenant: str
):
    shown = await isolate_tool(lambda: list(ROWS), cache, "t", tenant, summarise=_changes)()
    assert await full(cache, tenant, shown) == ROWS


async def test_a_model_may_write_the_summaries(store: ArtifactStore, tenant: str):
    asked: list[list[dict[str, Any]]] = []

    async def write(messages: list[dict[str, Any]]) -> str:
        asked.append(messages)
        return "Sixty findings, Finding 14 at 0.94"

    cache = ToolResultCache(store, write_summary=write)
    shown = await isolate_tool(search, cache, tenant_id=tenant)("q")
    assert shown.startswith(f"Sixty findings, Finding 14 at 0.94 {REFERENCE}")
    assert [message["role"] for message in asked[0]] == ["system", "user"]
    assert "Finding 14" in asked[0][1]["content"]
    await isolate_tool(lambda: {"ok": 1}, cache, "small", tenant)()
    assert len(asked) == 1, "a model was asked about a result that passes as it is"


async def test_a_model_sees_only_so_much_of_a_result(store: ArtifactStore, tenant: str):
    asked: list[str] = []

    async def write(messages: list[dict[str, Any]]) -> str:
        asked.append(messages[1]["content"])
        return "long"

    cache = ToolResultCache(store, write_summary=write)
    await isolate_tool(lambda: "first " + "middle " * 50_000 + "last", cache, "t", tenant)()
    assert count(asked[0]) <= summaries.MODEL_INPUT_TOKENS + 10
    assert asked[0].startswith("first")
    assert asked[0].endswith("last")


async def _too_long(messages: Any) -> str:
    return "words and words " * 200


@pytest.mark.parametrize(
    "write", [_fails, _hangs, _too_long, lambda messages: ""], ids=["fails", "hangs", "long", "empty"]
)
async def test_a_model_that_does_not_keep_to_it_is_done_without(
    store: ArtifactStore, cache: ToolResultCache, tenant: str, write: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(summaries, "MODEL_TIMEOUT_S", 0.2)
    expected = await isolate_tool(search, cache, tenant_id=tenant)("q")
    with_model = ToolResultCache(store, write_summary=write)
    assert await isolate_tool(search, with_model, tenant_id=tenant)("q") == expected


async def test_what_reads_back_is_never_isolated(cache: ToolResultCache, store: ArtifactStore, tenant: str):
    text = "\n".join(f"line {n} of a long text" for n in range(400))
    ref = await store.put(text, media_type="text/plain", tenant_id=tenant)
    for tool in read_back_tools(store, tenant_id=tenant):
        assert isolate_tool(tool, cache, tenant_id=tenant) is tool
    read = read_back_tools(store, tenant_id=tenant)[0]

    async def around() -> Any:
        return await read(ref.artifact_id)

    assert count(await isolate_tool(around, cache, tenant_id=tenant)()) > 1_000

    async def copied() -> Any:
        return "".join(await read(ref.artifact_id))

    assert count(await isolate_tool(copied, cache, tenant_id=tenant)()) <= 100, "the control: any other text is"


async def test_every_isolation_is_logged_and_counted(
    cache: ToolResultCache, tenant: str, warnings: pytest.LogCaptureFixture
):
    tool = isolate_tool(search, cache, tenant_id=tenant)
    with tool_call(thread_id="t"):
        shown = await tool("q")
        await isolate_tool(lambda: 1, cache, "search", tenant)()
    await tool("q")
    logged = [record.getMessage() for record in warnings.records if "tool_result_isolated" in record.getMessage()]
    assert len(logged) == 2
    assert "saved_tokens" in logged[0]
    (savings,) = await cache.savings(tenant_id=tenant, thread_id="t")
    assert (savings.calls, savings.isolated, savings.shown_tokens) == (2, 1, count(shown))
    assert (await cache.savings(tenant_id=tenant))[0].calls == 3


async def test_many_calls_at_once_are_each_kept(cache: ToolResultCache, tenant: str):
    async def numbered(number: int) -> list[str]:
        await asyncio.sleep(0.01)
        return [f"result {number} row {row}" for row in range(100)]

    tool = isolate_tool(numbered, cache, tenant_id=tenant)

    async def call(number: int) -> Any:
        with tool_call(f"call_{number}"):
            return await tool(number)

    shown = await asyncio.gather(*map(call, range(30)))
    for number, summary in enumerate(shown):
        expected = [f"result {number} row {row}" for row in range(100)]
        assert await full(cache, tenant, summary) == expected
        assert await cache.get_tool_result(f"call_{number}", tenant_id=tenant) == expected


def test_calls_nest_and_end():
    with tool_call("outer", "thread"):
        with tool_call("inner"):
            assert current_call() == ToolCall("inner", "thread")
        assert current_call() == ToolCall("outer", "thread")
    assert current_call() == ToolCall()


@pytest.mark.parametrize("bad", ["", "a\0", "\ud800", "x" * 1_000, 5, b"x"])
def test_a_call_that_cannot_be_is_refused(bad: Any):
    for arguments in ({"tool_call_id": bad}, {"thread_id": bad}):
        with pytest.raises(InvalidInput), tool_call(**arguments):
            pass


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"fn": 5}, "fn"),
        ({"fn": None}, "fn"),
        ({"fn": dict}, "fn"),
        ({"cache": None}, "cache"),
        ({"cache": "x"}, "cache"),
        ({"name": ""}, "tool"),
        ({"name": "a\0"}, "tool"),
        ({"tenant_id": "a b"}, "tenant_id"),
        ({"tenant_id": None}, "tenant_id"),
        ({"summarise": "x"}, "summarise"),
        ({"max_tokens": 5}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 10**9}, "max_tokens"),
        ({"references": "no"}, "references"),
    ],
)
def test_what_cannot_be_isolated_is_refused_at_once(cache: ToolResultCache, arguments: dict[str, Any], where: str):
    with pytest.raises(InvalidInput, match=f"^{where}"):
        isolate_tool(**{"fn": search, "cache": cache, **arguments})

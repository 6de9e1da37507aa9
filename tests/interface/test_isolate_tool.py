"""`isolate_tool`: a model sees a summary of at most 100 tokens, or the result itself when that is shorter."""

import asyncio
import functools
import inspect
import re
import threading
from contextvars import ContextVar
from typing import Any

import pytest

import clew
from clew import tokens

FINDINGS = [
    {"text": f"Finding {n}: revenue of Q3 was $5.2M", "confidence": 0.8 + n / 100, "source": f"report-{n}.pdf"}
    for n in range(15)
]
LONG = "The quick brown fox jumps over the lazy dog. " * 400
REFERENCE = re.compile(r"\(full result: artifact (art_\w+)\)")


def reference(summary: str) -> str:
    """The last one is ours: a tool may say anything before it."""
    found = REFERENCE.findall(summary)
    assert found, summary
    return str(found[-1])


async def query_knowledge_base(question: str, limit: int = 15, *, strict: bool = False) -> list[dict[str, Any]]:
    """Look something up."""
    return FINDINGS[:limit]


# ---- the promised sentence


async def test_the_summary_reads_as_promised(engine, tenant):
    summary = await clew.isolate_tool(query_knowledge_base, engine.tool_results, tenant_id=tenant)("revenue?")
    assert re.match(r"\[query_knowledge_base\] 15 findings \(conf: 0\.80?-0\.94\)", summary)
    assert "$5.2M" in summary
    assert summary.endswith(f"(full result: artifact {reference(summary)})")
    assert tokens.count(summary) <= 100


async def test_a_name_of_its_own_stands_in_front(engine, tenant):
    tool = clew.isolate_tool(query_knowledge_base, engine.tool_results, "kb", tenant)
    assert (await tool("?")).startswith("[kb] ")


async def test_without_a_tenant_it_is_the_default_one(engine):
    summary = await clew.isolate_tool(query_knowledge_base, engine.tool_results)("?")
    assert await engine.tool_results.get_tool_result(reference(summary)) == FINDINGS
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id="default") == FINDINGS


async def test_the_model_sees_a_fraction_of_it(engine, tenant):
    summary = await clew.isolate_tool(lambda: LONG, engine.tool_results, "fox", tenant)()
    assert tokens.count(LONG) > 3_000
    assert tokens.count(summary) <= 100


# ---- the same signature


def test_it_has_the_same_name_docstring_and_signature(engine):
    tool = clew.isolate_tool(query_knowledge_base, engine.tool_results)
    assert tool.__name__ == "query_knowledge_base"
    assert tool.__doc__ == "Look something up."
    had, has = inspect.signature(query_knowledge_base).parameters, inspect.signature(tool).parameters
    assert list(has.values()) == list(had.values())
    assert inspect.iscoroutinefunction(tool)


def test_a_sync_function_becomes_async(engine):
    def plain(x: int) -> int:
        return x

    tool = clew.isolate_tool(plain, engine.tool_results)
    assert inspect.iscoroutinefunction(tool)
    assert list(inspect.signature(tool).parameters) == ["x"]


async def test_arguments_arrive_however_they_are_given(engine, tenant):
    seen: list[Any] = []

    def fn(a, /, b=2, *rest, c=3, **more):
        seen.append((a, b, rest, c, more))

    tool = clew.isolate_tool(fn, engine.tool_results, tenant_id=tenant)
    assert await tool(1) is None
    assert await tool(1, 5, 6, 7, c=8, d=9) is None
    assert seen == [(1, 2, (), 3, {}), (1, 5, (6, 7), 8, {"d": 9})]
    with pytest.raises(TypeError):
        await tool()


async def test_parameters_may_be_called_what_isolation_itself_calls_things(engine, tenant):
    def fn(name: str, tenant_id: str, cache: str, fn: str, thread_id: str, tool_call_id: str) -> list[str]:
        return [name, tenant_id, cache, fn, thread_id, tool_call_id]

    tool = clew.isolate_tool(fn, engine.tool_results, tenant_id=tenant)
    given = {"name": "a", "tenant_id": "b", "cache": "c", "fn": "d", "thread_id": "e", "tool_call_id": "f"}
    assert await tool(**given) == list("abcdef")


async def test_a_method_a_partial_a_lambda_and_a_callable_are_functions_too(engine, tenant):
    class Search:
        def find(self, what: str) -> str:
            return what + LONG

        def __call__(self, what: str) -> str:
            return what + LONG

    for fn in (
        Search().find,
        Search(),
        functools.partial(Search().find, "x"),
        lambda *a: LONG,
    ):
        tool = clew.isolate_tool(fn, engine.tool_results, "search", tenant)
        args = () if isinstance(fn, functools.partial) else ("x",)
        summary = await tool(*args)
        assert summary.startswith("[search] ")
        assert tokens.count(summary) <= 100


async def test_a_partial_without_a_name_still_works(engine, tenant):
    async def fetch(url: str) -> str:
        return url + LONG

    summary = await clew.isolate_tool(functools.partial(fetch, "x"), engine.tool_results, tenant_id=tenant)()
    assert (await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant)) == "x" + LONG


async def test_a_sync_function_runs_beside_the_loop_in_the_callers_context(engine, tenant):
    here: ContextVar[str] = ContextVar("here")
    here.set("the caller's")
    seen: list[Any] = []

    def slow() -> str:
        seen.append((here.get(), threading.current_thread()))
        return "ok"

    await clew.isolate_tool(slow, engine.tool_results, tenant_id=tenant)()
    assert seen[0][0] == "the caller's"
    assert seen[0][1] is not threading.current_thread()


async def test_the_function_runs_once_for_each_call(engine, tenant):
    calls: list[int] = []

    async def fetch() -> str:
        calls.append(1)
        return LONG

    tool = clew.isolate_tool(fetch, engine.tool_results, tenant_id=tenant)
    first, second = await tool(), await tool()
    assert len(calls) == 2
    assert reference(first) == reference(second), "the same bytes are one artifact"


# ---- never longer


SMALL: dict[str, Any] = {
    "nothing": None,
    "an empty text": "",
    "a word": "ok",
    "a number": 42,
    "false": False,
    "an empty list": [],
    "an empty dict": {},
    "a small dict": {"status": "shipped", "eta": "Friday"},
    "a small tuple": (1, 2),
    "bytes": b"ok",
    "a sentence": "The order was shipped on Friday and will arrive on Monday.",
}


@pytest.mark.parametrize("result", SMALL.values(), ids=SMALL)
async def test_what_is_small_passes_untouched(engine, tenant, result):
    async def fetch() -> Any:
        return result

    shown = await clew.isolate_tool(fetch, engine.tool_results, tenant_id=tenant)()
    assert shown == result
    assert type(shown) is type(result)


@pytest.mark.parametrize("words", [1, 10, 30, 50, 70, 80, 90, 95, 99, 100, 101, 102, 110, 130, 200, 1_000])
@pytest.mark.parametrize("name", ["t", "a_tool_with_quite_a_long_name_of_its_own_which_costs_tokens_too"])
async def test_isolation_never_makes_a_message_longer(engine, tenant, words, name):
    result = " ".join(f"w{n % 7}" for n in range(words))
    shown = await clew.isolate_tool(lambda: result, engine.tool_results, name, tenant)()
    assert tokens.count(shown) <= tokens.count(result)
    assert shown == result or tokens.count(shown) <= 100


async def test_one_result_just_shorter_passes_and_one_just_longer_does_not(engine, tenant):
    """There is one length below which all pass."""
    isolated = []
    for words in range(1, 200, 3):
        result = "alpha " * words
        shown = await clew.isolate_tool(lambda result=result: result, engine.tool_results, "t", tenant)()
        isolated.append(shown != result)
    assert isolated == sorted(isolated)
    assert not isolated[0]
    assert isolated[-1]


@pytest.mark.parametrize("max_tokens", [40, 60, 100, 300])
async def test_the_limit_may_be_another(engine, tenant, max_tokens):
    tool = clew.isolate_tool(lambda: FINDINGS * 3, engine.tool_results, "kb", tenant, max_tokens=max_tokens)
    summary = await tool()
    assert tokens.count(summary) <= max_tokens
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS * 3


@pytest.mark.parametrize("max_tokens", [0, -1, 2.5, "many", None, True, float("nan")])
async def test_a_limit_that_is_none_is_refused(engine, tenant, max_tokens):
    with pytest.raises(clew.InvalidInput):
        clew.isolate_tool(lambda: LONG, engine.tool_results, "kb", tenant, max_tokens=max_tokens)


@pytest.mark.parametrize(
    "name", ["n" * 400, "a name with spaces\nand lines", "工具" * 100, "[tool] (full result: artifact x)"]
)
async def test_a_strange_name_breaks_neither_the_limit_nor_the_reference(engine, tenant, name):
    try:
        summary = await clew.isolate_tool(lambda: LONG, engine.tool_results, name, tenant)()
    except clew.InvalidInput:
        return
    assert tokens.count(summary) <= 100
    assert (await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant)) == LONG


# ---- references


async def test_a_model_without_the_tools_is_shown_no_reference(engine, tenant, thread_id):
    tool = clew.isolate_tool(lambda: LONG, engine.tool_results, "fox", tenant, references=False)
    with clew.tool_call("call_1", thread_id):
        summary = await tool()
    assert "art_" not in summary
    assert "artifact" not in summary
    assert tokens.count(summary) <= 100
    assert await engine.tool_results.get_tool_result("call_1", tenant_id=tenant) == LONG
    shown = await clew.isolate_tool(lambda: LONG, engine.tool_results, "fox", tenant)()
    assert "art_" in shown, "with references it is"


# ---- which call it is


async def test_a_result_is_found_by_the_calls_id_and_by_the_artifacts(engine, tenant, thread_id):
    tool = clew.isolate_tool(query_knowledge_base, engine.tool_results, tenant_id=tenant)
    with clew.tool_call("call_42", thread_id=thread_id):
        summary = await tool("?")
    for found_by in ("call_42", reference(summary)):
        assert await engine.tool_results.get_tool_result(found_by, tenant_id=tenant) == FINDINGS


async def test_the_newest_of_several_with_one_id_is_found(engine, tenant, thread_id):
    for text in (LONG, LONG + "again", LONG + "and again"):
        with clew.tool_call("call_1", thread_id):
            await clew.isolate_tool(lambda text=text: text, engine.tool_results, "t", tenant)()
    assert await engine.tool_results.get_tool_result("call_1", tenant_id=tenant) == LONG + "and again"


async def test_calls_at_the_same_time_keep_their_ids_apart(engine, tenant, thread_id):
    async def fetch(n: int) -> str:
        await asyncio.sleep(0.01 * (n % 3))
        return f"{n}: {LONG}"

    tool = clew.isolate_tool(fetch, engine.tool_results, tenant_id=tenant)

    async def call(n: int) -> Any:
        with clew.tool_call(f"call_{n}", thread_id):
            return await tool(n)

    summaries = await asyncio.gather(*(call(n) for n in range(12)))
    assert len({reference(summary) for summary in summaries}) == 12
    for n, summary in enumerate(summaries):
        assert await engine.tool_results.get_tool_result(f"call_{n}", tenant_id=tenant) == f"{n}: {LONG}"
        assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == f"{n}: {LONG}"


# ---- what goes wrong


class OurError(Exception):
    pass


@pytest.mark.parametrize("error", [OurError("no"), ValueError("x"), clew.NotFound("gone"), StopAsyncIteration()])
async def test_what_the_tool_raises_comes_out_untouched(engine, tenant, error):
    async def broken() -> str:
        raise error

    def broken_too() -> str:
        raise error

    for fn in (broken, broken_too):
        with pytest.raises((type(error), RuntimeError)) as caught:
            await clew.isolate_tool(fn, engine.tool_results, tenant_id=tenant)()
        if not isinstance(error, StopAsyncIteration):  # which no coroutine can raise
            assert caught.value is error


async def test_a_cancelled_call_is_cancelled(engine, tenant):
    async def forever() -> str:
        await asyncio.sleep(60)
        return LONG

    task = asyncio.create_task(clew.isolate_tool(forever, engine.tool_results, tenant_id=tenant)())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_result_that_cannot_be_kept_exactly_is_shown_as_it_is(engine, tenant, caplog):
    class Opaque:
        def __repr__(self) -> str:
            return LONG

    thing = Opaque()
    with caplog.at_level("WARNING"):
        shown = await clew.isolate_tool(lambda: thing, engine.tool_results, "opaque", tenant)()
    assert shown is thing
    assert any(record.levelname == "WARNING" for record in caplog.records)


async def test_a_generator_passes_and_is_not_used_up(engine, tenant):
    shown = await clew.isolate_tool(lambda: (n for n in range(1_000)), engine.tool_results, "gen", tenant)()
    assert sum(shown) == sum(range(1_000))


async def test_a_store_out_of_reach_stops_no_agent(database, tenant, caplog, tmp_path):
    folder = tmp_path / "artifacts"
    async with clew.ArtifactStore(database, url=str(folder)) as store:
        cache = clew.ToolResultCache(store)
        tool = clew.isolate_tool(lambda: LONG, cache, "fox", tenant)
        assert (await tool()).startswith("[fox] "), "with the store there it is isolated"
    closed = clew.ArtifactStore("postgresql://app:hunter2@127.0.0.1:1/clew", url=str(folder))
    with caplog.at_level("WARNING"):
        assert await clew.isolate_tool(lambda: LONG, clew.ToolResultCache(closed), "fox", tenant)() == LONG
    assert any(record.levelname == "WARNING" for record in caplog.records)
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("bad", ["not a tenant", "", None, 5, "acme\0", "a" * 1_000])
async def test_a_tenant_that_is_none_is_refused_at_once(engine, bad):
    with pytest.raises(clew.InvalidInput):
        clew.isolate_tool(lambda: LONG, engine.tool_results, "t", bad)


@pytest.mark.parametrize("bad", [None, 5, "tool", [print]])
def test_what_is_no_tool_is_refused(engine, bad):
    with pytest.raises(clew.InvalidInput):
        clew.isolate_tool(bad, engine.tool_results)


@pytest.mark.parametrize("bad", [None, {}, "cache"])
def test_what_is_no_cache_is_refused(bad):
    with pytest.raises(clew.InvalidInput):
        clew.isolate_tool(lambda: LONG, bad)


# ---- a summariser of its own


async def test_a_tool_brings_its_own_summariser(engine, tenant):
    seen: list[Any] = []

    def mine(result: Any) -> str:
        seen.append(result)
        return f"{len(result)} of them, the best is {result[0]['source']}"

    summary = await clew.isolate_tool(query_knowledge_base, engine.tool_results, None, tenant, summarise=mine)("?")
    assert seen == [FINDINGS]
    assert "15 of them, the best is report-0.pdf" in summary
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS


async def test_an_async_summariser_is_awaited(engine, tenant):
    async def mine(result: Any) -> str:
        await asyncio.sleep(0)
        return "awaited"

    summary = await clew.isolate_tool(query_knowledge_base, engine.tool_results, None, tenant, summarise=mine)("?")
    assert "awaited" in summary


def _raising(result: Any) -> str:
    raise RuntimeError("no")


@pytest.mark.parametrize(
    "mine",
    [_raising, lambda r: "", lambda r: None, lambda r: 5, lambda r: "   \n", lambda r: b"x"],
    ids=["raises", "empty", "None", "a number", "blank", "bytes"],
)
async def test_a_bad_summariser_is_done_without(engine, tenant, mine):
    summary = await clew.isolate_tool(lambda: FINDINGS, engine.tool_results, "kb", tenant, summarise=mine)()
    assert tokens.count(summary) <= 100
    assert summary.startswith("[kb] ")
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS


async def test_a_summariser_that_says_too_much_is_cut_or_refused(engine, tenant):
    for max_tokens in (50, 100):
        fn = clew.isolate_tool(
            lambda: FINDINGS,
            engine.tool_results,
            "kb",
            tenant,
            summarise=lambda r: "so much " * 2_000,
            max_tokens=max_tokens,
        )
        summary = await fn()
        assert tokens.count(summary) <= max_tokens
        assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS


async def test_a_summariser_that_changes_the_result_changes_nothing_that_is_kept(engine, tenant):
    def vandal(result: Any) -> str:
        result.clear()
        return "gone"

    given = [dict(finding) for finding in FINDINGS]
    summary = await clew.isolate_tool(lambda: given, engine.tool_results, "kb", tenant, summarise=vandal)()
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS


async def test_a_model_may_write_summaries(engine, tenant):
    asked: list[Any] = []

    async def speed(messages: list[dict[str, Any]]) -> str:
        asked.append(messages)
        return "Revenue of Q3: $5.2M, fifteen sources agree."

    cache = clew.ToolResultCache(engine.artifacts, write_summary=speed)
    summary = await clew.isolate_tool(query_knowledge_base, cache, None, tenant)("?")
    assert "fifteen sources agree" in summary
    assert tokens.count(summary) <= 100
    assert await cache.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS
    assert {message["role"] for message in asked[0]} <= {"system", "user", "assistant"}
    assert "$5.2M" in str(asked[0])


async def test_a_model_that_fails_is_done_without(engine, tenant):
    async def speed(messages: list[dict[str, Any]]) -> str:
        raise RuntimeError("429")

    cache = clew.ToolResultCache(engine.artifacts, write_summary=speed)
    summary = await clew.isolate_tool(query_knowledge_base, cache, None, tenant)("?")
    assert summary.startswith("[query_knowledge_base] 15 findings")


async def test_what_hangs_is_left_behind(engine, tenant):
    """A tool's own summariser and a pattern that backtracks for ever after ten seconds, who watches after five."""

    async def hangs(anything: Any) -> str:
        await asyncio.sleep(3_600)
        return "never"

    tool = clew.isolate_tool(lambda: FINDINGS, engine.tool_results, "kb", tenant, summarise=hangs)
    light = engine.artifacts.store_test_result({"log": LONG}, tenant_id=tenant, watch=hangs)
    ref = await engine.artifacts.put("a" * 5_000 + "!\nERROR here\n", media_type="text/plain", tenant_id=tenant)
    _, search, _ = clew.read_back_tools(engine.artifacts, tenant_id=tenant)
    async with asyncio.timeout(20):
        tasks = [asyncio.create_task(c) for c in (tool(), light, search(ref.artifact_id, r"(a+)+$", regex=True))]
        await asyncio.sleep(0.2)
        assert "ERROR here" in await search(ref.artifact_id, "error"), "others go on meanwhile"
        summary, light, found = await asyncio.gather(*tasks)
    assert found.strip()
    assert summary.startswith("[kb] 15")
    assert len(light["_artifact_refs"]) == 1


# ---- other kinds of tools


async def test_a_langchain_tool_stays_one(engine, tenant, thread_id):
    from langchain_core.tools import tool

    @tool
    async def search(query: str, limit: int = 3) -> list[dict]:
        """Search the reports."""
        return FINDINGS

    isolated = clew.isolate_tool(search, engine.tool_results, tenant_id=tenant)
    assert isinstance(isolated, type(search))
    assert (isolated.name, isolated.description, isolated.args) == (search.name, search.description, search.args)
    call = {"type": "tool_call", "id": "call_lc", "name": "search", "args": {"query": "x"}}
    message = await isolated.ainvoke(call, {"configurable": {"thread_id": thread_id}})
    assert message.tool_call_id == "call_lc"
    assert message.content.startswith("[search] 15 findings")
    assert tokens.count(message.content) <= 100
    assert await engine.tool_results.get_tool_result("call_lc", tenant_id=tenant) == FINDINGS
    savings = await engine.tool_results.savings(tenant_id=tenant, thread_id=thread_id)
    assert [saved.isolated for saved in savings] == [1]


async def test_a_sync_langchain_tool_too_also_from_a_thread(engine, tenant):
    from langchain_core.tools import tool

    @tool
    def search(query: str) -> str:
        """Search the reports."""
        return LONG

    isolated = clew.isolate_tool(search, engine.tool_results, tenant_id=tenant)
    by_await = await isolated.ainvoke({"query": "x"})
    in_thread = await asyncio.to_thread(isolated.invoke, {"query": "x"})
    assert by_await == in_thread
    assert by_await.startswith("[search] ")
    assert search.invoke({"query": "x"}) == LONG, "the tool itself is as it was"


async def test_a_langchain_tool_with_content_and_artifact_keeps_its_artifact(engine, tenant):
    from langchain_core.tools import tool

    @tool(response_format="content_and_artifact")
    async def shoot() -> tuple[str, dict]:
        """Take a picture."""
        return LONG, {"raw": [1, 2, 3]}

    call = {"type": "tool_call", "id": "call_ca", "name": "shoot", "args": {}}
    message = await clew.isolate_tool(shoot, engine.tool_results, tenant_id=tenant).ainvoke(call)
    assert message.artifact == {"raw": [1, 2, 3]}
    assert message.content.startswith("[shoot] ")
    assert await engine.tool_results.get_tool_result("call_ca", tenant_id=tenant) == LONG


async def test_errors_of_a_langchain_tool_come_out(engine, tenant):
    from langchain_core.tools import tool

    @tool
    async def broken() -> str:
        """Break."""
        raise OurError("no")

    with pytest.raises(OurError):
        await clew.isolate_tool(broken, engine.tool_results, tenant_id=tenant).ainvoke({})


async def test_a_pydantic_ai_toolset_is_isolated_in_a_run(engine, tenant):
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

    toolset = FunctionToolset([query_knowledge_base])
    seen: list[Any] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returns = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not returns:
            assert [tool.name for tool in info.function_tools] == ["query_knowledge_base"]
            arguments = {"question": "revenue?"}
            return ModelResponse([ToolCallPart("query_knowledge_base", arguments, tool_call_id="call_pa")])
        seen.extend(part.content for part in returns)
        return ModelResponse([TextPart("done")])

    isolated = clew.isolate_tool(toolset, engine.tool_results, tenant_id=tenant)
    answer = await Agent(FunctionModel(model), toolsets=[isolated]).run("How was Q3?")
    assert answer.output == "done"
    assert seen[0].startswith("[query_knowledge_base] 15 findings")
    assert await engine.tool_results.get_tool_result("call_pa", tenant_id=tenant) == FINDINGS


async def test_what_reads_back_is_never_isolated_again(engine, tenant):
    ref = await engine.artifacts.put(LONG, media_type="text/plain", tenant_id=tenant)
    for reader in clew.read_back_tools(engine.artifacts, tenant_id=tenant):
        assert clew.isolate_tool(reader, engine.tool_results, tenant_id=tenant) is reader
    read, *_ = clew.read_back_tools(engine.artifacts, tenant_id=tenant)
    shown = await clew.isolate_tool(read, engine.tool_results, tenant_id=tenant)(ref.artifact_id)
    assert tokens.count(shown) > 100


async def test_isolating_twice_is_isolating_once(engine, tenant):
    once = clew.isolate_tool(query_knowledge_base, engine.tool_results, tenant_id=tenant)
    twice = clew.isolate_tool(once, engine.tool_results, tenant_id=tenant)
    summary = await twice("?")
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS


# ---- by the handle, and without await


async def test_a_handle_isolates_for_its_tenant(engine, tenant, other):
    summary = await engine.tenant(tenant).isolate(query_knowledge_base)("?")
    assert await engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS
    with pytest.raises(clew.NotFound):
        await engine.tool_results.get_tool_result(reference(summary), tenant_id=other)


def test_without_await_it_is_the_same(server, settings, tenant):
    with clew.open_sync(settings=settings) as engine:
        tool = engine.tenant(tenant).isolate(lambda: LONG, "fox")
        summary = tool()
        assert isinstance(summary, str)
        assert summary.startswith("[fox] ")
        assert engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == LONG
        assert engine.tenant(tenant).savings()[0].isolated == 1


def test_isolate_tool_takes_the_cache_of_an_engine_without_await(server, settings, tenant):
    with clew.open_sync(settings=settings) as engine:
        tool = clew.isolate_tool(query_knowledge_base, engine.tool_results, tenant_id=tenant)
        summary = tool("?")
        if inspect.isawaitable(summary):
            summary = asyncio.run(summary)
        assert engine.tool_results.get_tool_result(reference(summary), tenant_id=tenant) == FINDINGS

"""LangChain tools, isolated: the same tool to whoever looks, in real agents and graphs, sync and async."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, Tool, ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode
from langgraph.types import Command

from clew.artifacts import ArtifactStore, ToolResultCache, isolate_tool, read_back_tools
from clew.artifacts.isolation import waiting
from clew.artifacts.isolation.calls import current_call
from clew.tokens import count

ROWS = [{"id": n, "title": f"Finding {n}", "confidence": 0.9} for n in range(60)]
IMAGE = [
    {"type": "text", "text": "words " * 300},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
]
seen: dict[str, Any] = {}


@tool
def search(query: str, limit: int = 5) -> list[dict[str, Any]]:
    """Search the knowledge base."""
    seen["call"] = current_call()
    return ROWS


@tool
async def search_async(query: str, limit: int = 5) -> list[dict[str, Any]]:
    """Search the knowledge base."""
    return ROWS


@tool(response_format="content_and_artifact")
def drawn(query: str) -> tuple[str, dict[str, int]]:
    """Content for the model, and an artifact for the program."""
    return "words " * 500, {"raw": 1}


@tool
def with_everything(
    query: str,
    state: Annotated[dict[str, Any], InjectedState],
    call: Annotated[str, InjectedToolCallId],
    config: RunnableConfig,
) -> str:
    """What LangGraph injects arrives."""
    return f"{query} {len(state['messages'])} {call} {config['configurable']['thread_id']} " + "words " * 500


class Classic(BaseTool):
    """A tool as a class, sync only."""

    name: str = "classic"
    description: str = "A tool as a class."

    def _run(self, query: str, run_manager: CallbackManagerForToolRun | None = None) -> Any:
        seen["run_manager"] = run_manager
        return ROWS


class ClassicAsync(Classic):
    name: str = "classic_async"

    async def _arun(self, query: str, run_manager: Any = None) -> Any:
        return ROWS


EVERY = [search, search_async, Classic(), ClassicAsync()]


@pytest.fixture
def cache(store: ArtifactStore) -> ToolResultCache:
    return ToolResultCache(store)


def call(name: str, call_id: str = "call_1", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "args": {"query": "q", **arguments}}


def asks(*calls: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{key: one[key] for key in ("id", "name", "args")} for one in calls])


@pytest.mark.parametrize("plain", EVERY, ids=lambda one: one.name)
async def test_a_tool_stays_the_tool_it_was(cache: ToolResultCache, plain: BaseTool):
    made = isolate_tool(plain, cache)
    assert isinstance(made, type(plain))
    assert (made.name, made.description, made.args, made.args_schema) == (
        plain.name,
        plain.description,
        plain.args,
        plain.args_schema,
    )
    assert convert_to_openai_tool(made) == convert_to_openai_tool(plain)
    assert type(plain).__name__ == type(made).__name__
    assert not hasattr(plain, "clew_isolation"), "the tool itself was changed"


@pytest.mark.parametrize("plain", EVERY, ids=lambda one: one.name)
async def test_a_tool_call_answers_with_a_summary(cache: ToolResultCache, tenant: str, plain: BaseTool):
    made = isolate_tool(plain, cache, tenant_id=tenant)
    config = {"configurable": {"thread_id": "support-42"}}
    message = await made.ainvoke(call(plain.name), config)
    assert isinstance(message, ToolMessage)
    assert message.tool_call_id == "call_1"
    assert message.content.startswith(f"[{plain.name}] ")
    assert "(full result: artifact art_" in message.content
    assert count(message.content) <= 100
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == ROWS
    (savings,) = await cache.savings(tenant_id=tenant, thread_id="support-42")
    assert (savings.tool, savings.calls, savings.isolated) == (plain.name, 1, 1)


async def test_a_plain_call_answers_with_the_summary_itself(cache: ToolResultCache, tenant: str):
    made = isolate_tool(search, cache, tenant_id=tenant)
    shown = await made.ainvoke({"query": "q"})
    assert shown.startswith("[search] ")
    assert await made.arun({"query": "q"}) == shown


@pytest.mark.parametrize("plain", [search, Classic()], ids=lambda one: one.name)
async def test_a_sync_call_from_another_thread_uses_the_loop_of_the_database(
    cache: ToolResultCache, tenant: str, plain: BaseTool
):
    await cache.setup()
    made = isolate_tool(plain, cache, tenant_id=tenant)
    message = await asyncio.to_thread(made.invoke, call(plain.name), {"configurable": {"thread_id": "t"}})
    assert message.content.startswith(f"[{plain.name}] ")
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == ROWS


async def test_a_sync_call_on_the_loop_itself_cannot_wait_and_shows_the_result(
    cache: ToolResultCache, tenant: str, caplog: pytest.LogCaptureFixture
):
    await cache.setup()
    made = isolate_tool(search, cache, tenant_id=tenant)
    assert made.invoke({"query": "q"}) is ROWS
    assert "use ainvoke" in caplog.text


async def test_a_loop_that_is_blocked_by_the_call_is_not_waited_for(
    cache: ToolResultCache, tenant: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(waiting, "BEGIN_MAX_S", 0.2)
    await cache.setup()
    graph = graph_of(isolate_tool(search, cache, tenant_id=tenant))
    started = time.monotonic()
    done = graph.invoke({"messages": [asks(call("search"))]})  # sync, on the loop, with the tool in a thread
    assert time.monotonic() - started < 5
    assert json.loads(done["messages"][-1].content) == ROWS
    assert "the event loop is blocked" in caplog.text


WITHOUT_A_LOOP = """
import sys
from concurrent.futures import ThreadPoolExecutor
from langchain_core.tools import tool
from clew.artifacts import ToolResultCache, isolate_tool

@tool
def rows(query: str) -> list:
    '''Rows.'''
    return [{"id": n, "name": f"row {n}"} for n in range(200)]

made = isolate_tool(rows, ToolResultCache(database=sys.argv[1]))

def call(number):
    return made.invoke({"type": "tool_call", "id": f"call_{number}", "name": "rows", "args": {"query": "q"}}).content

with ThreadPoolExecutor(8) as pool:
    print(*pool.map(call, range(8)), call(8), sep="\\n")
"""


async def test_a_program_without_an_event_loop_can_use_it(scratch: Any, tmp_path: Path):
    environment = {"CLEW_ARTIFACTS_URL": str(tmp_path / "artifacts"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", WITHOUT_A_LOOP, scratch.app_url],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert [line.startswith("[rows] ") for line in done.stdout.splitlines()] == [True] * 9, done.stderr


async def test_content_is_isolated_and_the_programs_artifact_is_kept(cache: ToolResultCache, tenant: str):
    message = await isolate_tool(drawn, cache, tenant_id=tenant).ainvoke(call("drawn"))
    assert message.content.startswith("[drawn] ")
    assert message.artifact == {"raw": 1}
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == "words " * 500


async def test_messages_are_isolated_and_commands_are_left_alone(cache: ToolResultCache, tenant: str):
    command = Command(update={"messages": [ToolMessage("words " * 500, tool_call_id="call_1")]})

    def returning(value: Any) -> BaseTool:
        made = StructuredTool.from_function(lambda query: value, name="t", description="d")
        return isolate_tool(made, cache, tenant_id=tenant)

    assert await returning(command).ainvoke(call("t")) is command
    answer = ToolMessage("words " * 500, tool_call_id="call_1", artifact={"raw": 1})
    shown = await returning(answer).ainvoke(call("t"))
    assert shown.content.startswith("[t] ")
    assert (shown.tool_call_id, shown.artifact) == ("call_1", {"raw": 1})
    assert answer.content == "words " * 500
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == "words " * 500
    first, second = await returning([answer, command]).ainvoke(call("t"))
    assert first.content.startswith("[t] ")
    assert second is command
    blocks = await returning(IMAGE).ainvoke(call("t"))
    assert blocks.content.startswith("[t] ")
    assert await cache.get_tool_result("call_1", tenant_id=tenant) == IMAGE


async def test_errors_are_handled_as_the_tool_says(cache: ToolResultCache, tenant: str):
    def fails(query: str) -> str:
        raise ToolException("no such table")

    def made(handle: bool) -> BaseTool:
        plain = StructuredTool.from_function(fails, description="d", handle_tool_error=handle)
        return isolate_tool(plain, cache, tenant_id=tenant)

    with pytest.raises(ToolException, match="no such table"):
        await made(False).ainvoke(call("fails"))
    message = await made(True).ainvoke(call("fails"))
    assert (message.status, message.content) == ("error", "no such table")


async def test_an_old_kind_of_tool_and_one_that_reads_back(cache: ToolResultCache, store: ArtifactStore, tenant: str):
    old = Tool(name="old", func=lambda text: "words " * 500, description="d")
    assert (await isolate_tool(old, cache, tenant_id=tenant).ainvoke("x")).startswith("[old] ")
    for function in read_back_tools(store, tenant_id=tenant):
        reading = StructuredTool.from_function(coroutine=function)
        assert isolate_tool(reading, cache, tenant_id=tenant) is reading


def test_an_isolated_function_makes_the_same_schema(cache: ToolResultCache):
    function = search.func
    assert function is not None
    made = tool(isolate_tool(function, cache))
    assert (made.name, made.description, made.args) == (search.name, search.description, search.args)


async def test_an_odd_call_id_does_not_stop_an_agent(cache: ToolResultCache, tenant: str):
    made = isolate_tool(search, cache, tenant_id=tenant)
    for odd in ("", "x" * 600, "a\0b"):
        message = await made.ainvoke(call("search", odd), {"configurable": {"thread_id": 42}})
        assert message.content.startswith("[search] ")
    assert (await cache.savings(tenant_id=tenant, thread_id="42"))[0].isolated == 3


def graph_of(*tools: BaseTool) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(list(tools)))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile()


async def test_in_a_tool_node_parallel_calls_are_isolated_and_injection_works(cache: ToolResultCache, tenant: str):
    tools = [isolate_tool(one, cache, tenant_id=tenant) for one in (search, search_async, with_everything, drawn)]
    calls = [call(one.name, f"call_{one.name}") for one in tools]
    done = await graph_of(*tools).ainvoke({"messages": [asks(*calls)]}, {"configurable": {"thread_id": "t-9"}})
    answers = {message.name: message for message in done["messages"][1:]}
    assert len(answers) == 4
    for name, message in answers.items():
        assert message.content.startswith(f"[{name}] "), message.content
        assert message.tool_call_id == f"call_{name}"
    injected = await cache.get_tool_result("call_with_everything", tenant_id=tenant)
    assert injected.startswith("q 1 call_with_everything t-9 ")
    assert answers["drawn"].artifact == {"raw": 1}
    assert {one.tool for one in await cache.savings(tenant_id=tenant, thread_id="t-9")} == set(answers)
    assert (seen["call"].tool_call_id, seen["call"].thread_id) == ("call_search", "t-9")


async def test_a_graph_that_runs_sync_in_a_thread_isolates_too(cache: ToolResultCache, tenant: str):
    await cache.setup()
    graph = graph_of(isolate_tool(search, cache, tenant_id=tenant))
    done = await asyncio.to_thread(graph.invoke, {"messages": [asks(call("search"))]})
    assert done["messages"][-1].content.startswith("[search] ")


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        seen["tools"] = [convert_to_openai_tool(one)["function"]["name"] for one in tools]
        return self


async def test_an_agent_sees_a_summary_follows_its_reference_and_reads_the_result(
    cache: ToolResultCache, store: ArtifactStore, tenant: str
):
    reading = read_back_tools(store, tenant_id=tenant)

    def script() -> Any:
        yield asks(call("search"))
        artifact_id = yield_from["summary"].split("artifact ")[1].rstrip(")")
        yield AIMessage(
            "",
            tool_calls=[
                {"id": "call_2", "name": "search_artifact", "args": {"artifact_id": artifact_id, "query": "Finding 33"}}
            ],
        )
        yield AIMessage("Finding 33 it is.")

    yield_from: dict[str, str] = {}

    class Watching(Scripted):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            yield_from["summary"] = str(messages[-1].content)
            return super()._generate(messages, *args, **kwargs)

    agent = create_agent(Watching(messages=script()), tools=[isolate_tool(search, cache, tenant_id=tenant), *reading])
    done = await agent.ainvoke(
        {"messages": [{"role": "user", "content": "find"}]}, {"configurable": {"thread_id": "a"}}
    )
    first, second = [message for message in done["messages"] if isinstance(message, ToolMessage)]
    assert count(first.content) <= 100
    assert "Finding 33" not in first.content
    assert '"Finding 33"' in second.content
    assert seen["tools"] == ["search", "read_artifact", "search_artifact", "list_artifacts"]

"""Pydantic AI toolsets, isolated, in real agent runs."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

from clew import InvalidInput
from clew.artifacts import ArtifactStore, ToolResultCache, isolate_tool, read_back_tools
from clew.artifacts.isolation.calls import tool_call
from clew.tokens import count

ROWS = [{"id": n, "title": f"Finding {n}", "confidence": 0.9} for n in range(60)]


@pytest.fixture
def cache(store: ArtifactStore) -> ToolResultCache:
    return ToolResultCache(store)


async def search(query: str, limit: int = 5) -> list[dict[str, Any]]:
    """Search the knowledge base."""
    return ROWS


def with_context(ctx: RunContext[str], query: str) -> str:
    """Depends on the run."""
    return f"{ctx.deps} {query} " + "words " * 500


def rich(query: str) -> ToolReturn:
    """More than a value."""
    return ToolReturn(return_value=ROWS, content="for the user", metadata={"raw": 1})


def small(query: str) -> dict[str, bool]:
    """Little."""
    return {"ok": True}


def returned(messages: list[ModelMessage]) -> dict[str, ToolReturnPart]:
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    return {part.tool_name: part for part in parts}


async def test_in_an_agent_run_every_long_result_is_a_summary(cache: ToolResultCache, tenant: str):
    toolset = isolate_tool(FunctionToolset([search, with_context, rich, small]), cache, tenant_id=tenant)
    agent = Agent(TestModel(), deps_type=str, toolsets=[toolset])
    with tool_call(thread_id="support-42"):
        run = await agent.run("go", deps="acme")
    parts = returned(run.all_messages())
    for name in ("search", "with_context", "rich"):
        assert str(parts[name].content).startswith(f"[{name}] ")
        assert count(str(parts[name].content)) <= 100
    assert parts["small"].content == {"ok": True}
    assert await cache.get_tool_result(parts["search"].tool_call_id, tenant_id=tenant) == ROWS
    assert (await cache.get_tool_result(parts["with_context"].tool_call_id, tenant_id=tenant)).startswith("acme ")
    assert await cache.get_tool_result(parts["rich"].tool_call_id, tenant_id=tenant) == ROWS
    assert parts["rich"].metadata == {"raw": 1}
    prompts = [part.content for m in run.all_messages() for part in m.parts if isinstance(part, UserPromptPart)]
    assert "for the user" in str(prompts)
    savings = {
        one.tool: (one.calls, one.isolated) for one in await cache.savings(tenant_id=tenant, thread_id="support-42")
    }
    assert savings == {"search": (1, 1), "with_context": (1, 1), "rich": (1, 1), "small": (1, 0)}


async def test_the_tools_look_the_same_to_the_model(cache: ToolResultCache):
    plain = FunctionToolset([search, with_context], id="mine")
    seen = []
    for toolset in (plain, isolate_tool(plain, cache)):
        model = TestModel(call_tools=[])
        await Agent(model, deps_type=str, toolsets=[toolset]).run("go", deps="x")
        assert model.last_model_request_parameters is not None
        seen.append(model.last_model_request_parameters.function_tools)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 2


async def test_isolated_functions_make_the_same_schema(cache: ToolResultCache):
    seen = []
    for functions in ([search, small], [isolate_tool(one, cache) for one in (search, small)]):
        model = TestModel(call_tools=[])
        await Agent(model, tools=functions).run("go")
        assert model.last_model_request_parameters is not None
        tools = model.last_model_request_parameters.function_tools
        seen.append([(tool.name, tool.description, tool.parameters_json_schema) for tool in tools])
    assert seen[0] == seen[1]


def test_a_toolsets_tools_keep_their_names(cache: ToolResultCache):
    with pytest.raises(InvalidInput, match=r"^name"):
        isolate_tool(FunctionToolset([search]), cache, "mine")


async def test_a_retry_is_still_a_retry(cache: ToolResultCache, tenant: str):
    tries = []

    def picky(query: str) -> str:
        """Refuses once."""
        tries.append(query)
        if len(tries) == 1:
            raise ModelRetry("try again")
        return "words " * 500

    agent = Agent(TestModel(), toolsets=[isolate_tool(FunctionToolset([picky]), cache, tenant_id=tenant)], retries=2)
    parts = returned((await agent.run("go")).all_messages())
    assert len(tries) == 2
    assert str(parts["picky"].content).startswith("[picky] ")


async def test_an_agent_follows_a_reference_and_what_it_reads_is_not_isolated_again(
    cache: ToolResultCache, store: ArtifactStore, tenant: str
):
    def act(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = returned(messages)
        if "search" not in parts:
            return ModelResponse([ToolCallPart("search", {"query": "q"})])
        if "read_artifact" not in parts:
            artifact_id = str(parts["search"].content).split("artifact ")[1].rstrip(")")
            return ModelResponse([ToolCallPart("read_artifact", {"artifact_id": artifact_id})])
        return ModelResponse([TextPart("done")])

    # All in one toolset, isolated as a whole: the tools that read back are told by what they return.
    toolset = FunctionToolset([search, *read_back_tools(store, tenant_id=tenant)])
    agent = Agent(FunctionModel(act), toolsets=[isolate_tool(toolset, cache, tenant_id=tenant)])
    parts = returned((await agent.run("go")).all_messages())
    assert str(parts["search"].content).startswith("[search] ")
    assert '"Finding 20"' in str(parts["read_artifact"].content)
    assert count(str(parts["read_artifact"].content)) > 500


async def test_the_toolsets_life_is_the_wrapped_ones(cache: ToolResultCache):
    entered = []

    class Watched(FunctionToolset[Any]):
        async def __aenter__(self) -> Any:
            entered.append("in")
            return self

        async def __aexit__(self, *args: Any) -> None:
            entered.append("out")

    agent = Agent(TestModel(call_tools=[]), toolsets=[isolate_tool(Watched([search]), cache)])
    await agent.run("go")
    assert entered == ["in", "out"]


async def test_a_streamed_run_is_isolated_too(cache: ToolResultCache, tenant: str):
    async def act(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        from pydantic_ai.models.function import DeltaToolCall

        if "search" in returned(messages):
            yield "done"
        else:
            yield {0: DeltaToolCall("search", '{"query": "q"}', tool_call_id="call_7")}

    toolset = isolate_tool(FunctionToolset([search]), cache, tenant_id=tenant)
    async with Agent(FunctionModel(stream_function=act), toolsets=[toolset]).run_stream("go") as run:
        assert await run.get_output() == "done"
    assert await cache.get_tool_result("call_7", tenant_id=tenant) == ROWS

"""`IsolatingToolNode`: long results stay out of the state, and a model that is shown a reference can follow it."""

import asyncio
import threading
from typing import Annotated, Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import InjectedState, create_react_agent
from langgraph.types import Command

from clew import Clew, InvalidInput
from clew.integrations import langgraph as lg
from clew.tokens import count

FINDINGS = [
    {"finding": f"Q{n} revenue was ${n}.2M", "confidence": 0.8 + n / 100, "source": f"report-{n}.pdf"}
    for n in range(40)
]
READ_BACK = {"read_artifact", "search_artifact", "list_artifacts"}


async def query_knowledge_base(question: str) -> list[dict[str, Any]]:
    """Look something up."""
    return FINDINGS


def short(question: str) -> str:
    """Say something short."""
    return "yes"


@tool
def page_of(url: str) -> str:
    """The page at a URL."""
    return f"<html><title>{url}</title><body>" + "<p>all the words there are</p>" * 500 + "</body></html>"


async def broken(question: str) -> str:
    """Fail."""
    raise ValueError("the database said: " + "no such table, and here is everything I know about it. " * 200)


def _graph(node: lg.IsolatingToolNode, checkpointer: Any, *calls: tuple[str, dict[str, Any]]) -> Any:
    """A graph whose model makes these calls at once."""
    asked = [{"id": f"call-{n}", "name": name, "args": args} for n, (name, args) in enumerate(calls)]
    graph = StateGraph(lg.TestingState)
    graph.add_node("model", lambda state: {"messages": [AIMessage("", tool_calls=asked)]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    graph.add_edge("tools", END)
    return graph.compile(checkpointer=checkpointer)


async def _results(graph: Any, config: dict[str, Any] | None = None) -> list[AnyMessage]:
    state = await graph.ainvoke({"messages": [HumanMessage("go")]}, config or _on())
    return [m for m in state["messages"] if isinstance(m, ToolMessage)]


def _on(thread_id: str = "t", **more: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id, **more}}


async def test_a_long_result_is_shown_as_a_summary_and_kept_as_it_was(engine: Clew, tenant: str):
    node = lg.IsolatingToolNode([query_knowledge_base, short, page_of], engine.tool_results)
    graph = _graph(
        node, engine.tenant(tenant).checkpointer,
        ("query_knowledge_base", {"question": "q"}), ("short", {"question": "q"}), ("page_of", {"url": "http://x"}),
    )  # fmt: skip
    found, brief, page = await _results(graph)
    assert found.text.startswith("[query_knowledge_base] 40 ")
    assert "artifact art_" in found.text
    assert count(found.text) <= 100
    assert brief.text == "yes"
    assert count(page.text) <= 100
    assert await engine.tool_results.get_tool_result("call-0", tenant_id=tenant) == FINDINGS
    assert await engine.tool_results.get_tool_result("call-2", tenant_id=tenant) == page_of.invoke({"url": "http://x"})
    saved = {one.tool: one for one in await engine.tenant(tenant).thread("t").savings()}
    assert saved["query_knowledge_base"].saved_tokens > 500


async def test_the_model_is_given_the_tools_that_follow_a_reference(engine: Clew, tenant: str):
    node = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results)
    assert {one.name for one in node.tools} == {"query_knowledge_base", *READ_BACK}
    checkpointer = engine.tenant(tenant).checkpointer
    (found,) = await _results(_graph(node, checkpointer, ("query_knowledge_base", {"question": "q"})))
    reference = found.text.split("artifact ")[-1].rstrip(")")
    read = ("read_artifact", {"artifact_id": reference, "json_path": "$[7].source"})
    listed = ("list_artifacts", {})
    answers = await _results(_graph(node, checkpointer, read, listed), _on("another"))
    assert "report-7.pdf" in answers[0].text
    assert reference in answers[1].text


async def test_what_was_read_back_is_never_moved_out_again(engine: Clew, tenant: str):
    node = lg.IsolatingToolNode([page_of], engine.tool_results)
    checkpointer = engine.tenant(tenant).checkpointer
    (page,) = await _results(_graph(node, checkpointer, ("page_of", {"url": "http://x"})))
    reference = page.text.split("artifact ")[-1].rstrip(")")
    (read,) = await _results(_graph(node, checkpointer, ("read_artifact", {"artifact_id": reference})), _on("b"))
    assert count(read.text) > 500
    assert "(full result: artifact" not in read.text


async def test_a_tenant_reads_only_its_own(engine: Clew, tenant: str, other_tenant: str):
    node = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results)
    graph = _graph(node, engine.sessions.checkpointer, ("query_knowledge_base", {"question": "q"}))
    (found,) = await _results(graph, _on(tenant_id=tenant))
    reference = found.text.split("artifact ")[-1].rstrip(")")
    asking = _graph(node, engine.sessions.checkpointer, ("read_artifact", {"artifact_id": reference}))
    (theirs,) = await _results(asking, _on("b", tenant_id=other_tenant))
    (ours,) = await _results(asking, _on("b", tenant_id=tenant))
    assert "no artifact" in theirs.text
    assert "report-" in ours.text
    bound = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results, tenant_id=tenant)
    with pytest.raises(InvalidInput, match="another tenant"):
        await _results(
            _graph(bound, engine.sessions.checkpointer, ("query_knowledge_base", {"question": "q"})),
            _on("c", tenant_id=other_tenant),
        )


async def test_errors_answer_their_calls_and_long_ones_are_kept_aside(engine: Clew, tenant: str):
    node = lg.IsolatingToolNode([broken, query_knowledge_base], engine.tool_results)
    graph = _graph(
        node, engine.tenant(tenant).checkpointer,
        ("broken", {"question": "q"}), ("broken", {"wrong": 1}), ("unknown", {}),
        ("query_knowledge_base", {"question": "q"}),
    )  # fmt: skip
    failed, wrong, unknown, found = await _results(graph)
    assert (failed.status, wrong.status, unknown.status, found.status) == ("error", "error", "error", "success")
    assert "ValueError" in failed.text
    assert count(failed.text) <= 100
    kept = await engine.tool_results.get_tool_result("call-0", tenant_id=tenant)
    assert kept.startswith("ValueError: the database said: no such table")
    assert len(kept) > 10_000
    assert "question" in wrong.text
    assert "unknown" in unknown.text


async def test_calls_of_one_message_run_at_the_same_time(engine: Clew, tenant: str):
    both = asyncio.Barrier(2)

    async def meet(name: str) -> str:
        """Wait for the other."""
        await asyncio.wait_for(both.wait(), 10)
        return name

    node = lg.IsolatingToolNode([meet], engine.tool_results)
    graph = _graph(node, engine.tenant(tenant).checkpointer, ("meet", {"name": "a"}), ("meet", {"name": "b"}))
    assert [m.text for m in await _results(graph)] == ["a", "b"]


async def test_whoever_watches_gets_the_full_result_before_the_state_gets_the_light_one(engine: Clew, tenant: str):
    seen: list[dict[str, Any]] = []
    happened: list[str] = []

    async def watch(full: dict[str, Any]) -> None:
        seen.append(full)
        happened.append("watched")

    node = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results, watch=watch)
    graph = _graph(node, engine.tenant(tenant).checkpointer, ("query_knowledge_base", {"question": "q"}))
    async for step in graph.astream({"messages": [HumanMessage("go")]}, _on(), stream_mode="updates"):
        happened += step
    assert happened == ["model", "watched", "tools"]
    call = {"tool": "query_knowledge_base", "args": {"question": "q"}, "tool_call_id": "call-0"}
    assert seen == [{**call, "tenant_id": tenant, "thread_id": "t", "result": FINDINGS}]


async def test_a_watcher_that_fails_changes_nothing(engine: Clew, tenant: str):
    def watch(full: dict[str, Any]) -> None:
        raise RuntimeError("nobody is watching")

    node = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results, watch=watch)
    graph = _graph(node, engine.tenant(tenant).checkpointer, ("query_knowledge_base", {"question": "q"}))
    assert "artifact art_" in (await _results(graph))[0].text


async def test_full_results_may_be_noted_in_other_fields_of_the_state(engine: Clew, tenant: str):
    def note(returned: lg.Returned) -> dict[str, Any] | None:
        if returned.tool == "short":
            return None
        return {"test_history": [{"name": returned.args["question"], "findings": len(returned.result)}]}

    node = lg.IsolatingToolNode([query_knowledge_base, short], engine.tool_results, note=note)
    calls = [
        ("query_knowledge_base", {"question": "a"}),
        ("short", {"question": "b"}),
        ("query_knowledge_base", {"question": "c"}),
    ]
    graph = _graph(node, engine.tenant(tenant).checkpointer, *calls)
    state = await graph.ainvoke({"messages": [HumanMessage("go")]}, _on())
    assert state["test_history"] == [{"name": "a", "findings": 40}, {"name": "c", "findings": 40}]
    assert [m.text[:4] for m in state["messages"][2:]] == ["[que", "yes", "[que"]


async def test_tools_still_get_what_langgraph_injects_and_may_command_the_graph(engine: Clew, tenant: str):
    @tool
    def look(state: Annotated[dict[str, Any], InjectedState], tool_call_id: str = "") -> Command[Any]:
        """Look at the state."""
        answer = ToolMessage(f"{len(state['messages'])} messages", tool_call_id="call-0")
        return Command(update={"app_url": "http://found", "messages": [answer]})

    node = lg.IsolatingToolNode([look], engine.tool_results)
    assert set(node.tools[0].tool_call_schema.model_fields) == {"tool_call_id"}
    graph = _graph(node, engine.tenant(tenant).checkpointer, ("look", {}))
    state = await graph.ainvoke({"messages": [HumanMessage("go")]}, _on())
    assert (state["app_url"], state["messages"][-1].text) == ("http://found", "2 messages")


async def test_a_heavy_artifact_of_a_tool_becomes_a_reference(engine: Clew, tenant: str):
    @tool(response_format="content_and_artifact")
    def screenshot() -> tuple[str, bytes]:
        """Take a screenshot."""
        return "taken", b"\x89PNG" * 5_000

    node = lg.IsolatingToolNode([screenshot], engine.tool_results)
    (taken,) = await _results(_graph(node, engine.tenant(tenant).checkpointer, ("screenshot", {})))
    assert (taken.text, taken.artifact["size"]) == ("taken", 20_000)
    kept = await engine.tool_results.get_tool_result(taken.artifact["artifact_id"], tenant_id=tenant)
    assert kept == b"\x89PNG" * 5_000


async def test_earlier_messages_are_recalled_by_the_model_itself(engine: Clew, tenant: str):
    node = lg.IsolatingToolNode([short], engine.tool_results, recall=engine.compactor)
    assert "recall_messages" in {one.name for one in node.tools}
    schema = next(one for one in node.tools if one.name == "recall_messages").tool_call_schema
    assert set(schema.model_json_schema()["properties"]) == {"query", "positions", "limit"}
    await engine.tenant(tenant).thread("t").append({"role": "user", "content": "The code word is heliotrope."})
    asking = _graph(node, engine.tenant(tenant).checkpointer, ("recall_messages", {"positions": "1"}))
    (recalled,) = await _results(asking)
    assert "heliotrope" in recalled.text
    (nothing,) = await _results(asking, _on("another thread"))
    assert "heliotrope" not in nothing.text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_langgraphs_own_agent_takes_it_as_its_tools(engine: Clew, tenant: str):
    class Asking(FakeMessagesListChatModel):
        bound: list[str] = []  # noqa: RUF012 - pydantic copies it

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            self.bound.extend(tool.name for tool in tools)
            return self

    calls = [{"id": f"call-{n}", "name": "query_knowledge_base", "args": {"question": "q"}} for n in range(2)]
    model = Asking(responses=[AIMessage("", tool_calls=calls), AIMessage("done")])
    node = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results)
    agent = create_react_agent(model, node, checkpointer=engine.tenant(tenant).checkpointer)
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _on())
    assert set(model.bound) == {"query_knowledge_base", *READ_BACK}
    assert [m.text[:24] for m in state["messages"][2:4]] == ["[query_knowledge_base] 4"] * 2
    assert await engine.tool_results.get_tool_result("call-1", tenant_id=tenant) == FINDINGS


async def test_a_graph_may_be_run_from_a_thread_without_await(engine: Clew, tenant: str):
    node = lg.IsolatingToolNode([query_knowledge_base], engine.tool_results)
    graph = _graph(node, engine.tenant(tenant).checkpointer, ("query_knowledge_base", {"question": "q"}))
    state = await asyncio.to_thread(graph.invoke, {"messages": [HumanMessage("go")]}, _on())
    assert "artifact art_" in state["messages"][-1].text


def test_without_an_event_loop_it_says_so(engine: Clew):
    node = lg.IsolatingToolNode([short], engine.tool_results)
    graph = _graph(node, None, ("short", {"question": "q"}))
    failed: list[BaseException] = []

    def run() -> None:
        try:
            graph.invoke({"messages": [HumanMessage("go")]})
        except InvalidInput as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "ainvoke" in str(failed[0])


@pytest.mark.parametrize("tools", [[3], ["short"], [None]])
def test_what_is_no_tool_is_refused(engine: Clew, tools: list[Any]):
    with pytest.raises(InvalidInput):
        lg.IsolatingToolNode(tools, engine.tool_results)


@pytest.mark.parametrize(
    "wrong", [{"watch": 3}, {"note": "x"}, {"summarise": 1}, {"max_tokens": 3}, {"tenant_id": "a/b"}]
)
def test_what_cannot_work_is_refused_before_a_tool_runs(engine: Clew, wrong: dict[str, Any]):
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        lg.IsolatingToolNode([short], engine.tool_results, **wrong)


def test_a_tool_may_not_take_the_name_of_one_that_follows_references(engine: Clew):
    @tool
    def read_artifact(artifact_id: str) -> str:
        """Something else."""
        return ""

    with pytest.raises(InvalidInput, match="read_artifact"):
        lg.IsolatingToolNode([read_artifact], engine.tool_results)

"""The graph: a model that thinks, tools that isolate, and a node that keeps the conversation short."""

from typing import Any

from langchain_core.messages import AIMessage, SystemMessage
from langgraph.graph import END, START, StateGraph

from browser_tester.model import ScriptedTester
from browser_tester.plan import TEST, checkout, told
from browser_tester.tools import Bench
from clew.context.compaction import Policy
from clew.integrations.langgraph import IsolatingToolNode, Returned, TestingState, compaction_node
from clew.messages import from_langchain
from clew.tokens import count_messages


def agent(bench: Bench, windows: list[int]) -> Any:
    """The compiled graph; `windows` gets how many tokens each request to the model had."""
    tools = IsolatingToolNode(
        bench.tools(),
        bench.engine.tool_results,
        tenant_id=bench.tenant_id,
        summarise=in_short,
        note=noted,
        recall=bench.engine.compactor,
    )
    model = ScriptedTester().bind_tools(tools.tools)

    async def think(state: TestingState) -> dict[str, Any]:
        plan = checkout(state["app_url"])
        prompt = SystemMessage(told(plan, state["current_test"].get("done", 0)), id="plan")
        request = [prompt, *state["messages"]]
        windows.append(count_messages(from_langchain(request)))
        return {"messages": [await model.ainvoke(request)]}

    async def finish(state: TestingState) -> dict[str, Any]:
        bugs = [name for name, failure in state["failure_patterns"].items() if failure["kind"] == "bug"]
        return {"test_history": [{"name": TEST, "steps": len(bench.steps), "bugs": bugs}], "current_test": None}

    graph = StateGraph(TestingState)
    graph.add_node("think", think)
    graph.add_node("tools", tools)
    # Small numbers, to see it happen in a short run.
    policy = Policy(threshold_messages=12, keep_recent=6)
    graph.add_node("compact", compaction_node(bench.engine.sessions, policy=policy, references=True))
    graph.add_node("finish", finish)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", _calls_tools, {True: "tools", False: "finish"})
    graph.add_edge("tools", "compact")
    graph.add_edge("compact", "think")
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=bench.engine.tenant(bench.tenant_id).checkpointer)


def in_short(result: Any) -> str | None:
    """What a model needs to know of a step; the node adds where the rest is."""
    if not isinstance(result, dict) or "bug" in result:
        return None
    said = "passed" if result["passed"] else f"failed: {result['error']}"
    if isinstance(result.get("seen"), list):
        said = f"{len(result['seen'])} elements, among them {', '.join(e['selector'] for e in result['seen'][:8])}"
    pictures = [ref["artifact_id"] for ref in result["_artifact_refs"] if ref["media_type"] == "image/png"]
    return f"{result['step']}: {said}; screenshot {', '.join(pictures)}"


def noted(returned: Returned) -> dict[str, Any] | None:
    """What a full result means for the state: references to its screenshots, progress, failures and what helped."""
    if returned.tool == "remember_fix":
        return {"healing_strategies": {returned.args["fix"]: {"for": returned.args["failure"]}}}
    if not isinstance(returned.result, dict):
        return None
    result = returned.result
    pictures = [ref for ref in result.get("_artifact_refs", ()) if ref["media_type"] == "image/png"]
    update: dict[str, Any] = {"screenshot_refs": pictures} if pictures else {}
    if "bug" in result:
        update["failure_patterns"] = {result["bug"]["title"]: {"kind": "bug", **result["bug"]}}
    elif not result["passed"]:
        update["failure_patterns"] = {result["error"]: {"kind": "step", "step": result["step"]}}
    if result["passed"] and result["plan_step"]:
        update["current_test"] = {"name": TEST, "done": result["plan_step"]}
    if isinstance(result.get("seen"), list):
        update["discovered_elements"] = [element for element in result["seen"] if element["visible"]]
    return update


def _calls_tools(state: TestingState) -> bool:
    last = state["messages"][-1]
    return isinstance(last, AIMessage) and bool(last.tool_calls)

"""`clew.integrations.langgraph`: states that stay light, a tool node that isolates, a node that compacts."""

import base64
import json
import re
from typing import Annotated, Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph

import clew
from clew import tokens
from clew.integrations.langgraph import (
    IsolatingToolNode,
    LightState,
    TestingState,
    append_bounded,
    append_unique,
    check_light,
    compaction_node,
    merge_by,
    merge_counted,
    pinned,
)

from .test_isolate_tool import FINDINGS, reference
from .test_test_results import LOG, SHOT

TestingState.__test__ = False  # type: ignore[attr-defined]

FIELDS = {
    "messages",
    "current_test",
    "test_history",
    "screenshot_refs",
    "failure_patterns",
    "healing_strategies",
    "app_url",
    "discovered_elements",
}
B64 = base64.b64encode(SHOT).decode()


async def search(query: str) -> list[dict[str, Any]]:
    """Search the reports."""
    return FINDINGS


def small(query: str) -> str:
    """Look up something small."""
    return "ok"


async def broken(query: str) -> str:
    """Break."""
    raise ValueError("the service said 500")


def _calls(*names: str, prefix: str = "call") -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[{"id": f"{prefix}_{n}", "name": name, "args": {"query": "x"}} for n, name in enumerate(names, 1)],
    )


def _graph(state: Any, checkpointer: Any, **nodes: Any) -> Any:
    """The nodes one after the other."""
    graph = StateGraph(state)
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(checkpointer=checkpointer)


def _config(thread_id: str, **more: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id, **more}}


def _says(update: dict[str, Any]) -> Any:
    async def node(state: Any) -> dict[str, Any]:
        return update

    return node


# ---- TestingState


def test_the_promised_fields_each_with_a_reducer_of_its_own():
    hints = get_type_hints(TestingState, include_extras=True)
    assert set(hints) >= FIELDS
    for name in FIELDS:
        assert getattr(hints[name], "__metadata__", ()), f"{name} has no reducer"
    assert set(get_type_hints(LightState)) == {"messages"}


async def test_each_field_grows_as_it_should(engine, tenant, thread_id):
    updates = [
        {
            "app_url": "http://shop",
            "current_test": {"name": "login", "step": 1},
            "test_history": [{"name": "login", "passed": True}],
        },
        {"app_url": "http://shop/2", "current_test": {"step": 2}, "test_history": [{"name": "cart", "passed": False}]},
    ]
    checkpointer = engine.tenant(tenant).checkpointer
    agent = _graph(TestingState, checkpointer, one=_says(updates[0]), two=_says(updates[1]))
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    assert state["app_url"] == "http://shop/2"
    assert state["current_test"]["name"] == "login"
    assert state["current_test"]["step"] == 2
    assert [test["name"] for test in state["test_history"]] == ["login", "cart"]
    again = await agent.aget_state(_config(thread_id))
    assert again.values["test_history"] == state["test_history"]


async def test_screenshots_go_in_as_references(engine, tenant, thread_id):
    ref = await engine.artifacts.put(SHOT, media_type="image/png", tenant_id=tenant)
    light = await engine.artifacts.store_test_result({"shot": B64, "n": 1}, tenant_id=tenant)
    other = await engine.artifacts.store_test_result(
        {"shot": base64.b64encode(SHOT + b"\0").decode()}, tenant_id=tenant
    )
    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        one=_says({"screenshot_refs": [ref]}),
        two=_says({"screenshot_refs": light["_artifact_refs"]}),
        three=_says({"screenshot_refs": other["_artifact_refs"]}),
    )
    await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    state = (await agent.aget_state(_config(thread_id))).values
    said = json.dumps(state["screenshot_refs"], default=str)
    assert ref.artifact_id in said
    assert said.count(ref.artifact_id) == 1, "the same screenshot is one"
    assert len(state["screenshot_refs"]) == 2
    assert len(said) < 20_000


HEAVY: dict[str, Any] = {
    "bytes": {"test_history": [{"name": "x", "shot": SHOT}]},
    "base64": {"test_history": [{"name": "x", "shot": B64}]},
    "a data URI": {"screenshot_refs": [{"artifact_id": "art_k3v5x2qa7bydm4zp", "url": f"data:image/png;base64,{B64}"}]},
    "a long text": {"current_test": {"name": "x", "dom": "word " * 5_000}},
    "a long message": {"messages": [HumanMessage("word " * 20_000)]},
    "base64 in a message": {
        "messages": [HumanMessage([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}"}}])]
    },
    "deep": {"failure_patterns": {"p": {"a": [{"b": {"c": B64}}]}}},
}


@pytest.mark.parametrize("update", HEAVY.values(), ids=HEAVY)
async def test_what_is_heavy_is_refused_and_the_thread_goes_on(engine, tenant, thread_id, update):
    async def node(state: Any) -> Any:
        return update if state["messages"][-1].content == "heavy" else {}

    agent = _graph(TestingState, engine.tenant(tenant).checkpointer, node=node)
    await agent.ainvoke({"messages": [HumanMessage("light")]}, _config(thread_id))
    with pytest.raises(clew.InvalidInput) as caught:
        await agent.ainvoke({"messages": [HumanMessage("heavy")]}, _config(thread_id))
    assert re.match(r"[\w.\[\]]*(shot|url|dom|content|b\.c)\b", str(caught.value)), "it says where"
    assert len(str(caught.value)) < 2_000
    state = await agent.ainvoke({"messages": [HumanMessage("light again")]}, _config(thread_id))
    assert state["messages"][-1].content == "light again"
    assert len(json.dumps((await agent.aget_state(_config(thread_id))).values, default=str)) < 20_000


def test_the_check_is_there_for_nodes_of_ones_own():
    with pytest.raises(clew.InvalidInput, match="my_field"):
        check_light({"a": [SHOT]}, "my_field")
    check_light({"a": ["short", 1, None, {"b": 2.5}]}, "my_field")


# ---- reducers


def test_reducers_do_what_the_table_says():
    assert append_bounded(most=3)([1, 2], [3, 4]) == [2, 3, 4]
    unique = append_unique("url")
    merged = unique([{"url": "a", "n": 1}, {"url": "b"}], [{"url": "a", "m": 2}, {"url": "c"}])
    assert merged == [{"url": "a", "n": 1, "m": 2}, {"url": "b"}, {"url": "c"}]
    by = merge_by("name")({}, {"x": {"a": 1}})
    by = merge_by("name")(by, [{"name": "x", "a": 2, "b": 3}])
    assert by["x"]["a"] == 2
    assert by["x"]["b"] == 3
    counted = merge_counted("name")
    state = counted(counted({}, {"x": {"why": "late"}}), {"x": {"why": "later"}})
    assert state["x"]["count"] == 2
    assert state["x"]["why"] == "later"


def test_reducers_change_nothing_that_they_are_given():
    old, new = [{"url": "a", "n": 1}], [{"url": "a", "m": 2}]
    append_unique("url")(old, new)
    assert old == [{"url": "a", "n": 1}]
    assert new == [{"url": "a", "m": 2}]


async def test_a_state_of_ones_own(engine, tenant, thread_id):
    class Crawl(LightState):
        visited: Annotated[list[dict], append_unique("url", most=2)]

    agent = _graph(
        Crawl,
        engine.tenant(tenant).checkpointer,
        one=_says({"visited": [{"url": "a"}, {"url": "b"}]}),
        two=_says({"visited": [{"url": "c"}, {"url": "a"}]}),
    )
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    assert len(state["visited"]) == 2
    assert {"url": "c"} in state["visited"]


async def test_messages_are_replaced_and_removed_by_id(engine, tenant, thread_id):
    agent = _graph(
        LightState,
        engine.tenant(tenant).checkpointer,
        one=_says({"messages": [HumanMessage("one", id="m1"), HumanMessage("two", id="m2")]}),
        two=_says({"messages": [HumanMessage("one again", id="m1"), RemoveMessage("m2"), RemoveMessage("never was")]}),
    )
    state = await agent.ainvoke({"messages": []}, _config(thread_id))
    assert [(message.id, message.content) for message in state["messages"]] == [("m1", "one again")]


# ---- the tool node


async def test_the_node_isolates_by_itself(engine, tenant, thread_id):
    tools = IsolatingToolNode([search, small], engine.tool_results)
    names = [tool.name for tool in tools.tools]
    assert names == ["search", "small", "read_artifact", "search_artifact", "list_artifacts"]
    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        think=_says({"messages": [_calls("search", "small")]}),
        tools=tools,
    )
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    big, little = state["messages"][-2:]
    assert isinstance(big, ToolMessage)
    assert big.content.startswith("[search] 15 findings")
    assert tokens.count(big.content) <= 100
    assert little.content == "ok"
    assert await engine.tool_results.get_tool_result("call_1", tenant_id=tenant) == FINDINGS
    saved = await engine.tenant(tenant).thread(thread_id).savings()
    assert clew.Savings.total(saved).isolated == 1


async def test_a_model_follows_the_reference_through_the_same_node(engine, tenant, thread_id):
    tools = IsolatingToolNode([search], engine.tool_results)

    async def follow(state: Any) -> dict[str, Any]:
        artifact_id = reference(state["messages"][-1].content)
        call = {"id": "call_9", "name": "search_artifact", "args": {"artifact_id": artifact_id, "query": "report-7"}}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        think=_says({"messages": [_calls("search")]}),
        tools=tools,
        follow=follow,
        again=tools,
    )
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    assert "report-7.pdf" in state["messages"][-1].content


async def test_an_error_becomes_the_message_that_answers_its_call(engine, tenant, thread_id):
    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        think=_says({"messages": [_calls("broken", "small", "no_such_tool")]}),
        tools=IsolatingToolNode([broken, small], engine.tool_results),
    )
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    failed, fine, unknown = state["messages"][-3:]
    assert "the service said 500" in failed.content
    assert failed.status == "error"
    assert fine.content == "ok"
    assert unknown.tool_call_id == "call_3"


async def test_whoever_watches_gets_each_full_result(engine, tenant, thread_id):
    seen: list[Any] = []

    async def watch(event: dict[str, Any]) -> None:
        seen.append(event)
        raise RuntimeError("the page is gone")

    def note(returned: Any) -> dict[str, Any]:
        return {"test_history": [{"name": returned.tool, "found": len(returned.result)}]}

    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        think=_says({"messages": [_calls("search")]}),
        tools=IsolatingToolNode([search], engine.tool_results, watch=watch, note=note),
    )
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    [event] = seen
    assert event["result"] == FINDINGS
    assert event["tool"] == "search"
    assert event["tool_call_id"] == "call_1"
    assert (event["tenant_id"], event["thread_id"]) == (tenant, thread_id)
    assert event["args"] == {"query": "x"}
    assert state["test_history"] == [{"name": "search", "found": 15}]
    assert state["messages"][-1].content.startswith("[search] ")


async def test_the_tenant_is_the_configured_one_and_a_node_of_one_tenant_refuses_every_other(engine, tenant, other):
    think = _says({"messages": [_calls("search")]})
    anybodys = _graph(
        TestingState, engine.sessions.checkpointer, think=think, tools=IsolatingToolNode([search], engine.tool_results)
    )
    await anybodys.ainvoke({"messages": [HumanMessage("go")]}, _config("t", tenant_id=tenant))
    assert await engine.tool_results.get_tool_result("call_1", tenant_id=tenant) == FINDINGS
    with pytest.raises(clew.NotFound):
        await engine.tool_results.get_tool_result("call_1", tenant_id=other)
    ours = IsolatingToolNode([search], engine.tool_results, tenant_id=tenant)
    agent = _graph(TestingState, engine.sessions.checkpointer, think=think, tools=ours)
    with pytest.raises(clew.InvalidInput):
        await agent.ainvoke({"messages": [HumanMessage("go")]}, _config("t", tenant_id=other))


async def test_a_tool_isolated_already_is_isolated_once(engine, tenant, thread_id):
    isolated = clew.isolate_tool(search, engine.tool_results, tenant_id=tenant)
    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        think=_says({"messages": [_calls("search")]}),
        tools=IsolatingToolNode([isolated], engine.tool_results),
    )
    state = await agent.ainvoke({"messages": [HumanMessage("go")]}, _config(thread_id))
    found = await engine.tool_results.get_tool_result(reference(state["messages"][-1].content), tenant_id=tenant)
    assert found == FINDINGS


# ---- the compaction node


def _said(count: int, start: int = 0) -> list[AnyMessage]:
    return [
        HumanMessage(
            f"Order {1_000 + n} from the depot in Lisbon is late, and nobody there can say why; please look into it.",
            id=f"h{n}",
        )
        if n % 2 == 0
        else AIMessage(
            f"I have opened a claim for order {1_000 + n} with the carrier, who has until Friday to answer it.",
            id=f"a{n}",
        )
        for n in range(start, start + count)
    ]


@pytest.mark.parametrize("kind", [LightState, MessagesState, TestingState], ids=lambda kind: kind.__name__)
async def test_the_node_replaces_older_messages_by_a_summary_and_all_are_recalled(engine, tenant, thread_id, kind):
    agent = _graph(kind, engine.tenant(tenant).checkpointer, compact=compaction_node(engine.sessions))
    state = await agent.ainvoke({"messages": _said(40)}, _config(thread_id))
    assert len(state["messages"]) <= 12
    assert [message.content for message in state["messages"][-10:]] == [message.content for message in _said(40)[-10:]]
    assert "1004" in str(state["messages"][0].content)
    thread = engine.tenant(tenant).thread(thread_id)
    rows = await thread.recall_messages(positions="1-40", limit=100)
    assert [row.message.text for row in rows] == [message.content for message in _said(40)]


async def test_below_the_threshold_the_node_changes_nothing(engine, tenant, thread_id):
    agent = _graph(LightState, engine.tenant(tenant).checkpointer, compact=compaction_node(engine.sessions))
    state = await agent.ainvoke({"messages": _said(20)}, _config(thread_id))
    assert [message.id for message in state["messages"]] == [message.id for message in _said(20)]


async def test_what_is_pinned_stays_and_calls_stay_with_their_results(engine, tenant, thread_id):
    said: list[AnyMessage] = [pinned(HumanMessage("Our account is 4711-X.", id="pin")), *_said(10)]
    for n in range(8):
        said += [
            _calls("search", prefix=f"c{n}"),
            ToolMessage(f"stock of {n} is {n * 7} units", tool_call_id=f"c{n}_1"),
            *_said(2, 10 + 2 * n),
        ]
    agent = _graph(LightState, engine.tenant(tenant).checkpointer, compact=compaction_node(engine.sessions))
    state = await agent.ainvoke({"messages": said}, _config(thread_id))
    left = state["messages"]
    assert len(left) < len(said)
    assert "pin" in [message.id for message in left]
    called = {call["id"] for message in left for call in getattr(message, "tool_calls", [])}
    assert called == {message.tool_call_id for message in left if isinstance(message, ToolMessage)}


async def test_a_summariser_that_is_no_good_changes_nothing(engine, tenant, thread_id):
    async def nothing(messages: list[dict[str, Any]]) -> str:
        return ""

    node = compaction_node(engine.sessions, write_summary=nothing)
    agent = _graph(LightState, engine.tenant(tenant).checkpointer, compact=node)
    state = await agent.ainvoke({"messages": _said(40)}, _config(thread_id))
    assert [message.content for message in state["messages"]] == [message.content for message in _said(40)]
    assert await engine.compactor.refusals(thread_id, tenant_id=tenant)


async def test_the_same_agent_runs_all_day(engine, tenant, thread_id):
    """A browser-testing agent, run after run: the state stays small, and any byte it ever saw is one call away."""

    async def browse(query: str) -> dict[str, Any]:
        """Run a test in the browser."""
        light = await engine.artifacts.store_test_result(
            {"run": query, "shot": B64, "console": LOG * 3}, tenant_id=tenant
        )
        return dict(light)

    async def think(state: Any) -> dict[str, Any]:
        last = state["messages"][-1]
        if isinstance(last, ToolMessage):
            return {"messages": [AIMessage(f"Seen after {len(state['messages'])} messages.")]}
        call = {"id": f"call_{last.content}", "name": "browse", "args": {"query": last.content}}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    tools = IsolatingToolNode([browse], engine.tool_results, recall=engine.compactor)
    assert "recall_messages" in [tool.name for tool in tools.tools]
    agent = _graph(
        TestingState,
        engine.tenant(tenant).checkpointer,
        think=think,
        tools=tools,
        answer=think,
        compact=compaction_node(engine.sessions),
    )
    sizes = []
    for run in range(14):
        state = await agent.ainvoke({"messages": [HumanMessage(f"run {run}")]}, _config(thread_id))
        sizes.append(sum(tokens.count(str(message.content)) for message in state["messages"]))
    assert max(sizes) < 4_000
    assert len(state["messages"]) <= 24
    rows = await engine.tenant(tenant).thread(thread_id).recall_messages(positions="1-8", limit=20)
    assert rows[0].message.text == "run 0"
    ids = {
        ref.artifact_id
        for ref in await engine.artifacts.list(tenant_id=tenant, limit=100)
        if ref.media_type == "image/png"
    }
    for artifact_id in ids:
        assert (await engine.artifacts.get(artifact_id, tenant_id=tenant)).data == SHOT
    assert ids

"""`TestingState`: every field takes updates in its own way, holds references only, and survives a checkpoint."""

import base64
import contextlib
import copy
import os
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from clew import Clew, InvalidInput
from clew.integrations import langgraph as lg

SCREENSHOT = os.urandom(3_000)
FILES = {
    "bytes": SCREENSHOT,
    "a bytearray": bytearray(SCREENSHOT),
    "base64": base64.b64encode(SCREENSHOT).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(SCREENSHOT).decode(),
    "base64 in lines": base64.encodebytes(SCREENSHOT).decode(),
    "a data URI": "see data:image/png;base64," + base64.b64encode(SCREENSHOT).decode(),
    "a small data URI": "data:image/gif;base64," + base64.b64encode(SCREENSHOT[:90]).decode(),
    "a whole page": "<p>word</p> " * 10_000,
}
REDUCERS: dict[str, tuple[Any, Any]] = {
    "messages": (lg.light_messages, [HumanMessage("hi", id="1")]),
    "test_history": (lg.append_bounded(), [{"name": "a"}]),
    "screenshot_refs": (lg.append_unique("artifact_id"), [{"artifact_id": "art_a"}]),
    "failure_patterns": (lg.merge_counted("pattern"), {"no #x": {"count": 1}}),
    "discovered_elements": (lg.merge_by("selector"), {"#x": {"tag": "a"}}),
    "current_test": (lg.current("name"), {"name": "a"}),
    "app_url": (lg.last_wins, "http://a"),
}


def _graph(state: type, node: Any, checkpointer: Any) -> Any:
    graph = StateGraph(state)
    graph.add_node("work", node)
    graph.add_edge(START, "work")
    graph.add_edge("work", END)
    return graph.compile(checkpointer=checkpointer)


def _on(thread_id: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id}}


def test_messages_are_added_replaced_and_removed():
    first = lg.light_messages([], [HumanMessage("a", id="1"), AIMessage("b", id="2")])
    second = lg.light_messages(first, [HumanMessage("A", id="1"), RemoveMessage(id="2"), AIMessage("c", id="3")])
    assert [m.content for m in second] == ["A", "c"]
    anew = lg.light_messages(second, [RemoveMessage(id=REMOVE_ALL_MESSAGES), SystemMessage("summary")])
    assert [m.content for m in anew] == ["summary"]


def test_removing_a_message_that_is_gone_already_changes_nothing():
    before = lg.light_messages([], [HumanMessage("a", id="1")])
    assert lg.light_messages(before, [RemoveMessage(id="9")]) == before
    assert lg.light_messages(before, [RemoveMessage(id="1")]) == []


def test_the_history_keeps_the_newest():
    append = lg.append_bounded(3)
    assert append([{"n": 1}, {"n": 2}], [{"n": 3}, {"n": 4}]) == [{"n": 2}, {"n": 3}, {"n": 4}]
    assert append([], {"n": 1}) == [{"n": 1}]


def test_a_reference_is_there_once_and_keeps_its_place():
    append = lg.append_unique("artifact_id", most=2)
    refs = append(
        [{"artifact_id": "art_a", "size": 1}], [{"artifact_id": "art_b"}, {"artifact_id": "art_a", "name": "x"}]
    )
    assert refs == [{"artifact_id": "art_a", "size": 1, "name": "x"}, {"artifact_id": "art_b"}]
    assert [ref["artifact_id"] for ref in append(refs, {"artifact_id": "art_c"})] == ["art_b", "art_c"]


def test_patterns_are_counted():
    merge = lg.merge_counted("pattern")
    once = merge({}, {"no #checkout": {"step": "checkout"}})
    again = merge(once, [{"pattern": "no #checkout", "fix": "by text"}, {"pattern": "slow", "count": 3}])
    assert again == {"no #checkout": {"step": "checkout", "fix": "by text", "count": 2}, "slow": {"count": 3}}


def test_elements_are_known_by_their_selector():
    merge = lg.merge_by("selector", most=2)
    known = merge({"#a": {"tag": "a"}, "#b": {"tag": "b"}}, [{"selector": "#a", "text": "Go"}])
    assert known == {"#b": {"tag": "b"}, "#a": {"tag": "a", "text": "Go"}}
    assert list(merge(known, {"#c": {"tag": "c"}})) == ["#a", "#c"]


def test_another_name_begins_another_test():
    update = lg.current("name")
    assert update({}, {"name": "a", "step": 1}) == {"name": "a", "step": 1}
    assert update({"name": "a", "step": 1, "x": 1}, {"step": 2}) == {"name": "a", "step": 2, "x": 1}
    assert update({"name": "a", "step": 2}, {"name": "b"}) == {"name": "b"}
    assert update({"name": "a"}, None) == {}


@pytest.mark.parametrize("file", FILES.values(), ids=FILES.keys())
@pytest.mark.parametrize("field", REDUCERS)
def test_no_field_takes_a_file(field, file):
    reducer, value = REDUCERS[field]
    hidden = (
        [HumanMessage("x", additional_kwargs={"shot": file})] if field == "messages" else {"name": "t", "x": [file]}
    )
    if field in ("failure_patterns", "discovered_elements"):
        hidden = {"#x": hidden}
    if field == "screenshot_refs":
        hidden = {"artifact_id": "art_b", **hidden}
    with pytest.raises(InvalidInput, match="belong in a state"):
        reducer(value, hidden)


@pytest.mark.parametrize("file", ["base64", "a data URI", "a small data URI", "base64 in lines"])
@pytest.mark.parametrize("kind", [HumanMessage, AIMessage, lambda content: ToolMessage(content, tool_call_id="1")])
def test_no_message_takes_a_file_as_words_as_a_block_or_as_an_argument(kind, file):
    for content in (FILES[file], [{"type": "image", "base64": FILES[file]}]):
        with pytest.raises(InvalidInput, match="belong in a state"):
            lg.light_messages([], [kind(content)])
    call = {"id": "1", "name": "upload", "args": {"file": FILES[file]}}
    with pytest.raises(InvalidInput, match="belong in a state"):
        lg.light_messages([], [AIMessage("", tool_calls=[call])])


def test_a_long_but_ordinary_message_is_taken():
    text = "The quick brown fox went to https://example.com/" + "a" * 500 + " and wrote this down. " * 1_000
    assert lg.light_messages([], [HumanMessage(text)])[0].content == text


def test_what_a_provider_signed_is_taken():
    block = {"type": "thinking", "thinking": "Hm", "signature": FILES["base64"]}
    assert lg.light_messages([], [AIMessage([block])])[0].content == [block]


@pytest.mark.parametrize("field", REDUCERS)
def test_an_update_leaves_the_old_value_as_it_was(field):
    reducer, value = REDUCERS[field]
    before = copy.deepcopy(value)
    reducer(value, {"messages": [AIMessage("b")], "app_url": "http://b"}.get(field, copy.deepcopy(value)))
    assert value == before


HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.just("\0")
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(REDUCERS)), HOSTILE)
def test_whatever_is_written_a_reducer_takes_it_or_says_what_is_wrong(field, update):
    reducer, value = REDUCERS[field]
    with contextlib.suppress(InvalidInput):
        reducer(value, update)


@pytest.mark.parametrize("most", [0, -1, "3", 10**9, None])
def test_a_bound_that_is_none_is_refused(most):
    for made in (lg.append_bounded, lambda m: lg.append_unique("x", m), lambda m: lg.merge_by("x", m)):
        with pytest.raises(InvalidInput):
            made(most)


async def test_the_state_comes_back_from_a_checkpoint_as_it_was(engine: Clew, tenant: str):
    update = {
        "messages": [AIMessage("", tool_calls=[{"id": "1", "name": "click", "args": {"selector": "#x"}}]),
                     ToolMessage("failed (full result: artifact art_aaaaaaaaaaaaaaaa)", tool_call_id="1")],
        "app_url": "http://127.0.0.1:1/",
        "current_test": {"name": "checkout", "step": 4},
        "test_history": [{"name": "login", "passed": True}],
        "screenshot_refs": [{"artifact_id": "art_aaaaaaaaaaaaaaaa", "media_type": "image/png", "size": 3}],
        "failure_patterns": {"no element matches": {"selector": "#x"}},
        "healing_strategies": {"by text": {"selector": "text=X"}},
        "discovered_elements": [{"selector": "#y", "tag": "button"}],
    }  # fmt: skip

    async def work(state: Any) -> dict[str, Any]:
        return update

    graph = _graph(lg.TestingState, work, engine.tenant(tenant).checkpointer)
    said = await graph.ainvoke({"messages": [HumanMessage("test it")]}, _on("t"))
    another = _graph(lg.TestingState, work, engine.tenant(tenant).checkpointer)
    assert (await another.aget_state(_on("t"))).values == said
    assert said["failure_patterns"] == {"no element matches": {"selector": "#x", "count": 1}}
    again = await another.ainvoke({"messages": [HumanMessage("again")]}, _on("t"))
    assert again["failure_patterns"]["no element matches"]["count"] == 2
    assert again["healing_strategies"]["by text"]["count"] == 2
    assert (len(again["screenshot_refs"]), len(again["test_history"]), len(again["messages"])) == (1, 2, 4)


async def test_two_nodes_of_one_step_may_write_the_same_field(engine: Clew, tenant: str):
    graph = StateGraph(lg.TestingState)
    for name in ("left", "right"):
        graph.add_node(name, lambda state, name=name: {"test_history": [{"name": name}], "app_url": f"http://{name}"})
        graph.add_edge(START, name)
    done = await graph.compile(checkpointer=engine.tenant(tenant).checkpointer).ainvoke({"messages": []}, _on("t"))
    assert {one["name"] for one in done["test_history"]} == {"left", "right"}


async def test_a_file_never_reaches_the_state_and_the_thread_goes_on(engine: Clew, tenant: str):
    async def work(state: Any) -> dict[str, Any]:
        return {"current_test": {"shot": FILES["base64"] if state["messages"][-1].content == "bad" else "art_a"}}

    graph = _graph(lg.TestingState, work, engine.tenant(tenant).checkpointer)
    await graph.ainvoke({"messages": [HumanMessage("good")]}, _on("t"))
    with pytest.raises(InvalidInput, match=r"update\.shot: .* base64 .* artifact store"):
        await graph.ainvoke({"messages": [HumanMessage("bad")]}, _on("t"))
    done = await graph.ainvoke({"messages": [HumanMessage("good again")]}, _on("t"))
    assert [message.content for message in done["messages"]] == ["good", "bad", "good again"]
    history = [step.values async for step in graph.aget_state_history(_on("t")) if not step.next]
    assert [values["current_test"] for values in history] == [{"shot": "art_a"}, {"shot": "art_a"}]


async def test_ones_own_state_is_built_on_the_base(engine: Clew, tenant: str):
    class Visits(lg.LightState):
        visited: Annotated[list[dict[str, Any]], lg.append_unique("url", most=2)]

    async def work(state: Any) -> dict[str, Any]:
        return {"visited": [{"url": message.content} for message in state["messages"]]}

    graph = _graph(Visits, work, engine.tenant(tenant).checkpointer)
    for url in ("a", "b", "a", "c"):
        done = await graph.ainvoke({"messages": [HumanMessage(url)]}, _on("t"))
    assert done["visited"] == [{"url": "b"}, {"url": "c"}]


async def test_older_checkpoints_may_be_dropped(engine: Clew, tenant: str):
    checkpointer = engine.tenant(tenant).checkpointer
    graph = _graph(lg.TestingState, lambda state: {"test_history": [{"n": 1}]}, checkpointer)
    for _ in range(3):
        await graph.ainvoke({"messages": [HumanMessage("go")]}, _on("t"))
    await checkpointer.aprune(["t"])
    kept = [step async for step in graph.aget_state_history(_on("t"))]
    assert len(kept) == 1
    assert len(kept[0].values["test_history"]) == 3

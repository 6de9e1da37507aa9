"""`compaction_node`: the state's messages stay few, and every one that left is found again."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages

from clew import InvalidInput, SessionStore
from clew.context.compaction import Policy
from clew.context.compactor import Compactor
from clew.integrations.langgraph import LightState, compaction_node, pinned

POLICY = Policy(threshold_messages=12, keep_recent=6)
STATES = pytest.mark.parametrize("state", [LightState, MessagesState])


def _on(thread_id: str = "t", **more: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id, **more}}


CHAT = "Thank you for looking into this so quickly, the team here is glad about every bit of help it can get. " * 3


def _turn(number: int) -> list[AnyMessage]:
    """A question, a call, its result, and an answer, with one detail worth keeping and many words around it."""
    call = {"id": f"call-{number}", "name": "price_of", "args": {"order": 1000 + number}}
    return [
        HumanMessage(f"What about order {1000 + number}? {CHAT}"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(f"order {1000 + number} is on its way. {CHAT}", tool_call_id=f"call-{number}"),
        AIMessage(f"Order {1000 + number} is on its way, as the warehouse says. {CHAT}"),
    ]


def _graph(sessions: SessionStore, tenant: str, state: type = LightState, **options: Any) -> Any:
    """A graph that takes in what it is given, and compacts."""
    graph = StateGraph(state)
    graph.add_node("compact", compaction_node(sessions, **{"policy": POLICY, **options}))
    graph.add_edge(START, "compact")
    graph.add_edge("compact", END)
    return graph.compile(checkpointer=sessions.checkpointer_for(tenant))


async def _run(graph: Any, turns: range, config: dict[str, Any] | None = None) -> list[AnyMessage]:
    said: list[AnyMessage] = []
    for number in turns:
        state = await graph.ainvoke({"messages": _turn(number)}, config or _on())
        said = state["messages"]
    return said


def _is_whole(messages: list[AnyMessage]) -> bool:
    """Whether every result follows its call, and every call has its result."""
    waiting: set[str] = set()
    for message in messages:
        if isinstance(message, AIMessage):
            waiting |= {call["id"] for call in message.tool_calls}
        elif isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
    return not waiting


@STATES
async def test_older_messages_become_a_summary_and_the_newest_stay(sessions: SessionStore, tenant: str, state: type):
    graph = _graph(sessions, tenant, state)
    messages = await _run(graph, range(10))
    assert len(messages) <= POLICY.threshold_messages + 1
    assert messages[0].text.startswith("[Summary of messages 1-")
    assert "1003" in messages[0].text
    assert [m.text for m in messages[-4:]] == [m.text for m in _turn(9)]
    assert _is_whole(messages)


async def test_a_short_conversation_stays_as_it_is(sessions: SessionStore, tenant: str):
    messages = await _run(_graph(sessions, tenant), range(3))
    assert [m.text for m in messages] == [m.text for number in range(3) for m in _turn(number)]


async def test_every_message_that_left_is_recalled_word_for_word(sessions: SessionStore, tenant: str):
    messages = await _run(_graph(sessions, tenant), range(10))
    said = [m.text for number in range(10) for m in _turn(number)]
    compactor = Compactor(sessions)
    recalled = await compactor.recall_messages("t", positions="1-40", tenant_id=tenant)
    assert [row.message.text for row in recalled] == said
    found = await compactor.recall_messages("t", '"order 1002"', tenant_id=tenant, limit=3)
    assert all("order 1002" in row.message.text.lower() for row in found)
    assert "order 1000" not in "".join(m.text for m in messages[1:]), "and it had left"


async def test_nothing_is_logged_twice_when_a_node_runs_again(sessions: SessionStore, tenant: str):
    node = compaction_node(sessions, policy=POLICY, tenant_id=tenant)
    messages = [m.model_copy(update={"id": f"m{i}"}) for i, m in enumerate(_turn(1) + _turn(2))]
    for _ in range(3):
        assert await node({"messages": messages}, _on()) == {}
    assert len(await sessions.read("t", 100, tenant_id=tenant)) == 8
    changed = [messages[0].model_copy(update={"content": "What about order 77?"}), *messages[1:]]
    assert await node({"messages": changed}, _on()) == {}
    rows = await sessions.read("t", 100, tenant_id=tenant)
    assert [row.message.text for row in rows][-1] == "What about order 77?"
    assert len(rows) == 9


async def test_pinned_messages_and_the_system_prompt_never_leave(sessions: SessionStore, tenant: str):
    graph = _graph(sessions, tenant)
    rule = pinned(HumanMessage("Never ship to Porto before Friday.", id="rule"))
    await graph.ainvoke({"messages": [SystemMessage("You run a warehouse."), *_turn(90), rule]}, _on())
    messages = await _run(graph, range(20))
    assert messages[0].text == "You run a warehouse."
    assert messages[1].text.startswith("[Summary of messages")
    assert messages[2] == rule
    assert len(messages) <= POLICY.threshold_messages + 3
    assert len(await sessions.read("t", 1000, tenant_id=tenant)) == 86, "and it was logged once"


async def test_a_call_that_waits_for_its_result_stays_with_what_was_answered_beside_it(
    sessions: SessionStore, tenant: str
):
    node = compaction_node(sessions, policy=Policy(threshold_messages=4, keep_recent=1), tenant_id=tenant)
    calls = [{"id": id, "name": "price_of", "args": {"order": 1}} for id in ("quick", "slow")]
    history = [m.model_copy(update={"id": f"m{n}-{i}"}) for n in range(3) for i, m in enumerate(_turn(n))]
    waiting = [AIMessage("", tool_calls=calls, id="asked"), ToolMessage("3 EUR", tool_call_id="quick", id="answered")]
    update = await node({"messages": [*history, *waiting]}, _on())
    assert update["messages"][1].text.startswith("[Summary of messages 1-12]")
    assert [m.id for m in update["messages"][2:]] == ["asked", "answered"]


class Failing(Exception):
    pass


async def _raises(messages: list[dict[str, Any]]) -> str:
    raise Failing


async def _says(text: str, messages: list[dict[str, Any]]) -> str:
    return text


BAD: dict[str, Callable[..., Any]] = {
    "fails": _raises,
    "says nothing": lambda messages: _says(" \n", messages),
    "drops the numbers": lambda messages: _says("Topics:\n- some orders were looked at", messages),
    "says more": lambda messages: _says("Key facts:\n" + "- and then order 1000 was looked at\n" * 3_000, messages),
}


@pytest.mark.parametrize("model", BAD.values(), ids=BAD.keys())
async def test_a_summary_that_is_no_good_changes_nothing_and_the_reason_is_recorded(
    sessions: SessionStore, tenant: str, model: Any
):
    messages = await _run(_graph(sessions, tenant, write_summary=model), range(5))
    assert [m.text for m in messages] == [m.text for number in range(5) for m in _turn(number)]
    assert await Compactor(sessions).refusals("t", tenant_id=tenant)


async def test_a_good_summary_of_a_model_counts_and_one_that_was_refused_is_not_asked_for_at_every_step(
    sessions: SessionStore, tenant: str
):
    asked: list[int] = []

    async def model(messages: list[dict[str, Any]]) -> str:
        asked.append(len(messages))
        said = [m["content"] for m in messages[:-1] if isinstance(m.get("content"), str)]
        return (
            "" if len(asked) == 1 else "Key facts:\n" + "\n".join(f"- {text}" for text in said if "on its way" in text)
        )

    lenient = Policy(threshold_messages=12, keep_recent=6, keep_share=0.3)
    graph = _graph(sessions, tenant, write_summary=model, policy=lenient)
    await _run(graph, range(4))
    assert len(asked) == 1
    for number in range(2):
        await graph.ainvoke({"messages": [HumanMessage(f"and {number}?")]}, _on())
    assert len(asked) == 1
    messages = await _run(graph, range(4, 6))
    assert len(asked) == 2
    assert "Order 1000 is on its way" in messages[0].text


async def test_references_are_shown_only_where_they_can_be_followed(sessions: SessionStore, tenant: str):
    without = await _run(_graph(sessions, tenant), range(5), _on("without"))
    with_them = await _run(_graph(sessions, tenant, references=True), range(5), _on("with"))
    assert "recall_messages" not in without[0].text
    assert "recall_messages" in with_them[0].text


async def test_old_results_are_cleared_first_when_it_is_tokens_that_are_too_many(sessions: SessionStore, tenant: str):
    policy = Policy(threshold_messages=50, keep_recent=4, threshold_tokens=2_000)
    graph = _graph(sessions, tenant, policy=policy, references=True)
    call = {"name": "read_page", "args": {}}
    for number in range(6):
        page = f"page {number} says " + "something about the warehouse in Lisbon. " * 60
        asked = AIMessage("", tool_calls=[{**call, "id": f"c{number}"}])
        state = await graph.ainvoke({"messages": [asked, ToolMessage(page, tool_call_id=f"c{number}")]}, _on())
    stubs = [m for m in state["messages"] if m.text.startswith("[result of read_page cleared")]
    assert len(stubs) >= 2
    assert state["messages"][-1].text == page
    assert _is_whole(state["messages"])
    recalled = await Compactor(sessions).recall_messages("t", positions="2", tenant_id=tenant)
    assert recalled[0].message.text.startswith("page 0 says")
    again = await graph.ainvoke({"messages": [HumanMessage("and?")]}, _on())
    assert len(await sessions.read("t", 100, tenant_id=tenant)) == 13, "a stub is not logged as if it were a message"
    assert _is_whole(again["messages"])


async def test_an_older_checkpoint_brings_its_own_messages_back(sessions: SessionStore, tenant: str):
    graph = _graph(sessions, tenant)
    await _run(graph, range(10))
    early = [s async for s in graph.aget_state_history(_on()) if len(s.values["messages"]) == 8 and not s.next]
    branch = await graph.ainvoke({"messages": [HumanMessage("Another way, please.")]}, early[-1].config)
    assert [m.text for m in branch["messages"]] == [
        *(m.text for n in range(2) for m in _turn(n)),
        "Another way, please.",
    ]
    for number in range(50, 54):
        branch = await graph.ainvoke({"messages": _turn(number)}, _on())
    assert "1009" not in "".join(m.text for m in branch["messages"]), "what the other branch said stays with it"
    assert branch["messages"][0].text.startswith("[Summary of messages 1-")
    assert _is_whole(branch["messages"])


async def test_the_tenant_and_the_thread_come_with_the_configuration(
    sessions: SessionStore, tenant: str, other_tenant: str
):
    node = compaction_node(sessions, policy=POLICY)
    await node({"messages": [HumanMessage("ours", id="1")]}, _on(tenant_id=tenant))
    await node({"messages": [HumanMessage("theirs", id="1")]}, _on(tenant_id=other_tenant))
    assert [row.message.text for row in await sessions.read("t", tenant_id=tenant)] == ["ours"]
    bound = compaction_node(sessions, policy=POLICY, tenant_id=tenant)
    with pytest.raises(InvalidInput, match="another tenant"):
        await bound({"messages": [HumanMessage("theirs", id="1")]}, _on(tenant_id=other_tenant))
    with pytest.raises(InvalidInput, match="thread_id"):
        await node({"messages": [HumanMessage("x", id="1")]}, {"configurable": {}})


@pytest.mark.parametrize(
    "place",
    [{"tenant_id": bad, "thread_id": "t"} for bad in ("", "a/b", 3, "a\0", "x" * 500, ["a"])]
    + [{"thread_id": bad} for bad in ("", "a\0", "x" * 300, "\ud800")],
    ids=repr,
)
async def test_a_place_that_is_none_is_refused(sessions: SessionStore, place: dict[str, Any]):
    with pytest.raises(InvalidInput):
        await compaction_node(sessions)({"messages": [HumanMessage("x", id="1")]}, {"configurable": place})


async def test_messages_without_ids_are_refused(sessions: SessionStore, tenant: str):
    with pytest.raises(InvalidInput, match=r"messages\[0\]: has no id"):
        await compaction_node(sessions, tenant_id=tenant)({"messages": [HumanMessage("x")]}, _on())


async def test_many_threads_at_once_do_not_mix(sessions: SessionStore, tenant: str):
    graph = _graph(sessions, tenant)
    done = await asyncio.gather(*(_run(graph, range(n, n + 5), _on(f"t{n}")) for n in range(0, 50, 10)))
    for number, messages in zip(range(0, 50, 10), done, strict=True):
        assert messages[-1].text == _turn(number + 4)[-1].text
        assert f"{1000 + number}" in messages[0].text


_threads = itertools.count(1)
WORDS = st.sampled_from(["order 17 costs 3 EUR", "never ship on Sunday", "thank you", "see /var/log/app.log", CHAT, ""])
CALLS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)
DAMAGED = st.one_of(
    st.builds(HumanMessage, WORDS),
    st.builds(lambda text: pinned(HumanMessage(text)), WORDS),
    st.builds(SystemMessage, WORDS),
    st.builds(
        lambda text, ids: AIMessage(text, tool_calls=[{"id": id, "name": "price_of", "args": {}} for id in ids]),
        WORDS,
        CALLS,
    ),
    st.builds(lambda text, id: ToolMessage(text, tool_call_id=id), WORDS, st.sampled_from(["a", "b", "c", "d"])),
)


@given(st.lists(st.lists(DAMAGED, min_size=1, max_size=6), min_size=3, max_size=8))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_pin_is_lost_no_result_is_orphaned_and_every_message_is_recalled(
    sessions: SessionStore, turns: list[list[AnyMessage]]
):
    node = compaction_node(sessions, policy=Policy(threshold_messages=6, keep_recent=3), tenant_id="langgraph-any")
    config, state, said = _on(f"any-{next(_threads)}"), [], {}
    for number, turn in enumerate(turns):
        added = [message.model_copy(update={"id": f"{number}-{index}"}) for index, message in enumerate(turn)]
        said |= {message.id: message for message in added}
        state = add_messages(state, added)
        update = await node({"messages": state}, config)
        if update:
            state = add_messages(state, update["messages"])
            calls = {call["id"] for m in state if isinstance(m, AIMessage) for call in m.tool_calls}
            assert all(m.tool_call_id in calls for m in state if isinstance(m, ToolMessage))
    kept = {message.id for message in state}
    stay = {id for id, m in said.items() if isinstance(m, SystemMessage) or m.additional_kwargs.get("pinned")}
    assert stay <= kept
    rows = await sessions.read(config["configurable"]["thread_id"], 1_000, tenant_id="langgraph-any")
    assert {row.message.id: row.message.text for row in rows} == {id: message.text for id, message in said.items()}

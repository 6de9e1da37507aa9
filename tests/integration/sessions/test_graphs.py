"""Graphs compiled with the checkpointer: they resume, travel in time, stop and go on, and don't bloat."""

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, interrupt

from clew import Database
from clew.sessions import SessionStore
from clew.sessions.state import SessionState

from .conftest import echo_graph, on, texts, user

STATES = pytest.mark.parametrize("state", [MessagesState, SessionState])


async def say(graph: Any, config: dict[str, Any], *said: str) -> list[str]:
    for text in said:
        state = await graph.ainvoke({"messages": [user(text)]}, config)
    return [message.content for message in state["messages"]]


async def size_of(database: Database, tenant: str, thread: str) -> int:
    async with database.tenant(tenant) as connection:
        total = 0
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            row = await connection.execute(
                f"SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM clew_lg_00.{table} t WHERE thread_id = %s",
                [f"{tenant}/{thread}"],
            )
            total += (await row.fetchone())[0]
    return total


@STATES
async def test_a_conversation_goes_on_where_it_was(store: SessionStore, tenant: str, state: type):
    await say(echo_graph(state, store.checkpointer_for(tenant)), on("t"), "a", "b")
    another = echo_graph(state, SessionStore(store._database).checkpointer_for(tenant))
    assert await say(another, on("t"), "c") == ["a", "1: a", "b", "3: b", "c", "5: c"]


@STATES
async def test_the_tenant_may_come_with_every_call(store: SessionStore, tenant: str, other_tenant: str, state: type):
    graph = echo_graph(state, store.checkpointer)
    await say(graph, on("t", tenant_id=tenant), "a", "b")
    await say(graph, on("t", tenant_id=other_tenant), "x")
    assert len((await graph.aget_state(on("t", tenant_id=tenant))).values["messages"]) == 4
    assert len((await graph.aget_state(on("t", tenant_id=other_tenant))).values["messages"]) == 2
    assert (await graph.aget_state(on("t"))).values == {}


@STATES
async def test_what_history_returns_can_be_used_as_it_is(store: SessionStore, tenant: str, state: type):
    graph = echo_graph(state, store.checkpointer)
    config = on("t", tenant_id=tenant)
    await say(graph, config, "a", "b")
    history = [snapshot async for snapshot in graph.aget_state_history(config)]
    assert {snapshot.config["configurable"]["thread_id"] for snapshot in history} == {"t"}
    early = next(s for s in history if len(s.values.get("messages", ())) == 2 and not s.next)
    assert len((await graph.aget_state(early.config)).values["messages"]) == 2
    assert await say(graph, early.config, "other") == ["a", "1: a", "other", "3: other"]
    await graph.aupdate_state(config, {"messages": [AIMessage("by hand")]})
    assert (await graph.aget_state(config)).values["messages"][-1].content == "by hand"


async def test_a_graph_that_stops_for_a_person_goes_on_with_the_answer(store: SessionStore, tenant: str):
    async def ask(state: SessionState) -> dict[str, Any]:
        return {"messages": [AIMessage(interrupt("really?"))]}

    graph = StateGraph(SessionState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    compiled = graph.compile(checkpointer=store.checkpointer_for(tenant))
    stopped = await compiled.ainvoke({"messages": [user("delete it")]}, on("t"))
    assert stopped["__interrupt__"][0].value == "really?"
    done = await compiled.ainvoke(Command(resume="yes"), on("t"))
    assert [message.content for message in done["messages"]] == ["delete it", "yes"]


async def test_messages_can_be_replaced_and_removed(store: SessionStore, tenant: str):
    graph = echo_graph(SessionState, store.checkpointer_for(tenant))
    await say(graph, on("t"), "a", "b")
    first = (await graph.aget_state(on("t"))).values["messages"][0]
    await graph.aupdate_state(on("t"), {"messages": [HumanMessage("A", id=first.id)]})
    assert (await graph.aget_state(on("t"))).values["messages"][0].content == "A"
    await graph.aupdate_state(on("t"), {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), AIMessage("summary")]})
    assert await say(graph, on("t"), "c") == ["summary", "c", "2: c"]


async def test_storage_grows_in_step_with_the_conversation_and_nothing_is_missing(
    database: Database, store: SessionStore, tenant: str
):
    graph = echo_graph(SessionState, store.checkpointer_for(tenant))
    sizes = []
    for turn in range(1, 81):
        await say(graph, on("t"), f"turn {turn}, with some words in it")
        if turn in (40, 80):
            sizes.append(await size_of(database, tenant, "t"))
    assert len((await graph.aget_state(on("t"))).values["messages"]) == 160
    assert sizes[1] <= 2.2 * sizes[0]
    assert len(await store.read("t", 500, tenant_id=tenant)) == 160, "with full copies on the way"


async def test_a_plain_channel_would_not_pass_that(database: Database, store: SessionStore, tenant: str):
    graph = echo_graph(MessagesState, store.checkpointer_for(tenant))
    sizes = []
    for turn in range(1, 41):
        await say(graph, on("t"), f"turn {turn}, with some words in it")
        if turn in (20, 40):
            sizes.append(await size_of(database, tenant, "t"))
    assert sizes[1] > 2.2 * sizes[0]


async def test_many_threads_at_once_do_not_mix(store: SessionStore, tenant: str):
    graph = echo_graph(SessionState, store.checkpointer_for(tenant))
    said = await asyncio.gather(*(say(graph, on(f"t{n}"), f"{n}a", f"{n}b") for n in range(20)))
    assert said == [[f"{n}a", f"1: {n}a", f"{n}b", f"3: {n}b"] for n in range(20)]


@STATES
async def test_the_methods_without_await_work_from_another_thread(store: SessionStore, tenant: str, state: type):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(state, checkpointer)
    await say(graph, on("t"), "a")

    def elsewhere() -> list[Any]:
        latest = checkpointer.get_tuple(on("t"))
        checkpointer.put_writes(latest.config, [("note", "x")], "task")
        checkpointer.copy_thread("t", "copy")
        copied = checkpointer.get_tuple(on("copy"))
        listed = list(checkpointer.list(on("t"), limit=2))
        history = checkpointer.get_delta_channel_history(config=latest.config, channels=["messages"])
        checkpointer.delete_for_runs(["nobody's"])
        checkpointer.delete_thread("copy")
        return [len(listed), copied.pending_writes[-1][1:], bool(history), checkpointer.get_tuple(on("copy"))]

    assert await asyncio.to_thread(elsewhere) == [2, ("note", "x"), True, None]
    with pytest.raises(asyncio.InvalidStateError):
        checkpointer.copy_thread("t", "copy")
    with pytest.raises(asyncio.InvalidStateError):
        checkpointer.get_tuple(on("t"))


@STATES
async def test_a_thread_that_only_a_graph_has_written_is_read_from_its_latest_checkpoint(
    store: SessionStore, tenant: str, state: type
):
    graph = echo_graph(state, store.checkpointer_for(tenant))
    await say(graph, on("t"), "a", "b")
    messages = await store.get_session_messages("t", tenant_id=tenant)
    assert [(m["role"], m["content"]) for m in messages] == [
        ("user", "a"), ("assistant", "1: a"), ("user", "b"), ("assistant", "3: b"),
    ]  # fmt: skip
    assert texts(await store.get_session_messages("t", 1, tenant_id=tenant)) == ["3: b"]
    rows = await store.read("t", tenant_id=tenant)
    assert [row.position for row in rows] == [1, 2, 3, 4]
    assert {row.source for row in rows} == {"checkpoint"}
    assert all(row.tokens > 0 and row.message_id for row in rows)
    await store.append("t", user("the log"), tenant_id=tenant)
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["the log"]


async def test_a_graph_without_messages_has_none_to_read(store: SessionStore, tenant: str):
    class Count(TypedDict):
        count: Annotated[int, lambda a, b: a + b]

    graph = StateGraph(Count)
    graph.add_node("one", lambda state: {"count": 1})
    graph.add_edge(START, "one")
    graph.add_edge("one", END)
    compiled = graph.compile(checkpointer=store.checkpointer_for(tenant))
    assert (await compiled.ainvoke({"count": 0}, on("t")))["count"] == 1
    assert await store.get_session_messages("t", tenant_id=tenant) == []


async def test_clearing_a_session_clears_its_checkpoints(store: SessionStore, tenant: str):
    graph = echo_graph(SessionState, store.checkpointer_for(tenant))
    await say(graph, on("t"), "a", "b")
    await say(graph, on("t/sub"), "kept")
    gone = await store.forget_session("t", tenant_id=tenant)
    assert (gone.messages, gone.checkpoints) == (0, 6)
    assert await store.get_session_messages("t", tenant_id=tenant) == []
    assert await say(graph, on("t"), "anew") == ["anew", "1: anew"]
    assert len(await store.get_session_messages("t/sub", tenant_id=tenant)) == 2

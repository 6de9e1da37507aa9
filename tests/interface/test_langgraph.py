"""`SessionStore.checkpointer` is LangGraph's own saver, and graphs compiled with it are remembered."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from .conftest import texts, user


async def _answer(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage(f"You said: {state['messages'][-1].content}")]}


@pytest.fixture(scope="module")
def graph(sessions) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("answer", _answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=sessions.checkpointer)


def _config(thread_id: str, **more: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id, **more}}


def test_it_is_an_async_postgres_saver(sessions):
    assert isinstance(sessions.checkpointer, AsyncPostgresSaver)


async def test_a_graph_remembers_between_two_turns(graph, thread_id):
    await graph.ainvoke({"messages": [user("hello")]}, _config(thread_id))
    state = await graph.ainvoke({"messages": [user("again")]}, _config(thread_id))
    assert [m.content for m in state["messages"]] == ["hello", "You said: hello", "again", "You said: again"]
    assert len([step async for step in graph.aget_state_history(_config(thread_id))]) >= 4


async def test_a_thread_that_only_a_graph_wrote_is_read_as_openai_messages(sessions, graph, thread_id):
    await graph.ainvoke({"messages": [user("hello")]}, _config(thread_id))
    found = await sessions.get_session_messages(thread_id)
    assert [(m["role"], m["content"]) for m in found] == [("user", "hello"), ("assistant", "You said: hello")]
    assert texts(await sessions.get_session_messages(thread_id, 1)) == ["You said: hello"]


async def test_clearing_forgets_what_the_graph_wrote(sessions, graph, thread_id):
    await graph.ainvoke({"messages": [user("hello")]}, _config(thread_id))
    assert (await graph.aget_state(_config(thread_id))).values
    await sessions.clear_session(thread_id)
    assert await sessions.get_session_messages(thread_id) == []
    assert (await graph.aget_state(_config(thread_id))).values == {}


async def test_two_tenants_with_one_thread_id_are_two_conversations(sessions, graph, tenant, other):
    await graph.ainvoke({"messages": [user("ours")]}, _config("same", tenant_id=tenant))
    assert (await graph.aget_state(_config("same", tenant_id=other))).values == {}
    assert await sessions.get_session_messages("same", tenant_id=other) == []
    await graph.ainvoke({"messages": [user("theirs")]}, _config("same", tenant_id=other))
    await sessions.clear_session("same", tenant_id=other)
    assert texts(await sessions.get_session_messages("same", tenant_id=tenant)) == ["ours", "You said: ours"]


async def test_a_thread_id_that_spells_another_tenant_opens_nothing(sessions, graph, tenant, other):
    await graph.ainvoke({"messages": [user("ours")]}, _config("same", tenant_id=tenant))
    for spelled in (f"{tenant}/same", f"../{tenant}/same", f"{tenant}:same"):
        assert (await graph.aget_state(_config(spelled, tenant_id=other))).values == {}
        assert await sessions.get_session_messages(spelled, tenant_id=other) == []


async def test_a_graph_may_be_run_from_a_thread_without_await_as_with_langgraphs_own_saver(sessions, thread_id):
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: {"messages": [AIMessage("yes")]})
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    agent = graph.compile(checkpointer=sessions.checkpointer)
    await asyncio.to_thread(agent.invoke, {"messages": [user("hello")]}, _config(thread_id))
    assert texts(await sessions.get_session_messages(thread_id)) == ["hello", "yes"]


async def test_once_something_is_appended_the_log_is_what_counts(sessions, graph, thread_id):
    await graph.ainvoke({"messages": [user("hello")]}, _config(thread_id))
    await sessions.append(thread_id, user("appended"))
    assert texts(await sessions.get_session_messages(thread_id))[-1] == "appended"


async def test_a_graphs_thread_compiles(engine, graph, thread_id):
    await graph.ainvoke({"messages": [user("hello from a graph")]}, _config(thread_id))
    made = await engine.context.compile_working_context("default", thread_id, {"description": "Go on"}, "Be brief")
    assert texts(made["messages"]) == ["hello from a graph", "You said: hello from a graph"]

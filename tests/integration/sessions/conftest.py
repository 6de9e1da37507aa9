"""A session store on the shared database, and a tenant of each test's own."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph

from clew import Database
from clew.sessions import SessionStore

_numbers = itertools.count(1)


@pytest.fixture
def tenant() -> str:
    return f"sessions-{next(_numbers)}"


@pytest.fixture
def other_tenant() -> str:
    return f"sessions-{next(_numbers)}"


@pytest.fixture
def store(database: Database) -> SessionStore:
    return SessionStore(database)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def texts(messages: Iterable[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages]


def echo_graph(state: type, checkpointer: Any) -> Any:
    """A graph that answers with what it was told and how many messages it has seen."""

    async def answer(state: Any) -> dict[str, Any]:
        seen = state["messages"]
        return {"messages": [AIMessage(f"{len(seen)}: {seen[-1].content}")]}

    graph = StateGraph(state)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer)


def on(thread_id: str, **more: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread_id, **more}}

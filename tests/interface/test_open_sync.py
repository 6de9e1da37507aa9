"""`clew.open_sync`: the same surface without `await`."""

import asyncio
import inspect
import threading

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

import clew
from clew.tokens import count_messages

from .conftest import entry, texts, user


@pytest.fixture(scope="module")
def engine(server, settings):
    with clew.open_sync(settings=settings) as engine:
        yield engine


def test_a_thread_is_appended_to_and_compiled(engine, tenant):
    thread = engine.tenant(tenant).thread("support-42")
    ids = thread.append(user("Q3 revenue was actually $5.2M, not $4.8M"))
    context = thread.compile(task={"description": "Draft the board note"}, system_prompt="…", model_tier="reasoning")
    assert [type(identifier) for identifier in ids] == [str]
    assert set(context.token_usage) == {"total", "system", "session", "memory", "task"}
    assert count_messages(context.messages) == context.token_usage["total"]
    assert context.to("anthropic") is not None
    assert context.manifest


def test_sessions_are_the_same_without_await(engine, tenant, thread_id):
    engine.sessions.append(thread_id, [user("one"), user("two")], tenant_id=tenant, idempotency_key="k")
    engine.sessions.append(thread_id, [user("one"), user("two")], tenant_id=tenant, idempotency_key="k")
    assert texts(engine.sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["one", "two"]
    assert texts(engine.sessions.get_session_messages(thread_id, 1, tenant_id=tenant)) == ["two"]
    assert engine.sessions.clear_session(thread_id, tenant_id=tenant) is None
    assert engine.sessions.get_session_messages(thread_id, tenant_id=tenant) == []


def test_memory_is_the_same_without_await(engine, tenant):
    stored = engine.memory.store(entry(tenant, "Ana prefers green tea"))
    batch = engine.memory.store_many([entry(tenant, "Bob prefers coffee")])
    assert (len(batch.stored), len(batch.failed)) == (1, 0)
    assert engine.memory.search(tenant, "green tea", 1)[0].memory_id == stored
    assert len(engine.memory.list_by_tenant(tenant)) == 2
    assert engine.memory.delete(stored, tenant) is True
    assert engine.memory.delete(stored, tenant) is False


def test_the_context_is_the_same_without_await(engine, tenant, thread_id):
    engine.context.store_memory(tenant, "helper", "The board meets on Friday")
    assert engine.context.search_memory(tenant, "board")[0].content == "The board meets on Friday"
    engine.context.session.append(thread_id, user("When is the board?"), tenant_id=tenant)
    made = engine.context.compile_working_context(tenant, thread_id, {"description": "Answer"}, "Be brief", "fast")
    assert "Friday" in made["context"]
    assert made["token_usage"]["total"] <= 8_000


def test_no_promised_method_answers_with_something_to_await(engine, tenant, thread_id):
    answers = [
        engine.sessions.append(thread_id, user("x"), tenant_id=tenant),
        engine.sessions.get_session_messages(thread_id, tenant_id=tenant),
        engine.memory.search(tenant, "x"),
        engine.memory.list_by_tenant(tenant),
        engine.context.search_memory(tenant, "x"),
    ]
    assert not any(inspect.isawaitable(answer) for answer in answers)


def test_errors_are_the_same(engine, tenant):
    with pytest.raises(clew.InvalidInput):
        engine.sessions.append("", user("x"), tenant_id=tenant)
    with pytest.raises(clew.InvalidInput):
        engine.sessions.get_session_messages("t", 0, tenant_id=tenant)
    with pytest.raises(clew.InvalidInput):
        engine.tenant("not a tenant").thread("t").append(user("x"))
    with pytest.raises(clew.BudgetExceeded):
        engine.tenant(tenant).thread("t").compile(task="word " * 40_000, system_prompt="")


async def test_it_works_where_a_loop_is_running_already(engine, tenant, thread_id):
    """In a notebook, for one."""
    assert asyncio.get_running_loop()
    engine.sessions.append(thread_id, user("from a notebook"), tenant_id=tenant)
    assert texts(engine.sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["from a notebook"]


def test_several_threads_may_share_it(engine, tenant, thread_id):
    def write(number: int) -> None:
        for step in range(5):
            engine.sessions.append(thread_id, user(f"{number}/{step}"), tenant_id=tenant)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    said = texts(engine.sessions.get_session_messages(thread_id, tenant_id=tenant))
    assert sorted(said) == sorted(f"{number}/{step}" for number in range(4) for step in range(5))


def test_a_graph_runs_without_await_too(engine, thread_id):
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: {"messages": [AIMessage(f"You said: {state['messages'][-1].content}")]})
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    agent = graph.compile(checkpointer=engine.sessions.checkpointer)
    agent.invoke({"messages": [user("hello")]}, {"configurable": {"thread_id": thread_id}})
    assert texts(engine.sessions.get_session_messages(thread_id)) == ["hello", "You said: hello"]


@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_closed_engine_says_so(server, settings, tenant):
    with clew.open_sync(settings=settings) as engine:
        thread = engine.tenant(tenant).thread("late")
    with pytest.raises(clew.ClewError):
        thread.append(user("after the end"))


@pytest.mark.filterwarnings("ignore:coroutine")
def test_closing_twice_is_closing_once(server, settings):
    with clew.open_sync(settings=settings) as engine:
        engine.close()


@pytest.mark.parametrize("database", [5, "not a url", ["x"], "postgresql://app:hunter2@127.0.0.1:1/clew"])
def test_a_database_that_cannot_be_is_refused(database):
    with pytest.raises(clew.ClewError) as caught, clew.open_sync(database=database):
        pass
    assert "hunter2" not in str(caught.value)


def test_its_threads_end_with_it(server, settings):
    before = set(threading.enumerate())
    with clew.open_sync(settings=settings) as engine:
        engine.sessions.get_session_messages("t")
        assert set(threading.enumerate()) - before, "it works in a thread of its own"
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=5)
    assert [thread.name for thread in threading.enumerate() if thread not in before] == []

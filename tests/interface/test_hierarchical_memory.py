"""`HierarchicalMemory`: the last five messages in full, then three session summaries, then two past experiences."""

import asyncio
import inspect
import json
from typing import Any

import pytest

import clew

from .conftest import assistant, texts, user
from .test_compactor import turns

TOPICS = {
    "checkout": "The coupon field of the checkout refused code SPRING26 with error 402.",
    "login": "The login form locks an account after 5 wrong passwords.",
    "search": "The search box finds nothing for words with an umlaut such as Käse.",
    "cart": "The cart shows a total of 59.90 EUR instead of 53.91 EUR.",
    "profile": "The avatar upload of the profile page fails above 2 MB.",
}
FAILURES = {
    "button #pay was not found on the checkout page": "look it up by its text: Pay now",
    "timeout of 30 s while waiting for the login form": "wait for the network to be idle first",
    "the dropdown of countries stayed closed": "press ArrowDown on it with the keyboard",
    "the file upload dialog never opened": "set the input's files directly",
}


async def _past_sessions(engine: Any, tenant: str) -> None:
    for name, text in TOPICS.items():
        thread = engine.tenant(tenant).thread(f"past-{name}")
        said = [
            user(f"{text} (note {n} about {name}, in the shop)") if n % 2 == 0 else assistant(f"Noted, {name} {n}.")
            for n in range(30)
        ]
        await thread.append(said)
        assert await thread.compact() is not None


@pytest.fixture
def past(engine, tenant, thread_id) -> Any:
    return engine.tenant(tenant).thread(thread_id).hierarchical_memory()


def test_the_promised_methods_are_there():
    add = inspect.signature(clew.HierarchicalMemory.add_message).parameters
    get = inspect.signature(clew.HierarchicalMemory.get_context).parameters
    assert list(add) == ["self", "message"]
    assert list(get) == ["self", "query"]
    assert inspect.iscoroutinefunction(clew.HierarchicalMemory.add_message)
    assert inspect.iscoroutinefunction(clew.HierarchicalMemory.get_context)


async def test_nothing_said_gives_nothing(past):
    assert await past.get_context("anything") == []


async def test_the_last_five_messages_are_there_in_full_and_in_order(past):
    said = [user(f"message {n}: " + "word " * 300) for n in range(8)]
    for message in said:
        assert await past.add_message(message) is None
    context = await past.get_context("word")
    assert context == said[-5:]


async def test_fewer_than_five_are_all_there(past):
    said = [user("one"), assistant("two"), user("three")]
    for message in said:
        await past.add_message(message)
    assert await past.get_context("x") == said


async def test_messages_are_in_the_session_too(engine, tenant, thread_id, past):
    await past.add_message(user("hello"))
    assert texts(await engine.tenant(tenant).thread(thread_id).messages()) == ["hello"]


async def test_working_messages_then_summaries_then_experience(engine, tenant, past):
    await _past_sessions(engine, tenant)
    for failure, fix in FAILURES.items():
        await past.add_experience(failure=failure, fix=fix)
    said = [user(f"now {n}") for n in range(7)]
    for message in said:
        await past.add_message(message)
    context = await past.get_context(
        "a note about the shop: the checkout refused the coupon code, the pay button was not found"
    )
    assert context[:5] == said[-5:]
    assert len(context) == 5 + 3 + 2
    summaries, experience = context[5:8], context[8:]
    assert "SPRING26" in summaries[0]["content"], "the best first"
    assert "look it up by its text: Pay now" in str(experience)
    assert all(fix not in str(summaries) for fix in FAILURES.values())
    assert all(isinstance(message["content"], str) and message["role"] for message in context)
    json.dumps(context)


async def test_summaries_are_those_that_answer_the_query(engine, tenant, past):
    await _past_sessions(engine, tenant)
    for query, word in (("avatar upload of the profile", "2 MB"), ("wrong passwords at login", "locks an account")):
        context = await past.get_context(query)
        assert 1 <= len(context) <= 3
        assert word in context[0]["content"]


async def test_at_most_two_experiences_the_most_similar(past):
    for failure, fix in FAILURES.items():
        await past.add_experience(failure=failure, fix=fix)
    context = await past.get_context("the pay button #pay cannot be found")
    assert len(context) == 2
    assert "look it up by its text" in str(context)
    found = await past.experiences("the login form timed out", 1)
    assert len(found) == 1
    assert "network to be idle" in str(found[0])


async def test_what_is_remembered_otherwise_is_no_experience(engine, tenant, past):
    await engine.tenant(tenant).remember("The pay button is blue.")
    assert await past.get_context("the pay button") == []
    await past.add_experience(failure="the pay button is missing", fix="reload")
    assert len(await past.get_context("the pay button")) == 1


async def test_experience_is_the_agents_and_outlives_the_thread(engine, tenant, past, thread_id):
    await past.add_experience(failure="button #pay was not found", fix="look it up by its text")
    await past.add_message(user("hello"))
    await engine.tenant(tenant).thread(thread_id).clear()
    later = engine.tenant(tenant).thread("another").hierarchical_memory()
    context = await later.get_context("#pay is missing")
    assert len(context) == 1
    assert "look it up by its text" in context[0]["content"]


async def test_the_threads_own_summary_stands_for_its_older_turns(engine, tenant, thread_id, past):
    thread = engine.tenant(tenant).thread(thread_id)
    await thread.append(turns(40))
    await thread.compact()
    context = await past.get_context("order 1003")
    assert context[:5] == turns(40)[-5:]
    assert "1003" in str(context[5:])


async def test_another_tenants_past_is_not_ones_own(engine, tenant, other, thread_id, past):
    await _past_sessions(engine, tenant)
    await past.add_experience(failure="button #pay was not found", fix="look it up by its text")
    await past.add_message(user("hello"))
    assert len(await past.get_context("checkout pay")) >= 3
    theirs = engine.tenant(other).thread(thread_id).hierarchical_memory()
    assert await theirs.get_context("checkout pay") == []


async def test_it_stands_alone_too(database, tenant):
    async with clew.HierarchicalMemory(database, thread_id="t", tenant_id=tenant) as past:
        await past.add_message(user("hello"))
        assert await past.get_context("x") == [user("hello")]


async def test_tool_calls_come_with_their_results(past):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    results = [{"role": "tool", "tool_call_id": "c1", "content": "found it"}]
    said = [user("go"), {"role": "assistant", "content": None, "tool_calls": [call]}, *results, *turns(4)]
    for message in said:
        await past.add_message(message)
    context = await past.get_context("x")
    assert texts(context[-4:]) == texts(turns(4))
    called = [c["id"] for message in context for c in message.get("tool_calls") or []]
    answered = [message["tool_call_id"] for message in context if message["role"] == "tool"]
    assert called == answered


async def test_at_the_same_time_no_message_is_lost(engine, tenant, thread_id, past):
    await asyncio.gather(*(past.add_message(user(f"n{n}")) for n in range(20)))
    assert sorted(texts(await engine.tenant(tenant).thread(thread_id).messages())) == sorted(f"n{n}" for n in range(20))
    assert len(await past.get_context("x")) == 5


def test_without_await_it_is_the_same(server, settings, tenant, thread_id):
    with clew.open_sync(settings=settings) as engine:
        past = engine.tenant(tenant).thread(thread_id).hierarchical_memory()
        past.add_message(user("hello"))
        past.add_experience(failure="button #pay was not found", fix="look it up by its text")
        context = past.get_context("pay button")
        assert context[0] == user("hello")
        assert "look it up by its text" in context[-1]["content"]

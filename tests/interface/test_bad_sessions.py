"""Whatever is sent to the session store, the answer is an answer or a ClewError."""

import pytest

from .conftest import texts, user
from .hostile import BAD_LIMITS, BAD_TENANTS, BAD_THREADS, Rude, answered_or_refused, endless, ids, nested, refused

SURELY_BAD = {
    "None": None,
    "a number": 5,
    "text": "hello",
    "a list of text": ["hello"],
    "a list of None": [None],
    "no role": {"content": "x"},
    "an unknown role": {"role": "king", "content": "x"},
    "a role that is no text": {"role": 5, "content": "x"},
    "no content": {"role": "user"},
    "content that is None": user(None),
    "content that is a number": user(5),
    "content that is bytes": user(b"x"),
    "NUL": user("a\0b"),
    "a lone surrogate": user("a\ud800"),
    "NUL in a part": user([{"type": "text", "text": "a\0b"}]),
    "a part of no type": user([{"text": "x"}]),
    "a part of an unknown type": user([{"type": "telepathy", "text": "x"}]),
    "a result of no call": {"role": "tool", "content": "x"},
    "calls that are no list": {"role": "assistant", "content": None, "tool_calls": 5},
    "a call without a function": {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
    "NaN in a field": {**user("x"), "weight": float("nan")},
    "1e400 in a field": {**user("x"), "weight": 1e400},
    "an object in a field": {**user("x"), "thing": object()},
    "a rude object in a field": {**user("x"), "thing": Rude()},
    "too deep a field": {**user("x"), "thing": nested(50_000)},
    "an endless field": {**user("x"), "thing": endless()},
    "a huge integer": {**user("x"), "thing": 10**6_000},
    "a key that is no text": {**user("x"), 5: 5},
    "NUL in a key": {**user("x"), "a\0": 5},
}


@pytest.mark.parametrize("messages", **ids(SURELY_BAD))
async def test_a_message_that_cannot_be_is_refused_and_nothing_is_stored(sessions, tenant, thread_id, messages):
    await refused(lambda: sessions.append(thread_id, messages, tenant_id=tenant))
    good_first = [user("good"), *(messages if isinstance(messages, list) else [messages])]
    await refused(lambda: sessions.append(thread_id, good_first, tenant_id=tenant))
    assert await sessions.get_session_messages(thread_id, tenant_id=tenant) == []


async def test_the_error_names_the_place(sessions, tenant, thread_id):
    said = await refused(lambda: sessions.append(thread_id, [user("a"), user("b\0")], tenant_id=tenant))
    assert "messages[1]" in said


@pytest.mark.parametrize("tenant_id", **ids(BAD_TENANTS))
async def test_a_tenant_that_cannot_be_is_refused_by_every_method(sessions, tenant_id, thread_id):
    await refused(lambda: sessions.append(thread_id, user("x"), tenant_id=tenant_id))
    await refused(lambda: sessions.get_session_messages(thread_id, tenant_id=tenant_id))
    await refused(lambda: sessions.clear_session(thread_id, tenant_id=tenant_id))


@pytest.mark.parametrize("name", **ids(BAD_THREADS))
async def test_a_thread_that_cannot_be_is_refused_by_every_method(sessions, tenant, name):
    await refused(lambda: sessions.append(name, user("x"), tenant_id=tenant))
    await refused(lambda: sessions.get_session_messages(name, tenant_id=tenant))
    await refused(lambda: sessions.clear_session(name, tenant_id=tenant))


@pytest.mark.parametrize("limit", **ids(BAD_LIMITS))
async def test_a_limit_that_cannot_be_is_refused(sessions, tenant, thread_id, limit):
    assert "limit" in await refused(lambda: sessions.get_session_messages(thread_id, limit, tenant_id=tenant))


@pytest.mark.parametrize("key", ["", "a\0", "\ud800", 5, b"k", ["k"], "k" * 100_000])
async def test_a_key_that_cannot_be_is_refused(sessions, tenant, thread_id, key):
    await refused(lambda: sessions.append(thread_id, user("x"), tenant_id=tenant, idempotency_key=key))


async def test_an_empty_message_is_kept_as_it_is(sessions, tenant, thread_id):
    await sessions.append(thread_id, [user(""), user("   ")], tenant_id=tenant)
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["", "   "]


async def test_five_megabytes_come_back_whole(sessions, tenant, thread_id):
    large = "Long message ✓ " * 330_000
    assert len(large.encode()) > 5_000_000
    await sessions.append(thread_id, user(large), tenant_id=tenant)
    [found] = await sessions.get_session_messages(thread_id, tenant_id=tenant)
    assert found["content"] == large


async def test_a_hundred_megabytes_are_refused(sessions, tenant, thread_id):
    await refused(lambda: sessions.append(thread_id, user("x" * 100_000_000), tenant_id=tenant))


async def test_odd_but_valid_text_comes_back_exactly(sessions, tenant, thread_id):
    odd = [
        "👩‍👩‍👧‍👦",
        "\u202eright to left",
        "\ufeffBOM",
        "a\r\nb\tc",
        "\x01\x1f\x7f",
        "\uffff",
        "%s %(x)s {0} \\ '\"",
        "\u2028",
    ]
    await sessions.append(thread_id, [user(text) for text in odd], tenant_id=tenant)
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == odd


@pytest.mark.parametrize("tenant_id", ["", "not a tenant", "a/b", 5])
async def test_a_checkpoint_of_a_tenant_that_cannot_be_is_refused(sessions, tenant_id):
    config = {"configurable": {"thread_id": "t", "tenant_id": tenant_id, "checkpoint_ns": ""}}
    await refused(lambda: sessions.checkpointer.aget_tuple(config))


async def test_after_all_that_the_store_still_works(sessions, tenant, thread_id):
    await answered_or_refused(lambda: sessions.append(thread_id, user("a\0"), tenant_id=tenant))
    await sessions.append(thread_id, user("still here"), tenant_id=tenant)
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["still here"]

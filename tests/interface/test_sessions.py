"""Tier 1: what was said, in order, once, until it is cleared."""

import asyncio

import pytest

import clew

from .conftest import assistant, texts, user

TOOL_TURN = [
    {"role": "system", "content": "Be brief."},
    user("Weather in Oslo and Rome? 🌦"),
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city":  "Oslo"}'}},
            {"id": "b", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "4 °C"},
    {"role": "tool", "tool_call_id": "b", "content": "19 °C"},
    assistant("4 °C and 19 °C."),
]


async def test_what_is_appended_comes_back_in_order_and_unchanged(sessions, tenant, thread_id):
    ids = await sessions.append(thread_id, TOOL_TURN, tenant_id=tenant)
    assert len(set(ids)) == len(ids) == len(TOOL_TURN)
    assert all(type(identifier) is str for identifier in ids)
    assert await sessions.get_session_messages(thread_id, tenant_id=tenant) == TOOL_TURN


async def test_one_message_need_not_be_a_list(sessions, tenant, thread_id):
    assert len(await sessions.append(thread_id, user("alone"), tenant_id=tenant)) == 1
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["alone"]


async def test_a_message_of_ours_will_do(sessions, tenant, thread_id):
    await sessions.append(thread_id, [clew.Message(role="user", content="neutral")], tenant_id=tenant)
    assert await sessions.get_session_messages(thread_id, tenant_id=tenant) == [user("neutral")]


async def test_the_default_tenant_is_default(sessions, thread_id):
    await sessions.append(thread_id, user("hi"))
    assert texts(await sessions.get_session_messages(thread_id, tenant_id="default")) == ["hi"]
    await sessions.clear_session(thread_id)
    assert await sessions.get_session_messages(thread_id, tenant_id="default") == []


async def test_limit_gives_the_last_ones_oldest_first_and_is_50(sessions, tenant, thread_id):
    await sessions.append(thread_id, [user(str(number)) for number in range(60)], tenant_id=tenant)
    assert texts(await sessions.get_session_messages(thread_id, 3, tenant_id=tenant)) == ["57", "58", "59"]
    assert texts(await sessions.get_session_messages(thread_id, limit=1, tenant_id=tenant)) == ["59"]
    standard = texts(await sessions.get_session_messages(thread_id, tenant_id=tenant))
    assert standard == [str(number) for number in range(10, 60)]


async def test_nothing_appended_is_nothing_stored(sessions, tenant, thread_id):
    assert await sessions.append(thread_id, [], tenant_id=tenant) == []
    assert await sessions.get_session_messages(thread_id, tenant_id=tenant) == []


async def test_a_thread_that_does_not_exist_is_empty(sessions, tenant):
    assert await sessions.get_session_messages("never-written", tenant_id=tenant) == []


async def test_the_same_key_stores_once_and_answers_with_the_same_ids(sessions, tenant, thread_id):
    first = await sessions.append(thread_id, [user("a"), assistant("b")], tenant_id=tenant, idempotency_key="turn-1")
    again = await sessions.append(thread_id, [user("a"), assistant("b")], tenant_id=tenant, idempotency_key="turn-1")
    assert again == first
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["a", "b"]


async def test_without_a_key_the_same_words_are_said_twice(sessions, tenant, thread_id):
    first = await sessions.append(thread_id, user("a"), tenant_id=tenant)
    second = await sessions.append(thread_id, user("a"), tenant_id=tenant)
    third = await sessions.append(thread_id, user("a"), tenant_id=tenant, idempotency_key="other")
    assert len({*first, *second, *third}) == 3


async def test_the_same_key_with_other_words_is_a_conflict_and_stores_nothing(sessions, tenant, thread_id):
    await sessions.append(thread_id, user("a"), tenant_id=tenant, idempotency_key="turn-1")
    with pytest.raises(clew.Conflict):
        await sessions.append(thread_id, user("b"), tenant_id=tenant, idempotency_key="turn-1")
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["a"]


async def test_a_key_belongs_to_its_thread(sessions, tenant):
    one = await sessions.append("one", user("a"), tenant_id=tenant, idempotency_key="k")
    two = await sessions.append("two", user("a"), tenant_id=tenant, idempotency_key="k")
    assert one != two
    assert texts(await sessions.get_session_messages("two", tenant_id=tenant)) == ["a"]


async def test_twenty_at_once_with_one_key_store_once(sessions, tenant, thread_id):
    calls = [sessions.append(thread_id, user("once"), tenant_id=tenant, idempotency_key="k") for _ in range(20)]
    answers = await asyncio.gather(*calls)
    assert all(answer == answers[0] for answer in answers)
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["once"]


async def test_concurrent_writers_leave_no_gap_and_no_turn_is_torn(sessions, engine, tenant, thread_id):
    async def write(store, writer: int) -> None:
        for step in range(8):
            turn = [user(f"{writer}.{step}.ask"), assistant(f"{writer}.{step}.answer")]
            await store.append(thread_id, turn, tenant_id=tenant)

    await asyncio.gather(*[write(sessions if writer % 2 else engine.sessions, writer) for writer in range(6)])
    said = texts(await sessions.get_session_messages(thread_id, 1_000, tenant_id=tenant))
    assert len(said) == 6 * 8 * 2
    for ask, answer in zip(said[::2], said[1::2], strict=True):
        assert ask.removesuffix("ask") == answer.removesuffix("answer")
    for writer in range(6):
        mine = [text for text in said if text.startswith(f"{writer}.")]
        assert mine == [f"{writer}.{step}.{part}" for step in range(8) for part in ("ask", "answer")]
    rows = await sessions.read(thread_id, 1_000, tenant_id=tenant)
    assert [row.position for row in rows] == list(range(1, 97))


async def test_each_message_is_stored_with_its_tokens(sessions, tenant, thread_id):
    await sessions.append(thread_id, [user("short"), user("a longer text " * 100)], tenant_id=tenant)
    short, long = await sessions.read(thread_id, tenant_id=tenant)
    assert 0 < short.tokens < 20 < 200 < long.tokens


async def test_an_append_with_one_bad_message_stores_none_of_it(sessions, tenant, thread_id):
    with pytest.raises(clew.InvalidInput, match="1"):
        await sessions.append(thread_id, [user("good"), {"role": "king", "content": "bad"}], tenant_id=tenant)
    assert await sessions.get_session_messages(thread_id, tenant_id=tenant) == []


async def test_clearing_ends_a_session_and_only_that_one(sessions, tenant, thread_id):
    await sessions.append(thread_id, user("gone"), tenant_id=tenant, idempotency_key="k")
    await sessions.append("stays", user("kept"), tenant_id=tenant)
    assert await sessions.clear_session(thread_id, tenant_id=tenant) is None
    assert await sessions.get_session_messages(thread_id, tenant_id=tenant) == []
    assert texts(await sessions.get_session_messages("stays", tenant_id=tenant)) == ["kept"]


async def test_clearing_twice_or_what_never_was_is_no_error(sessions, tenant, thread_id):
    assert await sessions.clear_session(thread_id, tenant_id=tenant) is None
    assert await sessions.clear_session(thread_id, tenant_id=tenant) is None


async def test_a_cleared_thread_begins_anew_with_its_keys_free(sessions, tenant, thread_id):
    old = await sessions.append(thread_id, user("before"), tenant_id=tenant, idempotency_key="k")
    await sessions.clear_session(thread_id, tenant_id=tenant)
    new = await sessions.append(thread_id, user("after"), tenant_id=tenant, idempotency_key="k")
    assert new != old
    assert texts(await sessions.get_session_messages(thread_id, tenant_id=tenant)) == ["after"]

"""`ContextManager`: the three tiers together."""

import pytest

import clew

from .conftest import assistant, user
from .windows import check_window, conversation

TASK = {"description": "Tell when the board meets"}


async def test_session_is_the_session_store(manager, sessions):
    assert manager.session is sessions


async def test_a_working_context_has_the_session_the_memory_and_the_task(manager, sessions, tenant, thread_id):
    await sessions.append(thread_id, [user("Hello"), assistant("Hi"), user("When is it?")], tenant_id=tenant)
    await manager.store_memory(tenant, "helper", "The board meets on Friday", {"source": "calendar"})
    made = await manager.compile_working_context(tenant, thread_id, TASK, "Be brief")
    check_window(made, 32_000)
    assert [message["content"] for message in made["messages"]] == ["Hello", "Hi", "When is it?"]
    assert "The board meets on Friday" in made["context"]
    assert made["system_prompt"] == "Be brief"
    assert made["task"] == TASK


async def test_the_tier_is_the_calls_own(manager, sessions, tenant, thread_id):
    await sessions.append(thread_id, conversation(40), tenant_id=tenant)
    fast = await manager.compile_working_context(tenant, thread_id, TASK, "Be brief", "fast")
    reasoning = await manager.compile_working_context(tenant, thread_id, TASK, "Be brief")
    check_window(fast, 8_000)
    check_window(reasoning, 32_000)
    assert fast["token_usage"]["session"] < reasoning["token_usage"]["session"]


async def test_a_thread_longer_than_fifty_messages_is_used_as_far_as_it_fits(manager, sessions, tenant, thread_id):
    said = [user(f"Point {number}") for number in range(300)]
    await sessions.append(thread_id, said, tenant_id=tenant)
    made = await manager.compile_working_context(tenant, thread_id, TASK, "", model_tier="reasoning")
    assert made["messages"] == said


async def test_a_thread_nobody_wrote_compiles_to_the_task_alone(manager, tenant):
    made = await manager.compile_working_context(tenant, "never-written", TASK, "Be brief")
    assert made["messages"] == []
    assert made["context"] == ""
    assert made["token_usage"]["session"] == 0


async def test_compiling_changes_nothing_and_gives_equal_answers(manager, sessions, tenant, thread_id):
    await sessions.append(thread_id, conversation(10), tenant_id=tenant)
    first = await manager.compile_working_context(tenant, thread_id, TASK, "Be brief")
    assert await manager.compile_working_context(tenant, thread_id, TASK, "Be brief") == first
    assert await sessions.get_session_messages(thread_id, 1_000, tenant_id=tenant) == conversation(10)


async def test_a_stored_memory_is_an_entry_like_any_other(manager, memory, tenant):
    stored = await manager.store_memory(tenant, "helper", "Ana prefers tea", {"speaker": "Ana"})
    [found] = await manager.search_memory(tenant, "What does Ana drink?")
    assert (found.memory_id, found.agent_id, found.metadata) == (stored, "helper", {"speaker": "Ana"})
    assert found.score is not None
    assert await manager.search_memory(tenant, "tea", 1) == await memory.search(tenant, "tea", 1)
    assert await memory.delete(stored, tenant) is True
    assert await manager.search_memory(tenant, "tea") == []


async def test_metadata_may_be_left_out(manager, memory, tenant):
    await manager.store_memory(tenant, "helper", "no metadata")
    assert [entry.metadata for entry in await memory.list_by_tenant(tenant)] == [{}]


async def test_an_unknown_tier_is_refused(manager, tenant, thread_id):
    with pytest.raises(clew.InvalidInput, match="fast"):
        await manager.compile_working_context(tenant, thread_id, TASK, "", "slow")


async def test_a_task_that_cannot_fit_is_budget_exceeded(manager, tenant, thread_id):
    with pytest.raises(clew.BudgetExceeded):
        await manager.compile_working_context(tenant, thread_id, {"description": "word " * 2_000}, "", "fast")

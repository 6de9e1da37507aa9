"""Two tenants with the same ids and the same texts, through every method: nothing crosses."""

import pytest

from clew.memory import MemoryEntry


@pytest.fixture
def tenants(tenant_id):
    return f"{tenant_id}-a", f"{tenant_id}-b"


def made(tenant_id, n, *, owner=""):
    metadata = {"thread_id": "t", "position": n, "speaker": "Ana", "occurred_at": "2024-05-01", "owner": owner}
    return MemoryEntry(
        memory_id=f"m{n}",
        tenant_id=tenant_id,
        agent_id="agent",
        content=f"Ana drinks tea number {n}",
        metadata=metadata,
    )


@pytest.fixture
async def filled(memory, tenants):
    for tenant_id in tenants:
        await memory.store_many(made(tenant_id, n, owner=tenant_id) for n in range(4))
    return memory


@pytest.mark.parametrize(
    "how", [{}, {"agent_id": "agent"}, {"filters": {"speaker": "Ana"}}, {"filters": {"thread_id": "t"}}], ids=str
)
async def test_a_search_sees_its_own(filled, tenants, how):
    for tenant_id in tenants:
        found = await filled.search(tenant_id, "What does Ana drink in May 2024?", limit=100, **how)
        assert {one.tenant_id for one in found} == {one.metadata["owner"] for one in found} == {tenant_id}
        assert len(found) == 4


async def test_another_tenant_s_filter_value_finds_nothing(filled, tenants):
    ours, theirs = tenants
    assert await filled.search(ours, "tea", filters={"metadata.owner": theirs}) == []


async def test_a_list_holds_its_own(filled, tenants):
    for tenant_id in tenants:
        found = await filled.list_by_tenant(tenant_id, limit=100)
        assert [one.metadata["owner"] for one in found] == [tenant_id] * 4


async def test_deleting_and_changing_leave_the_other_tenant_s_entry(filled, tenants):
    ours, theirs = tenants
    assert await filled.delete("m0", ours) is True
    assert await filled.delete("m0", ours) is False
    changed = made(ours, 1, owner=ours).model_copy(update={"content": "Ana drinks cocoa"})
    await filled.store(changed)
    kept = {one.memory_id: one.content for one in await filled.list_by_tenant(theirs)}
    assert kept == {f"m{n}": f"Ana drinks tea number {n}" for n in range(4)}


async def test_another_tenant_s_id_answers_like_one_that_is_nowhere(filled, tenants):
    ours, theirs = tenants
    await filled.store(made(theirs, 99))
    assert await filled.delete("m99", ours) is False
    assert await filled.delete("never-was", ours) is False


async def test_another_tenant_s_entries_change_no_score(filled, tenants):
    ours, theirs = tenants
    before = [(one.memory_id, one.score, one.reasons) for one in await filled.search(ours, "which tea?")]
    await filled.store_many(made(theirs, n) for n in range(4, 60))
    assert [(one.memory_id, one.score, one.reasons) for one in await filled.search(ours, "which tea?")] == before

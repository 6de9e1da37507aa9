"""Two tenants with the same words, through every method: nothing crosses, and a control shows that it would be seen."""

import pytest

from clew.errors import NotFound

from .conftest import day

TEXT = "Q3 revenue was $4.8M. Ana lives in Paris."


@pytest.fixture
async def two(knowledge, tenant_id):
    ours, theirs = f"{tenant_id}-a", f"{tenant_id}-b"
    told = {}
    for tenant in (ours, theirs):
        told[tenant] = await knowledge.add_episode(
            f"report of {tenant}", TEXT, reference_time=day(1), tenant_id=tenant, thread_id="t"
        )
    return ours, theirs, told


def owners(facts):
    return {one.name for fact in facts for one in fact.sources}


async def test_search_and_history_show_a_tenant_s_own(knowledge, two):
    ours, theirs, _ = two
    for tenant in (ours, theirs):
        found = await knowledge.search("Q3 revenue Ana Paris", tenant_id=tenant, limit=50)
        past = await knowledge.history("Ana", tenant_id=tenant)
        assert len(found) == 2
        assert len(past) == 1
        assert owners([*found, *past]) == {f"report of {tenant}"}
    assert await knowledge.search("Q3 revenue", tenant_id=f"{ours}-nobody") == []
    assert await knowledge.history("Ana", tenant_id=f"{ours}-nobody") == []


async def test_a_contradiction_closes_a_tenant_s_own(knowledge, two):
    ours, theirs, _ = two
    moved = await knowledge.add_episode("chat", "Ana moved to Rome.", reference_time=day(5), tenant_id=ours)
    assert [fact.object for fact in moved.invalidated] == ["Paris"]
    [kept] = await knowledge.history("Ana", tenant_id=theirs)
    assert (kept.object, kept.invalid_at) == ("Paris", None)


async def test_another_tenant_s_episode_is_neither_undone_nor_forgotten(knowledge, two):
    ours, theirs, told = two
    foreign = told[theirs].episode.episode_id
    with pytest.raises(NotFound):
        await knowledge.undo(foreign, tenant_id=ours)
    gone = await knowledge.forget(tenant_id=ours, episode_id=foreign)
    assert (gone.episodes, gone.facts) == ([], [])
    assert await knowledge.changes(tenant_id=ours, episode_id=foreign) == []
    assert len(await knowledge.changes(tenant_id=theirs, episode_id=foreign)) == 2
    await knowledge.forget(tenant_id=ours, thread_id="t")
    assert await knowledge.search("Ana", tenant_id=ours) == []
    assert len(await knowledge.search("Ana", tenant_id=theirs)) == 2


async def test_another_tenant_s_facts_change_no_score_and_no_alias(knowledge, two):
    ours, theirs, _ = two
    before = [(fact.fact_id, fact.score) for fact in await knowledge.search("Where does Ana live?", tenant_id=ours)]
    await knowledge.add_episode("x", "Ana, also known as Nani, sings. Ana likes Paris in May.", tenant_id=theirs)
    assert [(f.fact_id, f.score) for f in await knowledge.search("Where does Ana live?", tenant_id=ours)] == before
    await knowledge.add_episode("y", "Nani moved to Bonn.", tenant_id=ours)
    assert [fact.object for fact in await knowledge.history("Ana", tenant_id=ours)] == ["Paris"]


async def test_the_plain_look_ups_show_a_tenant_s_own(knowledge, two):
    ours, theirs, told = two
    foreign = [fact.fact_id for fact in told[theirs].facts]
    assert await knowledge.fetch(foreign, tenant_id=ours) == []
    assert len(await knowledge.fetch(foreign, tenant_id=theirs)) == 2
    assert owners(await knowledge.neighbours("Ana", tenant_id=ours)) == {f"report of {ours}"}
    assert [one.name for one in await knowledge.episodes(tenant_id=ours)] == [f"report of {ours}"]
    await knowledge.add_episode("x", "Ana's budget is $7.", tenant_id=theirs)
    assert not await knowledge.knows("Ana's budget is $7.", tenant_id=ours)
    assert await knowledge.knows("Ana's budget is $7.", tenant_id=theirs)

"""Tenants: each in a group of its own, whatever is in its id, and none sees another."""

import asyncio
import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InvalidInput, NotFound
from clew.memory.graphiti import GraphitiKnowledgeBase, base, group_of, tenant_of

from .conftest import Tell, day

GROUP = re.compile(r"[a-zA-Z0-9_-]+")
TENANTS = st.from_regex(r"[A-Za-z0-9._:-]{1,128}", fullmatch=True)


@given(TENANTS)
def test_a_group_is_one_that_graphiti_takes_and_leads_back_to_its_tenant(tenant_id: str):
    group_id = group_of(tenant_id)
    assert GROUP.fullmatch(group_id)
    assert tenant_of(group_id) == tenant_id


@given(st.sets(st.text("ab_.:-25ef", min_size=1, max_size=6), min_size=2, max_size=200))
def test_no_two_tenants_have_one_group(tenants: set[str]):
    assert len({group_of(one) for one in tenants}) == len(tenants)


def test_graphiti_itself_takes_every_group():
    helpers = pytest.importorskip("graphiti_core.helpers")
    errors = pytest.importorskip("graphiti_core.errors")
    for tenant_id in ("acme", "acme.eu:7_x", "_", "-", "..", "a" * 128):
        assert helpers.validate_group_id(group_of(tenant_id))
    with pytest.raises(errors.GroupIdValidationError):
        helpers.validate_group_id("acme.eu:7")


@pytest.mark.parametrize("group_id", ["_", "default_db", "a_2E", "a_", "a_zz", "", "é", "a_00"])
def test_a_group_that_no_tenant_has_leads_to_none(group_id: str):
    with pytest.raises(InvalidInput):
        tenant_of(group_id)


async def test_tenants_with_like_ids_see_their_own_facts_only(knowledge: GraphitiKnowledgeBase):
    run = uuid.uuid4().hex[:8]
    tenants = [f"{run}{end}" for end in (".a", "_2ea", ":a", "_3aa", "-a", ".A", "_a", ".a.a")]
    places = ["Oslo", "Paris", "Rome", "Delhi", "Quito", "Lima", "Cairo", "Tokyo"]
    told = await asyncio.gather(
        *(
            knowledge.add_episode("chat", f"Ada lives in {place}.", reference_time=day(2024), tenant_id=tenant)
            for tenant, place in zip(tenants, places, strict=True)
        )
    )
    for tenant, place, result in zip(tenants, places, told, strict=True):
        assert result.invalidated == []
        found = await knowledge.search("Where does Ada live?", tenant_id=tenant, limit=50)
        assert [fact.object for fact in found] == [place]
        assert [fact.object for fact in await knowledge.history("Ada", tenant_id=tenant)] == [place]
        episodes = await knowledge.episodes(tenant_id=tenant)
        assert [one.episode_id for one in episodes] == [result.episode.episode_id]


async def test_another_tenants_ids_lead_nowhere(knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str):
    result = await tell("Ada lives in Oslo.", day(2024), thread_id="t1")
    episode_id, fact_id, other = result.episode.episode_id, result.facts[0].fact_id, f"{tenant_id}x"
    assert await knowledge.fetch([fact_id], tenant_id=other) == []
    with pytest.raises(NotFound):
        await knowledge.undo(episode_id, tenant_id=other)
    for named in ({"episode_id": episode_id}, {"episode_ids": [episode_id]}, {"thread_id": "t1"}):
        assert (await knowledge.forget(tenant_id=other, **named)).episodes == []
    assert [fact.fact_id for fact in await knowledge.fetch([fact_id], tenant_id=tenant_id)] == [fact_id]
    assert [fact.superseded for fact in await knowledge.search("Ada", tenant_id=tenant_id)] == [False]


async def test_the_model_is_never_told_another_tenants_words(knowledge: GraphitiKnowledgeBase, tell: Tell, model):
    other = f"other-{uuid.uuid4().hex[:8]}"
    await knowledge.add_episode("chat", "Ada lives in Zyxwvut.", reference_time=day(2024), tenant_id=other)
    assert any("Zyxwvut" in prompt for prompt in model.prompts)
    model.prompts.clear()
    await tell("Ada lives in Oslo.", day(2025))
    assert any("Oslo" in prompt for prompt in model.prompts)
    assert not any("Zyxwvut" in prompt for prompt in model.prompts)


async def test_more_tenants_than_are_kept_ready_find_their_facts(
    knowledge: GraphitiKnowledgeBase, tenant_id: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(base, "GRAPHS_MAX", 2)
    tenants = [f"{tenant_id}-{n}" for n in range(5)]
    for n, tenant in enumerate(tenants):
        await knowledge.add_episode("chat", f"Ada likes Tea{n}.", tenant_id=tenant)
    assert len(knowledge._graphs) == 2
    for n, tenant in enumerate(tenants):
        assert [fact.object for fact in await knowledge.search("Ada", tenant_id=tenant)] == [f"Tea{n}"]

"""Taking back and forgetting: what others said stays as it would be without."""

import pytest

from clew.errors import NotFound
from clew.memory.graphiti import GraphitiKnowledgeBase

from .conftest import Tell, day

INITECH = "Ada works at Initech since 2024-01-01."
GLOBEX = "Ada works at Globex since 2025-01-01."
HOOLI = "Ada works at Hooli since 2026-01-01."


async def _history(knowledge: GraphitiKnowledgeBase, tenant_id: str) -> dict[str | None, object]:
    """What is believed of Ada: until when each holds."""
    facts = await knowledge.search("Ada works at", tenant_id=tenant_id, limit=50)
    return {fact.object: fact.invalid_at for fact in facts}


async def test_undoing_reopens_what_was_closed_and_takes_back_what_was_told(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    first = await tell(INITECH, day(2024))
    second = await tell(GLOBEX, day(2025))
    done = await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    assert [fact.fact_id for fact in done.reopened] == [first.facts[0].fact_id]
    assert [fact.object for fact in done.expired] == ["Globex"]
    assert done.expired[0].expired_at is not None
    assert await _history(knowledge, tenant_id) == {"Initech": None}
    assert [one.undone for one in await knowledge.episodes(tenant_id=tenant_id)] == [True, False]
    ever = await knowledge.history("Ada", tenant_id=tenant_id)
    assert [(fact.object, fact.superseded) for fact in ever] == [("Initech", False), ("Globex", True)]


async def test_undoing_twice_changes_nothing(knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str):
    await tell(INITECH, day(2024))
    second = await tell(GLOBEX, day(2025))
    await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    again = await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    assert (again.reopened, again.expired) == ([], [])
    assert await _history(knowledge, tenant_id) == {"Initech": None}


async def test_undoing_the_middle_of_a_chain_leaves_the_last_one_standing(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    await tell(INITECH, day(2024))
    second = await tell(GLOBEX, day(2025))
    third = await tell(HOOLI, day(2026))
    await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    assert await _history(knowledge, tenant_id) == {"Initech": day(2026), "Hooli": None}
    await knowledge.undo(third.episode.episode_id, tenant_id=tenant_id)
    assert await _history(knowledge, tenant_id) == {"Initech": None}


async def test_an_end_that_a_fact_had_before_it_was_closed_comes_back(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    await tell("Ada works at Initech since 2024-01-01 until 2030-01-01.", day(2024))
    second = await tell(GLOBEX, day(2025))
    assert [fact.invalid_at for fact in second.invalidated] == [day(2025)]
    done = await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    assert [fact.invalid_at for fact in done.reopened] == [day(2030)]


async def test_what_another_episode_told_too_stays(knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str):
    first = await tell(INITECH, day(2024))
    second = await tell(INITECH, day(2024, 2))
    done = await knowledge.undo(first.episode.episode_id, tenant_id=tenant_id)
    assert (done.reopened, done.expired) == ([], [])
    (fact,) = await knowledge.search("Ada", tenant_id=tenant_id)
    assert [source.episode_id for source in fact.sources] == [second.episode.episode_id]


async def test_what_was_taken_back_can_be_told_again(knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str):
    first = await tell(INITECH, day(2024))
    await knowledge.undo(first.episode.episode_id, tenant_id=tenant_id)
    assert await knowledge.search("Ada", tenant_id=tenant_id) == []
    again = await tell(INITECH, day(2025))
    (fact,) = again.facts
    assert (fact.superseded, [one.episode_id for one in fact.sources]) == (False, [again.episode.episode_id])
    assert await _history(knowledge, tenant_id) == {"Initech": None}


async def test_an_episode_that_is_not_there_cannot_be_undone_and_needs_no_forgetting(
    knowledge: GraphitiKnowledgeBase, tenant_id: str
):
    missing = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
    with pytest.raises(NotFound):
        await knowledge.undo(missing, tenant_id=tenant_id)
    assert (await knowledge.forget(episode_id=missing, tenant_id=tenant_id)).episodes == []


async def test_a_forgotten_episode_leaves_no_word_in_the_graph(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    first = await tell(INITECH, day(2024))
    second = await tell("Ada works at Zyxwvut since 2025-01-01.", day(2025))
    assert "zyxwvut" in await _everything(knowledge, tenant_id)
    gone = await knowledge.forget(episode_id=second.episode.episode_id, tenant_id=tenant_id)
    assert gone.episodes == [second.episode.episode_id]
    assert (gone.facts, gone.kept) == ([second.facts[0].fact_id], [])
    left = await _everything(knowledge, tenant_id)
    assert "zyxwvut" not in left
    assert "initech" in left
    assert await _history(knowledge, tenant_id) == {"Initech": None}
    assert [one.episode_id for one in await knowledge.episodes(tenant_id=tenant_id)] == [first.episode.episode_id]


async def test_a_fact_that_another_source_supports_is_kept(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    first = await tell(INITECH, day(2024))
    second = await tell(INITECH, day(2024, 2))
    gone = await knowledge.forget(episode_id=first.episode.episode_id, tenant_id=tenant_id)
    assert (gone.facts, gone.kept) == ([], [first.facts[0].fact_id])
    (fact,) = await knowledge.search("Ada", tenant_id=tenant_id)
    assert [source.episode_id for source in fact.sources] == [second.episode.episode_id]


async def test_a_thread_is_forgotten_with_all_that_it_told(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    await tell(INITECH, day(2024), thread_id="t1")
    await tell(INITECH, day(2024, 2), thread_id="t1")
    await tell("Bob likes Tea.", day(2024), thread_id="t2")
    gone = await knowledge.forget(thread_id="t1", tenant_id=tenant_id)
    assert (len(gone.episodes), len(gone.facts), gone.kept) == (2, 1, [])
    left = await _everything(knowledge, tenant_id)
    assert "initech" not in left
    assert "bob likes tea" in left


async def _everything(knowledge: GraphitiKnowledgeBase, tenant_id: str) -> str:
    """All that the graph holds of a tenant, in lower case."""
    from clew.memory.graphiti import group_of

    graph = await knowledge._graph(group_of(tenant_id))
    nodes = await graph.run("MATCH (n) WHERE n.group_id = $group_id RETURN properties(n) AS held")
    edges = await graph.run("MATCH ()-[e]->() WHERE e.group_id = $group_id RETURN properties(e) AS held")
    return str([{k: v for k, v in row["held"].items() if "embedding" not in k} for row in [*nodes, *edges]]).lower()

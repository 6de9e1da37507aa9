"""Episodes told to Graphiti's real client and a real graph: facts, what closes them, and what was true when."""

import asyncio
from datetime import UTC, datetime, timedelta

from clew.memory.graphiti import GraphitiKnowledgeBase

from .conftest import Tell, day
from .scripted_model import ScriptedModel


async def test_a_fact_has_its_words_its_ends_its_times_and_who_told_it(tell: Tell):
    result = await tell("Ada works at Initech since 2024-01-01.", day(2024, 2), thread_id="t1", message_id="m1")
    (fact,) = result.facts
    assert (fact.text, fact.subject, fact.predicate, fact.object) == (
        "Ada works at Initech",
        "Ada",
        "WORKS_AT",
        "Initech",
    )
    assert (fact.valid_at, fact.invalid_at, fact.expired_at, fact.superseded) == (day(2024), None, None, False)
    (source,) = fact.sources
    assert (source.episode_id, source.thread_id, source.message_id) == (result.episode.episode_id, "t1", "m1")
    assert source.quote == "Ada works at Initech since 2024-01-01."
    assert source.reference_time == result.episode.reference_time == day(2024, 2)
    assert result.invalidated == []


async def test_a_contradiction_closes_the_older_fact_and_says_so(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    first = await tell("Ada works at Initech since 2024-01-01.", day(2024))
    second = await tell("Ada works at Globex since 2025-06-01.", day(2025, 6))
    (closed,) = second.invalidated
    assert closed.fact_id == first.facts[0].fact_id
    assert closed.invalid_at == day(2025, 6)
    assert closed.expired_at is not None
    assert closed.superseded
    found = await knowledge.search("Where does Ada work?", tenant_id=tenant_id)
    assert [fact.object for fact in found] == ["Globex", "Initech"]
    assert [fact.superseded for fact in found] == [False, True]
    assert all(fact.score is not None for fact in found)


async def test_a_fact_told_twice_is_one_fact_with_two_sources(tell: Tell):
    first = await tell("Ada likes Tea.", day(2024))
    second = await tell("Ada likes Tea.", day(2025))
    assert [fact.fact_id for fact in second.facts] == [first.facts[0].fact_id]
    assert {source.episode_id for source in second.facts[0].sources} == {
        first.episode.episode_id,
        second.episode.episode_id,
    }


async def test_as_of_answers_with_what_was_true_then(knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str):
    await tell("Ada works at Initech since 2024-01-01.", day(2024))
    await tell("Ada works at Globex since 2025-06-01.", day(2025, 6))
    asked = {
        day(2023): [],
        day(2024): ["Initech"],
        day(2025, 5, 31): ["Initech"],
        day(2025, 6): ["Globex"],
        day(2026): ["Globex"],
    }
    for moment, wanted in asked.items():
        found = await knowledge.search("Where does Ada work?", tenant_id=tenant_id, as_of=moment)
        assert [fact.object for fact in found] == wanted, moment


async def test_known_at_answers_with_what_was_believed_then(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    before = datetime.now(UTC)
    await tell("Ada works at Initech since 2024-01-01.", day(2024))
    between = datetime.now(UTC)
    await tell("Ada works at Globex since 2025-06-01.", day(2025, 6))

    async def ask(**when: datetime) -> list[tuple[str | None, bool]]:
        found = await knowledge.search("Where does Ada work?", tenant_id=tenant_id, **when)
        return [(fact.object, fact.superseded) for fact in found]

    assert await ask(known_at=before) == []
    assert await ask(known_at=between) == [("Initech", False)]
    assert await ask(known_at=between, as_of=day(2025, 7)) == [("Initech", False)]
    assert await ask(known_at=datetime.now(UTC)) == [("Globex", False), ("Initech", True)]


async def test_what_is_known_to_end_later_holds_still(knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str):
    end = (datetime.now(UTC) + timedelta(days=400)).date().isoformat()
    await tell("Ada likes Tea.", day(2024))
    result = await tell(f"Ada works at Initech since 2024-01-01 until {end}.", day(2024))
    (fact,) = result.facts
    assert fact.invalid_at is not None
    assert not fact.superseded
    assert [one.object for one in await knowledge.history("ada", tenant_id=tenant_id) if one.superseded] == []


async def test_history_has_everything_of_a_subject_oldest_first(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    await tell("Ada Lovelace works at Globex since 2025-06-01.", day(2025, 6))
    await tell("Ada Lovelace works at Initech since 2024-01-01.", day(2025, 7))
    await tell("Bob works at Initech since 2023-01-01.", day(2025, 8))
    for subject in ("Ada Lovelace", "ada  lovelace", "lovelace"):
        facts = await knowledge.history(subject, tenant_id=tenant_id)
        assert [fact.object for fact in facts] == ["Initech", "Globex"], subject
    assert await knowledge.history("Carol", tenant_id=tenant_id) == []


async def test_messages_and_json_are_told_as_what_they_are(tell: Tell, model: ScriptedModel):
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Ada lives in Oslo."}]
    told = await tell(said, day(2024))
    assert (told.episode.source, [fact.object for fact in told.facts]) == ("message", ["Oslo"])
    assert not any("Be brief." in prompt for prompt in model.prompts)
    recorded = await tell({"note": "Bob lives in Paris"}, day(2024))
    assert (recorded.episode.source, [fact.object for fact in recorded.facts]) == ("json", ["Paris"])


async def test_episodes_of_a_tenant_told_at_once_are_told_one_after_the_other(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    places = ["Oslo", "Paris", "Rome", "Delhi", "Quito"]
    await asyncio.gather(
        *(tell(f"Ada lives in {place} since 202{n}-01-01.", day(2026)) for n, place in enumerate(places))
    )
    facts = await knowledge.history("Ada", tenant_id=tenant_id)
    assert [fact.object for fact in facts] == places
    assert [fact.object for fact in facts if not fact.superseded] == ["Quito"]


async def test_the_newest_episodes_come_first_and_facts_are_fetched_in_the_order_asked(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    first = await tell("Ada likes Tea.", day(2024), user_id="u1")
    second = await tell("Bob likes Milk.", day(2023), confidence=0.4)
    episodes = await knowledge.episodes(tenant_id=tenant_id)
    assert [one.episode_id for one in episodes] == [second.episode.episode_id, first.episode.episode_id]
    assert [one.user_id for one in episodes] == [None, "u1"]
    ids = [second.facts[0].fact_id, first.facts[0].fact_id]
    fetched = await knowledge.fetch(ids, tenant_id=tenant_id)
    assert [(fact.fact_id, fact.confidence) for fact in fetched] == [(ids[0], 0.4), (ids[1], 1.0)]


async def test_any_query_is_answered_whatever_its_characters(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    await tell("Ada works at Initech.", day(2024))
    odd = ['"', "'", "a-b", "@group_id:*", "%%%", "(a|b)", "~x", "_", "\\", "{}", "the", "Ada’s “job” — 日本語?", "🙂"]
    for query in [*odd, "*", "a:b", "x=>[y]", "$limit", "word " * 300, "AND OR NOT"]:
        assert len(await knowledge.search(query, tenant_id=tenant_id)) <= 1, query
    assert len(await knowledge.search("Ada", tenant_id=tenant_id)) == 1


async def test_what_comes_back_after_it_had_ended_holds_again_and_closes_what_had_replaced_it(
    knowledge: GraphitiKnowledgeBase, tell: Tell, tenant_id: str
):
    await tell("Ada works at Initech since 2023-01-01.", day(2023))
    await tell("Ada works at Globex since 2024-01-01.", day(2024))
    await tell("Ada works at Hooli since 2025-01-01.", day(2025))
    back = await tell("Ada works at Initech since 2026-01-01.", day(2026))
    assert [(fact.object, fact.valid_at, fact.superseded) for fact in back.facts] == [("Initech", day(2026), False)]
    assert [(fact.object, fact.invalid_at) for fact in back.invalidated] == [("Hooli", day(2026))]
    facts = await knowledge.history("Ada", tenant_id=tenant_id)
    assert [(fact.object, fact.valid_at, fact.invalid_at) for fact in facts] == [
        ("Initech", day(2023), day(2024)),
        ("Globex", day(2024), day(2025)),
        ("Hooli", day(2025), day(2026)),
        ("Initech", day(2026), None),
    ]
    await knowledge.undo(back.episode.episode_id, tenant_id=tenant_id)
    assert [fact.object for fact in await knowledge.search("Ada", tenant_id=tenant_id) if not fact.superseded] == [
        "Hooli"
    ]

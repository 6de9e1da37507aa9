"""Facts without a ranking: by id, by the names in a question, by what a text says; and what runs beside an episode."""

import asyncio

import pytest

from clew.errors import InvalidInput
from clew.ids import new_id
from clew.memory.knowledge import KnowledgeBase

from .conftest import day


async def tell(knowledge, tenant_id, *texts, **more):
    return [
        await knowledge.add_episode(f"e{n}", text, reference_time=day(n + 1), tenant_id=tenant_id, **more)
        for n, text in enumerate(texts)
    ]


def pairs(facts):
    return [(fact.subject, fact.object) for fact in facts]


async def test_neighbours_are_what_holds_of_the_things_named_and_what_leads_to_them(knowledge, tenant_id):
    await tell(
        knowledge,
        tenant_id,
        "Ana Silva works at Acme Corp. The budget is $5M. Ana Silva lives in Paris.",
        "Ana Silva moved to Rome. Bob lives in Oslo.",
    )
    found = await knowledge.neighbours("What does Ana Silva do?", tenant_id=tenant_id)
    assert sorted(pairs(found)) == [("Ana Silva", "Acme Corp"), ("Ana Silva", "Rome")]
    assert pairs(await knowledge.neighbours("Who is at Acme?", tenant_id=tenant_id)) == [("Ana Silva", "Acme Corp")]
    assert pairs(await knowledge.neighbours("and in Oslo?", tenant_id=tenant_id)) == [("Bob", "Oslo")]
    assert all(fact.sources for fact in found)
    assert await knowledge.neighbours("the of and", tenant_id=tenant_id) == []
    assert await knowledge.neighbours("Ana Silva", tenant_id=f"{tenant_id}-other") == []


async def test_neighbours_follow_the_other_names_of_a_thing(knowledge, tenant_id):
    await tell(
        knowledge,
        tenant_id,
        "International Business Machines (IBM) is based in Armonk.",
        "IBM acquired Beta.",
    )
    for question in ("Where is IBM?", "tell me of International Business Machines"):
        found = await knowledge.neighbours(question, tenant_id=tenant_id)
        assert sorted(fact.object for fact in found) == ["Armonk", "Beta"]


async def test_neighbours_of_whoever_says_i_come_last_and_the_limit_counts(knowledge, tenant_id):
    said = {"role": "user", "content": "I live in Lisbon. I work at Beta."}
    await knowledge.add_episode("chat", said, tenant_id=tenant_id)
    await tell(knowledge, tenant_id, "Gamma is based in Lisbon.")
    found = await knowledge.neighbours("How far is Gamma from where I live?", tenant_id=tenant_id)
    assert found[0].subject == "Gamma"
    assert {fact.subject for fact in found} == {"Gamma", "user"}
    assert len(await knowledge.neighbours("Where do I live?", tenant_id=tenant_id, limit=1)) == 1


async def test_fetch_keeps_the_order_and_leaves_out_what_is_gone(knowledge, tenant_id):
    first, second = await tell(knowledge, tenant_id, "Ana lives in Paris. The budget is $5M.", "Ana moved to Rome.")
    paris, budget = first.facts
    [rome] = second.facts
    ids = [rome.fact_id, new_id(), paris.fact_id, budget.fact_id]
    found = await knowledge.fetch(ids, tenant_id=tenant_id)
    assert [fact.object for fact in found] == ["Rome", "Paris", "$5M"]
    assert [fact.superseded for fact in found] == [False, True, False]
    await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    gone, back, _ = await knowledge.fetch(ids, tenant_id=tenant_id)
    assert (gone.expired_at is not None, gone.sources[0].undone, back.superseded) == (True, True, False)
    await knowledge.forget(tenant_id=tenant_id, episode_id=first.episode.episode_id)
    assert [fact.object for fact in await knowledge.fetch(ids, tenant_id=tenant_id)] == ["Rome"]
    assert await knowledge.fetch([], tenant_id=tenant_id) == []
    with pytest.raises(InvalidInput):
        await knowledge.fetch(["x"], tenant_id=tenant_id)


async def test_episodes_are_listed_newest_first_with_their_user(knowledge, tenant_id):
    first, second = await tell(knowledge, tenant_id, "Ana lives in Paris.", "Ana moved to Rome.", user_id="u1")
    await knowledge.undo(second.episode.episode_id, tenant_id=tenant_id)
    listed = await knowledge.episodes(tenant_id=tenant_id)
    assert [(one.episode_id, one.user_id, one.undone) for one in listed] == [
        (second.episode.episode_id, "u1", True),
        (first.episode.episode_id, "u1", False),
    ]
    assert len(await knowledge.episodes(tenant_id=tenant_id, limit=1)) == 1
    assert await knowledge.episodes(tenant_id=f"{tenant_id}-other") == []


async def test_what_is_believed_already_is_known_and_what_would_change_anything_is_not(knowledge, tenant_id):
    await tell(knowledge, tenant_id, "Q3 revenue was $5.2M. Lunch outside, weather permitting.")
    for known in ("The revenue for Q3 was 5.2 million dollars.", "Lunch outside, weather permitting."):
        assert await knowledge.knows(known, tenant_id=tenant_id)
    for unknown in ("Q3 revenue was $5.3M.", "Q3 revenue was $5.2M. Ana sings opera.", "What was Q3 revenue?"):
        assert not await knowledge.knows(unknown, tenant_id=tenant_id)
    assert not await knowledge.knows("Q3 revenue was $5.2M.", tenant_id=f"{tenant_id}-other")
    moved = await knowledge.add_episode("chat", "Q3 revenue was $5.3M.", tenant_id=tenant_id)
    assert not await knowledge.knows("Q3 revenue was $5.2M.", tenant_id=tenant_id)
    await knowledge.undo(moved.episode.episode_id, tenant_id=tenant_id)
    assert await knowledge.knows("Q3 revenue was $5.2M.", tenant_id=tenant_id)


async def test_the_caller_s_confidence_is_that_of_what_is_made_and_lifts_no_hearsay(knowledge, tenant_id):
    body = "Ana lives in Paris. Bob said that the budget is $5M. Lunch outside, weather permitting."
    told = await knowledge.add_episode("chat", body, tenant_id=tenant_id, confidence=0.9)
    assert [fact.confidence for fact in told.facts] == [0.9, 0.6, 0.5]
    again = await knowledge.add_episode("chat", "Ana lives in Paris.", tenant_id=tenant_id, confidence=0.95)
    assert [fact.confidence for fact in again.facts] == [0.95]
    assert [one.confidence for one in again.facts[0].sources] == [0.9, 0.95]
    for wrong in (1.5, -0.1, True, "high", float("nan")):
        with pytest.raises(InvalidInput):
            await knowledge.add_episode("chat", "Ana sings.", tenant_id=tenant_id, confidence=wrong)


async def test_what_runs_beside_an_episode_is_stored_with_it_or_not_at_all(database, knowledge, tenant_id):
    async def note(connection):
        await connection.execute(
            "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES (%s, %s, 'beside')", (tenant_id, new_id())
        )

    async def fail(connection):
        await note(connection)
        raise KeyError("mine")

    async def noted():
        async with database.tenant(tenant_id) as connection:
            query = "SELECT count(*) FROM clew.journal WHERE tenant_id = %s AND kind = 'beside'"
            return (await (await connection.execute(query, (tenant_id,))).fetchone())[0]

    with pytest.raises(KeyError, match="mine"):
        await knowledge.add_episode("chat", "Ana lives in Paris.", tenant_id=tenant_id, also=fail)
    assert (await noted(), await knowledge.episodes(tenant_id=tenant_id)) == (0, [])
    await knowledge.add_episode("chat", "Ana lives in Paris.", tenant_id=tenant_id, also=note)
    assert (await noted(), len(await knowledge.episodes(tenant_id=tenant_id))) == (1, 1)


async def test_no_words_are_kept_of_a_tenant_that_is_forgotten(knowledge, tenant_id):
    await tell(knowledge, tenant_id, "Ana lives in Paris.", "Bob lives in Oslo.")
    assert knowledge.remembers(tenant_id) == 0
    await knowledge.search("Where is Ana?", tenant_id=tenant_id)
    assert knowledge.remembers(tenant_id) == 2
    knowledge.forget_tenant(tenant_id)
    assert knowledge.remembers(tenant_id) == 0
    assert await knowledge.search("Where is Ana?", tenant_id=tenant_id)


async def test_many_ask_at_once(database, tenant_id):
    rooms = [KnowledgeBase(database) for _ in range(3)]
    await tell(rooms[0], tenant_id, "Ana lives in Paris.")
    found = await asyncio.gather(*(rooms[n % 3].neighbours("Ana", tenant_id=tenant_id) for n in range(20)))
    assert all(len(facts) == 1 for facts in found)

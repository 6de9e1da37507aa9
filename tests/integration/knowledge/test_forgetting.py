"""Forgetting a source: what only it supported is gone from every table, what others support stays in their words."""

import psycopg
import pytest

from .conftest import day

TABLES = [
    "episodes", "facts", "fact_beliefs", "fact_sources", "fact_terms", "fact_vectors", "entity_aliases", "fact_changes",
]  # fmt: skip


async def tables_with(database, tenant_id, words):
    found = []
    async with database.tenant(tenant_id) as connection:
        for table in TABLES:
            query = f"SELECT count(*) FROM clew.{table} t WHERE t::text ILIKE %s"
            row = await (await connection.execute(query, (f"%{words}%",))).fetchone()
            found += [table] if row[0] else []
    return found


async def test_a_canary_is_in_no_table_afterwards(database, knowledge, tenant_id):
    told = await knowledge.add_episode(
        "canaryname",
        "Zyxcanary lives in Canaryville. Zyxcanary (ZYX) sings. Something canaryish rests.",
        tenant_id=tenant_id,
    )
    moved = await knowledge.add_episode("later", "Zyxcanary moved to Bonn.", tenant_id=tenant_id, thread_id="t")
    assert set(await tables_with(database, tenant_id, "canary")) >= {"episodes", "facts", "fact_terms", "fact_sources"}
    first = await knowledge.forget(tenant_id=tenant_id, episode_id=told.episode.episode_id)
    second = await knowledge.forget(tenant_id=tenant_id, thread_id="t")
    assert (first.episodes, second.episodes) == ([told.episode.episode_id], [moved.episode.episode_id])
    assert len(first.facts) >= 3
    assert await tables_with(database, tenant_id, "canary") == []
    assert await knowledge.search("Zyxcanary", tenant_id=tenant_id) == []
    acts = [change.act for change in await knowledge.changes(tenant_id=tenant_id)]
    assert acts.count("forgotten") == len(first.facts) + len(second.facts)


async def test_what_another_source_supports_stays_in_its_words(database, knowledge, tenant_id):
    first = await knowledge.add_episode(
        "a", "The revenue for Q3 was 4.8 million dollars, whispered Canary.", tenant_id=tenant_id
    )
    first = await knowledge.add_episode("b", "The revenue for Q3 was 4.8 million dollars.", tenant_id=tenant_id)
    second = await knowledge.add_episode("c", "Our Q3 revenue was $4.8M.", tenant_id=tenant_id)
    assert first.facts[0].fact_id == second.facts[0].fact_id
    gone = await knowledge.forget(tenant_id=tenant_id, episode_id=first.episode.episode_id)
    assert (gone.facts, gone.kept) == ([], [second.facts[0].fact_id])
    [fact] = [
        f for f in await knowledge.history("Q3 revenue", tenant_id=tenant_id) if f.fact_id == second.facts[0].fact_id
    ]
    assert (fact.text, [one.name for one in fact.sources]) == ("Our Q3 revenue was $4.8M.", ["c"])
    assert await knowledge.reembed(tenant_id=tenant_id) == 1
    assert await knowledge.reembed(tenant_id=tenant_id) == 0


async def test_a_name_that_the_forgotten_source_gave_is_given_back(database, knowledge, tenant_id):
    first = await knowledge.add_episode("a", "Canary Bird Labs (CBL) is based in Bonn.", tenant_id=tenant_id)
    await knowledge.add_episode("b", "CBL has 40 employees.", reference_time=day(1), tenant_id=tenant_id)
    assert "facts" in await tables_with(database, tenant_id, "canari")
    assert len(await knowledge.history("Canary Bird Labs", tenant_id=tenant_id)) == 2
    await knowledge.forget(tenant_id=tenant_id, episode_id=first.episode.episode_id)
    for words in ("canari", "canary"):
        assert await tables_with(database, tenant_id, words) == []
    later = await knowledge.add_episode("c", "CBL has 45 employees.", reference_time=day(5), tenant_id=tenant_id)
    assert [fact.object for fact in later.invalidated] == ["40 employees"]


async def test_a_reason_that_another_episode_or_an_undoing_made_anew_goes_too(database, knowledge, tenant_id):
    await knowledge.add_episode("a", "Headcount is 40.", reference_time=day(1), tenant_id=tenant_id)
    second = await knowledge.add_episode(
        "c", "Our headcount is 60 (canary).", reference_time=day(7), tenant_id=tenant_id
    )
    third = await knowledge.add_episode("d", "Headcount is 70.", reference_time=day(3), tenant_id=tenant_id)
    await knowledge.undo(third.episode.episode_id, tenant_id=tenant_id)
    assert "fact_beliefs" in await tables_with(database, tenant_id, "canary")
    await knowledge.forget(tenant_id=tenant_id, episode_id=second.episode.episode_id)
    assert await tables_with(database, tenant_id, "canary") == []


async def test_forgetting_the_correction_brings_the_old_figure_back(knowledge, tenant_id):
    await knowledge.add_episode("a", "Headcount is 40.", reference_time=day(1), tenant_id=tenant_id)
    later = await knowledge.add_episode("b", "Headcount is 55.", reference_time=day(5), tenant_id=tenant_id)
    await knowledge.forget(tenant_id=tenant_id, episode_id=later.episode.episode_id)
    [fact] = await knowledge.history("headcount", tenant_id=tenant_id)
    assert (fact.object, fact.invalid_at) == ("40", None)


async def test_in_a_transaction_that_fails_nothing_is_forgotten(database, knowledge, tenant_id):
    told = await knowledge.add_episode("a", "Headcount is 40.", tenant_id=tenant_id)
    with pytest.raises(ZeroDivisionError):
        async with database.tenant(tenant_id) as connection:
            gone = await knowledge.forget_source(connection, tenant_id, episode_id=told.episode.episode_id)
            assert len(gone.facts) == 1
            raise ZeroDivisionError
    assert len(await knowledge.history("headcount", tenant_id=tenant_id)) == 1


async def test_the_index_itself_refuses_a_second_open_fact(database, knowledge, tenant_id):
    await knowledge.add_episode("a", "Headcount is 40.", tenant_id=tenant_id)
    with pytest.raises(Exception) as raised:  # noqa: PT011
        async with database.tenant(tenant_id) as connection:
            await connection.execute(
                "INSERT INTO clew.fact_beliefs (tenant_id, seq, slot, single, created_at, episode_id)"
                " SELECT tenant_id, seq, slot, single, created_at, episode_id FROM clew.fact_beliefs b"
                " WHERE b.tenant_id = %s",
                (tenant_id,),
            )
    assert isinstance(raised.value.__cause__, psycopg.errors.UniqueViolation)

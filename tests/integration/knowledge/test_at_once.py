"""Writers that meet: one after the other for each thing, in whichever order, and no statement lost."""

import asyncio

from clew import Database
from clew.memory.knowledge import KnowledgeBase

from .conftest import day


async def test_episodes_about_one_thing_from_two_pools_leave_one_open_fact(settings, server, tenant_id):
    async with Database(settings=settings) as one, Database(settings=settings) as other:
        rooms = [KnowledgeBase(one), KnowledgeBase(other)]

        async def tell(n: int) -> None:
            text = f"Headcount is {100 + n}. The budget is ${n + 1}M."
            await rooms[n % 2].add_episode(f"e{n}", text, reference_time=day(5), tenant_id=tenant_id)

        await asyncio.gather(*(tell(n) for n in range(12)))
        for subject in ("headcount", "budget"):
            facts = await rooms[0].history(subject, tenant_id=tenant_id)
            assert len(facts) == 12
            assert len([fact for fact in facts if not fact.superseded]) == 1
            assert {one.name for fact in facts for one in fact.sources} == {f"e{n}" for n in range(12)}


async def test_the_second_waits_for_the_first_and_sees_it(database, knowledge, tenant_id):
    await knowledge.add_episode("zero", "Ana lives in Paris.", reference_time=day(1), tenant_id=tenant_id)
    async with database.tenant(tenant_id) as connection:
        # As a writer would hold it that has not committed yet.
        await connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (f"{tenant_id} ana/location",)
        )
        second = asyncio.create_task(
            knowledge.add_episode("second", "Ana lives in Rome.", reference_time=day(3), tenant_id=tenant_id)
        )
        other = await knowledge.add_episode("other", "Bob lives in Oslo.", tenant_id=tenant_id)
        await asyncio.sleep(0.2)
        assert other.facts
        assert not second.done()
    assert [fact.object for fact in (await second).invalidated] == ["Paris"]


async def test_opposite_orders_do_not_deadlock(knowledge, tenant_id):
    names = [f"Person{chr(65 + n)}" for n in range(8)]

    async def tell(n: int) -> None:
        order = names if n % 2 else names[::-1]
        text = " ".join(f"{name} lives in City{n}." for name in order)
        await knowledge.add_episode(f"e{n}", text, reference_time=day(2), tenant_id=tenant_id)

    await asyncio.wait_for(asyncio.gather(*(tell(n) for n in range(8))), timeout=60)
    for name in names:
        assert len([f for f in await knowledge.history(name, tenant_id=tenant_id) if not f.superseded]) == 1


async def test_an_episode_of_very_many_facts_meets_small_ones(knowledge, tenant_id):
    long = " ".join(f"Item{n} costs ${n}." for n in range(300))
    small = [knowledge.add_episode(f"s{n}", f"Item{n} costs ${n + 1000}.", tenant_id=tenant_id) for n in range(4)]
    await asyncio.gather(knowledge.add_episode("long", long, tenant_id=tenant_id), *small)
    for n in range(4):
        facts = await knowledge.history(f"Item{n}", tenant_id=tenant_id)
        assert len(facts) == 2
        assert len([fact for fact in facts if not fact.superseded]) == 1

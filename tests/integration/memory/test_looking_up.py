"""Entries by their ids, what stands beside them in their threads, and candidates for a reranker of the caller's."""

import pytest

from clew.errors import InvalidInput
from clew.memory import LongTermMemory
from clew.memory.looking_up import FETCH_MAX_IDS, REACH_MAX


def turns(entry, thread_id, count, **more):
    return [
        entry(
            f"turn {n} of {thread_id}",
            memory_id=f"{thread_id}-{n}",
            metadata={"thread_id": thread_id, "position": n},
            **more,
        )
        for n in range(count)
    ]


def ids(found):
    return {key: tuple([one.memory_id for one in side] for side in sides) for key, sides in found.items()}


async def test_entries_are_fetched_in_the_order_asked_and_unknown_ones_left_out(memory, entry, tenant_id):
    sent = turns(entry, "t", 4)
    await memory.store_many(sent)
    found = await memory.fetch(tenant_id, ["t-3", "nothing", "t-0", "t-3"])
    assert [one.memory_id for one in found] == ["t-3", "t-0"]
    assert found[0].model_dump(exclude={"updated_at"}) == sent[3].model_dump(exclude={"updated_at"})
    assert await memory.fetch(tenant_id, []) == []
    assert [one.memory_id for one in await memory.fetch(tenant_id, (one for one in ["t-1"]))] == ["t-1"]


async def test_a_deleted_entry_is_not_fetched(memory, entry, tenant_id):
    await memory.store_many(turns(entry, "t", 2))
    assert len(await memory.fetch(tenant_id, ["t-0", "t-1"])) == 2
    await memory.delete("t-0", tenant_id)
    assert [one.memory_id for one in await memory.fetch(tenant_id, ["t-0", "t-1"])] == ["t-1"]
    assert [*await memory.around(tenant_id, ["t-0", "t-1"])] == ["t-1"]


async def test_around_gives_what_stands_before_and_after_in_order(memory, entry, tenant_id):
    await memory.store_many([*reversed(turns(entry, "t", 7)), *turns(entry, "u", 3)])
    found = await memory.around(tenant_id, ["t-3", "t-0", "u-2", "nothing"])
    assert ids(found) == {
        "t-3": (["t-1", "t-2"], ["t-4", "t-5"]),
        "t-0": ([], ["t-1", "t-2"]),
        "u-2": (["u-0", "u-1"], []),
    }
    wide = await memory.around(tenant_id, ["t-3"], reach=REACH_MAX)
    assert ids(wide) == {"t-3": (["t-0", "t-1", "t-2"], ["t-4", "t-5", "t-6"])}


async def test_around_stays_with_the_same_agent(memory, entry, tenant_id):
    await memory.store_many(turns(entry, "t", 2))
    theirs = [
        entry(f"their {n}", memory_id=f"their-{n}", agent_id="b", metadata={"thread_id": "t", "position": n})
        for n in range(2)
    ]
    await memory.store_many(theirs)
    found = await memory.around(tenant_id, ["t-0", "their-1"])
    assert ids(found) == {"t-0": ([], ["t-1"]), "their-1": (["their-0"], [])}


async def test_an_entry_without_a_thread_has_nothing_around_it(memory, entry, tenant_id):
    await memory.store_many([entry("alone", memory_id="a"), entry("alone too", memory_id="b")])
    assert await memory.around(tenant_id, ["a"]) == {"a": ([], [])}


async def test_another_tenants_ids_are_simply_absent(memory, entry, tenant_id):
    await memory.store_many(turns(entry, "t", 3))
    other = f"{tenant_id}-other"
    await memory.store(entry("theirs", tenant_id=other, memory_id="x", metadata={"thread_id": "t", "position": 1}))
    assert await memory.fetch(other, ["t-0", "t-1"]) == []
    assert await memory.around(other, ["t-0", "x"]) == {"x": ([], [])}
    assert await memory.changes(other, "t-0") == []
    # The control: to their own tenant they are all there.
    assert len(await memory.fetch(tenant_id, ["t-0", "t-1"])) == 2
    assert len((await memory.around(tenant_id, ["t-0"]))["t-0"][1]) == 2
    assert len(await memory.changes(tenant_id, "t-0")) == 1


@pytest.mark.parametrize("wrong", ["t-0", None, 7, [7], [None], ["x" * 2_000]])
async def test_what_are_no_ids_is_refused(memory, tenant_id, wrong):
    for method in (memory.fetch, memory.around):
        with pytest.raises(InvalidInput, match="memory_ids"):
            await method(tenant_id, wrong)


async def test_ids_and_reach_are_bounded(memory, tenant_id):
    many = [str(n) for n in range(FETCH_MAX_IDS)]
    assert await memory.fetch(tenant_id, many) == []
    with pytest.raises(InvalidInput, match="1,001 ids"):
        await memory.fetch(tenant_id, [*many, "one more"])
    for reach in (0, REACH_MAX + 1, True, "2"):
        with pytest.raises(InvalidInput, match="reach"):
            await memory.around(tenant_id, ["t-0"], reach)


async def test_candidates_are_what_search_finds_before_the_reranker(database, memory, entry, tenant_id):
    class Backwards:
        name = "backwards"

        async def rerank(self, query, texts):
            return [float(n) for n in range(len(texts))]

    await memory.store_many(entry(f"Ana bought {n} green apples", metadata={"n": n}) for n in range(8))
    reranking = LongTermMemory(database, reranker=Backwards())
    question = "how many apples did Ana buy?"
    plain = [one.memory_id for one in await memory.search(tenant_id, question, limit=50)]
    candidates = await reranking.candidates(tenant_id, question)
    assert [one.memory_id for one in candidates] == plain
    assert [one.memory_id for one in await reranking.search(tenant_id, question, limit=50)] == plain[::-1]
    assert len(await reranking.candidates(tenant_id, question, limit=3)) == 3
    assert await reranking.candidates(tenant_id, question, agent_id="nobody") == []
    with pytest.raises(InvalidInput, match="query"):
        await memory.candidates(tenant_id, " ")


async def test_a_tenants_words_are_kept_until_they_are_forgotten(database, entry, tenant_id):
    memory = LongTermMemory(database)
    assert memory.remembers(tenant_id) == 0
    await memory.store_many(turns(entry, "t", 3))
    await memory.search(tenant_id, "turn")
    assert memory.remembers(tenant_id) == 3
    assert memory.remembers(f"{tenant_id}-other") == 0
    memory.forget_tenant(tenant_id)
    assert memory.remembers(tenant_id) == 0
    assert len(await memory.search(tenant_id, "turn")) == 3

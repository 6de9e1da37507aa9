"""Batches: what was stored and what failed are together what was sent."""

import pytest

from clew.errors import InvalidInput, Unavailable
from clew.memory import LongTermMemory, MemoryEntry, batching
from clew.models import StaticEmbedder


class Failing:
    """An embedder that is down after some texts."""

    name = StaticEmbedder.name
    dimensions = StaticEmbedder.dimensions

    def __init__(self, after: int) -> None:
        self.left = after

    async def embed(self, texts, *, purpose="document"):
        self.left -= len(texts)
        if self.left < 0:
            raise Unavailable("the model does not answer")
        return await StaticEmbedder().embed(texts, purpose=purpose)


async def test_three_bad_ones_do_not_sink_ten_thousand(memory, entry, tenant_id):
    def sent():
        for n in range(10_000):
            if n == 5:
                yield {"tenant_id": tenant_id, "agent_id": "agent", "content": "NUL \0", "memory_id": "bad"}
            elif n == 4_321:
                yield MemoryEntry.model_construct(tenant_id=tenant_id, agent_id="a", content="\udfff", metadata={})
            elif n == 9_999:
                yield "not an entry"
            else:
                yield entry(f"item number {n}", metadata={"n": n})

    result = await memory.store_many(sent())
    assert [one.index for one in result.failed] == [5, 4_321, 9_999]
    assert result.failed[0].memory_id == "bad"
    assert all(isinstance(one.error, InvalidInput) for one in result.failed)
    assert len(result.stored) + len(result.failed) == 10_000
    assert len(set(result.stored)) == 9_997
    [found] = await memory.search(tenant_id, "item number 7777", limit=1)
    assert found.metadata["n"] == 7777


async def test_an_empty_batch_is_a_batch(memory):
    result = await memory.store_many([])
    assert (result.stored, result.failed) == ([], [])


async def test_one_batch_may_hold_several_tenants_duplicates_and_one_id_twice(memory, entry, tenant_id):
    other = f"{tenant_id}-other"
    result = await memory.store_many(
        [
            entry("first", memory_id="a"),
            entry("first", memory_id="a", tenant_id=other),
            entry("second", memory_id="a"),
            entry("tea", memory_id="b"),
            entry("tea", memory_id="c"),
        ]
    )
    assert result.stored == ["a", "a", "a", "b", "b"]
    assert {one.content for one in await memory.list_by_tenant(tenant_id)} == {"second", "tea"}
    assert [one.content for one in await memory.list_by_tenant(other)] == ["first"]


async def test_a_model_that_fails_stores_nothing_of_its_chunk_and_says_so(database, entry, tenant_id, monkeypatch):
    monkeypatch.setattr(batching, "CHUNK_ENTRIES", 10)
    memory = LongTermMemory(database, Failing(after=15))
    result = await memory.store_many(entry(f"item {n}") for n in range(35))
    assert len(result.stored) == 10
    assert [one.index for one in result.failed] == list(range(10, 35))
    assert all(isinstance(one.error, Unavailable) for one in result.failed)
    assert len(await memory.list_by_tenant(tenant_id)) == 10
    with pytest.raises(Unavailable):
        await memory.store(entry("one more"))
    assert len(await memory.list_by_tenant(tenant_id)) == 10


async def test_a_vector_of_the_caller_s_must_fit_the_space(memory, entry, tenant_id):
    good = [1.0, *[0.0] * 255]
    result = await memory.store_many(
        [
            entry("given", embedding=good),
            entry("short", embedding=[1.0]),
            entry("zero", embedding=[0.0] * 256),
            entry("infinite", embedding=[float("inf"), *good[1:]]),
        ]
    )
    assert [one.index for one in result.failed] == [1, 2, 3]
    assert all("embedding" in str(one.error) for one in result.failed)
    assert len(result.stored) == 1

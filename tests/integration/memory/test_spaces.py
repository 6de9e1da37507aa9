"""Embedding spaces: vectors of two models never meet, and a tenant moves from one to the other in one step."""

import asyncio

import numpy as np
import pytest

from clew.errors import InvalidInput
from clew.memory import LongTermMemory


class Letters:
    """A model of another dimension: how often each letter is in a text."""

    name = "letters:1"
    dimensions = 26

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts, *, purpose="document"):
        self.asked += texts
        rows = np.array([[text.lower().count(chr(97 + n)) + 0.01 for n in range(26)] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


async def spaces(database, tenant_id):
    async with database.tenant(tenant_id) as connection:
        rows = await connection.execute(
            "SELECT space, vector_dims(embedding), count(*) FROM clew.memory_vectors GROUP BY 1, 2 ORDER BY 1"
        )
        return await rows.fetchall()


async def test_a_tenant_keeps_the_space_it_began_with(database, memory, entry, tenant_id):
    await memory.store(entry("Ana drinks tea"))
    other = LongTermMemory(database, Letters())
    await other.store(entry("Bob drinks milk"))
    assert await spaces(database, tenant_id) == [("static:l2_supercat_256", 256, 2)]
    assert len(await other.search(tenant_id, "drinks")) == 2


async def test_a_new_tenant_uses_the_model_it_is_given(database, entry, tenant_id):
    memory = LongTermMemory(database, Letters())
    await memory.store(entry("zzz top"))
    await memory.store(entry("abc cab"))
    assert await spaces(database, tenant_id) == [("letters:1", 26, 2)]
    assert (await memory.search(tenant_id, "zz zzz"))[0].content == "zzz top"


async def test_a_space_whose_model_is_not_here_is_told(database, memory, entry, tenant_id):
    await LongTermMemory(database, Letters()).store(entry())
    with pytest.raises(InvalidInput, match="letters:1"):
        await memory.search(tenant_id, "tea")


async def test_a_tenant_moves_to_another_space_while_the_old_one_answers(database, memory, entry, tenant_id):
    await memory.store_many(entry(f"tea number {n}", metadata={"n": n}) for n in range(1200))
    steps: list[tuple[int, int]] = []
    moving = asyncio.create_task(memory.reembed(tenant_id, Letters(), progress=lambda *step: steps.append(step)))
    while not moving.done():
        assert len(await memory.search(tenant_id, "tea", limit=5)) == 5
        await memory.store(entry(f"stored meanwhile {len(steps)}"))
    total = len(await memory.list_by_tenant(tenant_id, limit=10_000))
    assert await moving <= total
    assert [name for name, _, _ in await spaces(database, tenant_id)] == ["letters:1"]
    assert (await spaces(database, tenant_id))[0][1:] == (26, total)
    assert steps[-1][0] == steps[-1][1]
    assert len(await memory.search(tenant_id, "tea", limit=5)) == 5
    assert await memory.reembed(tenant_id, Letters()) == 0

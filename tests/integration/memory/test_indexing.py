"""A large tenant's own approximate index: used when it is there, as good as the scan, and nobody else's business."""

import psycopg
import pytest

from clew.errors import Misconfigured
from clew.memory import LongTermMemory, candidates
from clew.memory.indexing import index_name
from clew.memory.spaces import active_space
from clew.store.database import Database

TOPICS = ["whales", "weather", "wages", "wine", "wool", "wolves", "wheat", "wings"]


@pytest.fixture
def large(monkeypatch):
    """Every tenant counts as one of very many entries."""
    monkeypatch.setattr(candidates, "RANK_ALL_MAX", 0)
    monkeypatch.setattr(candidates, "SCAN_MAX_ENTRIES", 100)


async def uses(admin_url: str, index: str) -> int:
    """How often an index was used."""
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as connection:
        row = await (
            await connection.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", (index,))
        ).fetchone()
    return row[0] if row else -1


async def test_an_index_of_its_own_finds_what_the_scan_finds(scratch, entry, large):
    async with Database(scratch.admin_url) as database:
        memory = LongTermMemory(database)
        made = [entry(f"note {n} about {TOPICS[n % 8]} and {TOPICS[n % 7]}", tenant_id="big") for n in range(400)]
        await memory.store_many([*made, entry("a whale of another tenant", tenant_id="small")])
        questions = [f"what of {one} and {two}?" for one in TOPICS for two in TOPICS if one != two][:12]
        exact = [[one.memory_id for one in await memory.search("big", question)] for question in questions]
        async with database.tenant("big") as connection:
            space = await active_space(connection, "big")
        name = index_name("big", space)
        assert await uses(scratch.admin_url, name) == -1

        assert await memory.index("big") is True
        assert await memory.index("big") is False, "once is enough"
        found = [[one.memory_id for one in await memory.search("big", question)] for question in questions]

        shared = sum(len({*one} & {*other}) for one, other in zip(exact, found, strict=True))
        assert shared >= 0.98 * sum(map(len, exact))
        fresh = await memory.store(entry("note of a narwhal", tenant_id="big"))
        assert (await memory.search("big", "the narwhal"))[0].memory_id == fresh
        assert [one.content for one in await memory.search("small", "whales")] == ["a whale of another tenant"]
    async with await psycopg.AsyncConnection.connect(scratch.admin_url, autocommit=True) as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
    assert await uses(scratch.admin_url, name) > 0, "the index was asked"


async def test_a_tenant_without_entries_has_nothing_to_index(memory):
    assert await memory.index("nobody-is-here") is False


async def test_a_login_that_is_not_the_owners_is_told_which_is(scratch, entry):
    async with Database(scratch.app_url) as database:
        memory = LongTermMemory(database)
        await memory.store(entry("one", tenant_id="big"))
        with pytest.raises(Misconfigured, match="Use the login that runs `clew migrate`"):
            await memory.index("big")

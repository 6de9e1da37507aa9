"""Every change to memory is in the log, with what was before and what came of it, however it was written."""

import psycopg
import pytest

from clew import Database
from clew.errors import InvalidInput
from clew.memory import LongTermMemory, MemoryEntry


def told(content, **metadata):
    return {"agent_id": "agent", "content": content, "metadata": metadata}


def acts(log):
    return [(one.memory_id, one.act) for one in log]


async def test_the_log_has_before_and_after_of_every_change(memory, entry, tenant_id):
    await memory.store(entry("Ana drinks tea", memory_id="drink"))
    await memory.store(entry("Ana drinks coffee", memory_id="drink", metadata={"source": "chat"}))
    await memory.store(entry("Ana drinks water", memory_id="drink"))
    third, second, first = await memory.changes(tenant_id)
    assert (first.act, first.before, first.after) == ("added", None, told("Ana drinks tea"))
    assert (second.act, second.before) == ("changed", told("Ana drinks tea"))
    assert second.after == third.before == told("Ana drinks coffee", source="chat")
    assert (third.act, third.after) == ("changed", told("Ana drinks water"))
    assert first.change < second.change < third.change
    assert first.at <= second.at <= third.at
    assert first.at.tzinfo is not None


async def test_storing_the_same_again_is_no_change(memory, entry, tenant_id):
    await memory.store(entry("Ana drinks tea", memory_id="drink"))
    await memory.store(entry("Ana drinks tea", memory_id="drink"))
    await memory.store(entry("Ana drinks tea", memory_id="another"))
    assert acts(await memory.changes(tenant_id)) == [("drink", "added")]
    await memory.store(entry("Ana drinks tea", memory_id="drink", metadata={"sure": True}))
    assert acts(await memory.changes(tenant_id)) == [("drink", "changed"), ("drink", "added")]


async def test_forgetting_leaves_that_it_was_and_no_word_of_what(memory, entry, tenant_id):
    await memory.store(entry("Ana drinks tea", memory_id="drink"))
    await memory.store(entry("Ana drinks coffee", memory_id="drink"))
    await memory.store(entry("Ben eats pie", memory_id="other"))
    await memory.store(entry("Ben eats cake", memory_id="other"))
    assert "tea" in str(await memory.changes(tenant_id))
    assert await memory.delete("drink", tenant_id)
    log = await memory.changes(tenant_id, "drink")
    assert acts(log) == [("drink", "forgotten"), ("drink", "changed"), ("drink", "added")]
    assert all(one.before is None and one.after is None for one in log)
    everything = str(await memory.changes(tenant_id))
    assert "tea" not in everything
    assert "coffee" not in everything
    # The control: another entry's log is as it was.
    assert "pie" in everything
    assert "cake" in everything


async def test_what_is_stored_again_under_a_forgotten_id_starts_anew(memory, entry, tenant_id):
    await memory.store(entry("Ana drinks tea", memory_id="drink"))
    await memory.delete("drink", tenant_id)
    await memory.store(entry("Ana drinks coffee", memory_id="drink"))
    log = await memory.changes(tenant_id, "drink")
    assert acts(log) == [("drink", "added"), ("drink", "forgotten"), ("drink", "added")]
    assert [one.after for one in log] == [told("Ana drinks coffee"), None, None]


async def test_a_batch_and_a_forgotten_thread_are_logged_entry_by_entry(memory, entry, tenant_id, database):
    sent = [entry(f"turn {n}", memory_id=str(n), metadata={"thread_id": "t", "position": n}) for n in range(30)]
    await memory.store_many(sent)
    log = await memory.changes(tenant_id)
    assert acts(log) == [(str(n), "added") for n in reversed(range(30))]
    assert [one.after["content"] for one in log[:2]] == ["turn 29", "turn 28"]
    async with database.tenant(tenant_id) as connection:
        assert await memory.forget_thread(connection, tenant_id, "t") == 30
    log = await memory.changes(tenant_id)
    assert sorted(acts(log[:30])) == sorted((str(n), "forgotten") for n in range(30))
    assert all(one.after is None for one in log)


async def test_the_log_is_cut_newest_first_and_bounded(memory, entry, tenant_id):
    await memory.store_many(entry(f"number {n}", memory_id=str(n)) for n in range(5))
    assert acts(await memory.changes(tenant_id, limit=2)) == [("4", "added"), ("3", "added")]
    assert await memory.changes(tenant_id, "nothing") == []
    for limit in (0, 10_001):
        with pytest.raises(InvalidInput, match="limit"):
            await memory.changes(tenant_id, limit=limit)
    with pytest.raises(InvalidInput, match="memory_id"):
        await memory.changes(tenant_id, 7)


async def test_no_way_of_writing_can_forget_the_log(scratch):
    """Written by hand, past all our code: as the application, and as the administrator."""
    insert = (
        "INSERT INTO clew.memories (tenant_id, memory_id, agent_id, content, fingerprint)"
        " VALUES ('a', %s, 'x', 'secret', %s)"
    )
    for number, url in enumerate((scratch.app_url, scratch.admin_url)):
        with psycopg.connect(url) as connection:
            connection.execute("SET clew.tenant_id = 'a'")
            connection.execute(insert, (str(number), str(number).encode()))
            connection.execute("UPDATE clew.memories SET content = 'public' WHERE memory_id = %s", (str(number),))
            log = "SELECT act, before ->> 'content' FROM clew.memory_changes WHERE memory_id = %s ORDER BY change"
            assert connection.execute(log, (str(number),)).fetchall() == [("added", None), ("changed", "secret")]
            connection.execute("DELETE FROM clew.memories WHERE memory_id = %s", (str(number),))
            assert [row[1] for row in connection.execute(log, (str(number),))] == [None, None, None]


async def test_added_entries_are_logged_without_their_text(scratch):
    async with Database(scratch.app_url) as database:
        memory = LongTermMemory(database)
        await memory.store(MemoryEntry(tenant_id="a", agent_id="x", content="the canary sings"))
    with psycopg.connect(scratch.admin_url) as connection:
        rows = connection.execute("SELECT c::text FROM clew.memory_changes c").fetchall()
    assert len(rows) == 1
    assert "canary" not in rows[0][0]

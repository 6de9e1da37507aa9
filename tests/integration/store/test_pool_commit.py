"""A connection lost at COMMIT: whether the row is there or not, the answer is that nobody knows."""

import asyncio

import pytest

from clew import Database, Settings, Unavailable
from clew.ids import new_id
from clew.store.journal import Journal

WRITES = 40


def message(kind, body):
    return kind + (len(body) + 4).to_bytes(4, "big") + body


FATAL = message(b"E", b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")


async def drop_before(data, upstream, client):
    """PostgreSQL never gets it."""


async def drop_after(data, upstream, client):
    """PostgreSQL gets it and does it; the answer is lost."""
    upstream[1].write(data)
    assert b"COMMIT" in await upstream[0].read(65536)


async def answer_then_die(data, upstream, client):
    """PostgreSQL does it, and is told to end before it has finished answering."""
    upstream[1].write(data)
    answer = await upstream[0].read(65536)
    committed = message(b"C", b"COMMIT\0")
    assert answer.startswith(committed)
    client.write(committed + FATAL)
    await client.drain()


async def die_without_answer(data, upstream, client):
    """PostgreSQL does it, but all that arrives is that it was told to end, as when it waited for a replica."""
    upstream[1].write(data)
    assert b"COMMIT" in await upstream[0].read(65536)
    client.write(FATAL)
    await client.drain()


@pytest.fixture
async def through_wire(wire, postgres_18):
    dbname = postgres_18.new_database()
    await Database(postgres_18.url(dbname=dbname), settings=Settings()).migrate()
    async with Database(wire.url("postgres", dbname), settings=Settings(), pool_size=2) as database:
        yield database


async def test_the_wire_itself_changes_nothing(through_wire):
    journal = Journal(through_wire)
    entry_id = await journal.add("t", "k", {})
    assert [entry.entry_id for entry in await journal.newest("t")] == [entry_id]


@pytest.mark.parametrize(
    ("what_happens", "stored"),
    [(drop_before, False), (drop_after, True), (answer_then_die, True), (die_without_answer, True)],
)
async def test_a_connection_lost_at_commit_is_outcome_unknown_and_a_retry_is_safe(
    wire, through_wire, what_happens, stored
):
    journal = Journal(through_wire)
    entry_id = new_id()
    wire.at_commit = what_happens
    with pytest.raises(Unavailable, match="unknown whether") as caught:
        await journal.add("t", "k", {}, entry_id=entry_id)
    assert wire.at_commit is None, "no COMMIT passed through the wire"
    assert caught.value.outcome_unknown is True
    assert caught.value.retryable
    assert [entry.entry_id for entry in await journal.newest("t")] == [entry_id] * stored
    await journal.add("t", "k", {}, entry_id=entry_id)
    assert [entry.entry_id for entry in await journal.newest("t")] == [entry_id]


async def test_what_is_called_not_stored_is_not_there_when_connections_die_at_random(postgres_18):
    """Backends are terminated at any moment: an error either admits that it does not know, or is right."""
    dbname = postgres_18.new_database()
    url = postgres_18.url(dbname=dbname)
    await Database(url, settings=Settings()).migrate()
    acknowledged, denied = set(), set()
    async with Database(url, settings=Settings(), pool_size=4) as database:
        journal = Journal(database)

        async def write():
            for _ in range(WRITES):
                entry_id = new_id()
                try:
                    acknowledged.add(await journal.add("t", "k", {}, entry_id=entry_id))
                except Unavailable as error:
                    if not error.outcome_unknown:
                        denied.add(entry_id)

        writers = [asyncio.create_task(write()) for _ in range(4)]
        terminations = 0
        while not all(writer.done() for writer in writers) and terminations < 2_000:
            await asyncio.to_thread(
                postgres_18.admin,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'clew' "
                f"AND datname = '{dbname}' AND state <> 'idle' ORDER BY random() LIMIT 1",
            )
            terminations += 1
        await asyncio.gather(*writers)
        stored = {entry.entry_id for entry in await journal.newest("t", 1000)}
    assert terminations > 0
    assert acknowledged
    assert acknowledged <= stored
    assert not denied & stored

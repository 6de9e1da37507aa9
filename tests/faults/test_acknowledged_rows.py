"""Acknowledged means readable, after any crash: PostgreSQL, killed again and again under writers, loses none."""

import asyncio
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
import pytest

from clew import Database, Settings, Unavailable
from clew.ids import new_id
from clew.store.embedded.cluster import ADMIN_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.journal import Journal

KILLS = 20
CONTROL_KILLS = 4
WRITERS = 8
# So many rows are acknowledged between two kills, at least.
ROWS_BETWEEN_KILLS = 40
RECOVERY_MAX_S = 60.0

# Commits are acknowledged while they are in memory only, and stay there for as long as PostgreSQL allows.
FORGETFUL = {
    "synchronous_commit": "off",
    "wal_writer_delay": "10s",
    "wal_writer_flush_after": "1GB",
    "wal_buffers": "64MB",
}


@dataclass
class Outcome:
    """What the writers were told, and what was found afterwards."""

    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    attempted: set[tuple[str, str]] = field(default_factory=set)
    stored: list[tuple[str, str]] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)
    errors: int = 0

    @property
    def lost(self) -> set[tuple[str, str]]:
        return self.acknowledged - set(self.stored)


async def write(journal: Journal, tenant: str, outcome: Outcome, stop: asyncio.Event) -> None:
    """Entry after entry; one that failed is sent again, under the same id, until it is acknowledged."""
    while not stop.is_set():
        entry = (tenant, new_id())
        outcome.attempted.add(entry)
        while entry not in outcome.acknowledged and not stop.is_set():
            try:
                await journal.add(tenant, "written", {"by": tenant}, entry_id=entry[1])
            except Unavailable:
                outcome.errors += 1
            else:
                outcome.acknowledged.add(entry)


def kill_postgres(data_dir: Path) -> int:
    """The postmaster first, so that it can't bury its children in order; then all of those, at once."""
    postmaster = psutil.Process(json.loads((data_dir / "postgres" / "server.json").read_text())["server_pid"])
    tree = [postmaster, *postmaster.children(recursive=True)]
    for process in tree:
        process.kill()
    return postmaster.pid


async def kill_under_writers(server: EmbeddedServer, data_dir: Path, kills: int) -> Outcome:
    outcome = Outcome()
    moments = random.Random(kills)
    stop = asyncio.Event()
    async with Database(settings=Settings(data_dir=data_dir), pool_size=WRITERS) as database:
        journal = Journal(database)
        writers = [asyncio.create_task(write(journal, f"writer-{n}", outcome, stop)) for n in range(WRITERS)]
        try:
            for _ in range(kills):
                await rows_acknowledged(outcome, writers)
                await asyncio.sleep(moments.uniform(0, 0.05))
                outcome.killed.append(await asyncio.to_thread(kill_postgres, data_dir))
            await rows_acknowledged(outcome, writers)
        finally:
            stop.set()
            await asyncio.gather(*writers)
    outcome.stored = await asyncio.to_thread(read_all, server)
    return outcome


async def rows_acknowledged(outcome: Outcome, writers: list[asyncio.Task[None]]) -> None:
    """Wait until the writers have got on: the server is up again, and at work."""
    enough = len(outcome.acknowledged) + ROWS_BETWEEN_KILLS
    async with asyncio.timeout(RECOVERY_MAX_S):
        while len(outcome.acknowledged) < enough:
            for writer in writers:
                assert not writer.done(), writer.exception()
            await asyncio.sleep(0.005)


def read_all(server: EmbeddedServer) -> list[tuple[str, str]]:
    """Every row in the table itself: an index may not know of a second copy."""
    with psycopg.connect(server.conninfo(server.ensure(), ADMIN_ROLE)) as connection:
        connection.execute("SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off")
        return connection.execute("SELECT tenant_id, entry_id::text FROM clew.journal").fetchall()


@pytest.fixture
def leased(tmp_path):
    server = EmbeddedServer(tmp_path)
    server.acquire()
    yield server
    server.release()


async def test_twenty_kills_of_the_whole_tree_under_eight_writers_lose_no_acknowledged_row(leased, tmp_path):
    outcome = await kill_under_writers(leased, tmp_path, KILLS)
    assert len(set(outcome.killed)) == KILLS
    assert outcome.errors > 0, "the writers noticed nothing: they were not writing when it happened"
    assert len(outcome.acknowledged) >= KILLS * ROWS_BETWEEN_KILLS
    assert outcome.lost == set()
    assert len(outcome.stored) == len(set(outcome.stored))
    assert set(outcome.stored) <= outcome.attempted


async def test_the_same_harness_sees_losses_when_commits_are_not_waited_for(leased, tmp_path):
    """The control: with synchronous_commit off, PostgreSQL acknowledges what it has not written down."""
    async with Database(settings=Settings(data_dir=tmp_path)):
        pass  # Migrated while it still waits for its commits.
    with psycopg.connect(leased.conninfo(leased.ensure(), ADMIN_ROLE), autocommit=True) as connection:
        for name, value in FORGETFUL.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")
    outcome = await kill_under_writers(leased, tmp_path, CONTROL_KILLS)
    assert len(set(outcome.killed)) == CONTROL_KILLS
    assert len(outcome.lost) > 0

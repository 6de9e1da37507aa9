"""Learning from a thread while something fails: what was said is stored or clearly not, and is learnt once."""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

import clew
from clew import Database, Settings, Unavailable
from clew.models import StaticEmbedder

from .conftest import says

CUTS = 8
APPEND_MAX_S = 15.0


class Embedder:
    """The static embedder, which fails in a way of the test's choosing at the nth text."""

    def __init__(self, error: BaseException | None = None, at: int = 0) -> None:
        self._static = StaticEmbedder()
        self.name, self.dimensions = self._static.name, self._static.dimensions
        self.error, self.at, self.texts = error, at, 0

    async def embed(self, texts: Sequence[str], *, purpose: Any = "document") -> Any:
        self.texts += len(texts)
        if self.error is not None and self.texts >= self.at:
            raise self.error
        return await self._static.embed(texts, purpose=purpose)


def statements(count: int, first: int = 1) -> list[dict[str, Any]]:
    return [says(f"The budget of project P{n} is ${n}M.") for n in range(first, first + count)]


async def episodes(database: Database, tenant_id: str) -> list[str]:
    async with database.tenant(tenant_id) as connection:
        found = await connection.execute(
            "SELECT min(s.message_id) FROM clew.episodes e LEFT JOIN clew.fact_sources s USING (tenant_id, episode_id)"
            " GROUP BY episode_id ORDER BY 1"
        )
        return [id for (id,) in await found.fetchall()]


async def read_through(database: Database, tenant_id: str, thread_id: str) -> int | None:
    async with database.tenant(tenant_id) as connection:
        found = await connection.execute("SELECT read_through FROM clew.threads WHERE thread_id = %s", [thread_id])
        row = await found.fetchone()
    return row[0] if row else None


@pytest.mark.parametrize("at", [1, 5, 12])
async def test_an_embedder_that_fails_half_way_leaves_the_rest_for_the_next_time(database, tenant, at):
    embedder = Embedder(Unavailable("gone"), at)
    thread = clew.open(database, models={"embeddings": embedder}).tenant(tenant).thread("t")
    ids = await thread.append(statements(20))
    assert len(ids) == 20
    learnt = await episodes(database, tenant)
    assert len(learnt) < 20
    assert await read_through(database, tenant, "t") == len(learnt)
    embedder.error = None
    await thread.append(says("Thanks!"))
    assert await episodes(database, tenant) == sorted(ids)
    assert await read_through(database, tenant, "t") == 21


@pytest.mark.parametrize("error", [RuntimeError("boom"), ValueError("x"), TimeoutError(), KeyError("data")], ids=repr)
async def test_an_embedder_that_fails_in_a_way_of_its_own_does_not_fail_an_append_that_is_stored(
    database, tenant, error
):
    """The messages are stored: a caller who is told otherwise sends them again."""
    thread = clew.open(database, models={"embeddings": Embedder(error)}).tenant(tenant).thread("t")
    ids = await thread.append(statements(2))
    assert [row.message_id for row in await thread.read()] == ids
    context = await thread.compile("Say hello.")
    assert any("not learnt" in note for note in context.manifest.notes)


async def test_an_append_that_is_cancelled_while_it_learns_is_stored_and_learnt_later(database, tenant, monkeypatch):
    engine = clew.open(database)
    thread = engine.tenant(tenant).thread("t")
    inner = engine.knowledge.add_episode

    async def slow(*args: Any, **named: Any) -> Any:
        await asyncio.sleep(30)
        return await inner(*args, **named)

    monkeypatch.setattr(engine.knowledge, "add_episode", slow)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await thread.append(statements(2))
    monkeypatch.undo()
    await engine.write_back.catch_up("t", tenant_id=tenant)
    assert len(await episodes(database, tenant)) == 2


async def test_many_threads_that_contradict_each_other_leave_one_open_fact_and_the_whole_history(
    database, acme, tenant
):
    engines = [clew.open(database).tenant(tenant) for _ in range(4)]

    async def talk(number: int) -> None:
        thread = engines[number % 4].thread(f"t{number}", user_id=f"u{number}")
        for step in range(3):
            await thread.append(says(f"The Orion budget is ${number * 10 + step + 100}M."))

    await asyncio.gather(*(talk(number) for number in range(10)))
    history = await acme.history("Orion budget")
    assert len({fact.object for fact in history}) == len(history) == 30
    assert len([fact for fact in history if not fact.superseded]) == 1
    assert len(await episodes(database, tenant)) == 30


async def test_many_who_append_to_one_thread_have_each_message_learnt_once(database, tenant):
    engines = [clew.open(database).tenant(tenant).thread("t") for _ in range(6)]
    ids = await asyncio.gather(
        *(thread.append(says(f"The budget of project P{n} is ${n}M.")) for n, thread in enumerate(engines * 5))
    )
    await engines[0]._engine.write_back.catch_up("t", tenant_id=tenant)
    assert await episodes(database, tenant) == sorted(id for (id,) in ids)
    assert await read_through(database, tenant, "t") == 30


@pytest.mark.parametrize("memories", [True, False])
async def test_a_thread_that_is_cleared_while_it_is_read_leaves_nothing_half_learnt(database, tenant, memories):
    engine = clew.open(database)
    for n in range(6):
        thread = engine.tenant(tenant).thread(f"t{n}")
        await engine.sessions.append(f"t{n}", statements(30, n * 100), tenant_id=tenant)

        async def clear(thread: clew.Thread = thread, wait: float = n * 0.03) -> None:
            await asyncio.sleep(wait)
            await thread.clear(memories=memories)

        await asyncio.gather(engine.write_back.catch_up(f"t{n}", tenant_id=tenant), clear())
        assert await read_through(database, tenant, f"t{n}") is None
        assert await thread.read() == []
        if memories:
            assert await episodes(database, tenant) == [], "what was learnt from it went with it"
        await thread.append(statements(1, n * 100 + 50))
        assert await read_through(database, tenant, f"t{n}") == 1
        await thread.clear(memories=memories)


async def test_a_tenant_erased_while_it_is_read_has_nothing_afterwards(database, tenant):
    engine = clew.open(database)
    for n in range(5):
        acme = engine.tenant(f"{tenant}-{n}")
        await engine.sessions.append("t", statements(30), tenant_id=acme.tenant_id)

        async def erase(acme: clew.Tenant = acme, wait: float = n * 0.04) -> None:
            await asyncio.sleep(wait)
            await acme.erase()

        learnt, erased = await asyncio.gather(
            engine.write_back.catch_up("t", tenant_id=acme.tenant_id), erase(), return_exceptions=True
        )
        assert not isinstance(learnt, BaseException) or isinstance(learnt, Unavailable), "it may have to be tried again"
        assert erased is None
        assert await episodes(database, acme.tenant_id) == []
        assert await acme.facts("budget") == []
        assert await acme.threads() == []


async def cut(scratch: Any) -> None:
    """End every connection to the database but this one."""
    async with await psycopg.AsyncConnection.connect(scratch.admin_url, autocommit=True) as admin:
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_database_that_goes_away_while_it_learns_has_every_acknowledged_message(scratch, tenant):
    """Connections are cut again and again; an append is acknowledged, or fails with an error that says so."""
    async with Database(scratch.app_url, settings=Settings(worker="separate")) as database:
        engine = clew.open(database)
        thread = engine.tenant(tenant).thread("t")
        kept, longest = [], 0.0
        for round in range(CUTS):
            cutting = asyncio.create_task(cut(scratch))
            for n in range(round * 10, round * 10 + 10):
                began = time.monotonic()
                with contextlib.suppress(clew.ClewError):
                    kept += await thread.append(says(f"The budget of project P{n} is ${n}M."))
                longest = max(longest, time.monotonic() - began)
            await cutting
        while (await engine.write_back.catch_up("t", tenant_id=tenant)).messages:
            pass
        log = [row.message_id for row in await thread.read(200)]
        assert kept
        assert set(kept) <= set(log)
        assert len(log) == len(set(log)) <= CUTS * 10
        assert await episodes(database, tenant) == sorted(log)
        assert await read_through(database, tenant, "t") == len(log)
        assert longest < APPEND_MAX_S, "the pool has new connections soon"

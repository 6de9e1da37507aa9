"""A worker killed at any point of a compaction: never half of one, never two, and the next worker finishes it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew import Clew, Compactor, Database, Settings
from clew import open as open_clew
from clew.store.jobs import STALLED_S, Jobs

from .compacting_process import POINTS

if TYPE_CHECKING:
    from ..conftest import Scratch

COMMITTED = ("after the commit", "before the job is marked done")
TENANT = "killed"


@pytest.fixture
async def engine(scratch: "Scratch") -> AsyncIterator[Clew]:
    async with open_clew(Database(scratch.app_url, settings=Settings(worker="separate"))) as engine:
        await engine.database.open()
        yield engine
        await engine.database.close()


def run_worker(url: str, point: str) -> int:
    script = Path(__file__).with_name("compacting_process.py")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    done = subprocess.run(
        [sys.executable, str(script), url, point], env=clean, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


async def run_next_worker(engine: Clew) -> None:
    """One that comes when the killed one has been forgotten."""
    async with engine.database.jobs() as connection:
        await connection.execute("DELETE FROM procrastinate_workers")
    await _work(engine)


async def _work(engine: Clew, stalled_s: float = STALLED_S) -> None:
    jobs = Jobs(engine.database, in_process=False, stalled_s=stalled_s)
    Compactor(engine.database, jobs=jobs)
    await jobs.run(until_idle=True)


def talk(first: int, last: int) -> list[dict[str, Any]]:
    words = "and apart from that nothing was noticed on the way along the pipes, which all looked clean and dry"
    return [
        {"role": "user" if n % 2 else "assistant", "content": f"Valve V-{1000 + n} holds {200 + n} bar, {words}."}
        for n in range(first, last + 1)
    ]


async def jobs_left(engine: Clew) -> list[str]:
    async with engine.database.jobs() as connection:
        found = await connection.execute("SELECT status::text FROM procrastinate_jobs ORDER BY id")
        return [status for (status,) in await found.fetchall()]


async def test_a_worker_that_is_not_killed_compacts_once(engine, scratch):
    """The control."""
    thread = engine.tenant(TENANT).thread("t")
    await thread.append(talk(1, 21))
    await thread.compile("go on")
    assert await asyncio.to_thread(run_worker, scratch.app_url, "nowhere") == 0
    assert [one.through for one in await thread.compactions()] == [11]
    assert await jobs_left(engine) == []


@pytest.mark.parametrize("point", POINTS)
async def test_killed_at_a_point_it_is_done_by_the_next_and_done_once(engine, scratch, point):
    thread = engine.tenant(TENANT).thread("t")
    await thread.append(talk(1, 21))
    before = (await thread.compile("go on")).messages
    assert await jobs_left(engine) == ["todo"]
    assert await asyncio.to_thread(run_worker, scratch.app_url, point) == -signal.SIGKILL
    assert await jobs_left(engine) == ["doing"], "the job outlives the worker"
    found = await thread.compactions()
    assert [one.generation for one in found] == ([1] if point in COMMITTED else [])
    shown = (await thread.compile("go on")).messages
    assert (shown == before) is (point not in COMMITTED), "the whole old view, or the whole new one"
    await run_next_worker(engine)
    after = await thread.compactions()
    assert [(one.generation, one.through) for one in after] == [(1, 11)]
    assert after == found or not found
    assert await thread.refusals() == []
    assert await jobs_left(engine) == []
    assert len((await thread.compile("go on")).messages) < len(before)
    assert [row.message.text for row in await thread.read(50)] == [message["content"] for message in talk(1, 21)]


async def test_killed_again_and_again_the_generations_have_no_gap_and_always_reach_further(engine, scratch):
    thread = engine.tenant(TENANT).thread("t")
    last = 10
    for point in ("after the commit", "before the commit", "inside the transaction"):
        await thread.append(talk(last + 1, last + 11) if last > 10 else talk(1, 21))
        last = 21 if last == 10 else last + 11
        await thread.compile("go on")
        await asyncio.to_thread(run_worker, scratch.app_url, point)
        await run_next_worker(engine)
    found = list(reversed(await thread.compactions()))
    assert [one.generation for one in found] == [1, 2, 3]
    assert [one.through for one in found] == [11, 22, 33], "one for each time it was due"
    assert [one.view.summary.covers[0] for one in found] == [1, 1, 1]
    assert await jobs_left(engine) == []


async def test_two_workers_on_one_thread_and_one_is_killed(engine, scratch):
    """The other does not wait for it for ever, nor does what it did again."""
    threads = [engine.tenant(TENANT).thread(f"t{n}") for n in range(4)]
    for thread in threads:
        await thread.append(talk(1, 21))
        await thread.compile("go on")
    async with asyncio.TaskGroup() as both:
        both.create_task(asyncio.to_thread(run_worker, scratch.app_url, "after the commit"))
        both.create_task(asyncio.to_thread(run_worker, scratch.app_url, "nowhere"))
    await run_next_worker(engine)
    for thread in threads:
        assert [(one.generation, one.through) for one in await thread.compactions()] == [(1, 11)]
    assert await jobs_left(engine) == []


async def test_a_job_that_somebody_else_looks_at_just_now_is_not_passed_over(engine, scratch):
    """When the next worker looks for it, the row is locked for a moment, as it is while a dead worker is forgotten."""
    thread = engine.tenant(TENANT).thread("t")
    await thread.append(talk(1, 21))
    await thread.compile("go on")
    await asyncio.to_thread(run_worker, scratch.app_url, "before the commit")
    async with engine.database.jobs() as connection:
        await connection.execute("SELECT FROM procrastinate_jobs FOR UPDATE")
        async with engine.database.jobs() as other:
            await other.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'")
        running = asyncio.create_task(_work(engine, stalled_s=1.5))
        await asyncio.wait([running], timeout=1.0)
    await running
    assert [one.generation for one in await thread.compactions()] == [1]
    assert await jobs_left(engine) == []

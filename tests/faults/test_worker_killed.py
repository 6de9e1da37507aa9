"""Workers come and go, and are killed in the middle of a job: every job is done, and none by two at a time."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew import Database, Settings
from clew.store.job_queue import ATTEMPTS_MAX, Connector
from clew.store.journal import Journal

from .worker_process import TASK, TENANT, with_step

if TYPE_CHECKING:
    from ..conftest import Scratch

# A worker says it is alive every third of it; a busy machine may well keep it from doing so for a second.
STALLED_S = 2.5
PATIENCE_S = 60.0
MANY = 200


class Workers:
    """Worker processes on one database."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, how: str, concurrency: int = 4) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("worker_process.py")
        process = subprocess.Popen(
            [
                sys.executable,
                str(script),
                self._url,
                str(concurrency),
                str(STALLED_S / 2 if how == "hang" else 30),
                how,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("CLEW_")},
        )
        self.processes.append(process)
        return process


@pytest.fixture
def workers(scratch: "Scratch") -> Iterator[Workers]:
    workers = Workers(scratch.app_url)
    yield workers
    for process in workers.processes:
        process.kill()
        process.communicate()


@pytest.fixture
async def database(scratch: "Scratch") -> AsyncIterator[Database]:
    async with Database(scratch.app_url, settings=Settings()) as database:
        yield database


async def noted(database: Database, kind: str) -> Counter[int]:
    """How often each job got there."""
    entries = await Journal(database).newest(TENANT, 1000)
    return Counter(entry.detail["n"] for entry in entries if entry.kind == kind)


async def until(database: Database, kind: str, jobs: int) -> None:
    """Wait until so many jobs got there."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if len(await noted(database, kind)) >= jobs:
                return
            await asyncio.sleep(0.05)


async def rows(database: Database) -> list[tuple[str, int]]:
    async with database.jobs() as connection:
        found = await connection.execute("SELECT status::text, attempts FROM procrastinate_jobs ORDER BY id")
        return await found.fetchall()


async def killed(database: Database, workers: Workers, jobs: int) -> None:
    """So many jobs, begun by a worker that was killed in the middle of them, long enough ago."""
    deferring = with_step(database, in_process=False)
    for n in range(jobs):
        await deferring.defer(TASK, n=n)
    process = workers.start("hang", concurrency=jobs)
    await until(database, "begun", jobs)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert await rows(database) == [("doing", 0)] * jobs
    await asyncio.sleep(STALLED_S + 0.3)  # A heartbeat may have been on its way.


async def test_the_job_of_a_killed_worker_is_done_once_more_by_the_next(database, workers):
    await killed(database, workers, 1)
    jobs = with_step(database, in_process=False, stalled_s=STALLED_S)
    await jobs.run(until_idle=True)
    assert (await noted(database, "begun"), await noted(database, "done")) == ({0: 2}, {0: 1})
    assert await rows(database) == []


async def test_without_putting_it_back_it_stays_undone(database, workers, monkeypatch):
    """The control: the next worker does not find it by itself."""

    async def look_away(self: Connector, stalled_s: float) -> None: ...

    await killed(database, workers, 1)
    with monkeypatch.context() as patch:
        patch.setattr(Connector, "put_back", look_away)
        with pytest.raises(TimeoutError):  # it knows that something is left, and never gets to it
            async with asyncio.timeout(4 * STALLED_S):
                await with_step(database, in_process=False, stalled_s=STALLED_S).run(until_idle=True)
        assert await noted(database, "done") == {}
        assert await rows(database) == [("doing", 0)]
    await with_step(database, in_process=False, stalled_s=STALLED_S).run(until_idle=True)
    assert await noted(database, "done") == {0: 1}


async def test_a_worker_that_runs_already_finds_it_too(database, workers):
    jobs = with_step(database, in_process=False, stalled_s=STALLED_S)
    await killed(database, workers, 1)
    running = asyncio.create_task(jobs.run())
    await until(database, "done", 1)
    running.cancel()
    await asyncio.wait([running])
    assert await noted(database, "done") == {0: 1}


async def test_of_several_workers_that_look_at_once_one_does_each_job(database, workers):
    await killed(database, workers, 20)
    several = [with_step(database, in_process=False, stalled_s=STALLED_S) for _ in range(3)]
    await asyncio.gather(*(jobs.run(until_idle=True) for jobs in several))
    assert await noted(database, "done") == dict.fromkeys(range(20), 1)
    assert await noted(database, "begun") == dict.fromkeys(range(20), 2)


async def test_a_job_that_outlives_too_many_workers_is_given_up(database, workers):
    await killed(database, workers, 1)
    async with database.jobs() as connection:
        await connection.execute("UPDATE procrastinate_jobs SET attempts = %s", [ATTEMPTS_MAX - 1])
    await with_step(database, in_process=False, stalled_s=STALLED_S).run(until_idle=True)
    assert await noted(database, "done") == {}
    assert await rows(database) == [("failed", ATTEMPTS_MAX)]


async def test_two_processes_share_two_hundred_jobs_and_do_each_once(database, workers):
    deferring = with_step(database, in_process=False)
    for n in range(MANY):
        await deferring.defer(TASK, n=n)
    for process in [workers.start("until-idle"), workers.start("until-idle")]:
        output, _ = await asyncio.to_thread(process.communicate, timeout=PATIENCE_S)
        assert (process.returncode, output) == (0, "")
    assert await noted(database, "done") == dict.fromkeys(range(MANY), 1)
    assert await rows(database) == []
    by = Counter(entry.detail["pid"] for entry in await Journal(database).newest(TENANT, 1000) if entry.kind == "done")
    assert len(by) == 2, "one process did it all: this shows nothing"


async def test_a_worker_that_lives_keeps_its_job_however_long_it_takes(database, workers):
    """The control of the other kind: only silence takes a job away."""
    await with_step(database, in_process=False).defer(TASK, n=0)
    workers.start("hang")
    await until(database, "begun", 1)
    await asyncio.sleep(2 * STALLED_S)
    await with_step(database, in_process=False, stalled_s=STALLED_S).run(until_idle=True)
    assert await rows(database) == [("doing", 0)]
    assert await noted(database, "begun") == {0: 1}

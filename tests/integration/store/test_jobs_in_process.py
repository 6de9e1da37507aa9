"""A worker in the event loop of whoever defers: it starts by itself, is in nobody's way, and ends with `close()`."""

import asyncio
import contextvars
from collections.abc import AsyncIterator
from typing import Any

import pytest
from procrastinate.sql import queries

from clew import Database, Settings, Unavailable
from clew.store.job_queue import Connector
from clew.store.jobs import Jobs

from .conftest import PATIENCE_S
from .recorder import rows


@pytest.fixture
async def database(scratch) -> AsyncIterator[Database]:
    async with Database(scratch.app_url, settings=Settings()) as database:
        yield database


async def test_it_starts_with_the_first_deferral_and_ends_with_close(here, work):
    before = asyncio.all_tasks()
    here.task("work", work)
    assert asyncio.all_tasks() == before
    await here.defer("work", n=1)
    await asyncio.wait_for(work.begun.wait(), 5)
    await here.idle()
    assert any(task.get_name() == "clew jobs" for task in asyncio.all_tasks())
    await here.close()
    left = asyncio.all_tasks() - before
    # Other tests' workers may still run on this loop, and make a task a second: what is ours to end would stay.
    await asyncio.sleep(2.5)
    assert not [task for task in left if not task.done() and "pool" not in task.get_name()]


async def test_it_begins_at_once_not_at_the_next_poll(here, work):
    here.task("work", work)
    await here.defer("work", n=0)
    await here.idle()
    took = []
    for n in range(1, 6):
        work.begun.clear()
        started = asyncio.get_running_loop().time()
        await here.defer("work", n=n)
        await work.begun.wait()
        took.append(asyncio.get_running_loop().time() - started)
    assert sorted(took)[2] < 0.5


async def test_it_takes_nothing_of_the_request_along_that_started_it(here):
    request = contextvars.ContextVar("request", default="none")
    seen = []

    async def look() -> None:
        seen.append(request.get())

    here.task("look", look)
    request.set("the first")
    await here.defer("look")
    await here.idle()
    assert seen == ["none"]


async def test_closing_puts_back_what_is_not_finished_in_time(database, here, work):
    work.wait_s = 600
    here.task("work", work)
    await here.defer("work", once="a", lock="a", n=1)
    await work.begun.wait()
    await here.close()
    assert await rows(database) == [("todo", 1)]
    work.wait_s = 0
    next_one = Jobs(database, in_process=False)
    next_one.task("work", work)
    await next_one.run(until_idle=True)
    assert (work.calls, await rows(database)) == ([{"n": 1}] * 2, [])


async def test_closing_lets_finish_what_can(database, here, work):
    work.wait_s = 0.1
    here.task("work", work)
    await here.defer("work", n=1)
    await work.begun.wait()
    await here.close()
    assert (work.running, await rows(database)) == (0, [])


async def test_with_a_separate_worker_there_is_none(scratch, work):
    for worker, expected in (("separate", 0), ("in-process", 1)):
        async with Database(scratch.app_url, settings=Settings(worker=worker)) as database:
            jobs = Jobs(database)
            jobs.task("work", work)
            await jobs.defer("work", n=1)
            await asyncio.sleep(0.3)
            await jobs.idle()
            await jobs.close()
        assert bool(work.calls) == bool(expected)


async def test_it_survives_a_database_that_goes_away_for_a_while(restartable, work):
    address = restartable.url(dbname=restartable.new_database())
    await Database(address, settings=Settings()).migrate()
    async with Database(address, settings=Settings()) as database:
        jobs = Jobs(database, in_process=True, retry_s=0.05)
        jobs.task("work", work)
        await jobs.defer("work", n=1)
        await jobs.idle()
        work.wait_s = 1.0
        await jobs.defer("work", n=2)
        await asyncio.sleep(0.3)
        await asyncio.to_thread(restartable.restart)
        work.wait_s = 0
        await jobs.defer("work", n=3)
        async with asyncio.timeout(PATIENCE_S):
            await jobs.idle()
            while await rows(database):
                await asyncio.sleep(0.1)
                await jobs.idle()
        await jobs.close()
    assert {call["n"] for call in work.calls} == {1, 2, 3}


async def test_a_job_whose_end_could_not_be_written_down_is_found_again(database, here, work, monkeypatch):
    """Its worker lives on, so no silence gives it away."""
    write, lost = Connector.execute_query_all_async, []

    async def lossy(self: Connector, query: str, **arguments: Any) -> Any:
        if query == queries["finish_job"] and not lost:
            lost.append(arguments["job_id"])
            raise Unavailable("the connection to PostgreSQL was lost; nothing was stored")
        return await write(self, query, **arguments)

    monkeypatch.setattr(Connector, "execute_query_all_async", lossy)
    here.task("work", work)
    await here.defer("work", n=1)
    async with asyncio.timeout(PATIENCE_S):
        while len(work.calls) < 2:
            work.begun.clear()
            await work.begun.wait()
    await here.idle()
    assert (len(lost), len(work.calls), await rows(database)) == (1, 2, [])

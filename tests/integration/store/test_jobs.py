"""Background work: deferred, done, tried again, given up."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from clew import Database, InvalidInput, Misconfigured, Settings
from clew.store.job_queue import ATTEMPTS_MAX
from clew.store.jobs import ARGUMENTS_MAX_BYTES, CONCURRENCY_MAX, LOCK_MAX_BYTES, Jobs

from .conftest import PATIENCE_S
from .recorder import Recorder, rows


@pytest.fixture
async def database(scratch) -> AsyncIterator[Database]:
    async with Database(scratch.app_url, settings=Settings()) as database:
        yield database


async def test_a_deferred_job_is_done_with_its_arguments_and_leaves_no_row(database, jobs, work):
    jobs.task("work", work)
    assert await jobs.defer("work", tenant_id="acme", thread_id="t/1 ü", numbers=[1, 2.5, None])
    assert (work.calls, await rows(database)) == ([], [("todo", 0)])
    await jobs.run(until_idle=True)
    assert work.calls == [{"tenant_id": "acme", "thread_id": "t/1 ü", "numbers": [1, 2.5, None]}]
    assert await rows(database) == []


async def test_it_survives_the_process_that_deferred_it(scratch, work):
    for round in ("defer", "run"):
        async with Database(scratch.app_url, settings=Settings()) as database, Jobs(database, in_process=False) as jobs:
            jobs.task("work", work)
            await (jobs.defer("work", n=1) if round == "defer" else jobs.run(until_idle=True))
    assert work.calls == [{"n": 1}]


async def test_once_means_one_that_waits(database, jobs, work):
    jobs.task("work", work)
    assert [await jobs.defer("work", once="a", n=n) for n in range(3)] == [True, False, False]
    assert await jobs.defer("work", once="b", n=3)
    assert await jobs.defer("work", n=4)
    await jobs.run(until_idle=True)
    assert sorted(call["n"] for call in work.calls) == [0, 3, 4]
    assert await jobs.defer("work", once="a", n=5), "the first is no longer waiting"


async def test_twenty_at_once_with_one_name_are_one(database, jobs, work):
    jobs.task("work", work)
    assert Counter(await asyncio.gather(*(jobs.defer("work", once="a") for _ in range(20)))) == {True: 1, False: 19}


async def test_a_failing_job_gives_way_to_an_equal_one_that_waits(database, here, work):
    """PostgreSQL would refuse two that wait: the one that failed would stay in the middle of its work for ever."""
    work.failures, work.wait_s = 1, 0.2
    here.task("work", work)
    assert await here.defer("work", once="a", lock="a", n=1)
    await work.begun.wait()
    assert await here.defer("work", once="a", lock="a", n=2), "the first one is not waiting, it runs"
    await here.idle()
    assert [call["n"] for call in work.calls] == [1, 2]
    assert await rows(database) == []


async def test_one_lock_is_one_at_a_time_and_in_order(jobs, work):
    work.wait_s = 0.02
    jobs.task("work", work)
    for n in range(8):
        await jobs.defer("work", lock="same", n=n)
    await jobs.run(until_idle=True, concurrency=8)
    assert (work.most_at_once, [call["n"] for call in work.calls]) == (1, list(range(8)))


async def test_without_a_lock_they_do_run_at_once(jobs, work):
    """The control."""
    work.wait_s = 0.2
    jobs.task("work", work)
    for n in range(8):
        await jobs.defer("work", n=n)
    await jobs.run(until_idle=True, concurrency=3)
    assert work.most_at_once == 3


async def test_a_job_that_fails_is_tried_again_later(database, here, work, caplog):
    work.failures = 2
    here.task("work", work)
    with caplog.at_level(logging.INFO):
        await here.defer("work", n=1)
        async with asyncio.timeout(PATIENCE_S):
            while len(work.calls) < 3:
                work.begun.clear()
                await work.begun.wait()
        await here.idle()
    assert await rows(database) == []
    assert "ValueError: not now" in caplog.text
    assert not [record for record in caplog.records if record.name.startswith("procrastinate")]


async def test_one_that_keeps_failing_is_left_as_failed_with_the_reason_in_the_log(database, jobs, work, caplog):
    work.failures = 100
    jobs.task("work", work)
    await jobs.defer("work", n=1)
    ran = []
    async with asyncio.timeout(PATIENCE_S):
        while not ran or ran[-1].again:
            await jobs.run(until_idle=True, watch=ran.append)
    assert len(work.calls) == len(ran) == ATTEMPTS_MAX
    assert await rows(database) == [("failed", ATTEMPTS_MAX)]
    assert [(r.levelname, "job_failed" in r.message, "ValueError: not now" in r.message) for r in caplog.records] == [
        ("WARNING", True, True)
    ]


async def test_a_delay_is_kept(database, jobs, work):
    jobs.task("work", work)
    await jobs.defer("work", delay_s=3600, n=1)
    await jobs.defer("work", delay_s=0, n=2)
    await jobs.run(until_idle=True)
    assert work.calls == [{"n": 2}]
    assert await rows(database) == [("todo", 0)]


async def test_what_a_worker_does_not_know_it_leaves_to_others(database, jobs, work):
    jobs.task("work", work)
    stranger = Jobs(database, in_process=False)
    stranger.task("other", Recorder())
    await jobs.defer("work", n=1)
    await stranger.run(until_idle=True)
    assert await rows(database) == [("todo", 0)]
    await jobs.run(until_idle=True)
    assert work.calls == [{"n": 1}]


BAD = {
    "an unknown task": (("nope",), {}),
    "no text as a task": ((["work"],), {}),
    "an empty once": (("work",), {"once": ""}),
    "a NUL in once": (("work",), {"once": "a\0b"}),
    "a lone surrogate in a lock": (("work",), {"lock": "\ud800"}),
    "a long lock": (("work",), {"lock": "x" * (LOCK_MAX_BYTES + 1)}),
    "a NUL in an argument": (("work",), {"n": "\0"}),
    "a number that is none": (("work",), {"n": float("inf")}),
    "what is not JSON": (("work",), {"n": object()}),
    "content": (("work",), {"n": "x" * (ARGUMENTS_MAX_BYTES + 1)}),
    "content in pieces": (("work",), {"n": ["x" * 100] * ARGUMENTS_MAX_BYTES}),
    "a delay into the past": (("work",), {"delay_s": -1}),
    "a delay without end": (("work",), {"delay_s": float("inf")}),
    "a delay in words": (("work",), {"delay_s": "soon"}),
}


@pytest.mark.parametrize(("words", "options"), BAD.values(), ids=BAD)
async def test_what_cannot_be_deferred_is_refused(database, jobs, work, words, options):
    jobs.task("work", work)
    with pytest.raises(InvalidInput):
        await jobs.defer(*words, **options)
    assert await rows(database) == []
    assert await jobs.defer("work", once="x" * LOCK_MAX_BYTES, lock="y" * LOCK_MAX_BYTES, n="x" * 7000)


async def test_a_task_has_one_meaning_and_a_worker_a_size(jobs, work):
    jobs.task("work", work)
    for wrong in (lambda: jobs.task("work", work), lambda: jobs.task("", work), lambda: jobs.task("x" * 129, work)):
        with pytest.raises(InvalidInput):
            wrong()
    for concurrency in (0, CONCURRENCY_MAX + 1, "many"):
        with pytest.raises(InvalidInput):
            await jobs.run(until_idle=True, concurrency=concurrency)


async def test_without_an_open_database_it_says_so_and_starts_nothing(scratch, work):
    jobs = Jobs(Database(scratch.app_url, settings=Settings()), in_process=True)
    jobs.task("work", work)
    before = asyncio.all_tasks()
    with pytest.raises(Misconfigured, match="not open"):
        await jobs.defer("work", n=1)
    assert not any(task.get_name() == "clew jobs" for task in asyncio.all_tasks() - before)

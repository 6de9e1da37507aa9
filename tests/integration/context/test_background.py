"""Compaction in the background: queued by whoever compiles, and never in their way."""

import asyncio
from typing import Any

import clew
from clew import Unavailable
from clew.store.jobs import Jobs

from .conftest import engine_with, fact, good, jobs_of, said, talk


class Slow:
    """A model that answers when it may."""

    def __init__(self) -> None:
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.times = 0

    async def __call__(self, messages: list[dict[str, Any]]) -> str:
        self.times += 1
        self.asked.set()
        await self.may_answer.wait()
        return await good(messages)


async def test_compiling_a_thread_past_a_threshold_queues_one_job_and_below_it_none(thread, tenant, database):
    await thread.append(talk(1, 20))
    await thread.compile("go on")
    assert await jobs_of(database, tenant) == 0
    await thread.append(said(21))
    for _ in range(3):
        await thread.compile("go on")
    assert await thread.compact(wait=False) is None
    assert await jobs_of(database, tenant) == 1
    assert await thread.compactions() == [], "and nobody has done it yet"


async def test_a_worker_compacts_what_was_queued(own, tenant):
    engine = engine_with(own, jobs=Jobs(own, in_process=False), write_summary=good)
    thread = engine.tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    await thread.compile("go on")
    await engine.compactor._jobs.run(until_idle=True)
    assert [one.through for one in await thread.compactions()] == [11]
    assert await jobs_of(own, tenant) == 0
    await thread.compile("go on")
    assert await jobs_of(own, tenant) == 0, "and then it is not due any more"


async def test_a_slow_model_holds_no_compile_up(own, tenant):
    model = Slow()
    async with clew.open(own, models={"summaries": model}) as engine:
        thread = engine.tenant(tenant).thread("t")
        await thread.append(talk(1, 21))
        await thread.compile("go on")
        async with asyncio.timeout(30):
            await model.asked.wait()
        # The summary is being written, and cannot end before the next line lets it.
        for n in (22, 23):
            await thread.append(said(n))
            context = await thread.compile("go on")
            assert said(1)["content"] in str(context.messages)
        model.may_answer.set()
        async with asyncio.timeout(30):
            await engine.jobs.idle()
        assert [one.through for one in await thread.compactions()] == [11]
        assert model.times == 1, "the compiles in between queued nothing that asked the model again"


async def test_closing_the_engine_in_the_middle_of_a_summary_loses_nothing(own, tenant):
    model = Slow()
    engine = clew.open(own, models={"summaries": model})
    engine.jobs._close_within_s = 0.2
    async with engine:
        thread = engine.tenant(tenant).thread("t")
        await thread.append(talk(1, 21))
        await thread.compile("go on")
        async with asyncio.timeout(30):
            await model.asked.wait()
    async with clew.open(own, models={"summaries": good}) as after:
        thread = after.tenant(tenant).thread("t")
        assert (await thread.compactions(), await thread.refusals()) == ([], [])
        assert len(await thread.read(50)) == 21
        assert await jobs_of(own, tenant) == 1, "it waits for the next worker"
        async with asyncio.timeout(30):
            await after.jobs.run(until_idle=True)
        assert [one.generation for one in await thread.compactions()] == [1]


async def test_closing_the_engine_waits_for_a_summary_that_is_nearly_there(own, tenant):
    model = Slow()
    async with clew.open(own, models={"summaries": model}) as engine:
        thread = engine.tenant(tenant).thread("t")
        await thread.append(talk(1, 21))
        await thread.compile("go on")
        async with asyncio.timeout(30):
            await model.asked.wait()
        asyncio.get_running_loop().call_later(0.3, model.may_answer.set)
    async with clew.open(own) as after:
        assert [one.generation for one in await after.tenant(tenant).thread("t").compactions()] == [1]


async def test_a_queue_that_is_out_of_reach_is_no_reason_not_to_compile(thread, engine, monkeypatch):
    """The context is there: that its thread could not be queued for later is for the log."""

    async def down(*args: Any, **options: Any) -> bool:
        raise Unavailable("the queue is down")

    await thread.append(talk(1, 21))
    monkeypatch.setattr(engine.jobs, "defer", down)
    assert fact(21) in str((await thread.compile("go on")).messages)


async def test_a_model_that_always_fails_is_asked_once_until_more_is_said(own, tenant):
    times = 0

    async def fails(messages: list[dict[str, Any]]) -> str:
        nonlocal times
        times += 1
        raise RuntimeError("no")

    engine = engine_with(own, jobs=Jobs(own, in_process=False, retry_s=0.01), write_summary=fails)
    thread = engine.tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    for _ in range(3):
        await thread.compile("go on")
        await engine.compactor._jobs.run(until_idle=True)
    assert times == 1
    assert [one.code for one in await thread.refusals()] == ["failed"]


async def test_a_compactor_by_itself_does_the_work_that_is_left_to_it(own, tenant):
    async with clew.Compactor(own, write_summary=good) as compactor:
        sessions = clew.SessionStore(own)
        await sessions.append("t", talk(1, 21), tenant_id=tenant)
        assert await compactor.compact("t", tenant_id=tenant, wait=False) is None
        async with asyncio.timeout(30):
            await compactor._jobs.idle()
    async with clew.Compactor(own) as after:
        assert [one.through for one in await after.compactions("t", tenant_id=tenant)] == [11]

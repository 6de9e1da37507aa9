"""What is stated in a thread is known from the next message on, once, whatever happens in between."""

import asyncio
import dataclasses

import pytest

import clew
from clew.context import ContextManager, WorkingContextCompiler

from .conftest import Flaky, says

CORRECTION = "Q3 revenue was actually $5.2M, not $4.8M as stated in the document"


async def test_a_correction_in_one_session_is_the_answer_in_the_next_with_both_values_and_their_sources(acme):
    report = await acme.learn("Q3 report", "Q3 revenue was $4.8M.", reference_time="2026-04-01")
    told = acme.thread("monday")
    [message_id] = await told.append(says(CORRECTION))

    asks = acme.thread("tuesday")
    await asks.append(says("What was our Q3 revenue?"))
    context = await asks.compile("Answer the user.", "You are an analyst.")
    block = context.messages[-1]["content"]
    assert block.index("$5.2M") < block.index('"status": "superseded')
    assert "Q3 report" in block

    before, now = await acme.history("Q3 revenue")
    assert (before.object, before.sources[0].name) == ("$4.8M", "Q3 report")
    assert (now.object, now.sources[0].thread_id, now.sources[0].message_id) == ("$5.2M", "monday", message_id)
    assert before.invalid_at == now.valid_at
    [then] = await acme.facts("Q3 revenue", as_of="2026-04-15")
    assert then.object == "$4.8M"

    undone = await acme.undo(now.sources[0].episode_id)
    assert [fact.object for fact in undone.reopened] == ["$4.8M"]
    [again] = await acme.facts("Q3 revenue")
    assert (again.object, again.invalid_at) == ("$4.8M", None)
    assert report.facts[0].fact_id == again.fact_id


async def test_the_very_next_search_finds_it_and_another_tenant_does_not(engine, acme):
    await acme.thread("a").append(says("My account number at Initech is 88-1203."))
    assert [fact.object for fact in await acme.facts("account number at Initech")] == ["88-1203"]
    assert await engine.tenant(f"{acme.tenant_id}-other").facts("account number at Initech") == []


async def test_a_message_is_read_once_however_often_and_by_however_many(engine, acme):
    thread = acme.thread("a")
    await engine.sessions.append("a", [says("The launch is on May 4."), says(CORRECTION)], tenant_id=acme.tenant_id)
    learnt = await asyncio.gather(*(engine.write_back.catch_up("a", tenant_id=acme.tenant_id) for _ in range(8)))
    assert sum(len(one.episodes) for one in learnt) == 2
    assert sum(one.messages for one in learnt) == 2
    assert (await engine.write_back.catch_up("a", tenant_id=acme.tenant_id)).messages == 0
    assert len(await engine.knowledge.episodes(tenant_id=acme.tenant_id)) == 2
    await thread.append(says("The budget is $40k."), idempotency_key="k")
    await thread.append(says("The budget is $40k."), idempotency_key="k")
    assert len(await engine.knowledge.episodes(tenant_id=acme.tenant_id)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "What was Q3 revenue?",
        "Hello there!",
        "Thanks, that helps.",
        "If revenue were $5M, what would the margin be?",
        "I think revenue is too low.",
        "We're going to raise $10M next year.",
        "Please send the report to Ana.",
    ],
)
async def test_what_states_nothing_leaves_nothing(engine, acme, text):
    await acme.thread("a").append(says(text))
    assert await engine.knowledge.episodes(tenant_id=acme.tenant_id) == []


async def test_what_the_assistant_says_is_nobody_s_statement_and_a_yes_makes_it_one(engine, acme):
    thread = acme.thread("a")
    await thread.append([says("When is the launch?"), says("So the launch is on May 4, right?", "assistant")])
    assert await engine.knowledge.episodes(tenant_id=acme.tenant_id) == []
    await thread.append(says("Yes, that's right."))
    [fact] = await acme.facts("When is the launch?")
    assert "May 4" in fact.text
    assert fact.confidence == pytest.approx(0.90)


async def test_when_the_embedder_fails_the_message_is_stored_and_read_the_next_time(database, tenant):
    embedder = Flaky()
    engine = clew.open(database, models={"embeddings": embedder})
    acme = engine.tenant(tenant)
    embedder.works = False
    thread = acme.thread("a")
    assert len(await thread.append(says("The launch is on May 4."))) == 1
    context = await thread.compile("Answer the user.")
    assert any("not learnt yet" in note for note in context.manifest.notes)
    assert await engine.knowledge.episodes(tenant_id=tenant) == []
    embedder.works = True
    await thread.append(says("ok"))
    [fact] = await acme.facts("launch")
    assert "May 4" in fact.text


async def test_a_plain_log_is_read_when_its_window_is_compiled(database, tenant):
    sessions, memory = clew.SessionStore(database), clew.LongTermMemory(database)
    manager = ContextManager(sessions, memory, WorkingContextCompiler())
    await sessions.append("a", [says("Call me Sam."), says("The launch is on May 4.")], tenant_id=tenant)
    window = await manager.compile_working_context(tenant, "a", "Answer the user.", "You help.")
    assert "Call me Sam" in window["system_prompt"]
    assert [fact.object for fact in await clew.KnowledgeBase(database).search("launch", tenant_id=tenant)]


async def test_switched_off_nothing_is_learnt(server, settings, tenant):
    for on in (True, False):
        async with clew.open(settings=dataclasses.replace(settings, write_back=on)) as engine:
            acme = engine.tenant(f"{tenant}-{on}")
            await acme.thread("a").append([says("The launch is on May 4."), says("Call me Sam.")])
            context = await acme.thread("a").compile("Answer the user.", "You help.")
            assert bool(await acme.facts("launch")) is on
            assert ("Call me Sam" in context.messages[0]["content"]) is on


async def test_a_long_backlog_is_read_on_in_the_background(scratch, settings, tenant):
    async with clew.Database(scratch.app_url, settings=settings) as database:
        engine = clew.open(database)
        facts = [says(f"The code of locker {n} is {n * 7 + 1000}.") for n in range(250)]
        await engine.sessions.append("a", facts, tenant_id=tenant)
        await engine.tenant(tenant).thread("a").append(says("hello"))
        await engine.jobs.run(until_idle=True)
        assert (await engine.write_back.catch_up("a", tenant_id=tenant)).messages == 0
        assert len(await engine.knowledge.episodes(tenant_id=tenant, limit=1_000)) == 250
        [fact] = await engine.tenant(tenant).facts("What is the code of locker 249?", limit=1)
        assert fact.object == str(249 * 7 + 1000)
        await engine.close()


async def test_clearing_a_thread_keeps_what_was_learnt_unless_it_is_to_go_too(engine, acme):
    for name, memories in (("kept", False), ("gone", True)):
        thread = acme.thread(name)
        await thread.append(says(f"The code of the {name} locker is 4711."))
        await thread.clear(memories=memories)
    assert [fact.text for fact in await acme.facts("code of the locker")] == ["The code of the kept locker is 4711."]


async def test_a_thread_of_the_same_name_begins_anew(engine, acme):
    thread = acme.thread("a")
    await thread.append([says("hello")] * 5)
    await thread.clear()
    await thread.append(says("The launch is on May 4."))
    assert len(await engine.knowledge.episodes(tenant_id=acme.tenant_id)) == 1

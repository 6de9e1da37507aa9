"""What a topic remembers, while others write: every relevant commit is seen, and nothing that was forgotten."""

import asyncio

import pytest

import clew

from .conftest import ask, says, shown


async def test_a_write_that_a_narrower_follow_up_passed_by_is_seen_by_the_first_question(acme):
    """The follow-up shares no word with what was written; the question before it does."""
    await acme.remember("Acme revenue in Berlin was 40 million in the spring.")
    thread = acme.thread("t")
    assert "40 million" in await shown(thread, "What revenue did Acme have in Berlin in spring?")
    await acme.remember("In Berlin the spring accounts were corrected to 41 million.")
    await ask(thread, "What revenue did Acme have?")
    assert "41 million" in await shown(thread, "What revenue did Acme have in Berlin in spring?")


async def test_the_same_without_the_follow_up(acme):
    """The control."""
    await acme.remember("Acme revenue in Berlin was 40 million in the spring.")
    thread = acme.thread("t")
    await ask(thread, "What revenue did Acme have in Berlin in spring?")
    await acme.remember("In Berlin the spring accounts were corrected to 41 million.")
    assert "41 million" in await shown(thread, "What revenue did Acme have in Berlin in spring?")


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("東京の予算はいくらですか？", "東京の予算は五百万円です。", "東京の予算は六百万円です。"),
        ("Какой бюджет у офиса?", "Бюджет офиса пять миллионов.", "Бюджет офиса шесть миллионов."),
        ("ما هي ميزانية مكتب القاهرة؟", "ميزانية مكتب القاهرة خمسة ملايين.", "ميزانية مكتب القاهرة ستة ملايين."),
        ("งบประมาณสำนักงานกรุงเทพเท่าไร", "งบประมาณสำนักงานกรุงเทพห้าล้าน", "งบประมาณสำนักงานกรุงเทพหกล้าน"),
        ("What is the 🚀 budget?", "The 🚀 budget is five million.", "The 🚀 budget is six million now."),
        ("What is the naïve café's budget?", "The naïve café's budget is five.", "The cafe\u0301's budget is six."),
    ],
)  # fmt: skip
async def test_a_write_in_any_script_is_seen_by_the_next_question(acme, question, first, second):
    await acme.remember(first)
    thread = acme.thread("t")
    assert first in await shown(thread, question)
    await acme.remember(second)
    assert second in await shown(thread, question)


async def test_a_fact_told_under_another_name_of_the_thing_is_seen(acme):
    await acme.learn("names", "Ana Silva Group (ASG) is based in Lisbon.")
    thread = acme.thread("t")
    assert "Lisbon" in await shown(thread, "Where is Ana Silva Group based?")
    await acme.learn("report", "ASG is headquartered at Rossio 5.")
    assert "Rossio" in await shown(thread, "Where is Ana Silva Group based?")


async def test_an_undone_episode_is_shown_no_more_and_what_it_closed_is(acme):
    await acme.learn("old", "The Orion budget is $4M.")
    told = await acme.learn("new", "The Orion budget is $5M.")
    thread = acme.thread("t")
    before = await shown(thread, "What is the Orion budget?")
    assert before.index("$5M") < before.index("$4M")
    await acme.undo(told.episode.episode_id)
    after = await shown(thread, "What is the Orion budget?")
    assert "$5M" not in after
    assert "superseded" not in after
    assert "$4M" in after


async def test_a_memory_that_becomes_relevant_by_an_update_is_seen(engine, acme, tenant):
    await acme.remember("The Orion budget is four million.")
    id = await acme.remember("Lunch is at noon.")
    thread = acme.thread("t")
    assert "nine million" not in await shown(thread, "What is the Orion budget?")
    (entry,) = await engine.memory.fetch(tenant, [id])
    entry.content = "The Orion budget was raised to nine million."
    await engine.memory.store(entry)
    assert "nine million" in await shown(thread, "What is the Orion budget?")


async def test_concurrent_writers_and_readers_see_every_commit_and_nothing_forgotten(acme):
    """Each round: a fact is written or forgotten by others, then asked for at once by threads that have the topic."""
    threads = [acme.thread(f"t{n}") for n in range(4)]
    await acme.remember("The Orion launch code name is zero.")
    for thread in threads:
        await ask(thread, "What is the Orion launch code name?")
    stop = asyncio.Event()

    async def noise(number: int) -> None:
        while not stop.is_set():
            id = await acme.remember(f"Noise {number} on the weather.")
            await acme.forget(id)

    noisy = [asyncio.create_task(noise(n)) for n in range(2)]
    try:
        for step in range(8):
            id = await acme.remember(f"The Orion launch code name is word{step}.")
            seen = await asyncio.gather(*(shown(one, "What is the Orion launch code name?") for one in threads))
            assert all(f"word{step}" in one for one in seen), f"round {step}"
            await acme.forget(id)
            seen = await asyncio.gather(*(shown(one, "What is the Orion launch code name?") for one in threads))
            assert not any(f"word{step}" in one for one in seen), f"round {step}"
    finally:
        stop.set()
        await asyncio.gather(*noisy)


async def test_another_engine_s_writes_are_seen(database, acme, tenant):
    """As another process would: it shares nothing but the database."""
    other = clew.open(database).tenant(tenant)
    thread = acme.thread("t")
    await acme.remember("The Orion budget is four million.")
    await ask(thread, "What is the Orion budget?")
    await other.thread("else").append(says("The Orion budget is $7M now."))
    assert "$7M" in await shown(thread, "What is the Orion budget?")

"""A summary that is no good changes nothing, and the record says why."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import clew
from clew import Unavailable
from clew.context.views import RETRY_AFTER_MESSAGES

from .conftest import RULE, TALK, Asked, engine_with, fact, facts_in, good, jobs_of, said, sent, talk

Model = Callable[[list[dict[str, Any]]], Awaitable[Any]]


def raises(error: BaseException) -> Model:
    async def model(messages: list[dict[str, Any]]) -> str:
        raise error

    return model


def says(answer: Any) -> Model:
    async def model(messages: list[dict[str, Any]]) -> Any:
        return answer

    return model


async def hangs(messages: list[dict[str, Any]]) -> str:
    await asyncio.Event().wait()
    return ""


async def says_more(messages: list[dict[str, Any]]) -> str:
    return await good(messages) + "\n- and so on and so forth, as was said before" * 400


async def drops_numbers(messages: list[dict[str, Any]]) -> str:
    text = (await good(messages)).replace("holds 203 bar.", "holds some bar.").replace("holds 204 bar.", "is fine.")
    return text.replace("holds 205 bar.", "is fine too.")


async def changes_a_number(messages: list[dict[str, Any]]) -> str:
    return (await good(messages)).replace("203 bar", "2003 bar").replace("204 bar", "2004 bar").replace("205", "2.5")


async def drops_the_rule(messages: list[dict[str, Any]]) -> str:
    return (await good(messages)).replace(RULE, "")


async def turns_the_rule_round(messages: list[dict[str, Any]]) -> str:
    return (await good(messages)).replace(RULE, "Open the drain before the foreman says so.")


async def speaks_with_a_broken_character(messages: list[dict[str, Any]]) -> str:
    return await good(messages) + "\n- \ud800"


async def speaks_with_a_nul(messages: list[dict[str, Any]]) -> str:
    return await good(messages) + "\n- a\0b"


BAD: dict[str, tuple[Model, str, str]] = {
    "fails as Clew does": (raises(Unavailable("the provider is down")), "failed", "the provider is down"),
    "fails in its own way": (raises(RuntimeError("secret-key-123")), "failed", "RuntimeError"),
    "fails with a NUL in its words": (raises(Unavailable("down\0")), "failed", "down"),
    "is cancelled inside": (raises(asyncio.CancelledError()), "failed", "cancelled"),
    "times out by itself": (raises(TimeoutError()), "timeout", ""),
    "hangs": (hangs, "timeout", "0.2 seconds"),
    "returns nothing": (says(""), "empty", "nothing"),
    "returns space": (says(" \n\t"), "empty", "nothing"),
    "returns None": (says(None), "empty", "nothing"),
    "returns bytes": (says(b"Key facts"), "empty", ""),
    "returns a heading alone": (says("Key facts:\n"), "empty", ""),
    "returns something longer": (says_more, "longer", "tokens"),
    "drops numbers": (drops_numbers, "probes", "203"),
    "changes a number": (changes_a_number, "probes", "203"),
    "drops an instruction": (drops_the_rule, "instructions", "Never open the drain"),
    "turns an instruction round": (turns_the_rule_round, "instructions", "Never open the drain"),
    "says something else": (says("We talked about the weather in Lisbon."), "instructions", ""),
}


async def conversation(thread: Any) -> None:
    """Twenty-one messages, with a rule in the third that somebody is to keep to."""
    messages = talk(1, 21)
    messages[2]["content"] += f" {RULE}"
    await thread.append(messages)


@pytest.mark.parametrize("how", BAD)
async def test_the_view_stays_byte_for_byte_and_the_record_says_why(database, tenant, how):
    model, code, words = BAD[how]
    thread = engine_with(database, write_summary=model, timeout_s=0.2).tenant(tenant).thread("t")
    await conversation(thread)
    before = await sent(thread), await sent(thread, tools=thread.tools())
    assert await thread.compact() is None
    assert (await sent(thread), await sent(thread, tools=thread.tools())) == before
    assert await thread.compactions() == []
    (refusal,) = await thread.refusals()
    assert (refusal.code, refusal.at_position) == (code, 21)
    assert words in refusal.reason
    assert "secret-key-123" not in refusal.reason, "what a stranger's error says may be anything"
    healthy = engine_with(database, write_summary=good).tenant(tenant).thread("t")
    compaction = await healthy.compact()
    assert compaction.generation == 1, "the control: the same thread, and a model that works"
    assert await sent(thread) != before[0]
    assert RULE in compaction.summary


@pytest.mark.parametrize("model", [speaks_with_a_broken_character, speaks_with_a_nul])
async def test_characters_that_cannot_be_stored_break_nothing(database, tenant, model):
    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await conversation(thread)
    before = await sent(thread)
    compaction = await thread.compact()
    if compaction is None:
        assert await thread.refusals()
        assert await sent(thread) == before
    else:
        assert "\0" not in compaction.summary
        assert (await thread.compactions()) == [compaction]
        await sent(thread)


async def test_the_second_summary_is_refused_when_it_forgets_what_the_first_kept(database, tenant):
    """It extends the first one, so it is asked for the first one's details too."""

    async def forgets(messages: list[dict[str, Any]]) -> str:
        kept = [one for one in facts_in(messages[:-1]) if int(one[8:12]) > 1011]
        return "\n".join(["Key facts:", *(f"- {one}" for one in kept)])

    thread = engine_with(database, write_summary=good).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    first = await thread.compact()
    await thread.append(talk(22, 32))
    before = await sent(thread)
    forgetful = engine_with(database, write_summary=forgets).tenant(tenant).thread("t")
    assert await forgetful.compact() is None
    (refusal,) = await thread.refusals()
    assert refusal.code == "probes"
    assert await sent(thread) == before
    assert await thread.compactions() == [first]
    assert (await thread.compact()).generation == 2


async def test_a_summary_without_the_one_number_that_was_said_is_refused(database, tenant):
    """However well it keeps the rest: here there is nothing else to keep."""
    for thread_id, summary in (("kept", "Revenue was $5.2M in the end."), ("dropped", "Revenue was fine in the end.")):
        model = says(f"Key facts:\n- {summary}")
        thread = engine_with(database, write_summary=model).tenant(tenant).thread(thread_id)
        messages = [{"role": "user", "content": f"so {TALK}"} for _ in range(21)]
        messages[3] = {"role": "user", "content": f"In the end revenue was $5.2M {TALK}."}
        await thread.append(messages)
        assert (await thread.compact() is not None) is (thread_id == "kept")
    (refusal,) = await thread.refusals()
    assert refusal.code == "probes"
    assert "$5.2M" in refusal.reason


@pytest.mark.parametrize("heading", ["Key facts", "Standing instructions"])
async def test_a_rule_of_the_first_summary_is_asked_of_the_second(database, tenant, heading):
    async def keeps(messages: list[dict[str, Any]]) -> str:
        return (await good(messages)).replace(RULE, f"{heading}:\n- {RULE}")

    async def forgets(messages: list[dict[str, Any]]) -> str:
        return (await good(messages)).replace(RULE, "")

    thread = engine_with(database, write_summary=keeps).tenant(tenant).thread("t")
    await conversation(thread)
    await thread.compact()
    await thread.append(talk(22, 32))
    forgetful = engine_with(database, write_summary=forgets).tenant(tenant).thread("t")
    assert await forgetful.compact() is None
    (refusal,) = await thread.refusals()
    assert refusal.code == "instructions"


async def test_after_a_refusal_nothing_is_tried_by_itself_until_more_was_said(database, tenant):
    model = Asked(says(""))
    engine = engine_with(database, write_summary=model)
    thread, compactor = engine.tenant(tenant).thread("t"), engine.compactor
    await thread.append(talk(1, 21))
    await thread.compact()
    assert len(model.requests) == 1
    assert RETRY_AFTER_MESSAGES > 2
    for n in range(22, 22 + RETRY_AFTER_MESSAGES - 1):
        await thread.append(said(n))
        await thread.compile("go on")
        assert await jobs_of(database, tenant) == 0
    await thread.append(said(30))
    await thread.compile("go on")
    assert await jobs_of(database, tenant) == 1, "enough was said since"
    assert len(model.requests) == 1, "and whoever asks for it is not held up by an earlier refusal:"
    model.answer = good
    assert await compactor.compact("t", tenant_id=tenant) is not None


async def test_a_caller_who_is_cancelled_while_a_summary_is_written_is_cancelled(database, tenant):
    """Their cancellation is no failure of the model: nothing is recorded."""
    started = asyncio.Event()

    async def slow(messages: list[dict[str, Any]]) -> str:
        started.set()
        return await hangs(messages)

    thread = engine_with(database, write_summary=slow).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    task = asyncio.create_task(thread.compact())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await thread.refusals(), await thread.compactions()) == ([], [])


async def test_refusals_come_newest_first_and_no_more_than_asked_for(database, tenant):
    thread = engine_with(database, write_summary=says("")).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    for n in (22, 23):
        await thread.compact()
        await thread.append(said(n))
    assert [one.at_position for one in await thread.refusals()] == [22, 21]
    assert [one.at_position for one in await thread.refusals(1)] == [22]
    for limit in (0, -1, "1", True, 1e400, 10**9):
        with pytest.raises(clew.InvalidInput):
            await thread.refusals(limit)
        with pytest.raises(clew.InvalidInput):
            await thread.compactions(limit)
    assert fact(1) in str(await thread.messages())

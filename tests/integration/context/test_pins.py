"""What is pinned never leaves the window: no summary, no budget and no length of the log moves it out."""

from typing import Any

import pytest

import clew

from .conftest import TALK, engine_with, said, sent, shown_texts, talk

PIN = "The customer's account is FR-77 and is never to be charged twice."


def call(number: int, text: str = "7 bar") -> list[dict[str, Any]]:
    asked = {"id": f"call-{number}", "type": "function", "function": {"name": "read_gauge", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": f"call-{number}", "content": text},
    ]


async def test_a_pin_survives_one_compaction_after_the_other(thread):
    await thread.append(talk(1, 3))
    await thread.append({"role": "user", "content": PIN}, pinned=True)
    for first in range(5, 65, 20):
        await thread.append(talk(first, first + 19))
        compaction = await thread.compact()
        assert 4 in compaction.view.pinned
        texts = await shown_texts(thread)
        assert texts.count(PIN) == 1
        assert said(3)["content"] not in texts, "the control: what stood beside it is gone"


async def test_a_pin_at_the_very_start_of_a_long_log_is_in_the_smallest_window(thread):
    await thread.append({"role": "user", "content": PIN}, pinned=True)
    await thread.append({"role": "user", "content": "not pinned"})
    await thread.append(talk(3, 500))
    texts = await shown_texts(thread, model_tier="fast")
    assert texts.count(PIN) == 1
    assert "not pinned" not in texts
    while await thread.compact() is not None:
        pass
    texts = await shown_texts(thread, model_tier="fast")
    assert texts.count(PIN) == 1
    assert said(500)["content"] in texts


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("pinned", [0, 1], ids=["the call is pinned", "the result is pinned"])
async def test_a_pinned_call_stays_with_its_result_however_far_back(thread, pinned, compacted):
    messages = call(1, "the gauge says FR-77")
    for place, message in enumerate(messages):
        await thread.append(message, pinned=place == pinned)
    await thread.append(talk(3, 500))
    if compacted:
        assert await thread.compact() is not None
    shown = (await thread.compile("go on", model_tier="fast")).messages
    assert [message for message in shown if message.get("tool_calls")] == messages[:1]
    assert [message["content"] for message in shown if message["role"] == "tool"] == ["the gauge says FR-77"]


async def test_pins_that_alone_are_too_much_are_refused_with_the_numbers(thread):
    await thread.append([{"role": "user", "content": f"{n}: " + "word " * 300} for n in range(12)], pinned=True)
    with pytest.raises(clew.BudgetExceeded, match=r"pinned.* 3,\d\d\d tokens.* 2,800") as refused:
        await thread.compile("go on", model_tier="fast")
    assert refused.value.fix
    assert (await thread.compile("go on", model_tier="reasoning")).messages, "the control: a larger window holds them"


async def test_a_log_with_very_many_pins_loses_none(thread):
    pins = [{"role": "user", "content": f"p{n}"} for n in range(1_100)]
    await thread.append(pins, pinned=True)
    await thread.append(talk(1, 300))
    texts = await shown_texts(thread)
    assert [pin["content"] for pin in pins if pin["content"] not in texts] == []
    assert said(1)["content"] not in texts, "the control: something had to go"


async def test_a_message_may_say_itself_that_it_is_pinned(thread, database):
    message = clew.Message(role="user", content=PIN).as_pinned()
    await thread.append([message, *talk(2, 40)])
    assert (await thread.compact()).view.pinned == (1,)
    assert PIN in await shown_texts(thread)


async def test_the_system_message_of_a_log_leads_and_never_leaves(thread):
    await thread.append([{"role": "system", "content": "You tend pumps."}, *talk(2, 30)])
    await thread.compact()
    texts = await shown_texts(thread)
    assert texts[0] == "You tend pumps."
    assert texts[1].startswith("[Summary of messages")


async def test_pinned_is_yes_or_no(thread):
    for pinned in ("yes", 1, None, [], 1.0):
        with pytest.raises(clew.InvalidInput):
            await thread.append(said(1), pinned=pinned)
    assert await thread.read(5) == []


async def test_a_pin_changes_nothing_of_the_words_that_are_sent(thread, engine, tenant):
    await thread.append({"role": "user", "content": PIN}, pinned=True)
    plain = engine.tenant(tenant).thread("plain")
    await plain.append({"role": "user", "content": PIN})
    assert await sent(thread) == await sent(plain)


async def test_pending_calls_are_never_compacted(thread):
    await thread.append(talk(1, 6))
    await thread.append(call(1)[:1])
    await thread.append([{"role": "user", "content": f"still waiting {n} {TALK}"} for n in range(30)])
    compaction = await thread.compact()
    assert compaction is None or compaction.through <= 6
    assert [m for m in (await thread.compile("go on")).messages if m.get("tool_calls")] == call(1)[:1]
    await thread.append(call(1)[1:])
    await thread.append(talk(38, 50))
    assert (await thread.compact()).through > 7, "the control: once it is answered it may go"


async def test_another_option_moves_no_pin_either(database, tenant):
    thread = engine_with(database, threshold_messages=2, keep_recent=1, threshold_tokens=50).tenant(tenant).thread("t")
    await thread.append({"role": "user", "content": PIN}, pinned=True)
    for n in range(2, 30):
        await thread.append(said(n))
        await thread.compact()
        assert (await shown_texts(thread)).count(PIN) == 1
    assert len(await thread.compactions()) > 1

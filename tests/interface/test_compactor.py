"""`Compactor`: older turns become a summary in what a model sees; the log is as it was, and nothing is lost."""

import asyncio
import inspect
import json
import re
from typing import Any

import pytest

import clew
from clew import tokens

from .conftest import assistant, texts, user


def turns(count: int, start: int = 0) -> list[dict[str, Any]]:
    """As many messages, in turns; every one has a number of its own."""
    asked = (
        "has not arrived. We have asked the depot in Lisbon twice this week, and nobody there can say where it is. "
        "What should we do about it now?"
    )
    answered = (
        "with the carrier. They have until Friday to answer; after that we send a replacement, and the customer "
        "pays nothing."
    )
    claim = "I have opened a claim for order"
    return [
        assistant(f"{claim} {1_000 + n} {answered}") if n % 2 else user(f"Order {1_000 + n} {asked}")
        for n in range(start, start + count)
    ]


def tool_turn(number: int, result: str, name: str = "lookup") -> list[dict[str, Any]]:
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps({"n": number})},
    }
    return [
        user(f"Look up number {number} for me, please, and tell me what it says."),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
        assistant(f"Number {number} is fine, as far as the lookup says."),
    ]


async def _sent(thread: Any, **more: Any) -> list[dict[str, Any]]:
    """What a model is sent, but for the system prompt and the task."""
    context = await thread.compile("What is open?", system_prompt="Be brief.", **more)
    return list(context.messages[1:-1])


async def _log(thread: Any) -> list[dict[str, Any]]:
    return list(await thread.messages(limit=10_000))


def _paired(messages: list[dict[str, Any]]) -> None:
    """Every result has its call before it, every call its result after it."""
    called: set[str] = set()
    answered: set[str] = set()
    for message in messages:
        for call in message.get("tool_calls") or []:
            called.add(call["id"])
        if message["role"] == "tool":
            assert message["tool_call_id"] in called, "an orphan"
            answered.add(message["tool_call_id"])
    assert called == answered


@pytest.fixture
def thread(engine, tenant, thread_id) -> Any:
    return engine.tenant(tenant).thread(thread_id)


# ---- the promised numbers


async def test_the_promised_defaults_are_those_that_count(database, engine, tenant):
    """20 messages are not past 20; 21 are."""
    async with clew.Compactor(database) as compactor:
        for count, due in ((19, False), (20, False), (21, True)):
            await engine.sessions.append(f"t{count}", turns(count), tenant_id=tenant)
            done = await compactor.compact(f"t{count}", tenant_id=tenant)
            assert (done is not None) is due, count


async def test_an_unknown_thread_and_an_empty_one_have_nothing_to_compact(engine, tenant):
    assert await engine.compactor.compact("never heard of", tenant_id=tenant) is None


async def test_the_last_ten_stay_word_for_word(thread):
    said = turns(40)
    await thread.append(said)
    compaction = await thread.compact()
    assert isinstance(compaction, clew.Compaction)
    sent = await _sent(thread)
    assert sent[-10:] == said[-10:]
    assert len(sent) <= 12
    assert tokens.count_messages(sent) < tokens.count_messages(said)


async def test_a_compaction_says_what_it_did(thread):
    await thread.append(turns(40))
    compaction = await thread.compact()
    assert compaction.tokens_after < compaction.tokens_before
    assert compaction.through == 30
    assert compaction.summary.strip()
    assert "summarise" in str(compaction.tiers)
    [kept] = await thread.compactions()
    assert (kept.summary, kept.through) == (compaction.summary, compaction.through)
    assert await thread.refusals() == []


async def test_the_log_is_as_it_was(thread):
    said = turns(40)
    await thread.append(said)
    rows = await thread.read(limit=100)
    await thread.compact()
    assert await _log(thread) == said
    assert await thread.read(limit=100) == rows


async def test_the_summary_stands_where_the_turns_were_and_keeps_their_numbers(thread):
    await thread.append(turns(40))
    compaction = await thread.compact()
    sent = await _sent(thread)
    assert not any("Order 1002" in str(message["content"]) and message in turns(40) for message in sent)
    before_recent = json.dumps(sent[:-10])
    kept = [n for n in range(1_000, 1_030) if str(n) in before_recent]
    assert len(kept) >= 27
    assert all(str(n) in compaction.summary for n in kept)
    assert "Lisbon" in before_recent


async def test_compacting_again_changes_nothing(thread):
    await thread.append(turns(40))
    await thread.compact()
    sent = await _sent(thread)
    assert await thread.compact() is None
    assert await _sent(thread) == sent
    assert len(await thread.compactions()) == 1


async def test_other_numbers_may_be_given(database, engine, tenant, thread_id):
    said = turns(14)
    await engine.sessions.append(thread_id, said, tenant_id=tenant)
    async with clew.Compactor(database, threshold_messages=8, keep_recent=4) as compactor:
        compaction = await compactor.compact(thread_id, tenant_id=tenant)
        assert compaction is not None
        assert compaction.through == 10
    assert (await _sent(engine.tenant(tenant).thread(thread_id)))[-4:] == said[-4:]


async def test_settings_say_the_same(server, environment, monkeypatch, tenant):
    monkeypatch.setenv("CLEW_COMPACT_MESSAGES", "8")
    monkeypatch.setenv("CLEW_COMPACT_KEEP_RECENT", "4")
    async with clew.open() as engine:
        thread = engine.tenant(tenant).thread("t")
        await thread.append(turns(8))
        assert await thread.compact() is None
        await thread.append(turns(6, 8))
        assert (await thread.compact()).through == 10


@pytest.mark.parametrize("name", ["CLEW_COMPACT_MESSAGES", "CLEW_COMPACT_TOKENS", "CLEW_COMPACT_KEEP_RECENT"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "2.5", ""])
def test_settings_that_are_none_stop_the_start(name, value):
    with pytest.raises(clew.InvalidInput, match=name):
        clew.Settings.load({name: value})


def test_a_setting_misspelt_is_told_the_right_name(cli):
    done = cli("settings", CLEW_COMPACT_MESAGES="5")
    assert done.returncode != 0
    assert "CLEW_COMPACT_MESSAGES" in done.stderr


async def test_too_many_tokens_are_enough_without_many_messages(database, engine, tenant, thread_id):
    thread = engine.tenant(tenant).thread(thread_id)
    for n in range(4):
        await thread.append(tool_turn(n, f"Result {n}: " + "word " * 2_000))
    async with clew.Compactor(database, threshold_tokens=4_000, keep_recent=4) as compactor:
        compaction = await compactor.compact(thread_id, tenant_id=tenant)
    assert compaction is not None
    assert compaction.tokens_before > 4_000
    assert compaction.tokens_after < compaction.tokens_before
    _paired(await _sent(thread))
    async with clew.Compactor(database, threshold_tokens=1_000_000, keep_recent=4) as compactor:
        await engine.sessions.append("other", turns(10), tenant_id=tenant)
        assert await compactor.compact("other", tenant_id=tenant) is None


async def test_cheapest_first_a_repeated_result_is_dropped_and_no_turn_is_summarised(
    database, engine, tenant, thread_id
):
    thread = engine.tenant(tenant).thread(thread_id)
    same = "The catalogue: " + " ".join(f"thing {n} costs {n} euros;" for n in range(400))
    for n in range(4):
        await thread.append(tool_turn(n, same))
    async with clew.Compactor(database, threshold_tokens=9_000, keep_recent=2) as compactor:
        compaction = await compactor.compact(thread_id, tenant_id=tenant)
    assert compaction is not None
    assert "summarise" not in str(compaction.tiers)
    sent = await _sent(thread)
    _paired(sent)
    for n in range(4):
        assert any(message["content"] == f"Number {n} is fine, as far as the lookup says." for message in sent)


# ---- the second extends the first


async def test_the_second_extends_the_first(thread):
    await thread.append(turns(40))
    first = await thread.compact()
    await thread.append(turns(30, 40))
    second = await thread.compact()
    assert second.through > first.through
    sent = await _sent(thread)
    assert sent[-10:] == turns(70)[-10:]
    early = [n for n in range(1_000, 1_030) if str(n) in second.summary]
    assert len(early) >= 24, "what the first kept is kept"
    assert [c.through for c in await thread.compactions()] == [second.through, first.through]


async def test_a_model_is_not_given_again_what_the_first_summary_stands_for(database, engine, tenant, thread_id):
    asked: list[str] = []

    async def model(messages: list[dict[str, Any]]) -> str:
        asked.append(json.dumps(messages))
        numbers = sorted(set(re.findall(r"\b1\d{3}\b", json.dumps(messages))))
        return "Claims with the carrier until Friday, depot in Lisbon. Orders: " + ", ".join(numbers) + "."

    async with clew.Compactor(database, write_summary=model) as compactor:
        await engine.sessions.append(thread_id, turns(40), tenant_id=tenant)
        assert await compactor.compact(thread_id, tenant_id=tenant)
        await engine.sessions.append(thread_id, turns(30, 40), tenant_id=tenant)
        assert await compactor.compact(thread_id, tenant_id=tenant)
    first, second = asked[0], asked[-1]
    assert "Order 1002 has not arrived" in first
    assert "Order 1002 has not arrived" not in second
    assert "Order 1042 has not arrived" in second
    assert "1002" in second, "the first summary is there"


async def test_between_two_compactions_each_request_begins_as_the_one_before(thread):
    """So that the provider's prompt cache survives."""
    await thread.append(turns(40))
    await thread.compact()
    before = await _sent(thread)
    for n in range(40, 48):
        await thread.append(turns(1, n))
        now = await _sent(thread)
        assert now[: len(before)] == before
        before = now
    assert len(await thread.compactions()) == 1


async def test_the_same_thread_is_summarised_in_the_same_words(engine, tenant):
    summaries = []
    for name in ("one", "two"):
        thread = engine.tenant(tenant).thread(name)
        await thread.append(turns(40))
        summaries.append((await thread.compact()).summary)
    assert summaries[0] == summaries[1]


# ---- verified before it counts


async def _fails(messages: list[dict[str, Any]]) -> str:
    raise RuntimeError("the model said 500")


async def _hangs(messages: list[dict[str, Any]]) -> str:
    await asyncio.sleep(3_600)
    return "never"


async def _nothing(messages: list[dict[str, Any]]) -> str:
    return ""


async def _blank(messages: list[dict[str, Any]]) -> str:
    return " \n\t "


async def _none(messages: list[dict[str, Any]]) -> Any:
    return None


async def _longer(messages: list[dict[str, Any]]) -> str:
    return json.dumps(messages) * 3


async def _vague(messages: list[dict[str, Any]]) -> str:
    return "They talked about some orders that had not arrived."


BAD_MODELS = {
    "fails": _fails,
    "hangs": _hangs,
    "nothing": _nothing,
    "blank": _blank,
    "None": _none,
    "longer": _longer,
    "vague": _vague,
}


@pytest.mark.parametrize("model", BAD_MODELS.values(), ids=BAD_MODELS)
async def test_a_summariser_that_is_no_good_changes_nothing_and_the_record_says_why(
    database, engine, tenant, thread_id, model
):
    thread = engine.tenant(tenant).thread(thread_id)
    await thread.append(turns(40))
    async with clew.Compactor(database, write_summary=model, timeout_s=0.3) as compactor:
        async with asyncio.timeout(20):
            assert await compactor.compact(thread_id, tenant_id=tenant) is None
        [refusal, *_] = await compactor.refusals(thread_id, tenant_id=tenant)
        assert refusal.code
        assert refusal.reason.strip()
        assert await compactor.compactions(thread_id, tenant_id=tenant) == []
    assert await _log(thread) == turns(40)
    [seen, *_] = await thread.refusals()
    assert seen.reason == refusal.reason
    assert (await _sent(thread))[-40:] == turns(40), "the view is as it was"


async def test_the_reasons_differ(database, engine, tenant):
    codes = {}
    for name, model in (
        ("empty", _nothing),
        ("longer", _longer),
        ("vague", _vague),
        ("fails", _fails),
        ("hangs", _hangs),
    ):
        await engine.sessions.append(name, turns(40), tenant_id=tenant)
        async with clew.Compactor(database, write_summary=model, timeout_s=0.3) as compactor:
            await compactor.compact(name, tenant_id=tenant)
            codes[name] = (await compactor.refusals(name, tenant_id=tenant))[0]
    assert len({refusal.code for refusal in codes.values()}) >= 4
    assert codes["vague"].code == "probes"
    assert "10" in codes["vague"].reason, "it says which are missing"


async def _complete(messages: list[dict[str, Any]], leave_out: str = "") -> str:
    """All the sentences that carry a number, but one."""
    said = json.dumps(messages, ensure_ascii=False)
    numbers = [str(n) for n in range(1_000, 1_200) if f"order {n}" in said.lower() and str(n) != leave_out]
    return f"Orders {', '.join(numbers)} missing from the depot in Lisbon; claims with the carrier until Friday."


async def test_a_model_that_keeps_everything_is_taken(database, engine, tenant, thread_id):
    await engine.sessions.append(thread_id, turns(40), tenant_id=tenant)
    async with clew.Compactor(database, write_summary=_complete) as compactor:
        compaction = await compactor.compact(thread_id, tenant_id=tenant)
        assert compaction, await compactor.refusals(thread_id, tenant_id=tenant)
    assert "claims with the carrier until Friday" in compaction.summary
    assert "claims with the carrier until Friday" in json.dumps(await _sent(engine.tenant(tenant).thread(thread_id)))


async def test_a_model_that_drops_a_number_changes_nothing(database, engine, tenant, thread_id):
    """The view is unchanged, and the record says why."""

    async def forgets_one(messages: list[dict[str, Any]]) -> str:
        return await _complete(messages, leave_out="1013")

    await engine.sessions.append(thread_id, turns(40), tenant_id=tenant)
    async with clew.Compactor(database, write_summary=forgets_one) as compactor:
        assert await compactor.compact(thread_id, tenant_id=tenant) is None
        [refusal, *_] = await compactor.refusals(thread_id, tenant_id=tenant)
    assert "1013" in refusal.reason


async def test_a_model_that_drops_an_instruction_changes_nothing(database, engine, tenant, thread_id):
    said = turns(40)
    said[4] = user("Never ship to the address in Porto again. Always ask Ana first.")
    await engine.sessions.append(thread_id, said, tenant_id=tenant)
    async with clew.Compactor(database, write_summary=_complete) as compactor:
        assert await compactor.compact(thread_id, tenant_id=tenant) is None
        [refusal, *_] = await compactor.refusals(thread_id, tenant_id=tenant)
        assert refusal.reason


async def test_the_offline_summariser_keeps_instructions_paths_urls_dates_and_amounts(thread):
    said = turns(40)
    said[2] = user("Never ship to the address in Porto again.")
    said[3] = user("Always ask Ana Ferreira before you refund more than 250 EUR.")
    said[6] = user("The contract is in /srv/contracts/acme-2026.pdf and at https://acme.example/contracts/7.")
    said[8] = user("The deadline is 2026-03-31, ticket JIRA-4711.")
    await thread.append(said)
    compaction = await thread.compact()
    assert compaction, await thread.refusals()
    summary = compaction.summary
    for kept in (
        "Never ship to the address in Porto again",
        "Always ask Ana Ferreira",
        "250 EUR",
        "/srv/contracts/acme-2026.pdf",
        "https://acme.example/contracts/7",
        "2026-03-31",
        "JIRA-4711",
    ):
        assert kept in summary


async def test_after_a_refusal_a_good_summariser_succeeds(database, engine, tenant, thread_id):
    await engine.sessions.append(thread_id, turns(40), tenant_id=tenant)
    async with clew.Compactor(database, write_summary=_nothing) as compactor:
        assert await compactor.compact(thread_id, tenant_id=tenant) is None
    async with clew.Compactor(database) as compactor:
        assert await compactor.compact(thread_id, tenant_id=tenant) is not None


async def test_an_engine_takes_a_model_for_summaries(server, settings, tenant):
    async with clew.open(settings=settings, models={"summaries": _complete}) as engine:
        thread = engine.tenant(tenant).thread("t")
        await thread.append(turns(40))
        assert "claims with the carrier until Friday" in (await thread.compact()).summary


# ---- tool calls and pins


async def test_calls_and_results_are_never_parted(thread):
    for n in range(15):
        await thread.append(tool_turn(n, f"Result {n}: stock is {n * 10} units"))
    assert await thread.compact() is not None
    _paired(await _sent(thread))


async def test_a_call_at_the_cut_keeps_its_results_with_it(engine, tenant):
    """Whatever falls on the tenth message from the end."""
    for shift in range(6):
        thread = engine.tenant(tenant).thread(f"shift-{shift}")
        calls = [
            {"id": f"p{n}", "type": "function", "function": {"name": "lookup", "arguments": "{}"}} for n in range(4)
        ]
        results = [{"role": "tool", "tool_call_id": f"p{n}", "content": f"stock of {n} is {n + 50}"} for n in range(4)]
        said = [
            *turns(20),
            {"role": "assistant", "content": None, "tool_calls": calls},
            *results,
            *turns(4 + shift, 20),
        ]
        await thread.append(said)
        assert await thread.compact() is not None
        sent = await _sent(thread)
        _paired(sent)
        assert sent[-10:] == said[-10:] or sent[-(4 + shift) :] == said[-(4 + shift) :]


PENDING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "wait_1", "type": "function", "function": {"name": "approve", "arguments": '{"amount": 777}'}}
    ],
}
APPROVED = {"role": "tool", "tool_call_id": "wait_1", "content": "approved by Ana: 777"}


async def test_a_call_that_waits_while_the_conversation_goes_on_is_not_compacted(thread):
    await thread.append([*turns(6), PENDING, *turns(30, 6)])
    await thread.compact()
    for _ in range(2):
        sent = await _sent(thread)
        assert [call["id"] for message in sent for call in message.get("tool_calls") or []] == ["wait_1"]
        _paired(sent)
        await thread.append(turns(30, 36))
        await thread.compact()


@pytest.mark.parametrize("count", [6, 30])
async def test_a_result_that_comes_late_is_seen(thread, count):
    """After a compaction as before one."""
    await thread.append([*turns(6), PENDING, *turns(count, 6)])
    assert (await thread.compact() is not None) is (count == 30)
    await thread.append(APPROVED)
    sent = await _sent(thread)
    _paired(sent)
    assert APPROVED["content"] in texts(sent)


async def test_a_pending_call_at_the_end_stays_and_the_rest_is_compacted(thread):
    await thread.append([*turns(40), PENDING])
    assert await thread.compact() is not None
    await thread.append(APPROVED)
    sent = await _sent(thread)
    _paired(sent)
    assert sent[-1]["content"] == APPROVED["content"]


async def test_pinned_messages_never_leave(thread):
    await thread.append(user("Our account number is 4711-X."), pinned=True)
    await thread.append(turns(40))
    await thread.append(user("The second pin says: 12 % VAT."), pinned=True)
    await thread.append(turns(40, 40))
    for _ in range(2):
        await thread.compact()
        sent = texts(await _sent(thread))
        assert "Our account number is 4711-X." in sent
        assert "The second pin says: 12 % VAT." in sent
        await thread.append(turns(30, 80))
    unpinned = [text for text in texts(turns(10)) if text in sent]
    assert unpinned == [], "what is not pinned left"


# ---- two at once, and in the background


async def test_two_at_once_produce_one(thread):
    await thread.append(turns(40))
    done = await asyncio.gather(*(thread.compact() for _ in range(4)))
    assert len(await thread.compactions()) == 1
    assert any(done)


async def test_an_append_meanwhile_is_kept(database, engine, tenant, thread_id):
    thread = engine.tenant(tenant).thread(thread_id)
    await thread.append(turns(40))

    async def slow(messages: list[dict[str, Any]]) -> str:
        await thread.append(user("Said in the middle of it: 31337."))
        return await _complete(messages)

    async with clew.Compactor(database, write_summary=slow) as compactor:
        await compactor.compact(thread_id, tenant_id=tenant)
    assert "Said in the middle of it: 31337." in texts(await _sent(thread))


async def _until(condition: Any, seconds: float = 15) -> None:
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - what a user could do: look again
            await asyncio.sleep(0.05)


async def test_without_waiting_it_is_done_in_the_background(thread):
    await thread.append(turns(40))
    assert await thread.compact(wait=False) is None
    await _until(thread.compactions)
    assert len(await thread.compactions()) == 1
    assert (await _sent(thread))[-10:] == turns(40)[-10:]


async def test_compile_has_it_done_and_does_not_wait(thread):
    await thread.append(turns(40))
    first = await _sent(thread)
    assert first[-40:] == turns(40), "the reply did not wait"
    await _until(thread.compactions)
    assert len(await _sent(thread)) <= 12


async def test_a_cleared_thread_begins_anew(thread):
    await thread.append(turns(40))
    await thread.compact()
    await thread.clear()
    await thread.append(user("hello again"))
    assert texts(await _sent(thread)) == ["hello again"]
    assert await thread.compactions() == []


async def test_another_tenants_thread_of_the_same_name_is_another(engine, tenant, other, thread_id):
    for whose in (tenant, other):
        await engine.tenant(whose).thread(thread_id).append(turns(40))
    assert await engine.compactor.compact(thread_id, tenant_id=tenant) is not None
    assert await engine.tenant(other).thread(thread_id).compactions() == []
    assert (await _sent(engine.tenant(other).thread(thread_id)))[-40:] == turns(40)


async def test_after_the_engine_is_opened_again_the_view_is_the_same(server, settings, tenant, thread_id):
    async with clew.open(settings=settings) as engine:
        thread = engine.tenant(tenant).thread(thread_id)
        await thread.append(turns(40))
        await thread.compact()
        before = await _sent(thread)
    async with clew.open(settings=settings) as engine:
        assert await _sent(engine.tenant(tenant).thread(thread_id)) == before


# ---- recall


async def test_every_message_that_left_is_recalled_word_for_word(thread):
    said = turns(60)
    await thread.append(said)
    compaction = await thread.compact()
    rows = await thread.recall_messages(positions=f"1-{compaction.through}", limit=100)
    assert [row.position for row in rows] == list(range(1, compaction.through + 1))
    assert [row.message.text for row in rows] == texts(said[: compaction.through])
    [one] = await thread.recall_messages(positions="7")
    assert one.message.text == said[6]["content"]
    some = await thread.recall_messages(positions=[3, 5])
    assert [row.position for row in some] == [3, 5]
    found = await thread.recall_messages("claim for order 1007")
    assert found[0].message.text == said[7]["content"]


async def test_recall_finds_what_is_in_the_window_too_and_nothing_that_is_nowhere(thread):
    await thread.append(turns(40))
    await thread.compact()
    assert (await thread.recall_messages("order 1038"))[0].position == 39
    assert await thread.recall_messages("unicorn") == []


async def test_recall_is_an_api_of_the_compactor_too_and_one_tenants(engine, tenant, other, thread_id):
    await engine.sessions.append(thread_id, turns(40), tenant_id=tenant)
    assert await engine.compactor.recall_messages(thread_id, "order 1003", tenant_id=tenant)
    assert await engine.compactor.recall_messages(thread_id, "order 1003", tenant_id=other) == []


async def test_the_tool_answers_in_words_and_is_bounded(thread):
    await thread.append([*turns(40), user("long " * 20_000)])
    await thread.compact()
    recall = {tool.__name__: tool for tool in thread.tools()}["recall_messages"]
    assert inspect.iscoroutinefunction(recall)
    assert "Order 1004 has not arrived" in await recall("order 1004")
    for answer in (await recall(positions="1-41"), await recall("order", limit=50), await recall("unicorn")):
        assert isinstance(answer, str)
        assert answer.strip()
        assert tokens.count(answer) <= 8_000
    for wrong in ({"positions": "x"}, {"positions": "0"}, {"query": ""}, {}):
        assert (await recall(**wrong)).strip()


async def test_positions_are_only_shown_to_a_model_that_can_recall(thread):
    await thread.append(turns(40))
    await thread.compact()
    with_tools = json.dumps(await _sent(thread, tools=thread.tools()))
    without = json.dumps(await _sent(thread))
    assert "recall_messages" in with_tools or "message" in with_tools
    assert "recall_messages" not in without


# ---- trim_messages


def test_trim_keeps_the_newest_that_fit():
    history = turns(100)
    for budget in (200, 500, 2_000):
        kept = clew.trim_messages(history, budget)
        assert kept == history[-len(kept) :]
        assert 0 < tokens.count_messages(kept) <= budget
    assert clew.trim_messages(history, 10**6) == history
    assert history == turns(100)


def test_trim_never_parts_a_call_from_its_results():
    history = [message for n in range(20) for message in tool_turn(n, f"Result {n} " * 20)]
    for budget in range(150, 3_000, 170):
        kept = clew.trim_messages(history, budget)
        _paired(kept)
        assert tokens.count_messages(kept) <= budget


def test_trim_says_when_it_cannot():
    with pytest.raises(clew.BudgetExceeded):
        clew.trim_messages([user("word " * 5_000)], 100)
    assert clew.trim_messages([], 100) == []


# ---- without await


def test_without_await_it_is_the_same(server, settings, tenant, thread_id):
    with clew.open_sync(settings=settings) as engine:
        thread = engine.tenant(tenant).thread(thread_id)
        assert thread.compact() is None
        thread.append(turns(40))
        compaction = thread.compact()
        assert compaction.through == 30
        assert [row.position for row in thread.recall_messages(positions="3")] == [3]
        assert engine.compactor.compact(thread_id, tenant_id=tenant) is None
        assert len(engine.compactor.compactions(thread_id, tenant_id=tenant)) == 1
        assert thread.refusals() == []
        assert "Summary" in str(thread.compile("What is open?").messages)

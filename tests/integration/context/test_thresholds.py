"""When a thread is compacted, and what is left of it in the window."""

import dataclasses
from typing import Any

import pytest

import clew
from clew import Database
from clew.sessions import SessionStore

from .conftest import TALK, Asked, engine_with, fact, facts_in, good, jobs_of, said, sent, shown_texts, talk


async def test_past_twenty_messages_a_thread_is_compacted_and_not_at_twenty(thread):
    await thread.append(talk(1, 20))
    assert await thread.compact() is None
    assert await thread.compactions() == []
    await thread.append(said(21))
    compaction = await thread.compact()
    assert (compaction.generation, compaction.through, compaction.tiers) == (1, 11, ("summarise",))
    assert compaction.tokens_after < compaction.tokens_before
    assert await thread.compactions() == [compaction]


async def test_the_last_ten_messages_stay_word_for_word_and_what_was_said_before_is_in_the_summary(thread):
    await thread.append(talk(1, 21))
    await thread.compact()
    context = await thread.compile("go on")
    messages = context.messages
    recent = [message["content"] for message in talk(12, 21)]
    assert [message["content"] for message in messages][-11:-1] == recent
    (summary,) = [item for item in context.manifest.of("session") if item.kind == "summary"]
    assert "messages 1 to 11" in summary.reason
    assert facts_in(messages[:1]) or facts_in(messages[1:2]), "the summary leads"
    for n in range(1, 12):
        assert f"V-{1000 + n}" in str(messages[:2])
        assert said(n)["content"] not in str(context.compiled.history)


async def test_past_the_tokens_a_thread_is_compacted_however_few_its_messages(database, tenant):
    for limit, due in ((400, True), (5_000, False)):
        thread = engine_with(database, threshold_tokens=limit, keep_recent=4).tenant(tenant).thread(str(limit))
        await thread.append(talk(1, 15))
        assert bool(await thread.compact()) is due


async def test_the_settings_say_how_many_messages_and_tokens(place, settings, tenant):
    of = {"compact_messages": 8, "compact_keep_recent": 3, "compact_tokens": 1_000_000, "worker": "separate"}
    async with Database(place, settings=dataclasses.replace(settings, **of)) as database:
        thread = clew.open(database).tenant(tenant).thread("t")
        await thread.append(talk(1, 8))
        assert await thread.compact() is None
        await thread.append(said(9))
        assert (await thread.compact()).through == 6
    few = dataclasses.replace(settings, compact_tokens=300, compact_keep_recent=2, worker="separate")
    async with Database(place, settings=few) as database:
        thread = clew.open(database).tenant(tenant).thread("tokens")
        await thread.append(talk(1, 12))
        assert await thread.compact() is not None


@pytest.mark.parametrize(
    "options",
    [
        {"threshold_messages": 0},
        {"threshold_messages": "20"},
        {"threshold_messages": True},
        {"keep_recent": 20},
        {"keep_recent": -1},
        {"threshold_tokens": 1.5},
        {"threshold_tokens": 1e400},
        {"keep_share": 1.1},
        {"keep_share": float("nan")},
        {"keep_share": "most"},
        {"timeout_s": -1},
        {"timeout_s": "soon"},
        {"timeout_s": float("nan")},
        {"write_summary": "a model"},
    ],
    ids=str,
)
def test_thresholds_that_make_no_sense_are_refused(database, options):
    with pytest.raises(clew.InvalidInput):
        clew.Compactor(database, **options)


async def test_the_log_is_the_same_after_compactions(thread):
    ids = await thread.append(talk(1, 45))
    before = await thread.read(100)
    assert await thread.compact() is not None
    await thread.append(talk(46, 60))
    assert await thread.compact() is not None
    after = await thread.read(100)
    assert after[:45] == before
    assert [row.message_id for row in before] == ids


async def test_the_second_compaction_extends_the_first_and_reads_nothing_that_the_first_replaced(
    database, tenant, monkeypatch
):
    model = Asked()
    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    first = await thread.compact()
    read: list[int] = []
    for name in ("read", "at"):
        _watch(monkeypatch, name, read)
    await thread.append(talk(22, 32))
    second = await thread.compact()
    assert (second.generation, first.through, second.through) == (2, 11, 22)
    assert second.view.summary.covers == (1, 22)
    assert sorted(set(read)) == list(range(12, 33)), "only what came after the first cut was read"
    (_, asked) = model.requests
    texts = [str(message["content"]) for message in asked]
    for n in range(1, 12):
        assert said(n)["content"] not in texts
        assert fact(n) in texts[0], "the first summary goes along in its place"
        assert fact(n) in second.summary
    assert all(said(n)["content"] in texts for n in range(12, 23))


async def test_the_offline_summary_is_extended_too_and_keeps_what_the_first_kept(thread, monkeypatch):
    await thread.append(talk(1, 21))
    await thread.compact()
    read: list[int] = []
    for name in ("read", "at"):
        _watch(monkeypatch, name, read)
    await thread.append(talk(22, 32))
    second = await thread.compact()
    assert sorted(set(read)) == list(range(12, 33))
    assert all(f"V-{1000 + n}" in second.summary for n in range(1, 23))


def _watch(monkeypatch: pytest.MonkeyPatch, name: str, read: list[int]) -> None:
    inner = getattr(SessionStore, name)

    async def watched(self: SessionStore, *args: Any, **options: Any) -> Any:
        rows = await inner(self, *args, **options)
        read.extend(row.position for row in rows)
        return rows

    monkeypatch.setattr(SessionStore, name, watched)


async def test_a_compaction_is_rare_and_between_two_the_request_only_grows(thread):
    """The provider's cache: what was sent leads what is sent next."""
    before: list[dict[str, Any]] = []
    changes = []
    for n in range(1, 101):
        await thread.append(said(n))
        compaction = await thread.compact()
        messages = (await thread.compile("go on", "You tend pumps.", tools=thread.tools())).messages[:-1]
        if compaction is not None:
            changes.append(n)
        else:
            assert messages[: len(before)] == before
        before = messages
    assert changes == list(range(21, 101, 11))
    assert [one.generation for one in await thread.compactions()] == list(range(len(changes), 0, -1))


@pytest.mark.parametrize("tier", ["fast", "reasoning"])
async def test_a_summary_is_never_what_no_window_can_hold(database, tenant, tier):
    """However much the thread says, and with nothing pinned, there is always something to send."""
    thread = engine_with(database).tenant(tenant).thread("t")
    for first in range(1, 80, 20):
        await thread.append([_full_of_details(n) for n in range(first, first + 20)])
        await thread.compact()
    assert await thread.compactions()
    context = await thread.compile("go on", model_tier=tier)
    assert [item for item in context.manifest.of("session") if item.kind == "summary" and item.kept]
    assert context.token_usage["session"] <= {"fast": 2_800, "reasoning": 11_200}[tier]


async def test_a_summary_too_long_for_a_tier_is_shown_in_the_same_part_until_the_next_compaction(database, tenant):
    thread = engine_with(database).tenant(tenant).thread("t")
    await thread.append([_full_of_details(n) for n in range(1, 61)])
    assert await thread.compact() is not None
    led = set()
    for n in range(61, 70):
        await thread.append(said(n))
        led.add((await thread.compile("go on", model_tier="fast")).messages[0]["content"])
    (summary,) = led
    assert summary.startswith("[Summary of messages")
    assert summary != (await thread.compile("go on")).messages[0]["content"], "the control: a larger tier shows more"


async def test_a_model_s_summary_is_never_what_no_window_can_hold_either(database, tenant):
    """Told how long it may be, a model writes more: that is refused, or shown in part."""

    async def writes_a_lot(messages: list[dict[str, Any]]) -> str:
        return await good(messages) + "".join(f"\n- and then {TALK}, {TALK}" for _ in range(120))

    thread = engine_with(database, write_summary=writes_a_lot).tenant(tenant).thread("t")
    await thread.append([{"role": "user", "content": f"{fact(n)} {TALK} " * 30} for n in range(1, 40)])
    await thread.compact()
    for tier in ("fast", "reasoning"):
        context = await thread.compile("go on", model_tier=tier)
        assert fact(39) in str(context.messages)
    done, refused = await thread.compactions(), await thread.refusals()
    assert len(done) + len(refused) == 1


def _full_of_details(n: int) -> dict[str, Any]:
    items = " ".join(f"Item IT-{n * 100 + k} weighs {n * 100 + k} kg and {TALK}." for k in range(12))
    return {"role": "user" if n % 2 else "assistant", "content": f"Order {7000 + n} in /srv/files/{n}.csv: {items}"}


async def test_a_thread_longer_than_one_reading_is_compacted_piece_by_piece(thread, monkeypatch):
    monkeypatch.setattr("clew.context.compactor.READ_MAX_MESSAGES", 40)
    monkeypatch.setattr("clew.context.compactor.SESSION_READ_MAX", 40)
    await thread.append(talk(1, 100))
    while await thread.compact() is not None:
        newest = (await thread.compactions(1))[0]
        assert newest.view.pinned == (), "nothing of it is pinned"
    texts = await shown_texts(thread)
    assert said(100)["content"] in texts
    assert said(1)["content"] not in texts
    assert newest.view.summary.covers[0] == 1


async def test_a_thread_where_nothing_can_be_moved_is_not_looked_at_again_until_more_is_said(own, tenant):
    """Its newest messages alone are too much: it stays past the threshold, and looking again changes nothing."""
    engine = engine_with(own, threshold_tokens=300)
    thread = engine.tenant(tenant).thread("t")
    await thread.append(talk(1, 10))
    for _ in range(2):
        await thread.compile("go on")
        await engine.compactor._jobs.run(until_idle=True)
    assert (await thread.compactions(), await jobs_of(own, tenant)) == ([], 0)
    await thread.compile("go on")
    assert await jobs_of(own, tenant) == 0
    await thread.append(talk(11, 20))
    await thread.compile("go on")
    assert await jobs_of(own, tenant) == 1, "the control: there is something to move now"


async def test_a_good_model_and_the_offline_summary_give_the_same_view_of_the_newest(database, tenant):
    offline = engine_with(database).tenant(tenant).thread("offline")
    written = engine_with(database, write_summary=good).tenant(tenant).thread("written")
    for thread in (offline, written):
        await thread.append(talk(1, 21))
        assert await thread.compact() is not None
    assert (await shown_texts(offline))[-11:-1] == (await shown_texts(written))[-11:-1]
    assert await sent(offline) != await sent(written)

"""What holds for every view, after any sequence of append, compact and trim."""

import json
import random
from collections import Counter

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clew.context.compaction import View, check, is_pinned, propose, shown, summarise, trim, with_summary
from clew.errors import BudgetExceeded
from clew.messages import Message, repair
from clew.tokens import count_message

from .logs import MOVES, any_logs, compacted, entries_of, healthy_logs, messages_of, orphans, small

hundreds = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def alive(messages: list[Message]) -> set[int]:
    """The positions of messages that mending does not drop."""
    gone = {
        change.index
        for change in repair(messages, pending="keep").changes
        if change.kind in ("duplicate_message", "duplicate_result", "orphan_result")
    }
    return {index + 1 for index in range(len(messages)) if index not in gone}


@hundreds
@given(log=any_logs, every=st.integers(1, 9))
def test_no_orphan_no_lost_pin_and_every_message_is_shown_or_recalled_by_its_position(log, every):
    view = View()
    for length in range(1, len(log) + 1):
        entries = entries_of(log[:length])
        if length % every == 0:
            before, view = view, compacted(view, entries, small)
            if view is not before:
                old = sum(one.tokens for one in shown(before, entries, references=True))
                assert sum(one.tokens for one in shown(view, entries, references=True)) < old
                assert view.through >= before.through
        found = shown(view, entries, references=True)
        assert not orphans([one.message for one in found])
        positions = {one.position for one in found}
        visible = [entry for entry in entries if entry.position > view.through or entry.position in view.pinned]
        healthy = alive([entry.message for entry in visible])
        for place, entry in enumerate(visible, start=1):
            assert entry.position in positions or place not in healthy
        for entry in entries:
            if is_pinned(entry.message):
                assert entry.position > view.through or entry.position in view.pinned
        by_position = {entry.position: entry for entry in entries}
        for one in found:
            if one.position is not None and one.position not in view.edits and one.message.role != "assistant":
                assert one.message is by_position[one.position].message
            assert one.tokens == count_message(one.message)


@hundreds
@given(log=any_logs, every=st.integers(1, 9))
@example(log=messages_of([4, 139, 500, 0, 0]), every=1)  # the last call repeats an answered one, id and all
def test_a_pending_call_is_never_summarised_nor_anything_behind_it(log, every):
    view = View()
    for length in range(1, len(log) + 1):
        entries = entries_of(log[:length])
        if length % every == 0:
            view = compacted(view, entries, small)
        last = max((entry.position for entry in entries if entry.message.role == "assistant"), default=0)
        waiting = {call.id for call in log[last - 1].tool_calls} if last else set()
        answered = {one.call_id for message in log[last:length] for one in message.tool_results}
        if waiting - answered:
            assert view.through < last


@hundreds
@given(log=any_logs, every=st.integers(1, 9))
def test_a_proposal_never_moves_what_must_stay(log, every):
    view = View()
    for length in range(every, len(log) + 1, every):
        entries = entries_of(log[:length])
        proposal = propose(view, entries, small)
        if proposal is None:
            continue
        summary = summarise(view.summary, proposal.replaced, max_tokens=400) if proposal.replaced else None
        after = with_summary(proposal, summary) if summary else proposal.view
        refused = check(view, after, entries, small)
        assert refused is None or refused.code in ("longer", "probes"), refused
        view = view if refused else after


def test_the_logs_of_these_properties_are_compacted_in_every_way():
    chance, seen = random.Random(4), Counter()
    for _ in range(150):
        log, view = messages_of([chance.randrange(MOVES) for _ in range(16)]), View()
        for length in range(1, len(log) + 1):
            entries = entries_of(log[:length])
            proposal = propose(view, entries, small)
            after = compacted(view, entries, small)
            if proposal and after != view:
                seen.update(["pinned"] if after.pinned else [], **Counter(proposal.tiers))
                view = after
    assert min(seen[kind] for kind in ("repeat", "clear", "summarise", "pinned")) > 50, seen


@hundreds
@given(log=healthy_logs, every=st.integers(1, 9))
def test_between_two_compactions_a_longer_log_begins_with_what_the_shorter_one_showed(log, every):
    view, before = View(), []
    for length in range(1, len(log) + 1):
        entries = entries_of(log[:length])
        found = shown(view, entries, references=True)
        assert found[: len(before)] == before
        before = found
        if length % every == 0:
            after = compacted(view, entries, small)
            if after != view:
                view, before = after, shown(after, entries, references=True)


@hundreds
@given(log=any_logs)
def test_what_is_shown_needs_only_the_pinned_and_the_rest_of_the_log(log):
    view = View()
    for length in range(6, len(log) + 1, 4):
        entries = entries_of(log[:length])
        view = compacted(view, entries, small)
        rest = [entry for entry in entries if entry.position > view.through or entry.position in view.pinned]
        assert shown(view, rest, references=True) == shown(view, entries, references=True)
        assert propose(view, rest, small) == propose(view, entries, small)
        assert compacted(view, rest, small) == compacted(view, entries, small)


@hundreds
@given(log=any_logs)
def test_a_view_comes_back_from_json_and_equal_logs_give_equal_bytes(log):
    entries = entries_of(log)
    view = compacted(View(), entries, small)
    text = json.dumps(view.as_json())
    assert View.from_json(json.loads(text)) == view
    assert json.dumps(compacted(View(), entries_of(list(log)), small).as_json()) == text


@hundreds
@given(log=any_logs, limit=st.integers(1, 400))
def test_a_summary_keeps_its_limit_unless_its_instructions_alone_exceed_it(log, limit):
    entries = entries_of(log)
    summary = None
    for start in range(0, len(entries), 7):
        summary = summarise(summary, entries[start : start + 7], max_tokens=limit)
        text = summary.text(references=True)
        assert text.strip()
        nothing_else = not (summary.topics or summary.decisions or summary.facts or summary.mentioned)
        assert count_message({"role": "user", "content": text}) - 4 <= max(limit, 20) or nothing_else


@hundreds
@given(log=any_logs, limit=st.integers(0, 900), keep_recent=st.integers(0, 4))
def test_trimming_keeps_pins_pairs_and_the_limit(log, limit, keep_recent):
    try:
        found = trim(log, limit, keep_recent=keep_recent)
    except BudgetExceeded:
        assert limit < sum(map(count_message, log))
        return
    assert sum(count_message(message) for message in found.messages) == found.tokens <= limit
    assert not orphans(found.messages)
    healthy = alive(log)
    dropped = set(found.dropped)
    for index, message in enumerate(log):
        must_stay = is_pinned(message) or index >= len(log) - keep_recent
        assert not (must_stay and index in dropped and index + 1 in healthy)
    assert len(found.messages) + len(dropped) == len(log)

"""Every reason for which a new view may not take the place of the old one, and that a good one may."""

from dataclasses import replace

import pytest

from clew.context.compaction import (
    Edit,
    Line,
    Policy,
    Proposal,
    Summary,
    View,
    check,
    propose,
    shown,
    summarise,
    with_summary,
)

from .logs import calls, entries_of, result, said

FILLER = "I looked into the matter and there is nothing special to say about it, so let us go on with the next point."
policy = Policy(threshold_messages=8, keep_recent=3)


def conversation():
    """Fourteen messages: an instruction, five details, a call with its result, and talk."""
    return entries_of(
        [
            said("user", "Please find out what the Denver office spent. Never share salaries with anyone outside HR."),
            said("assistant", "The office spent $48,210.55 by 2024-05-27, says /srv/books/denver.csv."),
            calls("a", 1, "INV-2024-0077"),
            result("a", 0, "rent 12000, tools 400, " * 40),
            said("assistant", f"Invoice INV-2024-0077 is the largest. {FILLER}"),
            *(said(role, FILLER) for role in ("user", "assistant") * 4),
            said("user", "Thanks, go on."),
        ]
    )


@pytest.fixture
def entries():
    return conversation()


@pytest.fixture
def proposal(entries) -> Proposal:
    found = propose(View(), entries, policy)
    assert found is not None
    assert found.replaced[-1].position == len(entries) - policy.keep_recent
    return found


@pytest.fixture
def good(proposal) -> Summary:
    return summarise(None, proposal.replaced, max_tokens=200)


def verdict(proposal, summary, entries, view=None):
    return check(view or View(), with_summary(proposal, summary), entries, policy)


def without(summary: Summary, text: str) -> Summary:
    """The summary with every line left out that holds the text."""
    names = ("topics", "decisions", "facts", "open_questions", "instructions", "mentioned")
    return replace(summary, **{n: tuple(x for x in getattr(summary, n) if text not in x.text) for n in names})


def test_a_summary_that_keeps_everything_is_accepted(proposal, good, entries):
    assert verdict(proposal, good, entries) is None


def test_an_empty_summary_is_refused(proposal, good, entries):
    assert verdict(proposal, Summary(good.covers), entries).code == "empty"
    assert verdict(proposal, Summary.written(" \n\n", good.covers), entries).code == "empty"


def test_a_longer_summary_is_refused_with_both_counts(proposal, good, entries):
    longer = replace(good, facts=(*good.facts, Line(f"{FILLER} " * 60)))
    refused = verdict(proposal, longer, entries)
    assert refused.code == "longer"
    before = sum(one.tokens for one in shown(View(), entries, references=True))
    assert f"{before:,}" in refused.reason


@pytest.mark.parametrize("detail", ["$48,210.55", "2024-05-27", "/srv/books/denver.csv", "INV-2024-0077"])
def test_a_summary_that_drops_one_detail_out_of_few_is_refused_and_the_reason_names_it(proposal, good, entries, detail):
    changed = without(good, detail)
    others = [d for d in ("$48,210.55", "2024-05-27", "/srv/books/denver.csv", "INV-2024-0077") if d != detail]
    lacking = replace(changed, mentioned=(*changed.mentioned, *(Line(text) for text in [*others, "Denver"])))
    refused = verdict(proposal, lacking, entries)
    assert refused.code == "probes"
    assert repr(detail) in refused.reason
    assert "90% are needed" in refused.reason or "must all be kept" in refused.reason
    kept = replace(lacking, mentioned=(*lacking.mentioned, Line(detail)))
    assert verdict(proposal, kept, entries) is None


def test_a_number_that_only_a_tool_returned_may_go(proposal, good, entries):
    assert "12000" not in good.words
    assert verdict(proposal, good, entries) is None


def test_a_summary_that_drops_an_instruction_is_refused_and_the_reason_quotes_it(proposal, good, entries):
    refused = verdict(proposal, replace(good, instructions=()), entries)
    assert refused.code == "instructions"
    assert "Never share salaries" in refused.reason


def test_an_instruction_in_other_words_is_kept_but_not_without_its_no(proposal, good, entries):
    other = replace(good, instructions=(Line("Salaries must not be shared with anyone outside of HR"),))
    assert verdict(proposal, other, entries) is None
    turned = replace(good, instructions=(Line("Share salaries with anyone outside HR"),))
    assert verdict(proposal, turned, entries).code == "instructions"


def test_a_position_is_not_taken_for_a_number_that_was_said():
    entries = entries_of([said("user", f"It is room 12. {FILLER}"), *(said("user", FILLER) for _ in range(11))])
    found = propose(View(), entries, policy)
    summary = Summary((1, 9), topics=(Line("They talked about a room.", (12,)),))
    refused = check(View(), with_summary(found, summary), entries, policy)
    assert refused.code == "probes"
    assert "'12'" in refused.reason
    said_so = Summary((1, 9), topics=(Line("They talked about room 12."),))
    assert check(View(), with_summary(found, said_so), entries, policy) is None


def test_the_previous_summary_s_details_and_instructions_count_too(proposal, good, entries):
    view = with_summary(proposal, good)
    longer = [*entries, *entries_of([said("user", FILLER)] * 24)[len(entries) :]]
    second = propose(view, longer, policy)
    fresh = summarise(None, second.replaced, max_tokens=200)
    assert check(view, with_summary(second, fresh), longer, policy).code == "instructions"
    partly = replace(fresh, instructions=good.instructions)
    assert check(view, with_summary(second, partly), longer, policy).code == "probes"
    extended = summarise(good, second.replaced, max_tokens=300)
    assert check(view, with_summary(second, extended), longer, policy) is None


def test_a_view_that_splits_a_call_from_its_result_is_refused(good, entries):
    refused = check(View(), View(through=3, summary=good), entries, policy)
    assert refused.code == "broken_pair"
    assert "3 to 4" in refused.reason


def test_a_view_that_loses_a_pin_is_refused(good):
    entries = conversation()
    pinned = entries[1].message.model_copy(update={"metadata": {"pinned": True}})
    entries[1] = replace(entries[1], message=pinned)
    refused = check(View(), View(through=5, summary=good), entries, policy)
    assert refused.code == "lost_pin"
    assert check(View(), View(through=5, summary=good, pinned=(2,)), entries, policy) is None


def test_a_pending_call_may_not_be_summarised(good):
    messages = [entry.message for entry in conversation()]
    messages[3:] = [said("user", FILLER)] * 9
    refused = check(View(), View(through=6, summary=good), entries_of(messages), policy)
    assert refused.code == "pending"


def test_the_newest_messages_may_not_be_summarised(good, entries):
    refused = check(View(), View(through=len(entries) - 2, summary=good), entries, policy)
    assert refused.code == "recent"


def test_a_view_never_moves_back(proposal, good, entries):
    view = with_summary(proposal, good)
    assert check(view, View(through=2, summary=good), entries, policy).code == "backwards"
    stubbed = View(edits={4: Edit(4, "clear", "look", entries[3].tokens)})
    assert check(stubbed, View(), entries, policy).code == "backwards"


def test_only_old_results_that_are_not_pinned_may_become_stubs(entries):
    good = View(edits={4: Edit(4, "clear", "look", entries[3].tokens)})
    assert check(View(), good, entries, policy) is None
    assert check(View(), View(edits={2: Edit(2, "clear", "look", 9)}), entries, policy).code == "broken_pair"
    pinned = entries[2].message.model_copy(update={"metadata": {"pinned": True}})
    entries[2] = replace(entries[2], message=pinned)
    assert check(View(), good, entries, policy).code == "lost_pin"

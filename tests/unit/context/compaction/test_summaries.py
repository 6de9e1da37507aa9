"""What a summary says, how it is read back, and what the offline summariser makes of real conversations."""

import gzip
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from clew.context.compaction import (
    Line,
    Policy,
    Summary,
    View,
    check,
    propose,
    references_in,
    shown,
    summarise,
    summary_limit,
    with_summary,
)
from clew.errors import InvalidInput
from clew.messages import from_openai
from clew.tokens import count

from .logs import calls, entries_of, result, said

TRACES = Path(__file__).parents[5] / "shared" / "data" / "traces"
ARTIFACT = "art_abcdefgh234567ab"


def test_the_sections_are_read_in_order_with_positions_only_where_they_can_be_followed():
    summary = Summary(
        (1, 9),
        topics=(Line("The move to Denver", (1,)),),
        instructions=(Line("Never call at night", (2, 3)),),
        references=(Line(f"{ARTIFACT} from search", (4,)),),
        mentioned=(Line("$5", (6,)), Line("$6", (6,)), Line("HAT084", (7,))),
    )
    assert summary.text(references=True) == (
        "Instructions that still hold:\n- Never call at night [2,3]\nTopics:\n- The move to Denver [1]\n"
        f"References:\n- search: {ARTIFACT} [4]\nAlso mentioned: $5, $6 [6]; HAT084 [7]"
    )
    assert summary.text(references=False) == (
        "Instructions that still hold:\n- Never call at night\nTopics:\n- The move to Denver\n"
        "Also mentioned: $5, $6, HAT084"
    )
    assert Summary.from_json(json.loads(json.dumps(summary.as_json()))) == summary


@pytest.mark.parametrize("value", [None, [], {"covers": [1]}, {"covers": [1, 2], "topics": ["x"]}, {"covers": [1, -2]}])
def test_what_is_no_summary_is_refused(value):
    with pytest.raises(InvalidInput):
        Summary.from_json(value)


@pytest.mark.parametrize(
    "value", [None, {}, {"through": True}, {"through": 1, "edits": [], "pinned": "1"}, {"edits": [1]}]
)
def test_what_is_no_view_is_refused(value):
    with pytest.raises(InvalidInput):
        View.from_json(value)


def test_a_model_s_headings_become_sections_and_the_rest_stays_as_it_is():
    text = (
        "Here is the summary.\n\n## Topics\n- The move\n* The cost [4]\n**Key Facts:**\n1. It costs $5\n"
        "Open questions: who pays?\nStanding instructions\n- Never call at night\n"
    )
    kept = (Line(ARTIFACT, (3,)),)
    summary = Summary.written(text, (1, 9), kept)
    assert summary.prose == "Here is the summary."
    assert summary.topics == (Line("The move"), Line("The cost", (4,)))
    assert summary.facts == (Line("It costs $5"),)
    assert summary.open_questions == (Line("who pays?"),)
    assert summary.instructions == (Line("Never call at night"),)
    assert summary.references == kept
    plain = Summary.written("They spoke about the move.\nIt costs $5.", (1, 9))
    assert plain.prose == plain.text(references=True) == "They spoke about the move.\nIt costs $5."
    assert Summary.written("", (1, 9)).is_empty


def test_artifacts_that_results_name_are_passed_on_to_a_model_that_can_read_them():
    replaced = entries_of([calls("a", name="search"), result("a", 0, f"5 findings (full result: artifact {ARTIFACT})")])
    assert references_in(None, replaced) == (Line(f"{ARTIFACT} from search", (2,)),)
    summary = summarise(None, replaced, max_tokens=200)
    assert ARTIFACT in summary.text(references=True)
    assert ARTIFACT not in summary.text(references=False)
    bare = summarise(
        None, entries_of([calls("b", 1, ARTIFACT), result("b", 0, f"saved as {ARTIFACT}")]), max_tokens=200
    )
    assert ARTIFACT in bare.text(references=True)
    assert ARTIFACT not in bare.text(references=False)
    again = summarise(summary, entries_of([said("user", "And now?")] * 3), max_tokens=200)
    assert again.references == summary.references


def test_instructions_decisions_and_requests_are_kept_and_chatter_is_not():
    replaced = entries_of(
        [
            said("user", "Hello! I need to change my flight HAT084 to May 27. Never use my credit card."),
            said("assistant", "Thank you so much for your patience, I am happy to help you with that!"),
            said("assistant", "Your flight has been successfully changed to May 27, and it costs $112 more."),
            said("user", "Thanks a lot, have a great day!"),
            said("assistant", "Is there anything else?"),
        ]
    )
    summary = summarise(None, replaced, max_tokens=200)
    assert [line.text for line in summary.instructions] == ["Never use my credit card."]
    assert "change my flight HAT084" in summary.topics[0].text
    assert any("successfully changed" in line.text for line in summary.decisions)
    assert not any(word in summary.words for word in ("patience", "great day", "anything else"))


def test_calls_of_one_tool_are_one_line_across_compactions():
    first = entries_of([m for n in range(3) for m in (calls(n, 1, f"ORD{n}"), result(n, 0, "x" * 200))])
    summary = summarise(None, first, max_tokens=200)
    assert [line.text for line in summary.decisions] == ["look: ORD0; ORD1; ORD2"]
    later = [
        entry for entry in entries_of([said("user", "")] * 6 + [calls(7, 1, "ORD7"), result(7)]) if entry.position > 6
    ]
    extended = summarise(summary, later, max_tokens=200)
    assert [line.text for line in extended.decisions] == ["look: ORD0; ORD1; ORD2; ORD7 → found"]
    assert extended.covers == (1, 8)


@pytest.mark.parametrize("most", [1_000, 4_000])
def test_a_summary_that_is_extended_for_ever_keeps_its_limit_and_its_instructions(most):
    policy = Policy(summary_max_tokens=most)
    view, sizes = View(), []
    log = entries_of([said("user", "Never, ever mention the merger with Globex to anyone.")])
    for number in range(700):
        pair = [
            said("user", f"Please look at order ORD{number}A of {number * 7 + 11} dollars, it was late again."),
            said("assistant", f"I looked at it; order ORD{number}A has been refunded with ${number * 3 + 5}.25 now."),
        ]
        log += [replace(entry, position=entry.position + len(log)) for entry in entries_of(pair)]
        visible = log[view.through :]
        proposal = propose(view, visible, policy)
        if proposal is None:
            continue
        limit = summary_limit(view.summary, proposal.replaced, policy)
        after = with_summary(proposal, summarise(view.summary, proposal.replaced, max_tokens=limit))
        assert check(view, after, visible, policy) is None
        view = after
        sizes.append(count(view.summary.text(references=True)))
    assert view.through > 1_300
    assert max(sizes) <= most
    assert any("Globex" in line.text for line in view.summary.instructions)
    newest = [line.text for line in (*view.summary.topics, *view.summary.decisions)]
    assert most < 4_000 or any("order ORD69" in text for text in newest), "what is new is still said in sentences"


def recorded(name: str) -> list[list[dict]]:
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"the recorded conversations (../shared/data/traces/{name}) are not here")
    found = json.loads(gzip.decompress(path.read_bytes()))
    if isinstance(found, list):
        return [run["traj"] for run in found]
    return [[{"role": m["role"], "content": m["content"]} for m in found["history"] if m["role"] != "tool"]]


@pytest.mark.parametrize("name", ["tau-airline.json.gz", "swe-agent-2.traj.gz", "swe-agent-3.traj.gz"])
def test_recorded_conversations_are_compacted_whenever_due_and_the_check_accepts(name):
    policy, accepted, refused, long = Policy(), 0, [], []
    for run in recorded(name):
        entries, view = entries_of(from_openai(run)), View()
        for length in range(21, len(entries) + 1):
            proposal = propose(view, entries[:length], policy)
            if proposal is None:
                continue
            limit = summary_limit(view.summary, proposal.replaced, policy)
            after = with_summary(proposal, summarise(view.summary, proposal.replaced, max_tokens=limit))
            reason = check(view, after, entries[:length], policy)
            accepted, view = (accepted + 1, after) if reason is None else (accepted, view)
            refused += [reason] if reason else []
        if len(entries) >= 62:
            long.append((sum(e.tokens for e in entries), sum(s.tokens for s in shown(view, entries, references=True))))
    assert accepted
    assert len(refused) <= (accepted + len(refused)) * 0.05, refused[:3]
    assert sum(after for _, after in long) <= sum(before for before, _ in long) * 0.5


def test_two_thousand_messages_are_summarised_in_seconds():
    log = [
        m for n in range(700) for m in (said("user", f"Check order ORD{n}X of ${n}.50, please."), calls(n), result(n))
    ]
    entries = entries_of(log)
    started = time.perf_counter()
    proposal = propose(View(), entries, Policy())
    summary = summarise(None, proposal.replaced, max_tokens=4_000)
    assert check(View(), with_summary(proposal, summary), entries, Policy()) is None
    assert time.perf_counter() - started < 10, "0.7 s on an idle machine"


@pytest.mark.parametrize(
    "piece",
    ["a", "1", "1,", "/a", "a/", "a_", "x@", "a.", "i never ", "must ", "May 1 ", "Ab ", "12:34", "\0 a1 ", "(", "\n"],
)
def test_a_message_of_one_piece_over_and_over_is_summarised_in_seconds(piece):
    entries = entries_of(
        [said("user", piece * (60_000 // len(piece))), *(said("user", "Go on, please.") for _ in range(24))]
    )
    started = time.perf_counter()
    proposal = propose(View(), entries, Policy())
    limit = summary_limit(None, proposal.replaced, Policy())
    view = with_summary(proposal, summarise(None, proposal.replaced, max_tokens=limit))
    assert check(View(), view, entries, Policy()) is None
    assert time.perf_counter() - started < 10, "0.6 s at the most on an idle machine"

"""The few passages that are shown: the best of each conversation, with more of it as far as there is room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.context.manifest import FITS, IN_SESSION, LESS_RELEVANT, REPEATS
from clew.context.picking import Picking, pick_memories
from clew.context.retrieved import Line, Memory, joined
from clew.tokens import DEFAULT_ENCODING, count

from .test_retrieved import TASK, reasons, structure


def picked(memories, spoken=(), message_ids=(), passages=3, tokens=400):
    found = pick_memories(memories, spoken, message_ids, TASK, 4_000, DEFAULT_ENCODING, Picking(passages, tokens))
    cost = count(joined(found.text, TASK)) - count(TASK)
    assert cost == sum(item.tokens for item in found.items if item.kept) <= tokens
    assert len([item for item in found.items if item.kind != "wrapper"]) == len(memories)
    return found


def shown(found):
    return [text for _, text in structure(found.text)]


def turn(n, text, conversation="chat", **fields):
    return Memory(f"{conversation}-{n}", text, conversation=conversation, order=n, speaker="Ana", **fields)


def near(*places):
    return tuple(Line(f"chat-{n}", f"Ben: turn {n}", n) for n in places)


def test_what_is_picked_keeps_its_order_and_its_number():
    memories = [Memory(f"m{n}", f"fact number {n}", score=n / 10) for n in range(6)]
    found = picked(memories)
    assert shown(found) == ["fact number 0", "fact number 1", "fact number 2"]
    assert list(reasons(found).values()).count(LESS_RELEVANT) == 3


def test_what_is_superseded_stands_last_and_says_so():
    memories = [Memory("old", "it was 4", status="superseded on 2026-05-01"), Memory("new", "it is 5")]
    (_, first), (label, last) = structure(picked(memories).text)
    assert (first, last) == ("it is 5", "it was 4")
    assert "superseded on 2026-05-01" in label


def test_what_comes_from_a_message_in_the_window_or_is_said_already_is_not_shown_again():
    memories = [
        Memory("f1", "Ana is 34.", said_in=("m1",)),
        Memory("f2", "Ben is 40.", said_in=("m2",)),
        Memory("f3", "ben is  40."),
        Memory("f4", "Cy is 50."),
    ]
    why = reasons(picked(memories, spoken=["I know that Cy is 50. So what?"], message_ids=["m1"]))
    assert why["f1"] == why["f4"] == IN_SESSION
    assert why["f2"] == FITS
    assert why["f3"] == f"{REPEATS} f2"


def test_what_was_found_in_one_conversation_is_one_passage_in_its_order_with_gaps_to_be_seen():
    found = picked([turn(7, "seven"), Memory("m", "alone"), turn(2, "two"), turn(3, "three")])
    assert shown(found) == ["Ana: two\nAna: three\n…\nAna: seven", "alone"]
    assert {item.reason for item in found.items if item.source_id} == {FITS}


def test_room_that_is_left_goes_to_what_was_said_around_it_nearest_first_each_once():
    memories = [turn(5, "five", near=near(4, 6, 3, 7)), turn(6, "six")]
    assert shown(picked(memories)) == ["Ben: turn 3\nBen: turn 4\nAna: five\nAna: six\nBen: turn 7"]


def test_a_fourth_conversation_has_no_passage_however_many_turns_of_the_first_three_are_shown():
    memories = [turn(n, f"turn {n} of {name}", name) for n in range(3) for name in "abcd"]
    found = picked(memories)
    assert len(shown(found)) == 3
    assert [why for id, why in reasons(found).items() if id and id.startswith("d-")] == [LESS_RELEVANT] * 3


@pytest.mark.parametrize("tokens", range(60, 260, 9))
def test_more_of_a_conversation_never_costs_more_than_there_is(tokens):
    memories = [turn(n, f"turn {n} " + "word " * n, near=near(n - 1, n + 1)) for n in (30, 3, 12, 5, 8)]
    picked(memories, tokens=tokens)


@given(
    st.lists(
        st.tuples(st.text(max_size=60), st.sampled_from([None, *"abc"]), st.integers(0, 9), st.text(max_size=20)),
        max_size=12,
    ),
    st.integers(0, 400),
    st.integers(1, 5),
)
def test_any_candidates_fit_and_add_up_and_are_accounted_for(candidates, tokens, passages):
    memories = [
        Memory(f"m{n}", text, conversation=where, order=order, near=(Line(f"n{n}", beside, order + 1),))
        for n, (text, where, order, beside) in enumerate(candidates)
    ]
    first = picked(memories, tokens=tokens, passages=passages)
    assert first == picked(memories, tokens=tokens, passages=passages)
    assert len(structure(first.text)) <= passages if first.text else True

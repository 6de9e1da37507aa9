"""Which statements conflict, and what order follows: pure, without a database."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.memory.freshness import FRESHEN_TOP, Dated, conflicts, newer_than, newest_first
from clew.memory.statement import STATEMENT_MAX_CHARS, read_statements

MARCH, MAY, JUNE = "The launch is in March.", "The launch is in May.", "Actually we moved the launch to June."
TALK = ("agent", "thread")


def entries(*texts, **more):
    """Texts in the order of the ranking; each as old as it is said to be."""
    return [Dated(text, float(at), order, **more) for order, (text, at) in enumerate(texts)]


def order(given_entries):
    return [one.index for one in newest_first(given_entries)]


def test_the_newer_is_lifted_to_just_above_the_older():
    found = newest_first(entries((MARCH, 1), ("Caterers are dear.", 2), (MAY, 3), ("Ana drinks tea.", 4)))
    assert [one.index for one in found] == [2, 0, 1, 3]
    assert [one.above for one in found] == [0, None, None, None]


def test_what_is_in_order_stays_as_it_is():
    assert order(entries((MAY, 3), ("Caterers are dear.", 2), (MARCH, 1))) == [0, 1, 2]


def test_of_three_the_newest_comes_first_whatever_their_order():
    for permuted in itertools.permutations([(MARCH, 1), (MAY, 2), (JUNE, 3)]):
        given_entries = entries(*permuted)
        assert [given_entries[index].text for index in order(given_entries)] == [JUNE, MAY, MARCH]


def test_of_two_said_at_one_time_the_one_stored_later_is_newer():
    assert order(entries((MARCH, 1), (MAY, 1))) == [1, 0]
    assert newest_first([Dated(MARCH, 1, 7), Dated(MAY, 1, 6)])[0].index == 0


def test_only_the_best_are_looked_at():
    others = [(f"Number {n} is on shelf {chr(97 + n % 26)}{n}.", 0) for n in range(FRESHEN_TOP - 1)]
    assert order(entries((MARCH, 1), *others[:-1], (MAY, 2)))[0] == FRESHEN_TOP - 1
    assert order(entries((MARCH, 1), *others, (MAY, 2)))[0] == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    MARCH,
                    MAY,
                    JUNE,
                    "Ana lives in Paris.",
                    "Ana moved to Rome.",
                    "",
                    "x" * 999,
                    None,
                    "?",
                    "¿ 5 % $ '’ _",
                ]
            ),
            st.integers(0, 3),
        ),
        max_size=70,
    )
)
def test_no_entry_is_lost_and_no_newer_one_stands_below_what_it_replaces(sent):
    given_entries = entries(*sent)
    found = order(given_entries)
    assert sorted(found) == list(range(len(sent)))
    looked_at = [index for index in found if index < FRESHEN_TOP]
    for above, below in itertools.combinations(looked_at, 2):
        one, other = given_entries[above], given_entries[below]
        assert not (other.newer_than(one) and conflicts(one, other))


@given(st.text(max_size=STATEMENT_MAX_CHARS + 5))
def test_any_text_can_be_read(text):
    assert read_statements(text) == read_statements(text)
    assert not conflicts(Dated(text, 1, 1), Dated(text, 2, 2))


def test_a_text_too_long_to_be_a_statement_conflicts_with_nothing():
    filler = " It was said in a meeting" * 12
    assert conflicts(*entries((MARCH, 1), (MAY, 2)))
    assert not conflicts(*entries((MARCH + filler, 1), (MAY + filler, 2)))
    assert not conflicts(Dated(None, 1, 1), Dated(MAY, 2, 2))


def test_two_people_speak_of_themselves():
    old, new = "I live in Paris.", "I live in Rome now."
    assert conflicts(Dated(old, 1, 1, speaker="ana"), Dated(new, 2, 2, speaker="ana"))
    assert not conflicts(Dated(old, 1, 1, speaker="ana"), Dated(new, 2, 2, speaker="ben"))


def test_within_one_conversation_a_change_must_be_said():
    assert not conflicts(*entries((MARCH, 1), (MAY, 2), thread=TALK))
    assert conflicts(*entries((MARCH, 1), ("Actually we moved the launch to May.", 2), thread=TALK))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Rosa bought a car.", "Rosa also bought a bike."),
        ("Ana lives in Paris.", "Ben lives in Lisbon."),
        ("Revenue in Q1 was $3.1M.", "Revenue in Q2 was $3.6M."),
        ("The launch is in March.", "The launch party needs a caterer."),
        ("When is the launch, in March?", "The launch is in May."),
        ("The wifi password is bluefish77.", "The password of the wifi is bluefish77."),
    ],
)
def test_what_adds_asks_repeats_or_is_about_another_thing_does_not_conflict(old, new):
    assert not conflicts(*entries((old, 1), (new, 2)))
    assert not conflicts(*entries((new, 1), (old, 2)))


def test_a_reason_shows_a_long_text_cut():
    assert newer_than(MARCH) == f"newer than “{MARCH}”"
    assert len(newer_than("word " * 80)) < 80

"""What the gate says of labelled contents; one half of them was not looked at while the rules were written."""

from collections import Counter

import pytest

from clew.memory.gate import Gate, Policy

from .labelled import labelled

REASONS = ["instruction", "junk", "personal_data", "recalled", "secret"]
STRICT = Gate(Policy(secrets="refuse", personal="refuse"))


def _answers(held_out: bool) -> list[tuple[str | None, str | None, str]]:
    return [
        (
            row["expected"],
            STRICT.check(row["content"], recalled=row["recalled"], source=row["source"]).reason,
            row["content"],
        )
        for row in labelled(held_out=held_out)
    ]


def test_there_are_enough_of_each_kind_in_both_halves():
    for held_out in (False, True):
        counts = Counter(row["expected"] for row in labelled(held_out=held_out))
        assert counts[None] >= 200
        assert all(counts[reason] >= 20 for reason in REASONS)


@pytest.mark.parametrize("held_out", [False, True])
def test_at_most_one_real_fact_in_a_hundred_is_refused(held_out):
    facts = [(got, content) for expected, got, content in _answers(held_out) if expected is None]
    refused = [fact for fact in facts if fact[0] is not None]
    assert len(refused) <= 0.01 * len(facts), refused


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("reason", REASONS)
def test_what_must_not_be_kept_is_refused_for_the_right_reason(held_out, reason):
    answers = _answers(held_out)
    found = sum(expected == got == reason for expected, got, _ in answers)
    missed = [content for expected, got, content in answers if expected == reason != got]
    wrongly = [content for expected, got, content in answers if got == reason != expected]
    assert found / (found + len(missed)) >= 0.93, missed
    assert found / (found + len(wrongly)) >= 0.95, wrongly


def test_personal_data_is_kept_unless_the_policy_says_otherwise():
    rows = [row for row in labelled() if row["expected"] == "personal_data"]
    kept = [Gate().check(row["content"], source=row["source"]).content for row in rows]
    assert kept == [row["content"] for row in rows]


def test_what_is_recalled_is_kept_where_nothing_was_recalled():
    rows = [row for row in labelled() if row["expected"] == "recalled"]
    assert [row["content"] for row in rows if Gate().check(row["content"], source=row["source"]).reason] == []

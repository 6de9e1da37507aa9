"""Shares of a budget, and what flows between them."""

import pytest

from clew.context import Budget, WorkingContextCompiler
from clew.errors import InvalidInput

SHARES = WorkingContextCompiler.BUDGET_ALLOCATION


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(8_000, (1_200, 2_800, 2_800, 1_200)), (32_000, (4_800, 11_200, 11_200, 4_800)), (7, (1, 2, 2, 1))],
)
def test_each_section_gets_its_fraction_rounded_down(tokens, expected):
    budget = Budget.split(tokens, SHARES)
    assert (budget.system, budget.session, budget.memory, budget.task) == expected


def test_a_fraction_is_taken_as_it_is_spelled():
    shares = {"system_prompt": 0.29, "session_history": 0.57, "relevant_context": 0.07, "task_and_buffer": 0.07}
    budget = Budget.split(100, shares)
    assert (budget.system, budget.session) == (29, 57), "the floats nearest to them give 28 and 56"


@pytest.mark.parametrize("tokens", [0, -1, 1.5, True, "8000", None])
def test_a_budget_is_a_whole_number_of_tokens(tokens):
    with pytest.raises(InvalidInput, match="budget"):
        Budget.split(tokens, SHARES)


@pytest.mark.parametrize(
    "change",
    [
        {"system_prompt": 0.5},
        {"system_prompt": -0.1},
        {"system_prompt": float("nan")},
        {"system_prompt": "0.15"},
        {"system_prompt": True},
        {"other": 0.0},
    ],
)
def test_shares_are_the_four_named_ones_and_at_most_the_whole(change):
    with pytest.raises(InvalidInput, match=r"shares.*together 1 at the most"):
        Budget.split(8_000, {**SHARES, **change})


def test_an_allocation_is_fixed_or_flexible():
    with pytest.raises(InvalidInput, match="'fixed' or 'flexible'"):
        Budget.split(8_000, SHARES, "stretchy")


def test_fixed_limits_are_the_shares_whatever_is_needed():
    budget = Budget.split(1_000, SHARES)
    needs = {"system": 0, "session": 9_999, "memory": 0, "task": 1}
    assert budget.limits(needs) == {"system": 150, "session": 350, "memory": 350, "task": 150}


@pytest.mark.parametrize(
    ("needs", "limits"),
    [
        (
            {"system": 50, "session": 900, "memory": 0, "task": 50},
            {"system": 50, "session": 900, "memory": 0, "task": 50},
        ),
        (
            {"system": 50, "session": 900, "memory": 900, "task": 50},
            {"system": 50, "session": 550, "memory": 350, "task": 50},
        ),
        (
            {"system": 50, "session": 100, "memory": 900, "task": 400},
            {"system": 50, "session": 100, "memory": 450, "task": 400},
        ),
        (
            {"system": 999, "session": 999, "memory": 999, "task": 999},
            {"system": 150, "session": 350, "memory": 350, "task": 150},
        ),
    ],
)
def test_flexible_limits_take_only_what_others_leave(needs, limits):
    assert Budget.split(1_000, SHARES, "flexible").limits(needs) == limits

"""A summary says nothing of instructions that have a place of their own, or had one."""

import pytest

from clew.context.compaction import Line, Summary, View
from clew.context.standing.summarised import without_told

LONG = "Always " + " ".join(f"word{n}" for n in range(40))


def view(*rules: str, facts: tuple[str, ...] = ()) -> View:
    summary = Summary((1, 9), instructions=tuple(map(Line, rules)), facts=tuple(map(Line, facts)))
    return View(through=9, summary=summary)


def rules(found: View) -> list[str]:
    return [line.text for line in found.summary.instructions]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Always answer in bullet points.", "Always answer in bullet points"),
        ("And please, ALWAYS answer in bullet points!", "Always answer in bullet points"),
        (" ".join(LONG.split()[:30]), LONG),
    ],
)
def test_a_rule_that_was_told_is_left_out_and_the_others_stay(line, told):
    found = view(line, "Never open the drain before the foreman says so.")
    assert len(rules(found)) == 2
    assert rules(without_told(found, [told])) == ["Never open the drain before the foreman says so."]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Always be brief, but never with contracts", "Always be brief"),
        ("Never mention prices", "Never mention prices of our competitors"),
        ("The client said to me and to everybody else that we should always be brief", "Always be brief"),
        ("Overalways be brief", "always be brief"),
    ],
)
def test_a_rule_that_says_more_or_less_is_another_rule(line, told):
    assert rules(without_told(view(line), [told])) == [line]


def test_a_fact_is_left_out_only_when_it_is_the_instruction_itself():
    found = without_told(view(facts=("Call me Sam.", "Sam said: call me Sam")), ["Call me Sam"])
    assert [line.text for line in found.summary.facts] == ["Sam said: call me Sam"]


def test_a_view_without_any_of_them_is_the_same_view():
    found = view("Always be brief")
    assert without_told(found, ["Never use jargon", " "]) is found
    assert without_told(found, []) is found
    assert without_told(View(), ["Always be brief"]) == View()

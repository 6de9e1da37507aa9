"""What a message states as true: on labelled messages, and where a mistake would cost most."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.context.labelled import labelled, message_of

from clew.context.assertions import Assertion, detect_assertion
from clew.errors import InvalidInput

LOCOMO = Path(__file__).parents[5] / "shared" / "data" / "locomo-dev.json.gz"
QUESTIONS = ("question",)


def _said(text: str, role: str = "assistant") -> list[dict[str, str]]:
    return [{"role": role, "content": text}]


def _found(held_out: bool) -> list[tuple[dict[str, Any], Assertion | None]]:
    return [(row, detect_assertion(message_of(row), row.get("history", ()))) for row in labelled(held_out=held_out)]


@pytest.mark.parametrize("held_out", [False, True])
def test_what_to_persist_is_told_on_labelled_messages(held_out: bool) -> None:
    found = _found(held_out)
    kept = sum(bool(row["assertion"]) and got is not None for row, got in found)
    wrongly = [row["message"] for row, got in found if got is not None and not row["assertion"]]
    missed = [row["message"] for row, got in found if got is None and row["assertion"]]
    assert 2 * kept / (2 * kept + len(wrongly) + len(missed)) >= 0.90, (wrongly, missed)
    typed = sum(got is not None and got.source_type == row["assertion"] for row, got in found)
    assert typed >= 0.9 * kept


@pytest.mark.parametrize("held_out", [False, True])
def test_no_question_is_persisted(held_out: bool) -> None:
    assert not [row["message"] for row, got in _found(held_out) if got is not None and row["kind"] in QUESTIONS]


@pytest.mark.parametrize("held_out", [False, True])
def test_what_is_kept_stands_on_its_own(held_out: bool) -> None:
    for row, got in _found(held_out):
        if got is not None:
            lost = [word for word in row.get("holds", ()) if word.lower() not in got.content.lower()]
            assert not lost, (row["message"], got.content)


ASKED = [
    "{}?", "{}, right?", "{}, isn't it?", "is it true that {}", "do you know if {}", "I wonder whether {}",
    "why is it that {}", "who told you that {}?", "can you check if {}", "{} or not", "I'm not sure if {}",
    "tell me if {}", "suppose {}", "what if {}", "I think {}", "maybe {}", "let's say {}",
    "could it be that {}", "since when {}",
    "{}. Is that right?", "{}. Right?", "Someone told me {}. Is it true?", "can you confirm that {}", "any idea if {}",
]  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
def test_a_fact_that_is_asked_doubted_or_supposed_is_not_kept(asked: str) -> None:
    facts = [row["message"].rstrip(" .!") for row in labelled(held_out=False) if row["kind"] == "new_info"]
    alone = [fact for fact in facts if not any(mark in fact for mark in ("? ", ". ", "! ", ": ")) and "?" not in fact]
    assert len(alone) > 150
    assert not [fact for fact in alone if detect_assertion(asked.format(fact))]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ("Our Q3 revenue was $5.2M. How does that compare with Q2?", "Our Q3 revenue was $5.2M."),
        ("I'm Sam and I work at Initech. Can you help me write a cover letter?", "I'm Sam and I work at Initech."),
        ("Which inhaler should I use? I've had asthma since 2009.", "I've had asthma since 2009."),
        ("My wife and I are vegetarians. What can we eat there?", "My wife and I are vegetarians."),
        ("My address is 14 Harbour Road, please update it", "My address is 14 Harbour Road."),
        ("Thanks to Dana we closed the deal on Friday", "Thanks to Dana we closed the deal on Friday."),
        ("Landlord: Mr. Dupont", "Landlord: Mr. Dupont."),
    ],
)
def test_a_fact_is_kept_beside_a_question_and_the_question_is_not(message: str, content: str) -> None:
    got = detect_assertion(message)
    assert got is not None
    assert (got.source_type, got.content) == ("new_info", content)


@pytest.mark.skipif(not LOCOMO.exists(), reason="LoCoMo is not at hand")
def test_no_question_of_locomo_is_persisted_with_or_without_its_mark() -> None:
    data = json.loads(gzip.decompress(LOCOMO.read_bytes()))
    asked = [one["question"] for conversation in data for one in conversation["qa"]]
    assert not [text for text in asked if detect_assertion(text) or detect_assertion(text.rstrip("?").lower())]


def test_the_analyst_corrects_the_document() -> None:
    got = detect_assertion("Q3 revenue was actually $5.2M, not $4.8M as stated in the document")
    assert got == Assertion("correction", "Q3 revenue was $5.2M.", subject="Q3 revenue", replaces="$4.8M")
    assert got is not None
    assert got.confidence == 0.95


@pytest.mark.parametrize(
    ("message", "history", "content", "source_type"),
    [
        ("yes, that figure is correct", _said("Q3 revenue was $5.2M."), "Q3 revenue was $5.2M.", "confirmation"),
        ("no it's 20mg a day", _said("You take 10mg of statin a day."), "I take 20mg of statin a day.", "correction"),
        ("Boston", _said("What is your home city?"), "My home city is Boston.", "new_info"),
        ("yep", _said("Is your order number 5518?"), "My order number is 5518.", "confirmation"),
        ("no, she reports to Luis", _said("Ana reports to Marek."), "Ana reports to Luis.", "correction"),
        ("it's terminal 2", _said("You leave from terminal 1."), "I leave from terminal 2.", "correction"),
        ("I meant 2 teaspoons, not tablespoons", _said("It uses 2 tablespoons."), "It uses 2 teaspoons.", "correction"),
        ("You have the wrong one, it's Moss", _said("The lessor is Reed."), "The lessor is Moss.", "correction"),
        ("yes I am", _said("Are you on the Pro plan?"), "I am on the Pro plan.", "confirmation"),
        ("it's not Monday but Friday", _said("Your class is on Monday."), "My class is on Friday.", "correction"),
    ],
)  # fmt: skip
def test_what_a_few_words_refer_to(message: str, history: list[dict[str, str]], content: str, source_type: str) -> None:
    got = detect_assertion(message, history)
    assert got is not None
    assert (got.content, got.source_type) == (content, source_type)


def test_a_tool_contradicts_only_what_was_said_of_the_same_thing() -> None:
    def result(text: str) -> dict[str, str]:
        return {"role": "tool", "tool_call_id": "call-1", "content": text}

    said = _said("Q3 revenue was $4.8M.")
    got = detect_assertion(result('{"metric": "Q3 revenue", "value": "$5.2M"}'), said)
    assert got == Assertion("contradiction", "Q3 revenue was $5.2M.", subject="Q3 revenue", replaces="$4.8M")
    assert detect_assertion(result('{"metric": "Q3 revenue", "value": "$4.8M"}'), said) is None
    assert detect_assertion(result('{"metric": "headcount cost", "value": "$5.2M"}'), said) is None
    assert detect_assertion(result("Q3 revenue was $5.2M."), ()) is None


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Q3 revenue was $5.2M."},
        {"role": "system", "content": "Our fiscal year starts in April."},
        "yes, that's correct",
        "I live in Oslo, what's the weather?",
        "My order 5518 is late. Where is it?",
        "Q3 revenue was $5.2M. Is that right?",
        "The voucher was for 20 euros. Why was only 10 deducted?",
        "Our revenue fell to 4.8M. Why?",
        "I was told the limit is 50. Is that still the case?",
        "The login page crashes on Safari 17, please fix it",
        "We land in Rome at 6pm, which bus goes to the center",
        "TypeError: 'NoneType' object is not subscriptable, what does it mean",
        "My screen keeps flickering. Is there a fix?",
        "Messi is the greatest player of all time",
        "the flight leaves at 9 doesn't it",
        "revenue for q3 was 5.2 or 4.8",
        "in the best case we close 12 deals",
        "that contradicts what you said before",
        "wait, I'm not finished",
        "say I had a fever of 40",
        "remember to call Ana at 5",
        "```\nrevenue = 5.2\n```",
        "Mein Bruder wohnt seit 2015 in Hamburg",
    ],
)
def test_what_states_nothing_to_keep(message: object) -> None:
    assert detect_assertion(message) is None


@pytest.mark.parametrize(
    ("message", "source_type"),
    [
        ("Our CEO, Ingrid Holm, was born in Bergen", "new_info"),
        ("The report is wrong about headcount: it's 260", "correction"),
        ("The Orion launch moved to June 9. Can someone check the slides?", "correction"),
        ("The Orion launch moved to June 9, but I think that's too early.", "correction"),
        ("Just a heads-up, the Orion launch moved to June 9.", "correction"),
        ("Search result: the museum is closed on Mondays, contrary to what we had on file", "contradiction"),
    ],
)
def test_what_is_said_of_what(message: str, source_type: str) -> None:
    got = detect_assertion(message)
    assert got is not None
    assert got.source_type == source_type


@pytest.mark.parametrize("message", ["you're right about the deadline", "Yes, I checked, that date is right"])
def test_words_that_name_what_is_agreed_with_bring_in_nothing(message: str) -> None:
    got = detect_assertion(message, _said("The deadline is 30 June."))
    assert got is not None
    assert (got.source_type, got.content) == ("confirmation", "The deadline is 30 June.")


def test_corrections_that_are_listed_are_each_kept() -> None:
    got = detect_assertion("Two corrections: the launch is on June 10, not June 9, and the budget is $2.5M.")
    assert got is not None
    assert got.content == "The launch is on June 10. The budget is $2.5M."


def test_a_correction_is_kept_beside_a_request() -> None:
    got = detect_assertion("The total is 1,240, not 1,204. Can you update the chart?")
    assert got is not None
    assert (got.source_type, got.content) == ("correction", "The total is 1,240.")


@pytest.mark.parametrize("message", ["", " ", "a\0b", "\ud800", 7, None, b"hi", {"role": "user"}, "x" * 20_000_000])
def test_a_message_that_is_none_is_refused(message: object) -> None:
    with pytest.raises(InvalidInput):
        detect_assertion(message)


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)


@given(_TEXT, _TEXT)
def test_no_question_mark_is_ever_kept_and_nothing_else_is_raised(text: str, before: str) -> None:
    detect_assertion(text, _said(before))
    assert detect_assertion(f"{text.rstrip()}?".replace("\n", " ").replace("\r", " "), ()) is None or "." in text


def test_no_text_takes_long() -> None:
    for text in ("1," * 3000, "no " * 2000, "Aa " * 2000, "x is not y but " * 400, "the a says b " * 450, "$1." * 2000):
        start = time.perf_counter()
        detect_assertion(text, _said(text))
        detect_assertion({"role": "tool", "tool_call_id": "1", "content": text}, _said(text))
        assert time.perf_counter() - start < 2

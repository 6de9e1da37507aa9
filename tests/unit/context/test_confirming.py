"""What an agent says when it has kept something, and when it has not."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from clew.context.confirming import TEXT_MAX_CHARS, VALUE_MAX_CHARS, confirmation, declined
from clew.memory.knowledge import Episode, EpisodeResult, Fact, Source

NOW = datetime.now(UTC)
EPISODE = Episode("e-new", "chat", "message", "", NOW, NOW)
_numbers = itertools.count(1)


def fact(text: str, triple: tuple[str, str, str] | None = None, *, told_in: str = "e-new", **more: Any) -> Fact:
    source = Source(told_in, "chat", "message", "", None, None, "user", text, NOW)
    subject, predicate, value = triple or (None, None, None)
    fields = {"confidence": 0.85, "valid_at": NOW, "invalid_at": None, "created_at": NOW, "expired_at": None}
    return Fact(f"f-{next(_numbers)}", text, subject, predicate, value, sources=(source,), **{**fields, **more})


def old(text: str, triple: tuple[str, str, str]) -> Fact:
    return fact(text, triple, told_in="e-old", invalid_at=NOW)


def said(*facts: Fact, closed: tuple[Fact, ...] = ()) -> str:
    return confirmation(EpisodeResult(EPISODE, list(facts), list(closed)))


WAS = old("Q3 revenue was $4.8M.", ("Q3 revenue", "is", "$4.8M"))
IS = fact("Q3 revenue was actually $5.2M, not $4.8M.", ("Q3 revenue", "is", "$5.2M"))
ANA = fact("Ana works at Acme.", ("Ana", "works at", "Acme"))


def test_a_correction_says_both() -> None:
    assert said(IS, WAS, closed=(WAS,)) == "Got it, Q3 revenue is $5.2M now; I had $4.8M."


def test_something_new_is_noted() -> None:
    assert said(ANA) == "Noted: Ana works at Acme."


def test_what_was_known_is_said_to_be() -> None:
    assert said(fact("Ana works at Acme.", ("Ana", "works at", "Acme"), told_in="e-old")) == "I had that already."


def test_nothing_said_is_nothing_kept() -> None:
    assert said() == "There was nothing in that to keep."


def test_a_text_without_a_triple_is_said_as_it_is() -> None:
    assert said(fact("The rollout went sideways.")) == "Noted: the rollout went sideways."


def test_two_are_named_and_the_rest_counted() -> None:
    many = [fact(f"Acme acquired B{n}", ("Acme", "acquired", f"B{n}")) for n in range(5)]
    assert said(*many) == "Noted: Acme acquired B0; Acme acquired B1; and 3 more."


def test_what_changed_comes_first() -> None:
    assert said(ANA, IS, closed=(WAS,)) == "Got it: Q3 revenue is $5.2M now, I had $4.8M; Ana works at Acme."


def test_a_denial_is_said_in_its_own_words() -> None:
    works = old("Ana works at Acme.", ("Ana", "works at", "Acme"))
    denied = fact("Ana doesn't work at Acme anymore.", ("Ana", "works at", "Acme"), negated=True)
    assert said(denied, closed=(works,)) == "Got it, Ana doesn't work at Acme anymore."


def test_what_only_ended_is_said_to_have_ended() -> None:
    works = old("Ana works at Acme.", ("Ana", "works at", "Acme"))
    assert said(works, closed=(works,)) == "Got it, this no longer holds: Ana works at Acme."


@pytest.mark.parametrize(
    ("text", "triple", "expected"),
    [
        ("user's flight departs at 10:40.", ("user's flight", "departure", "10:40"), "your flight departs at 10:40"),
        ("user is allergic to nuts.", ("user", "is", "allergic to nuts"), "you are allergic to nuts"),
        ("user don't eat meat.", ("user", "eat", "meat"), "you don't eat meat"),
        ("Dana is our CFO.", ("CFO", "is", "Dana"), "Dana is your CFO"),
        ("We use PostgreSQL.", ("We", "use", "PostgreSQL"), "you use PostgreSQL"),
        ("Ana told me that I won.", None, "Ana told you that you won"),
        ("The US team met us.", None, "the US team met you"),
        ("She has Type I diabetes.", None, "She has Type I diabetes"),
        ("The user's manual is out.", None, "the user's manual is out"),
    ],
)
def test_what_the_user_says_of_themselves_is_said_to_them(text: str, triple: Any, expected: str) -> None:
    assert said(fact(text, triple)) == f"Noted: {expected}."


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            old("user's flight departs at 10:40", ("user's flight", "departure", "10:40")),
            fact("user's flight departs at 11:15", ("user's flight", "departure", "11:15")),
            "your flight's departure is 11:15 now; I had 10:40",
        ),
        (
            old("user live in Oslo.", ("user", "lives in", "Oslo")),
            fact("user live in Rome now.", ("user", "lives in", "Rome")),
            "you live in Rome now; I had Oslo",
        ),
        (
            old("user's name is Sam", ("user", "name", "Sam")),
            fact("user's name is Max", ("user", "name", "Max")),
            "your name is Max now; I had Sam",
        ),
        (
            old("The meeting is on Friday.", ("meeting", "is", "Friday")),
            fact("The meeting moved to Monday.", ("meeting", "is", "Monday")),
            "the meeting is Monday now; I had Friday",
        ),
        (
            old("Bob is our CFO.", ("CFO", "is", "Bob")),
            fact("Dana is our CFO.", ("CFO", "is", "Dana")),
            "your CFO is Dana now; I had Bob",
        ),
        (
            old("Sales were $4M.", ("Sales", "is", "$4M")),
            fact("Sales were $5M.", ("Sales", "is", "$5M")),
            "Sales are $5M now; I had $4M",
        ),
    ],
)
def test_a_change_is_said_of_whom_it_is_about(before: Fact, after: Fact, expected: str) -> None:
    assert said(after, closed=(before,)) == f"Got it, {expected}."


def test_a_change_to_come_says_from_when() -> None:
    at = NOW + timedelta(days=30)
    before = old("The fee is 2%.", ("fee", "is", "2%"))
    after = fact("The fee is 3%.", ("fee", "is", "3%"), valid_at=at)
    assert said(after, closed=(before,)) == f"Got it, the fee is 3% from {at:%Y-%m-%d} on; until then it is 2%."


def test_long_values_and_texts_are_cut_where_one_sees_it() -> None:
    long = "a very long value that goes on " * 20
    before = old("The note is short.", ("note", "is", "short"))
    changed = said(fact(f"The note is {long}", ("note", "is", long)), closed=(before,))
    assert "… now; I had short." in changed
    assert len(changed) < VALUE_MAX_CHARS + 50
    noted = said(fact(f"He said\n\n{long}"))
    assert noted.endswith("….")
    assert len(noted) < TEXT_MAX_CHARS + 20


@pytest.mark.parametrize("text", ["Who knows?", "He asked “why?” and left", "Shall I save this?"])
def test_it_never_asks(text: str) -> None:
    assert "?" not in said(fact(text))


REASONS = ("junk", "secret", "personal_data", "recalled", "instruction", "duplicate", "unreadable")


@pytest.mark.parametrize("reason", [*REASONS, "something else"])
def test_what_is_not_kept_is_told_with_why(reason: str) -> None:
    told = declined(reason)
    assert told.endswith(".")
    assert "?" not in told
    assert "save" not in told


def test_each_reason_has_words_of_its_own() -> None:
    assert len({declined(reason) for reason in (*REASONS, "something else")}) == len(REASONS) + 1
    assert declined("secret") == "I'm not keeping that: it looks like a password or a key."

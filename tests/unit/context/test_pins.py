"""What is pinned never leaves the window: neither a budget nor newer messages move it out."""

from dataclasses import replace

import pytest

from clew.context.history import fit_history
from clew.context.manifest import PINNED, STANDS_FOR
from clew.errors import BudgetExceeded
from clew.tokens import DEFAULT_ENCODING

from .test_history import assistant, calls, fitted, kept_ids, result, session, user


def pinned(entries, *places):
    return [
        replace(entry, message=entry.message.as_pinned()) if place in places else entry
        for place, entry in enumerate(entries)
    ]


TURNS = [message for n in range(20) for message in (user(f"question {n}"), assistant(f"answer {n}"))]


def test_an_old_message_goes_and_the_same_one_pinned_stays():
    assert "m2" not in kept_ids(fitted(session(*TURNS), 100))
    history = fitted(pinned(session(*TURNS), 2), 100)
    assert kept_ids(history)[0] == "m2"
    assert [item.reason for item in history.items if item.source_id == "m2"] == [PINNED]


def test_what_is_pinned_stays_in_its_order_before_what_fits():
    ids = kept_ids(fitted(pinned(session(*TURNS), 4, 2), 120))
    assert ids[:2] == ["m2", "m4"]
    assert ids[-1] == "m39"


def test_a_pinned_result_keeps_its_call():
    turns = [user("go"), calls("a"), result("a", "42 widgets"), *TURNS]
    assert kept_ids(fitted(pinned(session(*turns), 2), 120))[:2] == ["m1", "m2"]


def test_pinned_messages_that_cannot_fit_are_refused_with_the_numbers():
    with pytest.raises(BudgetExceeded, match=r"need \d+ tokens, and 50 are available"):
        fit_history(pinned(session(user("word " * 200), *TURNS), 0), 50, DEFAULT_ENCODING)


def test_a_summary_stays_first_and_the_manifest_says_what_it_stands_for():
    entries = session(user("[Summary] …"), *TURNS)
    entries[0] = replace(entries[0], stands_for="messages 1 to 40")
    history = fitted(entries, 100)
    assert kept_ids(history)[0] == "m0"
    assert (history.items[0].kind, history.items[0].reason) == ("summary", f"{STANDS_FOR} messages 1 to 40")


def test_the_latest_user_message_may_be_the_pinned_one():
    history = fitted(pinned(session(*TURNS[:-1], user("and the last")), 39), 60)
    assert kept_ids(history)[-1] == "m39"

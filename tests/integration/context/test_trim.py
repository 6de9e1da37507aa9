"""`trim_messages`: fewer tokens without a summary, with the same invariants."""

from typing import Any

import pytest

import clew
from clew import Message, trim_messages
from clew.messages import from_openai
from clew.tokens import count_message

from .conftest import said, talk


def call(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(id: str, text: str = "seen") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def cost(messages: list[Any]) -> int:
    return sum(count_message(message) for message in messages)


def is_same(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(one is other for one, other in zip(left, right, strict=True))


def test_the_newest_stay_and_they_are_the_caller_s_own():
    given = talk(1, 30)
    kept = trim_messages(given, cost(given[-6:]))
    assert 0 < len(kept) <= 6
    assert is_same(kept, given[-len(kept) :])
    assert is_same(trim_messages(given, 100_000), given)
    assert given == talk(1, 30), "nothing of the caller's was changed"


def test_messages_of_ours_are_given_back_as_they_are_and_twice_the_same_is_two():
    one = Message(role="user", content="again")
    other = Message(role="assistant", content="yes")
    given = [one, other, one, other, one]
    assert is_same(trim_messages(given, 1_000), given)
    assert is_same(trim_messages(given, cost([one])), [one])
    mixed = [said(1), one]
    assert is_same(trim_messages(mixed, 1_000), mixed)


def test_a_call_goes_with_its_results_or_stays_with_them():
    given = [*talk(1, 4), call("a", "b"), result("a"), result("b", "long " * 50), *talk(5, 6)]
    for budget in range(cost(given[-1:]), cost(given) + 1):
        kept = trim_messages(given, budget)
        inside = [message for message in given[4:7] if any(message is one for one in kept)]
        assert len(inside) in (0, 3)
        assert cost(kept) <= budget


def test_results_without_a_call_always_go():
    given = [result("nobody"), *talk(1, 3)]
    assert is_same(trim_messages(given, 10_000), given[1:])


def test_pins_and_waiting_calls_stay():
    pin = Message(role="user", content="never charge twice").as_pinned()
    given = [pin, *talk(1, 20), call("w")]
    kept = trim_messages(given, cost([pin, given[-1]]) + 60)
    assert kept[0] is pin
    assert kept[-1] is given[-1]
    assert len(kept) < len(given)


def test_a_pinned_dict_stays_too():
    given = [{"role": "system", "content": "You tend pumps."}, *talk(1, 20)]
    kept = trim_messages(given, 100)
    assert kept[0] is given[0]
    assert kept[-1] is given[-1]


def test_what_must_stay_and_is_too_much_is_refused_with_the_numbers():
    given = talk(1, 5)
    needed = cost(given[-2:])
    with pytest.raises(clew.BudgetExceeded, match=rf"{needed} tokens, and 10 are"):
        trim_messages(given, 10, keep_recent=2)
    assert len(trim_messages(given, needed, keep_recent=2)) == 2
    assert trim_messages([], 0) == []


def test_a_message_that_calls_twice_under_one_id_comes_back_mended_and_in_its_own_form():
    """No provider takes it as it is; the caller's own stays untouched."""
    given = [said(1), call("a", "a"), result("a"), said(2)]
    kept = trim_messages(given, 10_000)
    assert is_same([kept[0], *kept[2:]], [given[0], *given[2:]])
    assert kept[1] == call("a")
    assert given[1] == call("a", "a")
    ours = from_openai(given)
    mended = trim_messages(ours, 10_000)[1]
    assert isinstance(mended, Message)
    assert [one.id for one in mended.tool_calls] == ["a"]


def test_damaged_histories_give_no_orphan():
    given = [said(1), call("a"), said(2), result("a"), result("a"), call("b"), said(3), said(4)]
    kept = trim_messages(given, 10_000)
    assert all(any(one is message for message in given) for one in kept)
    place = {id(message): at for at, message in enumerate(kept)}
    results = [message for message in kept if message["role"] == "tool"]
    assert len(results) == 1, "a second result to the same call is one too many"
    assert place[id(given[1])] + 1 == place[id(results[0])]


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        ("hello", {}),
        ({"role": "user"}, {}),
        (None, {}),
        ([5], {}),
        ([{"role": "nobody", "content": "x"}], {}),
        ([{"content": "x"}], {}),
        ([said(1)], {"max_tokens": -1}),
        ([said(1)], {"max_tokens": "9"}),
        ([said(1)], {"max_tokens": True}),
        ([said(1)], {"max_tokens": 1e400}),
        ([said(1)], {"keep_recent": -1}),
        ([said(1)], {"keep_recent": None}),
        ([said(1)], {"encoding": "nonsense"}),
        ([said(1)], {"encoding": 5}),
        ([{"role": "user", "content": "\ud800"}], {}),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_no_history_or_no_number_is_refused(messages, options):
    with pytest.raises(clew.InvalidInput):
        trim_messages(messages, **{"max_tokens": 100, **options})

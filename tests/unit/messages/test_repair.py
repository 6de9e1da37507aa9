"""Repair: from any damage to a history that a provider accepts, with nothing lost in silence."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InvalidInput
from clew.messages import (
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    group,
    repair,
)

from .strategies import conversations, damaged_histories, unhurried


def asks(*ids: str, text: str = "", arguments: str = "{}", id: str | None = None) -> Message:
    said = (TextPart(text=text),) if text else ()
    calls = tuple(ToolCallPart(id=call, name="f", arguments=arguments) for call in ids)
    return Message(role="assistant", content=(*said, *calls), id=id)


def answers(call: str, text: str = "ok") -> Message:
    return Message(role="tool", content=(ToolResultPart(call_id=call, content=text),))


GO = Message(role="user", content="go")
DONE = Message(role="assistant", content="done")


def assert_healthy(history: tuple[Message, ...], *, pending_allowed: bool = False) -> None:
    groups = group(history)
    for place, part in enumerate(groups):
        calls = [call.id for call in part.messages[0].tool_calls]
        results = [result.call_id for message in part.messages for result in message.tool_results]
        if pending_allowed and place == len(groups) - 1:
            assert set(results) <= set(calls)
        else:
            assert sorted(results) == sorted(calls), "a call without a result, or a result without a call"
        assert len(set(calls)) == len(calls)
    first = next((message.role for message in history if message.role not in ("system", "developer")), "user")
    assert first == "user"


@unhurried
@given(damaged_histories())
def test_repair_gives_every_call_its_result_and_every_result_its_call(history: list[Message]) -> None:
    before = list(history)
    repaired = repair(history)
    assert_healthy(repaired.messages)
    assert history == before
    assert all(a is b for a, b in zip(history, before, strict=True)), "repair changed its input"


@unhurried
@given(damaged_histories())
def test_repair_that_keeps_pending_calls_leaves_none_but_the_last_open(history: list[Message]) -> None:
    assert_healthy(repair(history, pending="keep").messages, pending_allowed=True)


@unhurried
@given(damaged_histories(), st.sampled_from(["close", "keep"]))
def test_repairing_twice_is_repairing_once(history: list[Message], pending: Any) -> None:
    once = repair(history, pending=pending)
    twice = repair(once.messages, pending=pending)
    assert twice.changes == ()
    assert all(a is b for a, b in zip(once.messages, twice.messages, strict=True))


@unhurried
@given(conversations(), st.sampled_from(["close", "keep"]))
def test_a_healthy_history_comes_back_untouched(history: list[Message], pending: Any) -> None:
    repaired = repair(history, pending=pending)
    assert repaired.changes == ()
    assert len(repaired.messages) == len(history)
    assert all(a is b for a, b in zip(history, repaired.messages, strict=True))


@unhurried
@given(damaged_histories())
def test_whatever_repair_drops_adds_or_moves_it_reports(history: list[Message]) -> None:
    repaired = repair(history)
    kinds = [change.kind for change in repaired.changes]
    kept = {id(message) for message in repaired.messages}
    reported = {change.index for change in repaired.changes}
    for index, message in enumerate(history):
        assert id(message) in kept or index in reported, "a message vanished or changed, and nobody said so"
    given_ids = {id(message) for message in history}
    added = [m for m in repaired.messages if id(m) not in given_ids and not m.tool_calls and m.role in ("tool", "user")]
    assert len(added) == kinds.count("closed_call") + kinds.count("opened_by_user")
    if not kinds:
        assert list(repaired.messages) == history


@unhurried
@given(damaged_histories())
def test_repair_never_takes_reasoning_from_its_message_or_words_from_the_conversation(history: list[Message]) -> None:
    repaired = repair(history)
    ids = [message.id for message in history]
    first = [m for place, m in enumerate(history) if m.id is None or ids.index(m.id) == place]
    said = [p for m in first if m.role != "tool" for p in m.content if isinstance(p, TextPart)]
    new = [m for m in repaired.messages if m.role != "tool" and not any(m is given for given in history)]
    opened = [p for m in new if m.role == "user" for p in m.content]
    heard = [p for m in repaired.messages if m.role != "tool" for p in m.content if isinstance(p, TextPart)]
    assert [p for p in heard if p not in opened] == [p for p in said if p not in opened]
    thoughts = [[p for p in m.content if isinstance(p, ReasoningPart)] for m in repaired.messages]
    whole = [[p for p in m.content if isinstance(p, ReasoningPart)] for m in history]
    assert all(thought in whole for thought in thoughts if thought)


@pytest.mark.parametrize(
    ("history", "expected", "changes"),
    [
        ([GO, answers("x"), DONE], [GO, DONE], [("orphan_result", 1, "x")]),
        (
            [GO, asks("a"), answers("a"), answers("a", "2")],
            [GO, asks("a"), answers("a")],
            [("duplicate_result", 3, "a")],
        ),
        (
            [GO, asks("a"), GO, answers("a")],
            [GO, asks("a"), answers("a"), GO],
            [("moved_result", 3, "a")],
        ),
        ([GO, answers("a"), asks("a")], [GO, asks("a"), answers("a")], [("moved_result", 1, "a")]),
        ([GO, asks("a"), asks("a"), answers("a")], [GO, asks("a"), answers("a")], [("duplicate_call", 2, "a")]),
        (
            [GO, asks("a"), answers("a"), asks("a", text="hm")],
            [GO, asks("a"), answers("a"), Message(role="assistant", content="hm")],
            [("duplicate_call", 3, "a")],
        ),
        ([GO, asks("a", "a"), answers("a")], [GO, asks("a"), answers("a")], [("duplicate_call", 1, "a")]),
        (
            [GO, asks("a", id="m"), answers("a"), asks("a", id="m"), DONE],
            [GO, asks("a", id="m"), answers("a"), DONE],
            [("duplicate_message", 3, None)],
        ),
        (
            [GO, asks("a"), answers("a"), asks("a", arguments="[]"), answers("a")],
            [GO, asks("a"), answers("a"), asks("a", arguments="[]"), answers("a")],
            [],
        ),
    ],
)
def test_each_kind_of_damage_is_mended_like_this(
    history: list[Message], expected: list[Message], changes: list[tuple[str, int, str | None]]
) -> None:
    repaired = repair(history)
    assert list(repaired.messages) == expected
    found = [(change.kind, change.index, change.call_id) for change in repaired.changes]
    assert [change for change in found if change[0] != "duplicate_message" or change in changes] == changes
    assert all(change.sentence.endswith(".") and str(change.index) in change.sentence for change in repaired.changes)


def test_a_call_that_the_conversation_left_behind_is_answered_with_an_error() -> None:
    repaired = repair([GO, asks("a", "b"), answers("b"), GO])
    made = repaired.messages[3].tool_results[0]
    assert [message.role for message in repaired.messages] == ["user", "assistant", "tool", "tool", "user"]
    assert (made.call_id, made.name, made.is_error) == ("a", "f", True)
    assert [(change.kind, change.index, change.call_id) for change in repaired.changes] == [("closed_call", 1, "a")]


def test_calls_at_the_end_are_closed_for_sending_or_kept_for_running() -> None:
    history = [GO, asks("a")]
    closed = repair(history)
    assert closed.messages[-1].tool_results[0].is_error
    kept = repair(history, pending="keep")
    assert list(kept.messages) == history
    assert kept.changes == ()


def test_a_history_that_begins_with_the_assistant_is_opened_and_keeps_its_words() -> None:
    system = Message(role="system", content="be brief")
    repaired = repair([system, answers("gone"), DONE, GO])
    assert [message.role for message in repaired.messages] == ["system", "user", "assistant", "user"]
    assert repaired.messages[2] is DONE
    assert [change.kind for change in repaired.changes] == ["orphan_result", "opened_by_user"]


def test_reasoning_stays_with_the_call_it_led_to() -> None:
    thought = ReasoningPart(text="hm", signature="s", provider="anthropic")
    message = Message(role="assistant", content=(thought, *asks("a").content))
    repaired = repair([GO, message, GO, answers("a")])
    assert repaired.messages[1] is message


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="pending"):
        repair([], pending="drop")  # type: ignore[arg-type]


def test_what_is_not_a_message_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"messages\[1\]"):
        repair([GO, {"role": "user"}])  # type: ignore[list-item]

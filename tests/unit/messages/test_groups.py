"""Tool-call groups: what may be kept or moved only together."""

from hypothesis import given

from clew.messages import Message, ToolCallPart, ToolResultPart, group

from .strategies import conversations, damaged_histories, unhurried


def asks(*ids: str) -> Message:
    return Message(role="assistant", content=tuple(ToolCallPart(id=id, name="f") for id in ids))


def answers(id: str) -> Message:
    return Message(role="tool", content=(ToolResultPart(call_id=id, content="ok"),))


@unhurried
@given(damaged_histories())
def test_grouping_loses_nothing_and_keeps_the_order(history: list[Message]) -> None:
    groups = group(history)
    assert [message for part in groups for message in part.messages] == history
    assert all(history[part.start] is part.messages[0] for part in groups)


@unhurried
@given(conversations())
def test_in_a_healthy_conversation_every_call_is_in_one_group_with_its_result(history: list[Message]) -> None:
    for part in group(history):
        calls = sorted(call.id for message in part.messages for call in message.tool_calls)
        assert sorted(result.call_id for message in part.messages for result in message.tool_results) == calls
        assert part.is_tool_call == bool(calls)
        assert not part.pending


def test_parallel_calls_and_their_results_are_one_unit() -> None:
    user = Message(role="user", content="go")
    done = Message(role="assistant", content="done")
    groups = group([user, asks("a", "b"), answers("b"), answers("a"), done])
    assert [len(part.messages) for part in groups] == [1, 3, 1]
    assert [part.is_tool_call for part in groups] == [False, True, False]


def test_a_group_with_a_call_still_open_is_pending_and_says_which() -> None:
    (part,) = group([asks("a", "b"), answers("a")])
    assert part.pending
    assert part.unanswered == ("b",)


def test_a_result_away_from_its_call_stands_alone() -> None:
    groups = group([asks("a"), Message(role="user", content="?"), answers("a")])
    assert [len(part.messages) for part in groups] == [1, 1, 1]
    assert not groups[2].is_tool_call

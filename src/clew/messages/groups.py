"""Tool-call groups: an assistant message with its calls, and all their results, as one unit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.messages.message import Message
from clew.messages.reading import neutral_messages


@dataclass(frozen=True, slots=True)
class Group:
    """Messages that are kept or moved together: a single message, or calls and their results."""

    messages: tuple[Message, ...]
    start: int
    """The place of the first message in the list that was grouped."""

    @property
    def is_tool_call(self) -> bool:
        """Whether the group is an assistant's calls with their results."""
        return bool(self.messages[0].tool_calls)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The ids of calls that have no result yet, in order."""
        answered = {result.call_id for message in self.messages[1:] for result in message.tool_results}
        return tuple(call.id for call in self.messages[0].tool_calls if call.id not in answered)

    @property
    def pending(self) -> bool:
        """Whether a call still waits for its result: such a group is never compacted."""
        return bool(self.unanswered)


def group(messages: Iterable[Message]) -> list[Group]:
    """The messages in the same order, cut so that no cut falls between a call and its result.

    A group takes the run of results right after its calls. A result that stands anywhere else is a group of its own:
    `repair` first if the history may be damaged.
    """
    groups: list[Group] = []
    run: list[Message] = []
    for index, message in enumerate(neutral_messages(messages)):
        open_ids = {call.id for call in run[0].tool_calls} if run else set()
        if any(result.call_id in open_ids for result in message.tool_results):
            run.append(message)
            continue
        if run:
            groups.append(Group(tuple(run), index - len(run)))
        run = [message]
    if run:
        groups.append(Group(tuple(run), len(groups) and groups[-1].start + len(groups[-1].messages)))
    return groups


def results_first(messages: Sequence[Message]) -> list[Message]:
    """The messages with each result right after its calls, where only user or system messages stood between.

    Providers refuse anything between calls and their results, while Pydantic AI and hand-made histories put a user's
    words there. Only the order changes: what has no call stays where it is.
    """
    ordered: list[Message] = []
    open_ids: set[str] = set()
    slot = 0
    for message in messages:
        if message.role == "assistant":
            ordered.append(message)
            open_ids, slot = {call.id for call in message.tool_calls}, len(ordered)
        elif message.role == "tool" and message.tool_results[0].call_id in open_ids:
            ordered.insert(slot, message)
            slot += 1
        else:
            ordered.append(message)
    return ordered

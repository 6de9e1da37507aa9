"""A state to build LangGraph graphs on whose checkpoints don't grow with the conversation.

class State(SessionState):
    plan: str

graph = StateGraph(State)
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypedDict

from langchain_core.messages import AnyMessage, RemoveMessage, convert_to_messages
from langgraph.channels import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES

SNAPSHOT_LEAST_UPDATES: Final = 100
SNAPSHOT_SHARE: Final = 4


def keep_messages(state: Sequence[Any], writes: Sequence[Any]) -> list[AnyMessage]:
    """The messages after some writes, each a message or a list of them.

    As LangGraph's `add_messages`: a known id replaces, `RemoveMessage` removes, `REMOVE_ALL_MESSAGES` starts anew.
    Taking writes one by one or all at once comes to the same, since replaying them relies on it.
    """
    kept: dict[object, AnyMessage] = {}
    flat = [message for write in writes for message in (write if isinstance(write, list) else [write])]
    for message in convert_to_messages([*state, *flat]):
        if not isinstance(message, RemoveMessage):
            # Without an id there is nothing to replace it by: its own identity keeps it apart.
            kept[message.id or object()] = message  # type: ignore[assignment]
        elif message.id == REMOVE_ALL_MESSAGES:
            kept.clear()
        else:
            kept.pop(message.id, None)
    return list(kept.values())


class MessagesChannel(DeltaChannel[list[AnyMessage]]):
    """The messages, stored as what each step added, with a full copy whenever a quarter of them is new.

    A copy every so many steps, which is what `DeltaChannel` does, makes storage grow with the square of the
    conversation. Copies that wait for a share of it add up to a few times its length, however long it gets; and a read
    never replays more than that share.
    """

    __slots__ = ("_least",)

    @property
    def snapshot_frequency(self) -> int:
        """How many updates since the last copy make the next one due."""
        return max(self._least, len(self.value) // SNAPSHOT_SHARE if self.is_available() else 0)

    @snapshot_frequency.setter
    def snapshot_frequency(self, least: int) -> None:
        self._least = least


class SessionState(TypedDict):
    """The conversation: every step stores what it added, and not everything so far once more."""

    messages: Annotated[list[AnyMessage], MessagesChannel(keep_messages, snapshot_frequency=SNAPSHOT_LEAST_UPDATES)]

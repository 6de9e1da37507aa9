"""The conversation of a thread that only a LangGraph graph has written."""

from datetime import datetime
from typing import Any, Final

from langchain_core.messages import convert_to_messages
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import CheckpointTuple

from clew.messages import from_langchain
from clew.sessions.checkpointer import Checkpointer
from clew.sessions.rows import StoredMessage
from clew.sessions.state import keep_messages
from clew.tokens import count_message

CHANNEL: Final = "messages"


async def latest_messages(checkpointer: Checkpointer, thread_id: str) -> list[StoredMessage]:
    """The `messages` channel of the latest checkpoint of the root graph; empty when it has none.

    A message's id is the one LangChain gave it, or its place in the checkpoint.
    """
    latest = await checkpointer.aget_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
    if latest is None:
        return []
    checkpoint = latest.checkpoint
    messages = from_langchain(convert_to_messages(await _channel(checkpointer, latest)))
    return [
        StoredMessage(
            thread_id=thread_id,
            position=position,
            message_id=message.id or f"{checkpoint['id']}:{position}",
            tokens=count_message(message),
            created_at=datetime.fromisoformat(checkpoint["ts"]),
            message=message,
            source="checkpoint",
        )
        for position, message in enumerate(messages, 1)
    ]


async def _channel(checkpointer: Checkpointer, latest: CheckpointTuple) -> list[Any]:
    """The channel's value: stored whole, or rebuilt from the writes since the last time it was."""
    channel = DeltaChannel(keep_messages, list)
    values = latest.checkpoint["channel_values"]
    if CHANNEL in values:
        found = channel.from_checkpoint(values[CHANNEL]).get()
    elif CHANNEL in latest.checkpoint["channel_versions"]:
        history = await checkpointer.aget_delta_channel_history(config=latest.config, channels=[CHANNEL])
        channel = channel.from_checkpoint(history[CHANNEL].get("seed", []))
        channel.replay_writes(history[CHANNEL]["writes"])
        found = channel.get()
    else:
        found = []
    return found if isinstance(found, list) else [found]

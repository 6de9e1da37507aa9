"""From what a caller appends to what is stored: checked, converted, counted, and nothing if any of it is wrong."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from clew.errors import InvalidInput
from clew.ids import new_id
from clew.limits import check_json
from clew.messages import Message, from_openai
from clew.messages.reading import list_at, plain
from clew.tokens import count_message

APPEND_MAX_MESSAGES: Final = 10_000
APPEND_MAX_BYTES: Final = 128 * 1024 * 1024
MESSAGE_MAX_BYTES: Final = 32 * 1024 * 1024

_PLACEHOLDER: Final = {"role": "user", "content": ""}


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages of one append, column by column, ready for one statement."""

    message_ids: list[str]
    tokens: list[int]
    words: list[str]
    messages: list[str]
    pinned: list[bool]
    digest: bytes
    """Equal for equal content, in whatever order its keys came."""


def prepare(messages: object, *, pinned: bool = False) -> Batch:
    """What one append will store; `InvalidInput` names the first place that is wrong. It counts tokens: not instant."""
    given = [_readable(value, f"messages[{i}]") for i, value in enumerate(_listed(messages))]
    neutral = [message.as_pinned() for message in _neutral(given)] if pinned else _neutral(given)
    dumped = [_dumped(message) for message in neutral]
    _refuse_too_big(dumped)
    return Batch(
        message_ids=[new_id() for _ in neutral],
        tokens=[count_message(message) for message in neutral],
        words=[folded(_said(message)) for message in neutral],
        messages=dumped,
        pinned=[message.pinned for message in neutral],
        digest=_digest([*given, pinned] if pinned else given),
    )


def folded(text: str) -> str:
    """Text as it is searched: without regard to case or to how its characters are composed."""
    return unicodedata.normalize("NFKC", text.casefold())


def _listed(messages: object) -> Sequence[Any]:
    if isinstance(messages, Mapping | BaseModel):
        return [messages]
    listed = list_at(messages, "messages", what="a message or a list of messages")
    if len(listed) > APPEND_MAX_MESSAGES:
        raise InvalidInput(
            f"holds {len(listed):,} messages; the limit is {APPEND_MAX_MESSAGES:,}",
            where="messages",
            fix="Append them in several calls",
        )
    return listed


def _readable(value: object, where: str) -> Any:
    """A message of ours, or a copy of the caller's that nobody else can change; either way text PostgreSQL can hold."""
    if isinstance(value, Message):
        check_json(value.model_dump(mode="json"), where)
        return value
    # Looked at before it is converted, while the places in it still have the caller's names.
    return check_json(plain(value, where), where)


def _neutral(given: Sequence[Any]) -> list[Message]:
    # All in one call, so that the converter's errors name the right place in the caller's list.
    converted = from_openai([_PLACEHOLDER if isinstance(value, Message) else value for value in given])
    return [value if isinstance(value, Message) else message for value, message in zip(given, converted, strict=True)]


def _dumped(message: Message) -> str:
    """The message as JSON, without the fields that are as empty as they would be when absent."""
    whole = _slim(message.model_dump(mode="json"))
    whole["content"] = [_slim(part) for part in whole.get("content", ())]
    for part in whole["content"]:
        if part["type"] == "tool_result":
            part["content"] = [_slim(inner) for inner in part.get("content", ())]
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def _slim(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in fields.items()
        if value is not None and not (key in ("extra", "metadata") and value == {})
    }


def _refuse_too_big(dumped: Sequence[str]) -> None:
    total = 0
    for index, text in enumerate(dumped):
        size = len(text.encode())
        if size > MESSAGE_MAX_BYTES:
            raise InvalidInput(
                f"is {size:,} bytes long; the limit is {MESSAGE_MAX_BYTES:,}", where=f"messages[{index}]"
            )
        total += size
    if total > APPEND_MAX_BYTES:
        raise InvalidInput(
            f"are {total:,} bytes long together; the limit is {APPEND_MAX_BYTES:,}",
            where="messages",
            fix="Append them in several calls",
        )


def _said(message: Message) -> str:
    """Every word of a message that somebody might look for."""
    calls = (f"{call.name} {call.arguments_text}" for call in message.tool_calls)
    return "\n".join((message.text, *calls))


def _digest(given: Sequence[Any]) -> bytes:
    values = [value.model_dump(mode="json") if isinstance(value, Message) else value for value in given]
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).digest()

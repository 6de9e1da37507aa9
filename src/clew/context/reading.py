"""What callers pass, made into the frozen data that compiling takes; every refusal says where."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from clew.context.history import SessionMessage
from clew.context.retrieved import Memory
from clew.errors import InvalidInput
from clew.limits import check_text
from clew.messages import Message, from_openai

# What a log says about a message, beside the message itself. None of it is for a provider.
_BOOKKEEPING: Final = frozenset(
    {"id", "message_id", "position", "tokens", "token_count", "timestamp", "created_at", "metadata", "thread_id"}
)
_LABEL_MAX_CHARS: Final = 200


def session_at(messages: object) -> list[SessionMessage]:
    """The session's messages from OpenAI-form dicts, `clew.Message`s, or a log's rows, in any mixture.

    A dict may carry what a log knows of it: `id` or `message_id`, and `tokens` or `token_count`. A row is anything with
    a `message`, a `message_id` and `tokens`, like those that `SessionStore.read` returns.
    """
    return [
        _session_message(item, f"session_messages[{i}]") for i, item in enumerate(_listed(messages, "session_messages"))
    ]


def _session_message(value: object, where: str) -> SessionMessage:
    if isinstance(value, SessionMessage):
        return value
    if isinstance(value, Message):
        return SessionMessage(value)
    if isinstance(row := getattr(value, "message", None), Message):
        id = getattr(value, "message_id", row.id)
        named = row if id == row.id else row.model_copy(update={"id": check_text(id, f"{where}.message_id")})
        return SessionMessage(named, _whole_number(getattr(value, "tokens", None), f"{where}.tokens"))
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"expected a dict or a clew.Message, got {type(value).__name__}",
            where=where,
            fix='Use {"role": "user", "content": "…"}',
        )
    try:
        (message,) = from_openai([{key: item for key, item in value.items() if key not in _BOOKKEEPING}])
    except InvalidInput as error:
        inside = (error.where or "").removeprefix("messages[0]")
        raise InvalidInput(error.what, where=where + inside, fix=error.fix) from None
    id = value.get("id", value.get("message_id"))
    if id is not None:
        message = message.model_copy(update={"id": check_text(id, f"{where}.id")})
    return SessionMessage(message, _whole_number(value.get("tokens", value.get("token_count")), f"{where}.tokens"))


def _whole_number(value: object, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{value!r} is not a whole number from 0 up", where=where)
    return value


def memories_at(memories: object) -> list[Memory]:
    """The memories from `MemoryEntry`s or anything with its attributes, dicts with its keys, or plain texts."""
    return [_memory(item, f"relevant_memories[{i}]") for i, item in enumerate(_listed(memories, "relevant_memories"))]


def _memory(value: object, where: str) -> Memory:
    if isinstance(value, Memory):
        return value
    if isinstance(value, str):
        return Memory(where, check_text(value, where))
    fields = {name: _field(value, name) for name in ("memory_id", "content", "score", "metadata", "created_at")}
    if fields["content"] is None:
        raise InvalidInput(
            f"has no content ({type(value).__name__})", where=where, fix="Use a MemoryEntry, a dict like one, or text"
        )
    metadata = fields["metadata"] if fields["metadata"] is not None else {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"expected an object, got {type(metadata).__name__}", where=f"{where}.metadata")
    id = where if fields["memory_id"] is None else check_text(fields["memory_id"], f"{where}.memory_id")
    return Memory(
        memory_id=id,
        content=check_text(fields["content"], f"{where}.content"),
        score=_score(fields["score"], f"{where}.score"),
        source=_label(metadata.get("source"), f"{where}.metadata.source"),
        date=_label(metadata.get("occurred_at") or fields["created_at"], f"{where}.metadata.occurred_at"),
        speaker=_label(metadata.get("speaker"), f"{where}.metadata.speaker"),
    )


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _score(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"{value!r} is not a score", where=where, fix="Use a finite number, or None")
    return float(value)


def _label(value: object, where: str) -> str | None:
    """A short text for the line above a passage; a date without its time, which says enough for less."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    text = value.isoformat() if isinstance(value, date) else str(value)
    return check_text(text, where)[:_LABEL_MAX_CHARS]


def _listed(value: object, where: str) -> Sequence[Any]:
    if isinstance(value, str | bytes | Mapping | Message) or not isinstance(value, Iterable):
        raise InvalidInput(f"expected a list, got {type(value).__name__}", where=where)
    return list(value)

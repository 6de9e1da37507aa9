"""What the store gives back, and the checks of what names a row from outside."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from clew.errors import InvalidInput
from clew.limits import check_text
from clew.messages import Message

# With the tenant before it, a thread id leaves room for LangGraph's namespace in an index entry of 2,704 bytes.
THREAD_ID_MAX_CHARS: Final = 256
IDEMPOTENCY_KEY_MAX_CHARS: Final = 256
USER_ID_MAX_CHARS: Final = 256
SESSION_READ_MAX: Final = 10_000
THREADS_READ_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a session, where it stands, and what it costs."""

    thread_id: str
    position: int
    """From 1, without gaps."""
    message_id: str
    tokens: int
    created_at: datetime
    message: Message
    source: Literal["log", "checkpoint"] = "log"


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A session's size, and when it was last added to."""

    thread_id: str
    message_count: int
    token_count: int
    created_at: datetime
    updated_at: datetime
    user_id: str | None = None
    """Whose it is, where an append has said so."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went when a session was cleared."""

    thread_id: str
    messages: int
    tokens: int
    checkpoints: int
    also: Mapping[str, int]
    """What other rooms removed, by the names the caller gave them."""


def check_thread_id(value: object, where: str = "thread_id") -> str:
    """The thread id itself, when it is one: any text of 1 to 256 characters."""
    text = check_text(value, where, allow_empty=False)
    if len(text) > THREAD_ID_MAX_CHARS:
        raise InvalidInput(f"is {len(text):,} characters long; the limit is {THREAD_ID_MAX_CHARS}", where=where)
    return text


def check_idempotency_key(value: object) -> str:
    """The key itself, when it is one."""
    text = check_text(value, "idempotency_key", allow_empty=False)
    if len(text) > IDEMPOTENCY_KEY_MAX_CHARS:
        raise InvalidInput(
            f"is {len(text):,} characters long; the limit is {IDEMPOTENCY_KEY_MAX_CHARS}", where="idempotency_key"
        )
    return text


def check_user_id(value: object, where: str = "user_id") -> str:
    """The user's id itself, when it is one: any text of 1 to 256 characters."""
    text = check_text(value, where, allow_empty=False)
    if len(text) > USER_ID_MAX_CHARS:
        raise InvalidInput(f"is {len(text):,} characters long; the limit is {USER_ID_MAX_CHARS}", where=where)
    return text

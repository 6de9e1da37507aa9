"""Which tool call is being answered, for tools that run where nobody can pass it to them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

from clew.errors import InvalidInput
from clew.limits import check_text

# With the tenant before them, both fit into an index entry of 2,704 bytes.
CALL_ID_MAX_CHARS: Final = 512
THREAD_ID_MAX_CHARS: Final = 256

_MARK: Final = "__clew_reads_back__"
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The call as the provider named it, and the conversation it is part of, as far as they are known."""

    tool_call_id: str | None = None
    thread_id: str | None = None


_NO_CALL: Final = ToolCall()
_current: Final[ContextVar[ToolCall]] = ContextVar("clew_tool_call", default=_NO_CALL)


@contextmanager
def tool_call(tool_call_id: str | None = None, thread_id: str | None = None) -> Iterator[ToolCall]:
    """What runs inside answers this call: `with clew.tool_call(tool_call_id=call.id, thread_id="support-42"): …`.

    What is left out stays as it is around the block. The adapters for LangChain and Pydantic AI do this themselves.
    """
    outer = _current.get()
    call = ToolCall(
        outer.tool_call_id if tool_call_id is None else check_call_id(tool_call_id),
        outer.thread_id if thread_id is None else check_thread(thread_id),
    )
    with answering(call):
        yield call


@contextmanager
def answering(call: ToolCall) -> Iterator[ToolCall]:
    """What runs inside answers this call."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def known_call(tool_call_id: object, thread_id: object) -> ToolCall:
    """The call as a framework tells it, as far as it can be one: an odd id must not stop an agent."""
    outer = _current.get()
    return ToolCall(
        _or_none(tool_call_id, check_call_id) or outer.tool_call_id,
        _or_none(str(thread_id) if isinstance(thread_id, int | UUID) else thread_id, check_thread) or outer.thread_id,
    )


def _or_none(value: object, check: Callable[[object], str]) -> str | None:
    try:
        return None if value is None else check(value)
    except InvalidInput:
        return None


def current_call() -> ToolCall:
    """The call that is being answered here."""
    return _current.get()


def check_call_id(value: object) -> str:
    """The id of a tool call itself, when it can be one: any text of 1 to 512 characters."""
    return _checked(value, "tool_call_id", CALL_ID_MAX_CHARS)


def check_thread(value: object) -> str:
    """The thread's id itself, when it can be one: any text of 1 to 256 characters."""
    return _checked(value, "thread_id", THREAD_ID_MAX_CHARS)


def check_tool(value: object) -> str:
    """The tool's name itself, when it can be one: any text of 1 to 256 characters."""
    return _checked(value, "tool", THREAD_ID_MAX_CHARS)


def _checked(value: object, where: str, max_chars: int) -> str:
    text = check_text(value, where, allow_empty=False)
    if len(text) > max_chars:
        raise InvalidInput(f"is {len(text):,} characters long; the limit is {max_chars}", where=where)
    return text


class ReadBack(str):
    """What a tool that reads back returned. It was moved out once already and never is again."""

    __slots__ = ()


def reads_back(function: F) -> F:
    """Mark a tool whose results `isolate_tool` must leave alone."""
    setattr(function, _MARK, True)
    return function


def is_read_back(function: object) -> bool:
    """Whether a tool was marked so."""
    return getattr(function, _MARK, False) is True

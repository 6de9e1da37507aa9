"""`trim_messages`: a history within so many tokens, for callers that want no summary."""

from collections.abc import Iterable, Mapping
from typing import Any

from clew.context.compaction import trim
from clew.errors import InvalidInput
from clew.messages import Message, from_openai, to_openai
from clew.messages.reading import list_at
from clew.tokens import DEFAULT_ENCODING


def trim_messages(
    messages: Iterable[Any], max_tokens: int, *, keep_recent: int = 1, encoding: str = DEFAULT_ENCODING
) -> list[Any]:
    """The newest of the messages that cost at most `max_tokens` together: the very objects that were given.

    Dicts in OpenAI form or `clew.Message`s. A call stays with its results or goes with them, pinned messages and the
    last `keep_recent` stay, calls that wait for a result too; `BudgetExceeded` when that alone is too much.
    """
    given = list_at(messages, "messages", what="a list of messages")
    neutral = [_neutral(message, f"messages[{place}]") for place, message in enumerate(given)]
    trimmed = trim(neutral, max_tokens, keep_recent=keep_recent, encoding=encoding)
    return [
        given[place] if message is neutral[place] else _like(given[place], message)
        for place, message in zip(trimmed.places, trimmed.messages, strict=True)
    ]


def _like(given: Any, mended: Message) -> Any:
    """One that had to be mended, such as a call made twice, in the form it was given in."""
    return mended if isinstance(given, Message) else to_openai([mended])[0]


def _neutral(message: Any, where: str) -> Message:
    if isinstance(message, Message):
        # A copy: the same object twice is two messages.
        return message.model_copy()
    if not isinstance(message, Mapping):
        raise InvalidInput(f"expected a dict or a clew.Message, got {type(message).__name__}", where=where)
    try:
        return from_openai([message])[0]
    except InvalidInput as error:
        inside = (error.where or "").removeprefix("messages[0]")
        raise InvalidInput(error.what, where=where + inside, fix=error.fix) from None

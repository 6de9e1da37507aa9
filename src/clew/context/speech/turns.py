"""What callers pass as a message and its history, made into who said what; every refusal says where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from clew.errors import InvalidInput
from clew.limits import check_text
from clew.messages import Message, from_openai

# What a pronoun or a "yes" refers to was said in one of the last turns; older ones are not looked at.
HISTORY_TURNS_MAX: Final = 6
# A conversation longer than this is not a history but a mistake, or a generator without an end.
HISTORY_MESSAGES_MAX: Final = 100_000
# What a log says about a message, beside the message itself.
_BOOKKEEPING: Final = frozenset(
    {"id", "message_id", "position", "tokens", "token_count", "timestamp", "created_at", "metadata", "thread_id"}
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as it is read here: who spoke, and the words."""

    role: str
    text: str


def turn_at(message: object, where: str = "message") -> Turn:
    """The turn in a text (the user's, and never empty), an OpenAI-form dict, a `clew.Message` or a log's row."""
    if isinstance(message, str):
        check_text(message, where)
        if not message.strip():
            raise InvalidInput("must not be empty", where=where)
        return Turn("user", message)
    return _turn(message, where)


def turns_at(history: object) -> tuple[Turn, ...]:
    """The last turns of a history, oldest first. A text in it counts as the user's."""
    if isinstance(history, str | bytes | Mapping | Message) or not isinstance(history, Iterable):
        raise InvalidInput(f"expected a list of messages, got {type(history).__name__}", where="history")
    listed = list(islice(history, HISTORY_MESSAGES_MAX + 1))
    if len(listed) > HISTORY_MESSAGES_MAX:
        raise InvalidInput(f"holds more than {HISTORY_MESSAGES_MAX:,} messages", where="history")
    first = max(0, len(listed) - HISTORY_TURNS_MAX)
    return tuple(_past(listed[at], f"history[{at}]") for at in range(first, len(listed)))


def _past(value: object, where: str) -> Turn:
    return Turn("user", check_text(value, where)) if isinstance(value, str) else _turn(value, where)


def _turn(value: object, where: str) -> Turn:
    row = getattr(value, "message", None)
    message = value if isinstance(value, Message) else row if isinstance(row, Message) else _from_dict(value, where)
    return Turn(message.role, check_text(message.text, where))


def _from_dict(value: object, where: str) -> Message:
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"expected text, a dict or a clew.Message, got {type(value).__name__}",
            where=where,
            fix='Use {"role": "user", "content": "…"}',
        )
    try:
        (message,) = from_openai([{key: item for key, item in value.items() if key not in _BOOKKEEPING}])
    except InvalidInput as error:
        inside = (error.where or "").removeprefix("messages[0]")
        raise InvalidInput(error.what, where=where + inside, fix=error.fix) from None
    return message

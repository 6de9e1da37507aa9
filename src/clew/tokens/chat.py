"""What a list of messages costs in a provider's form."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from clew.errors import InvalidInput
from clew.tokens.images import Format, checked_format
from clew.tokens.parts import Counter, count_content, count_tool_call
from clew.tokens.text import DEFAULT_ENCODING, checked_text, count
from clew.tokens.tools import count_tools

if TYPE_CHECKING:
    from clew.messages import Message

# OpenAI cookbook, "How to count tokens with tiktoken", section 6: every message is wrapped as
# <|start|>role<|message|>content<|end|>, a name adds a separator, and the reply is opened with <|start|>assistant.
OPENAI_MESSAGE_TOKENS: Final = 3
OPENAI_NAME_TOKENS: Final = 1
OPENAI_REPLY_PRIMING_TOKENS: Final = 3
# Anthropic publishes no such figures: an assumption, the same as OpenAI's.
ANTHROPIC_MESSAGE_TOKENS: Final = 3
ANTHROPIC_REPLY_PRIMING_TOKENS: Final = 3

_COUNTED_FIELDS: Final = ("name", "tool_call_id", "refusal", "reasoning_content")
_KNOWN_FIELDS: Final = {"role", "content", "tool_calls", "function_call", *_COUNTED_FIELDS}
_MESSAGE_TOKENS: Final = {"openai": OPENAI_MESSAGE_TOKENS, "anthropic": ANTHROPIC_MESSAGE_TOKENS}
_PRIMING_TOKENS: Final = {"openai": OPENAI_REPLY_PRIMING_TOKENS, "anthropic": ANTHROPIC_REPLY_PRIMING_TOKENS}


def count_messages(
    messages: "Sequence[Mapping[str, Any] | Message]",
    *,
    encoding: str = DEFAULT_ENCODING,
    format: Format = "openai",
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> int:
    """The tokens of a whole request: every message, the opening of the reply, and the tool schemas.

    Always `sum(count_message(m) for m in messages) + count_priming() + count_tools(tools)`, so a caller may add up
    messages one at a time. Text counts are exact; the frames follow OpenAI's published rules, and are an estimate for
    Anthropic, whose tokeniser is not public.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise InvalidInput(f"expected a list of messages, got {type(messages).__name__}", where="messages")
    total = count_priming(format=format)
    for index, message in enumerate(messages):
        total += _count(message, encoding, format, f"messages[{index}]")
    return total + count_tools(tools, encoding=encoding, format=format)


def count_message(
    message: "Mapping[str, Any] | Message", *, encoding: str = DEFAULT_ENCODING, format: Format = "openai"
) -> int:
    """The tokens that one message adds to a request: an OpenAI or Anthropic dict, or a `clew.messages.Message`."""
    return _count(message, encoding, checked_format(format), "message")


def count_priming(*, format: Format = "openai") -> int:
    """The tokens every request costs besides its messages and tools: the opening of the reply."""
    return _PRIMING_TOKENS[checked_format(format)]


def _count(message: "Mapping[str, Any] | Message", encoding: str, format: Format, where: str) -> int:
    counter = partial(count, encoding=encoding)
    if isinstance(message, Mapping):
        return _count_dict(message, counter, format, where)
    return sum(_count_dict(form, counter, format, where) for form in _forms(message, format, where))


def _count_dict(message: Mapping[str, Any], counter: Counter, format: Format, where: str) -> int:
    total = _MESSAGE_TOKENS[format] + counter(checked_text(message.get("role"), f"{where}.role"))
    total += count_content(message.get("content"), counter, format, f"{where}.content")
    if message.get("name"):
        total += OPENAI_NAME_TOKENS
    for field in _COUNTED_FIELDS:
        if message.get(field):
            total += counter(checked_text(message[field], f"{where}.{field}"))
    # What we don't know is sent all the same, so it costs what its JSON does.
    total += sum(counter(json.dumps(message[field], default=str)) for field in message if field not in _KNOWN_FIELDS)
    calls = [*(message.get("tool_calls") or ())]
    if message.get("function_call"):
        calls.append({"function": message["function_call"]})
    return total + sum(count_tool_call(call, counter, f"{where}.tool_calls[{i}]") for i, call in enumerate(calls))


def _forms(message: object, format: Format, where: str) -> list[dict[str, Any]]:
    """A neutral message as the provider receives it: converted alone, so that counts add up."""
    from clew.messages import Message, to_anthropic, to_openai

    if not isinstance(message, Message):
        raise InvalidInput(f"expected a dict or a Message, got {type(message).__name__}", where=where)
    if format == "openai":
        return to_openai([message])
    request = to_anthropic([message])
    system = [{"role": "system", "content": request.system}] if request.system else []
    return [*system, *request.messages]

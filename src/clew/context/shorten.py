"""Shortening one message so that a reader sees that, and where, something is left out."""

from typing import Final

from clew.messages import Message, TextPart, ToolResultPart
from clew.tokens import count_message, truncate

MIDDLE_LEFT_OUT: Final = "\n[… the middle of this text is left out …]\n"
ATTACHMENTS_LEFT_OUT: Final = "[attachments left out]\n"
# Where not even the sentence fits.
SMALLEST_MARK: Final = "[…]"
# A question stands at the start of a long message or at its end; both are kept, the start with twice as much.
_HEAD_NUMERATOR: Final = 2
_HEAD_DENOMINATOR: Final = 3


def shorten(message: Message, max_tokens: int, encoding: str) -> Message | None:
    """A message of at most `max_tokens` with the start and the end of its text; None when not even a mark fits.

    Attachments stay while they leave room for words, else they go too, and the text says so.
    """
    bare = message.model_copy(update={"name": None})
    for base, keeps_rest in ((message, True), (message, False), (bare, False)):
        rest = _rest(base)
        prefix = ATTACHMENTS_LEFT_OUT if rest and not keeps_rest else ""
        for mark in (MIDDLE_LEFT_OUT, SMALLEST_MARK):
            found = _within(base, prefix, mark, max_tokens, encoding, keeps_rest=keeps_rest)
            if found is not None:
                return found
    return None


def _within(
    base: Message, prefix: str, mark: str, max_tokens: int, encoding: str, *, keeps_rest: bool
) -> Message | None:
    text = base.text
    whole = _with_text(base, prefix + text, keeps_rest=keeps_rest)
    if prefix and count_message(whole, encoding=encoding) <= max_tokens:
        return whole
    if prefix and mark == SMALLEST_MARK:
        prefix = ""  # the smallest mark stands for everything that is gone
    found = _with_text(base, prefix + mark, keeps_rest=keeps_rest)
    spare = max_tokens - count_message(found, encoding=encoding)
    if spare < 0:
        return None
    while spare > 0:
        head = truncate(text, spare * _HEAD_NUMERATOR // _HEAD_DENOMINATOR, encoding)
        tail = truncate(text, spare - spare * _HEAD_NUMERATOR // _HEAD_DENOMINATOR, encoding, keep="end")
        longer = _with_text(base, f"{prefix}{head}{mark}{tail}", keeps_rest=keeps_rest)
        over = count_message(longer, encoding=encoding) - max_tokens
        if over <= 0:
            return longer
        spare -= over  # joined texts can count more than their parts
    return found


def _rest(message: Message) -> bool:
    """Whether the message holds anything besides words."""
    parts = message.tool_results[0].content if message.role == "tool" else message.content
    return any(not isinstance(part, TextPart) for part in parts)


def _with_text(message: Message, text: str, *, keeps_rest: bool) -> Message:
    words = TextPart(text=text)
    if message.role == "tool":
        (result,) = message.tool_results
        others = [part for part in result.content if keeps_rest and not isinstance(part, TextPart)]
        replaced: ToolResultPart = result.model_copy(update={"content": (words, *others)})
        return message.model_copy(update={"content": (replaced,)})
    kept = [part for part in message.content if keeps_rest and not isinstance(part, TextPart)]
    return message.model_copy(update={"content": (words, *kept)})

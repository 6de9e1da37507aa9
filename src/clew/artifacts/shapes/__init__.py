"""Summaries of tool results by their shape: pure, deterministic, and never longer than they may be."""

from typing import Any, Final

from clew.artifacts.shapes.cleaning import one_line
from clew.artifacts.shapes.fitting import fit, framed
from clew.artifacts.shapes.recognise import Seen, recognised
from clew.artifacts.shapes.rendering import beginning, rendered
from clew.errors import InvalidInput
from clew.tokens import DEFAULT_ENCODING, count

__all__ = ["kind_of", "media_type_of", "rendered", "summarise"]

# A summary aims at a share of the result, so that results of a few hundred tokens are made shorter too: JSON at less
# than text, since it loses nothing with its quotes and braces; hits and failures at more: their words were asked for.
AIM_PERCENT: Final = {"document": 24, "records": 24, "items": 24, "hits": 50, "tests": 50, "traceback": 50}
AIM_PERCENT_TEXT: Final = 35
AIM_TOKENS_MIN: Final = 44
# The frame of a summary costs about 20 tokens: up to here more would be lost than saved, so nothing is left out.
SMALL_TOKENS: Final = 80
# No text of more characters than this counts so few tokens that the aim would depend on it.
_COUNTED_CHARS: Final = 16_000
_TOOL_CHARS: Final = 80


def summarise(
    result: Any, *, tool: str, reference: str | None, max_tokens: int = 100, encoding: str = DEFAULT_ENCODING
) -> str:
    """What a model needs of a tool's result to go on: `[tool] … (full result: artifact …)`, at most `max_tokens`.

    Counts, ranges, ids, states, amounts, dates, names, errors and sources come before anything else, chosen by the
    value's shape and not by the tool. Equal results give equal summaries. Any value gives one, however large, deep or
    hostile: only a bounded part is looked at. Without a `reference` none is named; with one that does not fit into
    `max_tokens` this raises `InvalidInput`, since a broken reference would lose the result.
    """
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        raise InvalidInput(f"max_tokens is {max_tokens!r}", where="max_tokens", fix="Use a whole number from 1 up")
    frame = framed(one_line(tool, _TOOL_CHARS), reference, max_tokens, encoding)
    seen = recognised(result)
    return fit(seen.sketch(), frame, _aim(count(beginning(result, _COUNTED_CHARS), encoding), seen))


def _aim(full_tokens: int, seen: Seen) -> int:
    if full_tokens <= SMALL_TOKENS:
        return full_tokens + SMALL_TOKENS
    return max(AIM_TOKENS_MIN, full_tokens * AIM_PERCENT.get(seen.kind, AIM_PERCENT_TEXT) // 100)


def kind_of(result: Any) -> str:
    """The name of a result's shape: records, items, hits, table, tests, html, log, traceback, diff, document, prose,
    console, binary, scalar or empty."""
    return recognised(result).kind


def media_type_of(result: Any) -> str:
    """The media type of the result stored as it is: a picture in base64 is text, its bytes are a picture."""
    return recognised(result).media_type

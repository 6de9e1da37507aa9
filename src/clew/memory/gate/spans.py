"""Stretches of a text that are taken out of it, and what stands in their place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_NAMES: Final = {
    "api_key": "API key",
    "iban": "IBAN",
    "ip_address": "IP address",
    "email": "e-mail address",
    "ssn": "social security number",
}
REMOVED: Final = re.compile(r"\[[A-Za-z][A-Za-z -]{1,28} removed\]")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a text, and what kind of thing it is."""

    start: int
    end: int
    kind: str


def apart(found: Iterable[Span]) -> list[Span]:
    """Those that don't overlap, in the order of the text; where two do, one span over both, of the first one's kind."""
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end, span.kind)):
        if kept and span.start < kept[-1].end:
            last = kept[-1]
            kept[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            kept.append(span)
    return kept


def without(text: str, spans: Iterable[Span]) -> str:
    """The text with words in the place of each span, so that it still reads as a sentence."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += [text[at : span.start], f"[{_NAMES.get(span.kind, span.kind.replace('_', ' '))} removed]"]
        at = span.end
    return "".join([*parts, text[at:]])


def kinds(spans: Iterable[Span]) -> tuple[str, ...]:
    """Each kind once, in the order of the text."""
    return tuple(dict.fromkeys(span.kind for span in spans))

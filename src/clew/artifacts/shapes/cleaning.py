"""Text made fit to be shown on one line of a summary."""

import re
from collections.abc import Iterator
from typing import Any, Final

# Of a huge text this much of the start and of the end is looked at; what lies between is only counted.
LOOK_CHARS: Final = 96_000
# What one value or line may bring into a summary: a summary's hundred tokens are about 400 characters.
SHOWN_CHARS: Final = 240
# Python refuses to print longer whole numbers, and nobody reads them.
INTEGER_MAX_BITS: Final = 1024
LINES_MAX: Final = 4_000

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\-_])")
# C0 and C1 controls, marks that turn or hide text, lone surrogates and non-characters.
_UNSHOWABLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]{4,16}\b")
_SPACE: Final = re.compile(r"\s+")


def vocabulary(words: str) -> frozenset[str]:
    """A set of words, written as one text so that it can be read."""
    return frozenset(words.split())


def clean(text: str) -> str:
    """The text without escape sequences, control characters and lone surrogates; its lines stay lines."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSHOWABLE.sub("", _ANSI.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, chars: int = SHOWN_CHARS) -> str:
    """The text on a single line, cut with an ellipsis where it is longer than `chars`."""
    # Cleaning may shorten the text, so a little more than is shown is looked at.
    line = _SPACE.sub(" ", clean(text[: 4 * chars])).strip()
    if len(line) <= chars and len(text) <= 4 * chars:
        return line
    return cut(line, chars)


def cut(line: str, chars: int) -> str:
    """The beginning of a line, ending between two words where there is a place for it."""
    if len(line) <= chars:
        return line
    part = line[: chars - 1]
    space = part.rfind(" ", chars // 2)
    return f"{part[:space] if space > 0 else part}…"


def looked_at(text: str) -> str:
    """The part of a text that is read: all of it, or the start and the end of a huge one."""
    if len(text) <= 2 * LOOK_CHARS:
        return text
    return f"{text[:LOOK_CHARS]}\n{text[-LOOK_CHARS:]}"


def lines_of(text: str) -> list[str]:
    """The lines worth reading, cleaned: at most LINES_MAX, half from each end."""
    lines = [line for line in clean(looked_at(text)).replace("\r", "\n").split("\n") if line.strip()]
    if len(lines) <= LINES_MAX:
        return lines
    return [*lines[: LINES_MAX // 2], *lines[-LINES_MAX // 2 :]]


def line_count(text: str) -> int:
    """How many lines the whole text has, counted exactly."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def said(value: Any) -> str:
    """What an object says of itself, or its kind when asking it fails."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > INTEGER_MAX_BITS:
        return f"a number of {value.bit_length():,} bits"
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may raise anything, and a summary must come out all the same
        return f"<{type(value).__name__}>"
    # Where an object lies in memory tells nothing, and differs from run to run.
    return _ADDRESS.sub("", text) if isinstance(text, str) else f"<{type(value).__name__}>"


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each on one line."""
    for part in re.split(r"(?<=[.!?])(?<!\d\.)\s+|\n\s*\n", text):
        line = one_line(part)
        if line:
            yield line

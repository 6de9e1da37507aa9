"""Parts of an artifact: some of its lines or bytes, found without holding the rest."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from clew.errors import InvalidInput

# How far an artifact is read on, once the wanted lines are found, only to say how many lines there are.
COUNT_MAX_BYTES: Final = 64 * 1024 * 1024
_RANGE: Final = re.compile(r"\s*(\d{1,12})\s*(?:(-)\s*(\d{1,12})?)?\s*")
_TAIL: Final = re.compile(r"\s*-\s*(\d{1,12})\s*")


@dataclass(frozen=True, slots=True)
class Range:
    """From `first` to `last`, both included; or, with `tail`, the last so many."""

    first: int = 0
    last: int | None = None
    tail: int | None = None


def parse_range(text: object, where: str, *, least: int) -> Range:
    """`"41-80"`, `"41-"`, `"41"` or, for the end, `"-40"`."""
    found = _RANGE.fullmatch(text) if isinstance(text, str) else None
    tail = _TAIL.fullmatch(text) if isinstance(text, str) else None
    if tail and int(tail[1]) > 0:
        return Range(tail=int(tail[1]))
    if found:
        first = int(found[1])
        last = int(found[3]) if found[3] else None if found[2] else first
        if first >= least and (last is None or last >= first):
            return Range(first, last)
    shown = f"{text[:40]!a}" if isinstance(text, str) else f"of type {type(text).__name__}, it"
    raise InvalidInput(f"{shown} is not a range", where=where, fix=f'Write "{least}-40", "41-" or, for the end, "-40"')


@dataclass(slots=True)
class LinePicker:
    """Takes an artifact in pieces and keeps the lines of a range, up to a number of bytes."""

    first: int
    last: int | None
    max_bytes: int
    data: bytearray = field(default_factory=bytearray)
    start: int | None = None
    """Where the first line begins, in bytes."""
    full: bool = False
    _newlines: int = 0
    _position: int = 0
    _ends_in_line: bool = False

    def feed(self, chunk: bytes) -> None:
        """Take the next piece."""
        begin = 0
        if self.start is None:
            place = _after_newlines(chunk, self.first - 1 - self._newlines, 0)
            if place is not None:
                begin = place
                self.start = self._position + place
        if self.start is not None and not self.full:
            self._take(chunk, begin)
        self._newlines += chunk.count(b"\n")
        self._position += len(chunk)
        self._ends_in_line = not chunk.endswith(b"\n")

    def _take(self, chunk: bytes, begin: int) -> None:
        seen = self._newlines + chunk.count(b"\n", 0, begin)
        stop = None if self.last is None else _after_newlines(chunk, self.last - seen, begin)
        taken = chunk[begin:stop]
        self.data += taken[: self.max_bytes - len(self.data)]
        self.full = stop is not None or len(self.data) >= self.max_bytes

    @property
    def total(self) -> int:
        """How many lines there were, once all of it was taken."""
        return self._newlines + self._ends_in_line


async def pick_lines(chunks: AsyncIterator[bytes], wanted: Range, max_bytes: int, size: int) -> tuple[LinePicker, bool]:
    """The lines of a range, and whether their total is known."""
    picker = LinePicker(wanted.first, wanted.last, max_bytes)
    async for chunk in chunks:
        picker.feed(chunk)
        if picker.full and size > COUNT_MAX_BYTES:
            return picker, False
    return picker, True


async def count_lines(chunks: AsyncIterator[bytes]) -> int:
    """How many lines there are."""
    picker = LinePicker(1, 1, 0)
    async for chunk in chunks:
        picker.feed(chunk)
    return picker.total


def _after_newlines(chunk: bytes, wanted: int, begin: int) -> int | None:
    """Where it goes on after so many line ends; None when there are fewer."""
    place = begin
    for _ in range(wanted):
        place = chunk.find(b"\n", place) + 1
        if not place:
            return None
    return place

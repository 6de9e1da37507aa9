"""A text that is searched for many details: folded once, looked into many times."""

import re
from collections.abc import Iterator
from typing import Final

from clew.context.compaction.instructions import keeps_instruction

_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SPACE: Final = re.compile(r"\s+")
_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTH_DAY: Final = re.compile(r"([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?")
_DAY_MONTH: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3})[a-z]*(?: (\d{4}))?")
_NUMBER: Final = re.compile(r"([$€£¥]?)\s?(-?\d+(?:\.\d+)*)[\s-]?(.*)")
_LINE: Final = re.compile(r"[\n.;!?]\s|\n")
_NOON: Final = 12


class Haystack:
    """One text, ready to be asked what it keeps."""

    def __init__(self, text: str) -> None:
        self._lines = [line for line in _LINE.split(text) if line.strip()]
        self._folded = folded(text)
        self._days = frozenset(_days(self._folded))
        self._clocks = frozenset(_clocks(self._folded))
        self._words = frozenset(re.findall(r"[^\W_][\w’'-]*", self._folded))

    def has(self, kind: str, text: str) -> bool:
        """Whether the detail is in the text."""
        if kind == "instruction":
            return keeps_instruction(text, self._lines)
        wanted = folded(text)
        if self._holds(wanted):
            return True
        match kind:
            case "date":
                return self._has_date(wanted)
            case "number":
                return self._has_number(wanted)
            case "name":
                return all(word in self._words for word in wanted.split())
        return False

    def _has_date(self, wanted: str) -> bool:
        if days := set(_days(wanted)):
            return any(_same_day(day, other) for day in days for other in self._days)
        return bool(set(_clocks(wanted)) & self._clocks)

    def _has_number(self, wanted: str) -> bool:
        """The same number with the same sign of money and the same unit, singular or plural, spaced or not."""
        found = _NUMBER.fullmatch(wanted)
        if found is None:
            return False
        sign, number, unit = found.groups()
        stem = unit.removesuffix("s")
        spellings = {f"{sign}{number}{gap}{end}" for gap in ("", " ", "-") for end in {unit, stem, f"{stem}s"}}
        return any(self._holds(spelling) for spelling in spellings)

    def _holds(self, wanted: str) -> bool:
        """Whether it stands there whole, and not as a part of a longer word or number."""
        return not wanted or next(self._places(wanted), None) is not None

    def times(self, wanted: str) -> int:
        """How often a folded text stands there whole."""
        return sum(1 for _ in self._places(wanted)) if wanted else 0

    def _places(self, wanted: str) -> Iterator[int]:
        at = self._folded.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if not _joined(self._folded, at - 1, at) and not _joined(self._folded, end - 1, end):
                yield at
            at = self._folded.find(wanted, at + 1)


def _joined(text: str, left: int, right: int) -> bool:
    """Whether two neighbouring characters belong to one word or one number."""
    if left < 0 or right >= len(text):
        return False
    one, other = text[left], text[right]
    if (one.isalnum() or one == "_") and (other.isalnum() or other == "_"):
        return True
    # A decimal point joins digits: 5.2 is not a 5, and neither is it a 2.
    if one.isdigit() and other == "." and right + 1 < len(text) and text[right + 1].isdigit():
        return True
    return other.isdigit() and one == "." and left > 0 and text[left - 1].isdigit()


def folded(text: str) -> str:
    """The text in one spelling: small letters, single spaces, numbers without separators."""
    return _SPACE.sub(" ", _THOUSANDS.sub("", text.casefold())).strip()


def _days(text: str) -> list[tuple[int | None, int, int]]:
    """The days a text names: year where it has one, month and day."""
    days: list[tuple[int | None, int, int]] = [(int(y), int(m), int(d)) for y, m, d in _ISO.findall(text)]
    for month, day, year in _MONTH_DAY.findall(text):
        if month in _MONTHS:
            days.append((int(year) if year else None, _MONTHS[month], int(day)))
    for day, month, year in _DAY_MONTH.findall(text):
        if month in _MONTHS:
            days.append((int(year) if year else None, _MONTHS[month], int(day)))
    return days


def _same_day(one: tuple[int | None, int, int], other: tuple[int | None, int, int]) -> bool:
    return one[1:] == other[1:] and (one[0] is None or other[0] is None or one[0] == other[0])


def _clocks(text: str) -> list[tuple[int, int]]:
    """The times of day a text names, as hours and minutes."""
    times = []
    for hour, minute, half in re.findall(r"\b(\d{1,2}):(\d{2})(?::\d{2})?(?:\s?([ap])\.?m)?", text):
        hours = int(hour) % _NOON + (_NOON if half == "p" else 0) if half else int(hour)
        times.append((hours, int(minute)))
    for hour, half in re.findall(r"\b(\d{1,2})\s?([ap])\.?m\b", text):
        times.append((int(hour) % _NOON + (_NOON if half == "p" else 0), 0))
    return times

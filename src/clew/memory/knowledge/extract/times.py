"""Times that a sentence names, resolved against the time it was said."""

import calendar
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS_SHORT: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAYS: Final = {name.lower(): number for number, name in enumerate(calendar.day_name)}
MONTH: Final = "|".join([*_MONTHS, "sept", *_MONTHS_SHORT])
_WEEKDAY: Final = "|".join(_DAYS)
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "a few": 3, "a couple of": 2, "several": 4,
}  # fmt: skip
_COUNT: Final = r"\d{1,4}|a couple of|a few|" + "|".join(name for name in _NUMBERS if " " not in name)
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2})?\s*(?:[ap]\.?m\.?)?|\d{1,2}\s*[ap]\.?m\.?|noon|midnight"
# What a date can look like, longest first; each has its reader below.
DATE: Final = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}})?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?"
    rf"|(?:{MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:\s*,?\s*\d{{4}})?(?!\d)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{MONTH})\.?(?:\s*,?\s*\d{{4}})?(?!\d)"
    rf"|(?:early |mid[- ]|late |the (?:start|end) of )?(?:{MONTH})\.?(?:\s+\d{{4}})?(?!\w)"
    rf"|(?:FY\s?)?(?:Q[1-4]|H[12])(?:\s+(?:of\s+)?\d{{4}})?|FY\s?\d{{2,4}}"
    rf"|(?:the day before yesterday|yesterday|today|tomorrow|tonight|right now|this (?:morning|afternoon|evening))"
    rf"|(?:last|this|next)\s+(?:week|month|quarter|year|spring|summer|autumn|fall|winter|{_WEEKDAY}|{MONTH})"
    rf"|(?:{_COUNT})\s+(?:day|week|month|quarter|year|hour|minute)s?\s+ago"
    rf"|(?:19|20)\d{{2}}(?!\d)"
    rf"|(?:{_WEEKDAY})s?)"
)
_DATE: Final = re.compile(DATE, re.IGNORECASE)
_WITH_CLOCK: Final = re.compile(
    rf"(?:(?:on|at|by|in|for)\s+)?(?:(?P<date>{DATE})(?:,?\s+(?:(?:at\s+)?(?P<clock>{_CLOCK})|at\s+(?P<hour>\d{{1,2}})))?"
    rf"|(?P<only>{_CLOCK}))",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    rf"(?:the\s+)?(?:(?:{MONTH})|Q[1-4]|H[12]|FY\s?\d{{2,4}}|(?:19|20)\d{{2}}|{_WEEKDAY}"
    r"|(?:first|second|third|fourth) (?:quarter|half))(?:\s+(?:of\s+)?(?:19|20)\d{2})?",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    rf"^(?:(?P<how>as of|in|on|since|by|from|effective|starting|beginning|during|until|till|for)"
    rf"(?:(?:(?<=ing)|(?<=ive))\s+(?:in|on|from|with))?\s+)?"
    rf"(?:the\s+)?(?P<date>{DATE})(?:\s+(?:on|onwards?))?\s*,?\s+(?=\S)",
    re.IGNORECASE,
)
_TRAIL: Final = re.compile(
    rf"[,(]?\s*\b(?:(?P<how>as of|in|on|since|by|from|effective|starting|beginning|during|until|till|back in|at)\s+)?"
    rf"(?:the\s+)?(?P<date>{DATE})(?:\s+(?:onwards?))?\)?$",
    re.IGNORECASE,
)
# From when to when: both ends are told.
_BETWEEN: Final = re.compile(
    rf"[,(]?\s*\b(?:from|between)\s+(?P<date>{DATE})\s*(?:to|until|till|and|through|[–—-])\s*(?P<end>{DATE})\)?$",
    re.IGNORECASE,
)
# How many months a time lasts that is told so; what is none of these is a week or a day.
_MONTHS_OF: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), months)
    for pattern, months in (
        (r"(?:19|20)\d{2}|fy\s?\d{2,4}|(?:last|this|next) year|.* years? ago", 12),
        (r"(?:fy\s?)?h[12](?:\s+(?:of\s+)?\d{4})?", 6),
        (r"(?:fy\s?)?q[1-4](?:\s+(?:of\s+)?\d{4})?|(?:last|this|next) quarter|.* quarters? ago", 3),
        (rf"(?:early |mid[- ]|late |last |this |next )?(?:{MONTH})\.?(?:\s+\d{{4}})?|(?:last|this|next) month", 1),
        (r".* months? ago", 1),
    )
)
# What says by itself that it is a time of the clause, and no part of a noun or a value.
_ALONE: Final = re.compile(
    r".*\bago|yesterday|today|tonight|tomorrow|right now|(?:last|this|next|the day)\b.*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class When:
    """A time that a clause names: the word before it, the text, and the moment it begins."""

    how: str
    text: str
    start: datetime
    end: datetime | None = None


def resolve(text: str, reference: datetime) -> datetime | None:
    """The moment at which a named time begins, seen from `reference`; None when it can't be one."""
    said = re.sub(r"\s+", " ", text.strip().lower()).replace(",", "")
    try:
        return _absolute(said, reference) or _relative(said, reference)
    except (ValueError, OverflowError):
        return None


def leading(text: str, reference: datetime) -> tuple[When | None, str]:
    """The time that a clause begins with, and the rest of it."""
    match = _LEAD.match(text)
    if match is None or not (match["how"] or _ALONE.fullmatch(match["date"])):
        # “March sales were …”: a bare month belongs to the noun behind it.
        return None, text
    return _taken(match, text[match.end() :], text, reference)


def trailing(text: str, reference: datetime) -> tuple[When | None, str]:
    """The time that a clause ends with, and the rest of it."""
    between = _BETWEEN.search(text)
    if between is not None and text[: between.start()].strip():
        start, end = resolve(between["date"], reference), resolve(between["end"], reference)
        if start is not None and end is not None and start < end:
            return When("from", between["date"], start, end), text[: between.start()].rstrip(" ,(")
    match = _TRAIL.search(text)
    if match is None or not text[: match.start()].strip():
        return None, text
    if not (match["how"] or _ALONE.fullmatch(match["date"])):
        return None, text
    return _taken(match, text[: match.start()].rstrip(" ,("), text, reference)


def is_period(text: str) -> bool:
    """Whether a text names a month, a quarter or a year: what a figure is for, not when it was told."""
    return _PERIOD.fullmatch(text.strip()) is not None


def date_key(text: str, reference: datetime) -> str | None:
    """One spelling of the date or the time of day that a text is; None when it is something else."""
    match = _WITH_CLOCK.fullmatch(re.sub(r"\s+", " ", text.strip().rstrip(".")))
    if match is None:
        return None
    clock = _clock_key(match["clock"] or match["only"] or match["hour"] or "")
    if not match["date"]:
        return f"clock {clock}"
    start = resolve(match["date"], reference)
    return None if start is None else f"date {start:%Y-%m-%d} {clock}".strip()


def iso_where_relative(text: str, reference: datetime) -> str:
    """“Tomorrow at 9” with its day, for it means another one the day after; any other date as it was told."""
    match = _WITH_CLOCK.fullmatch(re.sub(r"\s+", " ", text.strip().rstrip(".")))
    if match is None or not match["date"] or not _ALONE.fullmatch(match["date"]):
        return text
    start = resolve(match["date"], reference)
    clock = match["clock"] or match["hour"]
    return text if start is None else f"{start:%Y-%m-%d}{f' at {clock}' if clock else ''}"


def period_end(text: str, start: datetime) -> datetime:
    """When the year, the month, the week or the day that a text names is over."""
    said = text.lower()
    for pattern, months in _MONTHS_OF:
        if pattern.fullmatch(said):
            total = start.year * 12 + start.month - 1 + months
            return start.replace(year=total // 12, month=total % 12 + 1, day=1)
    return start + timedelta(days=7 if re.search(r"\bweeks?\b", said) else 1)


def before_now(when: When, reference: datetime) -> When:
    """The time as one that is past: last Monday, not the next; the May before, where no year is told."""
    if when.start <= reference or re.search(r"\d{4}|\b(?:this|next|tomorrow)\b", when.text, re.IGNORECASE):
        return when
    if re.fullmatch(rf"(?:{_WEEKDAY})s?", when.text, re.IGNORECASE):
        return replace(when, start=when.start - timedelta(days=7))
    return replace(when, start=when.start.replace(year=when.start.year - 1, day=min(when.start.day, 28)))


def period_name(when: When) -> str:
    """What a period is called, whenever it was told: “last year” is a year."""
    if not _ALONE.fullmatch(when.text):
        return when.text
    end = period_end(when.text, when.start)
    months = (end.year - when.start.year) * 12 + end.month - when.start.month
    if months == 12:
        return str(when.start.year)
    if months == 3 and when.start.day == 1:
        return f"Q{when.start.month // 3 + 1} {when.start.year}"
    return f"{when.start:%B %Y}" if months == 1 and when.start.day == end.day == 1 else f"{when.start:%Y-%m-%d}"


def _clock_key(text: str) -> str:
    """A time of day in 24 hours: “9 pm”, “9:00 p.m.” and “21:00” are one."""
    said = re.sub(r"[\s.]", "", text.lower())
    said = {"noon": "12:00", "midnight": "0:00"}.get(said, said)
    match = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?([ap]m)?", said)
    if match is None:
        return said
    hour = int(match[1])
    if match[4]:
        hour = hour % 12 + (12 if match[4] == "pm" else 0)
    seconds = f":{match[3]}" if match[3] and match[3] != "00" else ""
    return f"{hour:02}:{match[2] or '00'}{seconds}"


def _taken(match: re.Match[str], rest: str, whole: str, reference: datetime) -> tuple[When | None, str]:
    start = resolve(match["date"], reference)
    if start is None:
        return None, whole
    return When((match["how"] or "").lower(), match["date"], start), rest


def _midnight(reference: datetime) -> datetime:
    return reference.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _absolute(said: str, reference: datetime) -> datetime | None:
    if re.match(r"\d{4}-\d{2}-\d{2}", said):
        found = datetime.fromisoformat(said.replace("z", "+00:00").upper())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    if re.fullmatch(r"\d{4}", said):
        return datetime(int(said), 1, 1, tzinfo=UTC)
    quarter = re.fullmatch(r"(?:fy ?)?(q|h)([1-4])(?: (?:of )?(\d{4}))?", said)
    if quarter:
        month = (int(quarter[2]) - 1) * (3 if quarter[1] == "q" else 6) + 1
        return _dated(month, 1, quarter[3], reference)
    fiscal = re.fullmatch(r"fy ?(\d{2}|\d{4})", said)
    if fiscal:
        return datetime(int(fiscal[1]) % 100 + 2000, 1, 1, tzinfo=UTC)
    return _of_month(said, reference)


def _of_month(said: str, reference: datetime) -> datetime | None:
    named = re.fullmatch(
        rf"(?:(?:early |mid[- ]|late |the (?:start|end) of )?)(?:(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?({MONTH})\.?"
        r"(?: (\d{1,2})(?:st|nd|rd|th)?)?(?: (\d{4}))?",
        said,
    )
    if named is None:
        return None
    month = _MONTHS.get(named[2]) or _MONTHS_SHORT[named[2][:3]]
    day = int(named[1] or named[3] or 1)
    return _dated(month, day, named[4], reference)


def _dated(month: int, day: int, year: str | None, reference: datetime) -> datetime:
    """The date; without a year the nearest one within half a year of the reference."""
    if year:
        return datetime(int(year), month, day, tzinfo=UTC)
    near = [datetime(reference.year + step, month, min(day, 28), tzinfo=UTC) for step in (-1, 0, 1)]
    best = min(near, key=lambda one: abs(one - reference))
    return best.replace(day=day)


def _relative(said: str, reference: datetime) -> datetime | None:
    today = _midnight(reference)
    if said == "right now":
        return reference
    fixed = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2}
    if said in fixed or said in ("this morning", "this afternoon", "this evening"):
        return today + timedelta(days=fixed.get(said, 0))
    ago = re.fullmatch(rf"({_COUNT}) (day|week|month|quarter|year|hour|minute)s? ago", said)
    if ago:
        return _back(reference, int(_NUMBERS.get(ago[1], 0) or ago[1]), ago[2])
    weekday = said.removeprefix("last ").removeprefix("next ").removeprefix("this ").rstrip("s")
    if weekday in _DAYS:
        return _on_weekday(today, _DAYS[weekday], said)
    step = re.fullmatch(r"(last|this|next) (week|month|quarter|year)", said)
    if step:
        return _whole(today, {"last": -1, "this": 0, "next": 1}[step[1]], step[2])
    named = re.fullmatch(rf"(last|this|next) ({MONTH})", said)
    return _dated(_MONTHS.get(named[2]) or _MONTHS_SHORT[named[2][:3]], 1, None, reference) if named else None


def _back(reference: datetime, count: int, unit: str) -> datetime:
    if unit in ("month", "quarter", "year"):
        months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        total = reference.year * 12 + reference.month - 1 - months
        return reference.replace(year=total // 12, month=total % 12 + 1, day=min(reference.day, 28))
    return reference - timedelta(**{f"{unit}s": count})


def _on_weekday(today: datetime, number: int, said: str) -> datetime:
    """The coming one; with `last` the one before."""
    ahead = (number - today.weekday()) % 7
    if said.startswith("last "):
        return today + timedelta(days=ahead - 7)
    return today + timedelta(days=ahead + (7 if said.startswith("next ") and ahead == 0 else 0))


def _whole(today: datetime, step: int, unit: str) -> datetime:
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    size = {"month": 1, "quarter": 3, "year": 12}[unit]
    months = ((today.year * 12 + today.month - 1) // size + step) * size
    return today.replace(year=months // 12, month=months % 12 + 1, day=1)

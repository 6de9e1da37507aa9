"""The values in a statement, by kind, so that a new one can take the place of an old one of the same kind."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# A statement is shorter, and holds fewer: more is a table.
READ_MAX_CHARS: Final = 800
VALUES_MAX: Final = 24

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_COUNTED: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred)"
)
# In this order: what an earlier kind takes, a later one does not see.
_KINDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE if kind != "name" else 0))
    for kind, pattern in (
        (
            "money",
            r"[$€£¥]\s?\d[\d,.]*\d?\s?(?:k|m|mn|bn|million|billion|thousand)?\b|\b\d[\d,.]*\s?(?:k|m|bn|million"
            r"|billion|thousand)?\s?(?:usd|eur|gbp|dollars|euros|pounds)\b",
        ),
        ("percent", r"\b\d[\d,.]*\s?(?:%|percent\b)"),
        ("time", r"\b\d{1,2}:\d{2}(?:\s?[ap]\.?m\b)?|\b\d{1,2}\s?[ap]\.?m\b|\b(?:noon|midnight)\b"),
        (
            "date",
            rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b"
            rf"|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
            rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:\s+\d{{4}})?|\bthe \d{{1,2}}(?:st|nd|rd|th)\b",
        ),
        ("month", rf"\b{_MONTH}\b(?!\s+\d)"),
        ("weekday", r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\btomorrow\b|\btoday\b"),
        ("year", r"\b(?:19|20)\d\d\b"),
        ("number", rf"(?<![\w.,/-])\d[\d,.:/-]*(?:\s?(?:mg|kg|g|ml|km|cm|mm|m|mb|gb|tb|ms|k))?\b|\b{_COUNTED}\b"),
        ("name", r"(?<![.!?] )(?<!^)\b[A-ZÀ-Ý][\wÀ-ÿ'&-]+(?:\s+(?:(?:of|de|van|der|&)\s+)?[A-ZÀ-Ý0-9][\wÀ-ÿ'&-]*)*"),
    )
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value, what kind it is of, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def values(text: str) -> tuple[Value, ...]:
    """The values of a text, in order."""
    found = sorted(_found(text[:READ_MAX_CHARS]), key=lambda value: value.start)
    return tuple(found[:VALUES_MAX])


def _found(text: str) -> Iterator[Value]:
    left = text
    for kind, pattern in _KINDS:
        spans = []
        for match in pattern.finditer(left):
            if kind == "name" and match[0] in ("I", "I'm", "I've", "I'd", "I'll"):
                continue
            yield Value(kind, match[0].rstrip(" .,:-"), match.start(), match.start() + len(match[0].rstrip(" .,:-")))
            spans.append(match.span())
        for start, end in spans:
            left = left[:start] + "\0" * (end - start) + left[end:]


def same(one: str, other: str) -> bool:
    """Whether two values are the same in other spelling."""
    return re.sub(r"[\s,]", "", one).lower() == re.sub(r"[\s,]", "", other).lower()


def put_in(statement: str, new: str) -> tuple[str, str] | None:
    """The statement with the new value in the place of its own of the same kind, and the one it took the place of.

    None where the statement has no value of that kind, or only the same one.
    """
    theirs = values(statement)
    for value in reversed(values(f"- {new}")):
        alike = [old for old in theirs if old.kind == value.kind]
        if alike and not any(same(old.text, value.text) for old in alike):
            old = alike[-1]
            return statement[: old.start] + value.text + statement[old.end :], old.text
    return None

"""States of which there is one at a time: who can be in them, and what tells that one began."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.claim import Claim, is_name, state_of, valued
from clew.memory.knowledge.extract.phrases import Phrase, read_phrase
from clew.memory.knowledge.extract.values import Value

_SEAT: Final = r"(?:headquarters|hq|head office|main office)"
_MOVED_SEAT: Final = re.compile(
    rf"^(?P<who>.+?)\s+(?:has |have )?(?:moved|relocated|transferred)\s+(?:its|their|the|our)\s+{_SEAT}\s+"
    r"(?:from\s+(?P<old>.+?)\s+)?to\s+(?P<where>.+)$",
    re.IGNORECASE,
)
# Clubs and alliances that one joins beside one's work: their names are short and all capitals.
_ALLIANCE: Final = re.compile(r"[A-Z]{2,5}")


def can_be_in(name: str, subject: Phrase, value: Value) -> bool:
    """Whether the words tell that state: one joins a firm, and not the gym; a ticket is assigned to somebody."""
    if name == "new employer":
        told = re.sub(r"\s+as\s+.+$", "", value.text)
        return is_name(subject.text) and is_name(told) and not _ALLIANCE.fullmatch(told)
    if name == "assignee":
        return not is_name(subject.text) and value.kind == "name"
    if name == "departure place":
        return is_name(value.text)
    if name == "team":
        return value.kind == "name" and not re.search(r"\bnational\b", value.text, re.IGNORECASE)
    if name == "language":
        return value.kind == "name" and not re.search(r"\d{4}", value.text)
    if name == "color":
        # Green is a state of a build as well.
        return value.kind.startswith(("quality", "state ")) and len(value.text.split()) <= 2
    return True


def seated(subject: Phrase) -> Phrase:
    """Where a firm's headquarters are, there it is."""
    owned = subject.owner is not None and re.fullmatch(_SEAT, subject.attribute or "", re.IGNORECASE)
    return read_phrase(subject.owner) if owned and subject.owner else subject


def moved_seat(clause: str, reference: datetime) -> list[Claim]:
    """“The firm moved its headquarters to Austin”."""
    match = _MOVED_SEAT.match(clause)
    if match is None:
        return []
    value, denied = valued(match["where"], reference)
    denied = [*denied, *([match["old"]] if match["old"] else [])]
    return [state_of(read_phrase(match["who"]), "is located in", "location", value, denied)]


def hired(claim: Claim, reference: datetime) -> Claim:
    """Whoever joined a firm works there, whatever as."""
    return replace(
        claim, value=valued(re.sub(r"\s+as\s+.+$", "", claim.value.text), reference)[0], slot_name="employer"
    )

"""Clauses that give something an attribute without saying “is”: what it costs, has, is called, is due."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.claim import Claim, attribute_of, attributed, is_name, valued
from clew.memory.knowledge.extract.patterns import ATTRIBUTE_VERBS, BE, MEASURED, NUMBERED
from clew.memory.knowledge.extract.phrases import read_phrase
from clew.memory.knowledge.extract.verbs import known_base, lemma

_OFTEN: Final = {
    "hourly": "1 hour", "daily": "1 day", "nightly": "1 day", "weekly": "1 week", "monthly": "1 month",
    "quarterly": "1 quarter", "yearly": "1 year", "annually": "1 year",
}  # fmt: skip


# What something has one of, right before its value: “has priority P2”.
_GRADED: Final = "priority|status|severity|version|rank|level|size|type|number|code|rating|grade"


def measuring(clause: str, reference: datetime) -> list[Claim]:
    """“The plan costs $10”, “the flight departs at 10:40”, “the bridge is 210 m long”."""
    dimension = re.match(
        rf"^(?P<subject>.+?)\s+{BE}\s+(?P<object>.+?)\s+(?:years?\s+)?"
        rf"(?:(?P<how>{'|'.join(MEASURED)})|in (?P<named>length|width|height|depth|diameter|weight))$",
        clause,
    )
    if dimension:
        how = dimension["how"]
        text = dimension["object"] + (" years" if how == "old" and dimension["object"].isdigit() else "")
        value, denied = valued(text, reference)
        if value.quantity is not None:
            return [attribute_of(dimension["named"] or MEASURED[how], dimension["subject"], value, denied)]
    for pattern, attribute, kinds in ATTRIBUTE_VERBS:
        match = re.match(rf"^(?P<subject>.+?)\s+(?:{pattern})\s+(?:(?:at|on|for|in|by)\s+)?(?P<object>.+)$", clause)
        if match:
            hour = re.fullmatch(r"\d{1,2}", match["object"]) if "date" in kinds and " at " in clause else None
            value, denied = valued(f"{hour[0]}:00" if hour else match["object"], reference)
            people = value.quantity is not None and value.quantity.noun == "people"
            if (f"{value.kind} people" if people else value.kind) in kinds:
                return [attribute_of(attribute, match["subject"], value, denied)]
    return []


def having(clause: str, reference: datetime) -> list[Claim]:
    """“Acme has 120 employees”, “the project has a budget of $5M”."""
    owned = re.match(
        r"^(?P<subject>.+?)\s+(?:has|have|had)\s+(?:an?|the)\s+(?P<attribute>[\w -]+?)\s+of\s+(?P<object>.+)$", clause
    )
    if owned:
        value, denied = valued(owned["object"], reference)
        return [attribute_of(owned["attribute"], owned["subject"], value, denied)] if value.definite else []
    amount = re.match(
        r"^(?P<subject>.+?)\s+(?P<verb>has|have|had|needs?|requires?|contains?|takes?|uses?|consumes?|drinks?|produces"
        r"|gets|receives|stores|holds)\s+(?P<object>\d\S*\s*\w+)\s+of\s+"
        r"(?P<of>[\w -]+)$",
        clause,
    )
    if amount:
        value, denied = valued(amount["object"], reference)
        which = amount["of"] if amount["verb"].startswith("ha") else f"{amount['of']} that it {lemma(amount['verb'])}"
        return [attribute_of(which, amount["subject"], value, denied)] if value.quantity is not None else []
    named = re.match(rf"^(?P<subject>.+?)\s+(?:has|have)\s+(?P<attribute>{_GRADED})\s+(?P<object>\S+)$", clause)
    if named:
        value, denied = valued(named["object"], reference)
        return [
            replace(attributed(read_phrase(f"{named['subject']}'s {named['attribute']}"), value, denied), single=True)
        ]
    counted = re.match(
        r"^(?P<subject>.+?)\s+(?P<verb>has|have|had|employs?|employed|counts?)\s+"
        r"(?P<object>[\w.,~]+(?:\s+[a-z]+){1,2})$",
        clause,
    )
    if counted is None:
        return []
    value, denied = valued(counted["object"], reference)
    if value.quantity is None or value.quantity.kind != "count" or not value.quantity.noun:
        return []
    return [attribute_of(counting(counted["verb"], counted["object"]), counted["subject"], value, denied)]


def called(clause: str, reference: datetime) -> list[Claim]:
    """“My cat is called Miso” tells its name."""
    match = re.match(rf"^(?P<subject>.+?)\s+{BE}\s+(?:called|named)\s+(?P<object>[A-Z].*)$", clause)
    if match is None or is_name(match["subject"]):
        return []
    value, denied = valued(match["object"], reference)
    return [attribute_of("name", match["subject"], value, denied)]


def paying(clause: str, reference: datetime) -> list[Claim]:
    """“We pay $300 a month for hosting”: what is paid again and again is one price."""
    match = re.match(r"^(?P<subject>.+?)\s+(?:pays?|paid)\s+(?P<object>.+?)\s+for\s+(?P<what>[\w -]+)$", clause)
    if match is None:
        return []
    value, denied = valued(match["object"], reference)
    if value.quantity is None or not value.quantity.rate or value.kind != "money":
        return []
    return [attribute_of(f"payment for {match['what']}", match["subject"], value, denied)]


def repeating(clause: str, reference: datetime) -> list[Claim]:
    """“The password rotates every 90 days” tells how often it does."""
    match = re.match(
        rf"^(?P<subject>.+?)\s+(?P<verb>[a-z]+)\s+(?P<object>every\s+(?:\d+|\w+)\s*\w*.*|{'|'.join(_OFTEN)})$", clause
    )
    if match is None or not (match["verb"].endswith("s") or known_base(match["verb"])):
        return []
    often = _OFTEN.get(match["object"])
    value, denied = valued(f"every {often}" if often else match["object"], reference)
    if value.kind != "time":
        return []
    return [attribute_of(f"{lemma(match['verb'])} frequency", match["subject"], value, denied)]


def counting(verb: str, counted: str) -> str:
    """What a number of something is called."""
    noun = counted.split(maxsplit=1)[-1]
    if verb.startswith("employ") or noun in ("employees", "staff"):
        return "headcount"
    return "population" if noun in ("inhabitants", "residents") else f"number of {noun}"


def numbered(clause: str, reference: datetime) -> list[Claim]:
    """“The server runs on port 5432”, “the office is on the 4th floor”."""
    match = NUMBERED.match(clause)
    if match is None:
        return []
    name, told = (match["name"] or match["of"]).lower(), match["number"] or match["nth"]
    value, denied = valued(f"{told} {match['rest'] or ''}".strip(), reference)
    return [attribute_of(name, match["subject"], replace(value, kind="code", key=told.lower()), denied)]


def due(clause: str, reference: datetime) -> list[Claim]:
    """“The report is due on Friday” tells its deadline."""
    match = re.match(rf"^(?P<subject>.+?)\s+{BE}\s+due\s+(?:(?:on|by|at|in)\s+)?(?P<object>.+)$", clause)
    if match is None:
        return []
    value, denied = valued(match["object"], reference)
    return [attribute_of("deadline", match["subject"], value, denied)] if value.kind == "date" else []

"""What something uses, in which version, and how much of it: verbs whose objects add up unless they are figures."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from clew.memory.knowledge.extract.claim import Claim
from clew.memory.knowledge.extract.phrases import value_key
from clew.memory.knowledge.extract.quantities import read_quantity
from clew.memory.knowledge.extract.values import read_value
from clew.memory.knowledge.extract.verbs import known_base

# Of what somebody uses or runs one version at a time; what they support or test may be several.
_RUNNING: Final = frozenset({"run", "run on", "use", "operate on", "be on", "is on"})
_VERSIONED: Final = re.compile(
    r"(?P<name>(?=\S*[A-Z])[A-Za-z][\w.+#-]*(?: [A-Z][\w.+#-]*)*)\s+(?:version\s+|v)?"
    r"(?P<version>\d+(?:\.\d+)*)(?: LTS)?"
)
# “3% interest”, “$3 billion in assets”.
_SHARE: Final = re.compile(
    r"(?P<figure>(?:[$€£]\s?\d[\d.,]*\s?(?:[kKMB]\b|thousand|million|billion)?|\d[\d.,]*\s?(?:%|percent)))"
    r"(?P<of>\s+(?:in )?[a-z]+(?: [a-z]+)?)"
)
_ANY_TIME: Final = datetime.min.replace(tzinfo=UTC)
_AMOUNT_OF: Final = re.compile(r"(?P<amount>\S+(?:\s\S+)?)\s+of\s+(?P<what>.+)")


def using(claim: Claim, reference: datetime) -> list[Claim]:
    """The claim; of what is used in a version it is the version. What was used before it, under its own name."""
    if claim.slot_name not in _RUNNING:
        return [claim]
    name = _product(claim.value.text)
    slot = "use" if claim.slot_name in ("run on", "operate on") else claim.slot_name
    if name is not None:
        slot = f"use version {name}"
    own = tuple(old for old in claim.denied if _product(old) == name)
    found = [replace(claim, slot_name=slot, single=name is not None, denied=own)]
    for old in (old for old in claim.denied if old not in own):
        before = replace(claim, value=read_value(old, reference), denied=(), ended=True, slot_name="use")
        found.extend(using(before, reference))
    return found


def measured(claim: Claim) -> Claim:
    """“The fund manages $2B”: what something does so much of, it does so much of at a time. What was done adds up."""
    verb, *rest = claim.predicate.split()
    share = _SHARE.fullmatch(claim.value.text)
    figure = read_value(share["figure"], _ANY_TIME) if share else claim.value
    quantity = figure.quantity
    present = re.fullmatch(r"[a-z]+s", verb) is not None or known_base(verb)
    if quantity is None or not present or (rest and rest[0] not in ("for", "on", "with")):
        return claim
    of = f"{figure.kind} {quantity.noun}{share['of'] if share else ''}".strip()
    return replace(claim, value=replace(claim.value, key=figure.key), slot_name=f"{claim.slot_name} {of}", single=True)


def preferred(claim: Claim) -> Claim:
    """“Ana prefers window seats”: of seats she prefers one kind. Tea and coffee are two things."""
    words = claim.value.text.split()
    if claim.slot_name != "prefer" or claim.value.kind != "quality" or not 2 <= len(words) <= 3:
        return claim
    return replace(claim, slot_name=f"prefer {value_key(words[-1])}", single=True)


def completed(denied: str, told: str) -> str:
    """What “not 20 mg” denies where “10 mg of lisinopril” was told."""
    match = _AMOUNT_OF.fullmatch(told)
    whole = match is not None and read_quantity(match["amount"]) is not None and read_quantity(denied) is not None
    return f"{denied} of {match['what']}" if match and whole else denied


def _product(text: str) -> str | None:
    match = _VERSIONED.fullmatch(text.strip())
    return value_key(match["name"]) if match else None

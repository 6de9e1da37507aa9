"""What a clause claims: who, what about them, which value, and whether it can be one at a time."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.lexicon import ALSO_THINGS, ATTRIBUTES, CHECKED, COUNTS, NOBODY, OF_A_PERIOD, YEARLY
from clew.memory.knowledge.extract.patterns import TOLD_AS_STATE
from clew.memory.knowledge.extract.phrases import Phrase, phrase_key, read_phrase, strip_determiner
from clew.memory.knowledge.extract.rewriting import denials
from clew.memory.knowledge.extract.values import Value, read_value

SUBJECT_MAX_WORDS: Final = 14
QUALITY_MAX_WORDS: Final = 4
# What the colors of a build mean.
_LIGHTS: Final = {"green": "pass", "red": "fail"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a clause claims. `about` is the phrase whose key, with `slot_name` and the value's kind, is the slot.

    `ended`: the clause says that it is so no longer.
    """

    subject: str
    predicate: str
    value: Value
    about: str
    slot_name: str
    single: bool
    denied: tuple[str, ...] = field(default=())
    ended: bool = False


def sound(one: Claim) -> bool:
    if not one.subject or one.subject.lower() in NOBODY or re.search(r",\s", one.about):
        # What stands before a comma leads to something else, and is not what the clause is about.
        return False
    return len(one.about.split()) <= SUBJECT_MAX_WORDS and bool(one.value.key) and bool(phrase_key(one.about))


def attributed(subject: Phrase, value: Value, denied: list[str]) -> Claim:
    """“X is A”, where X may be somebody's attribute."""
    who, which = (subject.owner, subject.attribute) if subject.owner and subject.attribute else (subject.text, "is")
    if subject.owner and subject.attribute in ("status", "state") and value.kind.startswith("state "):
        # “The status of ticket 5 is open” says that it is open.
        return attributed(read_phrase(subject.owner), value, denied)
    if names_attribute(subject) and value.kind.startswith("state "):
        # Green is a state of a build, and the value of a color.
        value = replace(value, kind="quality")
    if subject.owner and subject.attribute in TOLD_AS_STATE and value.kind == "name":
        predicate, name = TOLD_AS_STATE[subject.attribute]
        return state_of(read_phrase(subject.owner), predicate, name, value, denied)
    if subject.head in CHECKED and value.text.lower() in _LIGHTS:
        value = replace(value, kind="state passing", key=_LIGHTS[value.text.lower()])
    if subject.head in YEARLY and value.kind == "date":
        value = replace(value, key=re.sub(r"(?<=^date )\d{4}", "", value.key))
    kind = "text" if value.kind in ("name", "quality", "class") else value.kind
    return Claim(who, which, value, subject.text, f"is {kind}", _one_at_a_time(subject, value), tuple(denied))


def names_attribute(subject: Phrase) -> bool:
    """Whether it is called something that has one value: “the deadline”, “her favorite color”."""
    if re.search(r"\b(?:favou?rite|preferred)\s+\S+$", subject.text, re.IGNORECASE):
        return True
    return subject.head in ATTRIBUTES or subject.head.endswith(("name", "date", "rate", "time", "limit"))


def _one_at_a_time(subject: Phrase, value: Value) -> bool:
    """Whether the subject can be one such thing only. A quality is one beside others, but as an attribute's value."""
    if value.kind.startswith("state "):
        return True
    if value.definite:
        person = subject.owner is None and re.fullmatch(r"[A-Z][a-z]+", subject.text) is not None
        several = _plural(subject) and subject.head not in ATTRIBUTES
        return not (value.kind == "name" and (person or several))
    plural = _plural(subject) and subject.owner is not None
    # “Balance is key” and “exploring the city was fun” are about no attribute of anything.
    particular = subject.particular and not re.match(r"\w+ing\b", subject.text)
    short = len(value.text.split()) <= QUALITY_MAX_WORDS
    if subject.head in ALSO_THINGS and value.kind == "quality":
        return False
    return names_attribute(subject) and particular and short and not plural


def is_figure(subject: Phrase) -> bool:
    """Whether it is called a number itself, as headcount and attendance are."""
    return names_attribute(subject) or subject.head in OF_A_PERIOD or subject.head in COUNTS


def _plural(subject: Phrase) -> bool:
    return subject.head.endswith("s") and not subject.head.endswith("ss")


def attribute_of(attribute: str, subject: str, value: Value, denied: list[str]) -> Claim:
    bare = strip_determiner(subject)
    return Claim(
        bare, attribute, value, f"{attribute} of {bare}", f"is {value.kind}", single=True, denied=tuple(denied)
    )


def state_of(subject: Phrase, predicate: str, name: str, value: Value, denied: list[str]) -> Claim:
    who = subject.owner if subject.owner and subject.attribute else subject.text
    told = f"{subject.attribute} {predicate}" if subject.owner and subject.attribute else predicate
    return Claim(who or subject.text, told, value, subject.text, name, single=True, denied=tuple(denied))


def valued(text: str, reference: datetime) -> tuple[Value, list[str]]:
    bare, denied = denials(text)
    bare = re.sub(r"^(?:worth|equal to|set at|set to)\s+", "", bare, flags=re.IGNORECASE)
    bare = re.sub(r"^(?:on|for|by)\s+(?=\S)", "", bare) if _dated(bare, reference) else bare
    return read_value(bare, reference), denied


def _dated(text: str, reference: datetime) -> bool:
    return read_value(text, reference).kind == "date"


def is_name(text: str) -> bool:
    """Whether every word has a capital."""
    return all(word[:1].isupper() for word in text.split()) and bool(text)

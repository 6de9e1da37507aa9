"""One plain clause to claims: who, what about them, and which value. The patterns are tried in order."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.attributes import (
    called,
    counting,
    due,
    having,
    measuring,
    numbered,
    paying,
    repeating,
)
from clew.memory.knowledge.extract.claim import (
    SUBJECT_MAX_WORDS,
    Claim,
    attribute_of,
    attributed,
    is_figure,
    is_name,
    names_attribute,
    sound,
    state_of,
    valued,
)
from clew.memory.knowledge.extract.patterns import (
    BE,
    BY,
    CHANGED,
    GROWN,
    MOVED_TO,
    NARROWING,
    PLACE,
    PROLONGED,
    STATES,
    STREET,
    SWITCHED,
    TO,
    WENT,
)
from clew.memory.knowledge.extract.phrases import Phrase, read_phrase, strip_determiner
from clew.memory.knowledge.extract.rewriting import denials
from clew.memory.knowledge.extract.roles import leading, role
from clew.memory.knowledge.extract.states import can_be_in, hired, moved_seat, seated
from clew.memory.knowledge.extract.turned import straight
from clew.memory.knowledge.extract.using import completed, measured, preferred, using
from clew.memory.knowledge.extract.values import Value, read_value
from clew.memory.knowledge.extract.verbs import alone, is_participle, lemma, split_at_verb

__all__ = ["SUBJECT_MAX_WORDS", "Claim", "claims"]

LIST_MAX_ITEMS: Final = 20
# A verb's object never begins so: the word before it was a noun (“the invoice total is …”).
_WAS: Final = re.compile(r"\b(?:was|were|been)\b")
_NO_OBJECT: Final = re.compile(rf"{BE}\b", re.IGNORECASE)


def claims(clause: str, reference: datetime, *, negated: bool = False) -> list[Claim]:
    """The claims of a plain clause; none when it can't be read."""
    if found := leading(clause, reference):
        return found
    clause = straight(clause)
    for read in _READERS:
        found = read(clause, reference)
        if found:
            return [one for one in found if sound(one)]
    return _adding(clause, reference, any_form=negated)


def _change(clause: str, reference: datetime) -> list[Claim]:
    """“The fee was raised from 2% to 3%”, “the office moved to Lisbon”, “we changed the TTL to 10 minutes”."""
    match = re.match(
        rf"^(?P<subject>.+?)\s+(?:{BE}\s+|got\s+|has\s+|have\s+)?(?P<verb>{WENT}){BY}{TO}", clause, re.IGNORECASE
    ) or re.match(
        rf"^(?:we|they|i|he|she|[A-Z][\w.]*(?: [A-Z][\w.]*)?|the \w+)\s+(?:has |have )?(?P<verb>{CHANGED})\s+"
        rf"(?P<subject>(?:the|our|its|their|his|her|my)\s+.+?){TO}",
        clause,
        re.IGNORECASE,
    )
    if match is None:
        return []
    value, denied = valued(match["object"], reference)
    denied = [*denied, *([match["old"]] if match["old"] else [])]
    subject, verb = read_phrase(match["subject"]), match["verb"].lower()
    if (
        verb in SWITCHED
        and value.quantity is None
        and value.kind != "date"
        and match.start("verb") > match.start("subject")
    ):
        used = Claim(subject.text, "uses", value, subject.text, "use", single=False, denied=tuple(denied))
        return using(used, reference)
    return _changed(subject, verb, value, denied, reference)


def _changed(subject: Phrase, verb: str, value: Value, denied: list[str], reference: datetime) -> list[Claim]:
    """What something is after a change, by the verb and by what it changed to."""
    if verb in ("moved", "changed", "switched") and MOVED_TO.fullmatch(value.text):
        return [replace(one, denied=tuple(denied)) for one in numbered(f"{subject.text} is on {value.text}", reference)]
    if verb == "renamed" and not names_attribute(subject):
        return [replace(attributed(read_phrase(f"{subject.text}'s name"), value, denied), single=True)]
    if verb in PROLONGED and value.kind == "date" and not names_attribute(subject):
        return [attribute_of("end", subject.text, value, denied)]
    if value.quantity is not None and value.quantity.noun and verb in GROWN and not is_figure(subject):
        return [attribute_of(counting("has", value.text), subject.text, value, denied)]
    if value.quantity is not None or value.kind == "date":
        return [attributed(subject, value, denied)]
    if verb in ("went", "gone", "shifted") or verb in GROWN:
        return []
    if verb in ("moved", "relocated"):
        return [state_of(subject, "lives in" if is_name(subject.text) else "is located in", "location", value, denied)]
    return [replace(attributed(subject, value, denied), single=True)]


def _being_in(clause: str, reference: datetime) -> list[Claim]:
    for pattern, predicate, name in STATES:
        match = re.match(rf"^(?P<subject>.+?)\s+(?:{pattern})\s+(?P<object>.+)$", clause, re.IGNORECASE)
        if match and not _NO_OBJECT.match(match["object"]):
            value, denied = valued(match["object"], reference)
            subject = seated(read_phrase(match["subject"])) if name == "location" else read_phrase(match["subject"])
            if name == "is":
                return [attributed(subject, value, denied)]
            if can_be_in(name, subject, value):
                found = state_of(subject, predicate, name, value, denied)
                return [hired(found, reference) if name == "new employer" else found]
    match = re.match(rf"^(?P<subject>.+?)\s+(?P<be>{BE})\s+(?P<how>in|at|on)\s+(?P<object>.+)$", clause)
    if match and (STREET if match["how"] == "on" else PLACE).fullmatch(match["object"]):
        value, denied = valued(match["object"], reference)
        if value.kind != "date":
            denied = [re.sub(r"^(?:in|at)\s+", "", one) for one in denied]
            found = state_of(seated(read_phrase(match["subject"])), "is in", "location", value, denied)
            # Somebody who was in Oslo may have been anywhere since.
            return [found if match["be"] not in ("was", "were") else replace(found, single=False)]
    return []


def _being(clause: str, reference: datetime) -> list[Claim]:
    # “Ana's a doctor” only where no other verb is: in “Ana's manager is Priya” the ending says whose.
    match = re.match(rf"^(?P<subject>.+?)\s+{BE}\s+(?P<object>.+)$", clause) or re.match(
        r"^(?P<subject>[\w ]+?)['’]s\s+(?P<object>(?:an?|the|in|at|on|from|\d|[$€£])\S*.*)$", clause
    )
    if match is None:
        return []
    subject = read_phrase(match["subject"])
    value, denied = valued(match["object"], reference)
    if several := _several(subject, value, denied, reference):
        return several
    done = re.fullmatch(r"(?P<verb>[a-z]+)\s+(?P<how>in|at|on|for|with|from|of|to|as|into)\s+(?P<rest>.+)", value.text)
    if done and value.kind in ("name", "quality"):
        # What was done to something adds up: “built in 1887”, “painted in 1920”. What is done so much does not.
        name = f"be {lemma(done['verb'])} {done['how']}"
        told = read_value(done["rest"], reference)
        said = f"is {done['verb']} {done['how']}"
        claim = Claim(subject.text, said, told, subject.text, name, single=False, denied=tuple(denied))
        if told.quantity is not None and re.search(r"(?:ed|en|pt|ld)$", done["verb"]) and not _WAS.search(clause):
            return [replace(claim, slot_name=f"{name} {told.kind} {told.quantity.noun}".strip(), single=True)]
        if is_participle(done["verb"]):
            return [claim]
    adverb = re.fullmatch(r"(?P<how>on|at|by|from|under|over|with)\s+(?P<rest>.+)", value.text)
    if adverb and value.kind != "date" and not value.kind.startswith("state "):
        value, name = read_value(adverb["rest"], reference), f"is {adverb['how']}"
        if adverb["how"] == "at" and value.quantity is not None:
            return [attributed(subject, value, denied)]
        return [Claim(subject.text, name, value, subject.text, name, single=False, denied=tuple(denied))]
    return [_narrowed(subject, value, denied, reference)]


def _several(subject: Phrase, value: Value, denied: list[str], reference: datetime) -> list[Claim]:
    """“Our partners are Acme and Beta”: each is one of them, and nobody said that there are no others."""
    items = list(_items(value.text)) if value.kind == "name" else []
    if len(items) < 2 or not all(item[:1].isupper() for item in items) or not subject.head.endswith("s"):
        return []
    one = attributed(subject, value, denied)
    return [replace(one, value=read_value(item, reference), single=False) for item in items]


def _narrowed(subject: Phrase, value: Value, denied: list[str], reference: datetime) -> Claim:
    """“The price is $5 for members” says nothing of guests: what narrows a value down is part of what it is about."""
    match = None if value.quantity is not None or value.kind == "date" else NARROWING.match(value.text)
    if match is None:
        return attributed(subject, value, denied)
    bare = read_value(match["bare"], reference)
    claim = attributed(subject, bare, denied)
    if not claim.single:
        return attributed(subject, value, denied)
    return replace(claim, about=f"{claim.about} {match['narrow']}")


def _adding(clause: str, reference: datetime, *, any_form: bool) -> list[Claim]:
    """A verb whose objects add up: one claim for each item of a list."""
    split = split_at_verb(clause, any_form=any_form) or alone(clause, any_form=any_form)
    if split is None:
        return []
    if split.lemma == "do":
        value = Value(split.object, "quality", lemma(split.object))
        return [
            Claim(strip_determiner(split.subject), "does", value, strip_determiner(split.subject), "do", single=False)
        ]
    subject = strip_determiner(split.subject)
    text, denied = denials(split.object)
    made = []
    for item in _items(text):
        value = read_value(item, reference)
        again = tuple(completed(one, item) for one in denied)
        made.append(Claim(subject, split.said, value, subject, split.lemma, single=False, denied=again))
    found = [one for one in made if sound(one)]
    return using(measured(preferred(found[0])), reference) if len(found) == 1 else found


def _items(text: str) -> Iterator[str]:
    """The items of a list; a text that is none is its own only item."""
    parts = [part for part in re.split(r"\s*,\s*(?:and\s+|or\s+)?|\s+and\s+", text) if part]
    listed = 1 < len(parts) <= LIST_MAX_ITEMS and all(len(part.split()) <= 4 for part in parts)
    yield from parts if listed else [text]


_READERS: Final[tuple[Callable[[str, datetime], list[Claim]], ...]] = (
    role,
    called,
    paying,
    repeating,
    having,
    measuring,
    moved_seat,
    _change,
    numbered,
    due,
    _being_in,
    _being,
)

"""One plain clause to claims: who, what about them, and which value. The patterns are tried in order."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.lexicon import ATTRIBUTES, NOBODY
from clew.memory.knowledge.extract.patterns import (
    ATTRIBUTE_VERBS,
    BE,
    BY,
    CHANGED,
    MEASURED,
    NARROWING,
    PLACE,
    ROLES,
    STATES,
    TO,
    WENT,
)
from clew.memory.knowledge.extract.phrases import Phrase, read_phrase, strip_determiner
from clew.memory.knowledge.extract.rewriting import denials
from clew.memory.knowledge.extract.values import Value, read_value
from clew.memory.knowledge.extract.verbs import split_at_verb

SUBJECT_MAX_WORDS: Final = 14
LIST_MAX_ITEMS: Final = 20
QUALITY_MAX_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Claim:
    """What a clause claims. `about` is the phrase whose key, with `slot_name` and the value's kind, is the slot."""

    subject: str
    predicate: str
    value: Value
    about: str
    slot_name: str
    single: bool
    denied: tuple[str, ...] = field(default=())


def claims(clause: str, reference: datetime, *, negated: bool = False) -> list[Claim]:
    """The claims of a plain clause; none when it can't be read."""
    for read in _READERS:
        found = read(clause, reference)
        if found:
            return [one for one in found if _sound(one)]
    return _adding(clause, reference, any_form=negated)


def _sound(one: Claim) -> bool:
    if not one.subject or one.subject.lower() in NOBODY:
        return False
    return len(one.about.split()) <= SUBJECT_MAX_WORDS and bool(one.value.key)


def _attributed(subject: Phrase, value: Value, denied: list[str]) -> Claim:
    """“X is A”, where X may be somebody's attribute."""
    who, which = (subject.owner, subject.attribute) if subject.owner and subject.attribute else (subject.text, "is")
    if _names_attribute(subject) and value.kind.startswith("state "):
        # Green is a state of a build, and the value of a color.
        value = replace(value, kind="quality")
    kind = "text" if value.kind in ("name", "quality", "class") else value.kind
    return Claim(who, which, value, subject.text, f"is {kind}", _one_at_a_time(subject, value), tuple(denied))


def _names_attribute(subject: Phrase) -> bool:
    return subject.head in ATTRIBUTES or subject.head.endswith(("name", "date", "rate", "time", "limit"))


def _one_at_a_time(subject: Phrase, value: Value) -> bool:
    """Whether the subject can be one such thing only. A quality is one beside others, but as an attribute's value."""
    if value.kind.startswith("state "):
        return True
    if value.definite:
        person = subject.owner is None and re.fullmatch(r"[A-Z][a-z]+", subject.text) is not None
        return not (person and value.kind == "name")
    plural = subject.head.endswith("s") and not subject.head.endswith("ss") and subject.owner is not None
    # “Balance is key” and “exploring the city was fun” are about no attribute of anything.
    particular = subject.particular and not re.match(r"\w+ing\b", subject.text)
    short = len(value.text.split()) <= QUALITY_MAX_WORDS
    return _names_attribute(subject) and particular and short and not plural


def _with_attribute(clause: str, reference: datetime) -> list[Claim]:
    """“The plan costs $10”, “the flight departs at 10:40”, “the bridge is 210 m long”."""
    dimension = re.match(
        rf"^(?P<subject>.+?)\s+{BE}\s+(?P<object>.+?)\s+(?:years?\s+)?(?P<how>{'|'.join(MEASURED)})$", clause
    )
    if dimension:
        how = dimension["how"]
        text = dimension["object"] + (" years" if how == "old" and dimension["object"].isdigit() else "")
        value, denied = _valued(text, reference)
        if value.quantity is not None:
            return [_of(MEASURED[how], dimension["subject"], value, denied)]
    for pattern, attribute, kinds in ATTRIBUTE_VERBS:
        match = re.match(rf"^(?P<subject>.+?)\s+(?:{pattern})\s+(?:(?:at|on|for|in|by)\s+)?(?P<object>.+)$", clause)
        if match:
            value, denied = _valued(match["object"], reference)
            if value.kind in kinds:
                return [_of(attribute, match["subject"], value, denied)]
    return []


def _of(attribute: str, subject: str, value: Value, denied: list[str]) -> Claim:
    bare = strip_determiner(subject)
    return Claim(
        bare, attribute, value, f"{attribute} of {bare}", f"is {value.kind}", single=True, denied=tuple(denied)
    )


def _having(clause: str, reference: datetime) -> list[Claim]:
    """“Acme has 120 employees”, “the project has a budget of $5M”."""
    owned = re.match(
        r"^(?P<subject>.+?)\s+(?:has|have|had)\s+(?:an?|the)\s+(?P<attribute>[\w -]+?)\s+of\s+(?P<object>.+)$", clause
    )
    if owned:
        value, denied = _valued(owned["object"], reference)
        return [_of(owned["attribute"], owned["subject"], value, denied)] if value.definite else []
    amount = re.match(r"^(?P<subject>.+?)\s+(?:has|have|had)\s+(?P<object>\d\S*\s*\w+)\s+of\s+(?P<of>[\w -]+)$", clause)
    if amount:
        value, denied = _valued(amount["object"], reference)
        return [_of(amount["of"], amount["subject"], value, denied)] if value.quantity is not None else []
    counted = re.match(
        r"^(?P<subject>.+?)\s+(?:has|have|had|employs?|employed|counts?)\s+(?P<object>[\w.,~]+(?:\s+[a-z]+){1,2})$",
        clause,
    )
    if counted is None:
        return []
    value, denied = _valued(counted["object"], reference)
    if value.quantity is None or value.quantity.kind != "count" or not value.quantity.noun:
        return []
    return [_of(f"number of {value.quantity.noun}", counted["subject"], value, denied)]


def _change(clause: str, reference: datetime) -> list[Claim]:
    """“The fee was raised from 2% to 3%”, “the office moved to Lisbon”, “we changed the TTL to 10 minutes”."""
    match = re.match(
        rf"^(?P<subject>.+?)\s+(?:{BE}\s+|got\s+)?(?P<verb>{WENT}){BY}{TO}", clause, re.IGNORECASE
    ) or re.match(
        rf"^(?:we|they|i|he|she|[A-Z][\w.]*(?: [A-Z][\w.]*)?|the \w+)\s+(?:has |have )?(?P<verb>{CHANGED})\s+"
        rf"(?P<subject>(?:the|our|its|their|his|her|my)\s+.+?){TO}",
        clause,
        re.IGNORECASE,
    )
    if match is None:
        return []
    value, denied = _valued(match["object"], reference)
    denied = [*denied, *([match["old"]] if match["old"] else [])]
    subject, verb = read_phrase(match["subject"]), match["verb"].lower()
    if value.quantity is not None or value.kind == "date":
        return [_attributed(subject, value, denied)]
    if verb in ("went", "gone", "shifted"):
        return []
    if verb in ("moved", "relocated"):
        return [_state(subject, "lives in" if _is_name(subject.text) else "is located in", "location", value, denied)]
    if verb in ("switched", "migrated", "transitioned", "upgraded", "downgraded"):
        used = Claim(subject.text, "uses", value, subject.text, "use", single=False, denied=tuple(denied))
        return [used]
    return [replace(_attributed(subject, value, denied), single=True)]


def _role(clause: str, reference: datetime) -> list[Claim]:
    """“Ana is the CEO of Acme” tells Acme's CEO, of whom there is one."""
    match = re.match(
        rf"^(?P<object>[A-Z0-9][\w.'’ -]*?)\s+(?:{BE}|was (?:appointed|named|elected|made)|took over as)\s+"
        rf"(?:(?P<the>the)\s+)?(?P<role>{ROLES}|[a-z][\w -]*?)\s+(?:of|at|for)\s+(?P<owner>.+)$",
        clause,
    ) or re.match(
        rf"^(?P<object>[A-Z][\w. -]*?)\s+{BE}\s+(?P<the>)(?P<owner>[A-Z][\w. ]*?)['’]s\s+(?P<role>{ROLES})$", clause
    )
    if match is None:
        return _role_of_ours(clause, reference)
    if match["the"] is None and not re.fullmatch(ROLES, match["role"]):
        return []
    owner, denied = denials(match["owner"])
    if len(match["role"].split()) > 4 or match["role"].split()[0] in ("a", "an", "one", "not"):
        return []
    value = read_value(match["object"], reference)
    claim = _attributed(read_phrase(f"{match['role']} of {owner}"), value, denied)
    return [replace(claim, single=True)]


def _role_of_ours(clause: str, reference: datetime) -> list[Claim]:
    """“Dana is our CFO”, where whose need not be said."""
    match = re.match(rf"^(?P<object>[A-Z][\w. -]*?)\s+{BE}\s+(?:the|our)\s+(?:new\s+)?(?P<role>{ROLES})$", clause)
    if match is None:
        return []
    value = read_value(match["object"], reference)
    return [replace(_attributed(read_phrase(match["role"]), value, []), single=True)]


def _being_in(clause: str, reference: datetime) -> list[Claim]:
    for pattern, predicate, name in STATES:
        match = re.match(rf"^(?P<subject>.+?)\s+(?:{pattern})\s+(?P<object>.+)$", clause, re.IGNORECASE)
        if match:
            value, denied = _valued(match["object"], reference)
            subject = read_phrase(match["subject"])
            if name == "is":
                return [_attributed(subject, value, denied)]
            return [_state(subject, predicate, name, value, denied)]
    match = re.match(rf"^(?P<subject>.+?)\s+(?P<be>{BE})\s+(?:in|at)\s+(?P<object>.+)$", clause)
    if match and PLACE.fullmatch(match["object"]):
        value, denied = _valued(match["object"], reference)
        if value.kind != "date":
            denied = [re.sub(r"^(?:in|at)\s+", "", one) for one in denied]
            found = _state(read_phrase(match["subject"]), "is in", "location", value, denied)
            # Somebody who was in Oslo may have been anywhere since.
            return [found if match["be"] not in ("was", "were") else replace(found, single=False)]
    return []


def _state(subject: Phrase, predicate: str, name: str, value: Value, denied: list[str]) -> Claim:
    who = subject.owner if subject.owner and subject.attribute else subject.text
    told = f"{subject.attribute} {predicate}" if subject.owner and subject.attribute else predicate
    return Claim(who or subject.text, told, value, subject.text, name, single=True, denied=tuple(denied))


def _being(clause: str, reference: datetime) -> list[Claim]:
    # “Ana's a doctor” only where no other verb is: in “Ana's manager is Priya” the ending says whose.
    match = re.match(rf"^(?P<subject>.+?)\s+{BE}\s+(?P<object>.+)$", clause) or re.match(
        r"^(?P<subject>[\w ]+?)['’]s\s+(?P<object>(?:an?|the|in|at|on|from|\d|[$€£])\S*.*)$", clause
    )
    if match is None:
        return []
    subject = read_phrase(match["subject"])
    value, denied = _valued(match["object"], reference)
    adverb = re.fullmatch(r"(?P<how>on|at|by|from|under|over|with)\s+(?P<rest>.+)", value.text)
    if adverb and value.kind != "date":
        value, name = read_value(adverb["rest"], reference), f"is {adverb['how']}"
        return [Claim(subject.text, name, value, subject.text, name, single=False, denied=tuple(denied))]
    return [_narrowed(subject, value, denied, reference)]


def _narrowed(subject: Phrase, value: Value, denied: list[str], reference: datetime) -> Claim:
    """“The price is $5 for members” says nothing of guests: what narrows a value down is part of what it is about."""
    match = None if value.quantity is not None or value.kind == "date" else NARROWING.match(value.text)
    if match is None:
        return _attributed(subject, value, denied)
    bare = read_value(match["bare"], reference)
    claim = _attributed(subject, bare, denied)
    if not claim.single:
        return _attributed(subject, value, denied)
    return replace(claim, about=f"{claim.about} {match['narrow']}")


def _adding(clause: str, reference: datetime, *, any_form: bool) -> list[Claim]:
    """A verb whose objects add up: one claim for each item of a list."""
    split = split_at_verb(clause, any_form=any_form)
    if split is None:
        return []
    subject = strip_determiner(split.subject)
    text, denied = denials(split.object)
    made = []
    for item in _items(text):
        value = read_value(item, reference)
        made.append(Claim(subject, split.said, value, subject, split.lemma, single=False, denied=tuple(denied)))
    return [one for one in made if _sound(one)]


def _items(text: str) -> Iterator[str]:
    """The items of a list; a text that is none is its own only item."""
    parts = [part for part in re.split(r"\s*,\s*(?:and\s+|or\s+)?|\s+and\s+", text) if part]
    listed = 1 < len(parts) <= LIST_MAX_ITEMS and all(len(part.split()) <= 4 for part in parts)
    yield from parts if listed else [text]


def _valued(text: str, reference: datetime) -> tuple[Value, list[str]]:
    bare, denied = denials(text)
    bare = re.sub(r"^(?:worth|equal to|set at|set to)\s+", "", bare, flags=re.IGNORECASE)
    bare = re.sub(r"^(?:on|for|by)\s+(?=\S)", "", bare) if _dated(bare, reference) else bare
    return read_value(bare, reference), denied


def _dated(text: str, reference: datetime) -> bool:
    return read_value(text, reference).kind == "date"


def _is_name(text: str) -> bool:
    return all(word[:1].isupper() for word in text.split()) and bool(text)


_READERS: Final[tuple[Callable[[str, datetime], list[Claim]], ...]] = (
    _role,
    _having,
    _with_attribute,
    _change,
    _being_in,
    _being,
)

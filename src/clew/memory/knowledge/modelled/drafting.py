"""From a model's statement to a draft. Its slot, topic and value are spelled by our own reading of the same words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from clew.memory.knowledge.extract import Draft, phrase_key, same_value
from clew.memory.knowledge.extract.claim import Claim
from clew.memory.knowledge.extract.clauses import claims
from clew.memory.knowledge.extract.context import Context
from clew.memory.knowledge.extract.lexicon import ADDING_VERBS, OF_A_PERIOD
from clew.memory.knowledge.extract.phrases import clipped
from clew.memory.knowledge.extract.reader import CORRECTED, HEARSAY, READ, UNPARSED
from clew.memory.knowledge.extract.rewriting import plain
from clew.memory.knowledge.extract.times import DATE, is_period, resolve
from clew.memory.knowledge.extract.values import Value, read_value
from clew.memory.knowledge.extract.verbs import lemma
from clew.memory.knowledge.modelled.grounding import Place, Source, denies, folded
from clew.memory.knowledge.modelled.statements import ReadStatement

# A model names a day of the month or the year that the source names; ours is the day on which that begins.
SAME_DATE_DAYS: Final = 31
CONFIDENCE_MIN: Final = 0.05
_BEING: Final = re.compile(r"(?:is|are|was|were|be|equals?|has value|value|=)", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"^(?:has|have|had)\s+(?:an?\s+|the\s+)?|\s+(?:is|are|was|were|of)$", re.IGNORECASE)
_DATE: Final = re.compile(rf"\b{DATE}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placed:
    """A draft, and the sentences that it was read in."""

    draft: Draft
    sentences: tuple[str, ...]


def drafted(read: ReadStatement, source: Source, reference: datetime) -> list[Placed]:
    """The drafts of a statement that the source bears out: one, or one for each item of a list."""
    place = source.place(read.quote)
    if place is None:
        return []
    found = _claims(read, place, reference)
    made = [draft for one in found if (draft := _draft(read, one, place, reference)).topic]
    if len(made) == 1:
        return [Placed(replace(made[0], text=_text(read, source, made[0])), place.sentences)]
    return [Placed(replace(draft, text=_composed(draft)), place.sentences) for draft in made]


def _claims(read: ReadStatement, place: Place, reference: datetime) -> list[Claim]:
    """What our own rules read in the triple, put as a clause; the triple itself where they read something else."""
    for clause in _clauses(read, place):
        found = claims(clause, reference, negated=True)
        if found and all(_tells(one, read, reference) for one in found):
            return found
    value = read_value(read.object, reference)
    about = _whose(read.subject, place)
    verb, *rest = read.predicate.replace("_", " ").lower().split()
    return [Claim(about, read.predicate, value, about, " ".join([lemma(verb), *rest]), single=False)]


def _clauses(read: ReadStatement, place: Place) -> Iterator[str]:
    who, value = _whose(read.subject, place), read.object.strip().rstrip(".")
    said = " ".join(read.predicate.replace("_", " ").split())
    if _BEING.fullmatch(said):
        yield f"{who} is {value}"
        return
    yield f"{who} {said} {value}"
    if attribute := _ATTRIBUTE.sub("", said):
        yield f"{who}'s {attribute} is {value}"


def _whose(subject: str, place: Place) -> str:
    """The subject as our own reading names it: who says “my” is the speaker."""
    context = Context()
    context.speaker = place.passage.speaker
    if subject.strip().lower() in ("i", "me", "the user", "speaker", "the speaker"):
        subject = context.resolved("I am here").removesuffix(" is here")
    return context.resolved(f"{subject.strip()} is here").removesuffix(" is here")


def _tells(claim: Claim, read: ReadStatement, reference: datetime) -> bool:
    """Whether a claim is of the statement's two ends: “Ana is CEO of Acme” tells Acme's CEO."""
    if folded(claim.value.text) in folded(read.object):
        return True
    value = read_value(read.subject, reference)
    return same_value(claim.value.key, claim.value.text, value.key, value.text) and (
        folded(claim.subject) in folded(read.object)
    )


def _draft(read: ReadStatement, claim: Claim, place: Place, reference: datetime) -> Draft:
    about = _with_period(claim.about, read.quote)
    topic = phrase_key(about)
    denied = _denied(read, reference)
    starts, ends = (None, None) if about != claim.about else _dates(read, place, reference)
    # Somebody else's word, or a guess of the model's, is no reason to close anything.
    unsure = read.confidence < UNPARSED or plain(read.quote).hearsay
    trust = CORRECTED if denied else READ
    return Draft(
        text=read.text,
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.value.text,
        subject_key=phrase_key(claim.subject),
        object_key=phrase_key(claim.value.text) if claim.value.kind == "name" else "",
        topic=topic,
        slot=clipped(f"{topic}/{claim.slot_name}"),
        value=claim.value.key or clipped(folded(claim.value.text)),
        single=_single(read, claim) and not unsure,
        negated=read.negated,
        denied=() if unsure else denied,
        valid_at=starts,
        invalid_at=ends,
        confidence=max(CONFIDENCE_MIN, min(read.confidence, HEARSAY if unsure else trust)),
        message_id=place.passage.message_id,
        role=place.passage.role,
        evidence=place.sentences[0] if len(place.sentences) == 1 else " ".join(read.quote.split()),
    )


def _single(read: ReadStatement, claim: Claim) -> bool:
    """Whether a new value takes the old one's place. A model may know better than our rules, but not all of it:

    figures of one thing never add up, and the objects of a verb such as “acquire” always do.
    """
    if plain(read.quote).adds:
        return False
    if claim.single:
        return read.holds == "one" or claim.value.quantity is not None or claim.value.kind == "date"
    adding = claim.slot_name.split()[0] in ADDING_VERBS
    return read.holds == "one" and not adding


def _denied(read: ReadStatement, reference: datetime) -> tuple[tuple[str, str], ...]:
    """The value that the same quote calls wrong or past; one that the quote does not name closes nothing."""
    old = (read.replaces or "").strip()
    if not old or folded(old) not in folded(read.quote) or folded(old) == folded(read.object):
        return ()
    value: Value = read_value(old, reference)
    return ((value.text, value.key),) if value.key else ()


def _with_period(about: str, quote: str) -> str:
    """A figure of a period is about the period: revenue in 2023 says nothing of 2024."""
    key = phrase_key(about).split()
    if OF_A_PERIOD.isdisjoint(about.lower().split()):
        return about
    for match in _DATE.finditer(quote):
        if is_period(match[0]) and not set(phrase_key(match[0]).split()) <= set(key):
            return f"{about} in {match[0]}"
    return about


def _dates(read: ReadStatement, place: Place, reference: datetime) -> tuple[datetime | None, datetime | None]:
    """Since when and until when, as our own reading resolves the dates that the same sentence names."""
    beside = folded(" ".join([read.quote, *place.sentences])).replace(folded(read.object), " ")
    named = [found for match in _DATE.finditer(beside) if (found := resolve(match[0], reference)) is not None]
    return _nearest(read.valid_from, named), _nearest(read.valid_to, named)


def _nearest(day: date | None, named: list[datetime]) -> datetime | None:
    if day is None or not named:
        return None
    moment = datetime.combine(day, time(), UTC)
    best = min(named, key=lambda one: abs(one - moment))
    return best if abs(best - moment) <= timedelta(days=SAME_DATE_DAYS) else None


def _text(read: ReadStatement, source: Source, draft: Draft) -> str:
    """The model's sentence, when all its words are the source's or the triple's, and it says all of the draft."""
    text = " ".join(read.text.split())
    beside = f"{read.predicate} {read.subject} {read.object}"
    sound = 0 < len(text) <= 2 * len(read.quote) + 200 and source.knows(text, beside)
    if sound and denies(text) in (draft.negated, denies(read.quote)) and _names_period(text, draft):
        return text
    # A denial and a period are not in the triple.
    return _composed(draft) if _names_period(beside, draft) and not draft.negated else draft.evidence


def _names_period(text: str, draft: Draft) -> bool:
    return {word for word in draft.topic.split() if is_period(word)} <= set(phrase_key(text).split())


def _composed(draft: Draft) -> str:
    if "/is " in draft.slot and draft.predicate != "is":
        return f"{draft.subject}'s {draft.predicate} is {draft.object}"
    return f"{draft.subject} {'not ' if draft.negated else ''}{draft.predicate} {draft.object}"

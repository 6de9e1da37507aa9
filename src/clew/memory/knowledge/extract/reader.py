"""The whole way from passages to drafts: sentences, clauses, who is meant, when it holds."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from clew.memory.analysis import content_stems, words
from clew.memory.knowledge.extract.clauses import Claim, claims
from clew.memory.knowledge.extract.context import Context
from clew.memory.knowledge.extract.draft import Alias, Draft
from clew.memory.knowledge.extract.lexicon import OF_A_PERIOD
from clew.memory.knowledge.extract.patterns import WENT
from clew.memory.knowledge.extract.phrases import clipped, phrase_key
from clew.memory.knowledge.extract.rewriting import Plain, plain
from clew.memory.knowledge.extract.sentences import is_question, is_unsure, sentences, without_lead_in
from clew.memory.knowledge.extract.times import When, leading, trailing
from clew.memory.knowledge.extract.values import read_value

# How much a reading is to be trusted: a correction most, a sentence that nobody could parse least.
CORRECTED, READ, HEARSAY, UNPARSED = 0.95, 0.85, 0.6, 0.5
_JOINED: Final = re.compile(r"\s*,\s*(?:and|but|while|whereas|yet)\s+|\s+(?:and|but|while|whereas)\s+", re.IGNORECASE)
_QUARTER: Final = re.compile(r"(?:(?:Q[1-4]|H[12])\s+(?:of\s+)?|FY\s?)\d{4}", re.IGNORECASE)
_SINCE: Final = frozenset({"since", "as of", "effective", "starting", "beginning"})
_LATELY: Final = re.compile(
    r"yesterday|today|tonight|the day before yesterday|this .+|last (?:week|month|quarter|\w+day)"
    r"|.*(?:day|week|hour)s? ago|(?:a|one) month ago",
    re.IGNORECASE,
)
_PERIOD_HOW: Final = frozenset({"in", "for", "during", "on", ""})


@dataclass(frozen=True, slots=True)
class Passage:
    """Something said at once, by somebody."""

    text: str
    message_id: str | None = None
    role: str | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an episode says."""

    drafts: tuple[Draft, ...]
    aliases: tuple[Alias, ...] = ()


def extract(passages: Iterable[Passage], reference: datetime) -> Extracted:
    """The facts of an episode, in the order they were told."""
    context = Context()
    drafts: list[Draft] = []
    for passage in passages:
        context.speaker = passage.speaker
        for sentence in sentences(passage.text):
            if is_question(sentence) or not content_stems(words(sentence)):
                continue
            for draft in _of_sentence(sentence, reference, context):
                drafts.append(replace(draft, message_id=passage.message_id, role=passage.role, evidence=sentence))
            context.ends()
    return Extracted(tuple(drafts), tuple(context.aliases()))


def _of_sentence(sentence: str, reference: datetime, context: Context) -> list[Draft]:
    told, corrects = without_lead_in(sentence)
    context.learn(told)
    told = context.resolved(told)
    if not is_unsure(told):
        parts = list(_clauses(told, reference))
        found = [
            draft
            for part in parts
            for draft in _of_clause(part, reference, context, corrects=corrects, alone=len(parts) == 1, whole=told)
        ]
        if found:
            return found
    stems = clipped("= " + " ".join(content_stems(words(told))))
    return [Draft(told, slot=stems, topic="", confidence=UNPARSED)]


def _clauses(sentence: str, reference: datetime) -> Iterator[str]:
    """The clauses of a sentence: it is cut where both sides can be read on their own."""
    for cut in _JOINED.finditer(sentence):
        left, right = sentence[: cut.start()], sentence[cut.end() :]
        if _stands(left, reference) and _stands(right, reference):
            yield left
            yield from _clauses(right, reference)
            return
    yield sentence


def _stands(text: str, reference: datetime) -> bool:
    """Whether a text is a clause with a subject of its own."""
    bare = plain(text)
    found = claims(leading(bare.text, reference)[1], reference, negated=bare.negated) if len(text.split()) > 2 else []
    return bool(found) and not re.match(r"(?:not|rather|instead)\b", text, re.IGNORECASE)


def _of_clause(
    part: str, reference: datetime, context: Context, *, corrects: bool, alone: bool, whole: str
) -> list[Draft]:
    part = context.resolved(part)
    bare = plain(part)
    before, text = leading(bare.text, reference)
    found, after = _claimed(text, reference, bare)
    when = before or after
    drafts = []
    for claim in found:
        context.saw(claim.subject, claim.predicate, claim.value.text)
        text = whole if alone and len(found) == 1 else _told(claim, bare, part, single=len(found) == 1)
        drafts.append(_draft(claim, text, bare, when, reference, corrects=corrects))
    return drafts


def _claimed(text: str, reference: datetime, bare: Plain) -> tuple[list[Claim], When | None]:
    """The claims, read without the time at the end unless that is what is claimed."""
    when, shorter = trailing(text, reference)
    # “Due on Friday”: the time is what is claimed.
    if when is not None and not re.search(r"\b(?:due|scheduled|planned|booked|slated)$", shorter):
        found = claims(shorter, reference, negated=bare.negated)
        if found:
            return found, when
    return claims(text, reference, negated=bare.negated), None


def _told(claim: Claim, bare: Plain, part: str, *, single: bool) -> str:
    return part if single else f"{claim.subject} {'not ' if bare.negated else ''}{claim.predicate} {claim.value.text}"


def _draft(claim: Claim, text: str, bare: Plain, when: When | None, reference: datetime, *, corrects: bool) -> Draft:
    about = claim.about
    period = when is not None and when.how in _PERIOD_HOW and (_flows(claim) or _of_that_year(claim, when, bare))
    if when is not None and period:
        about = f"{about} in {when.text}"
    start = None if when is None or period or when.how in ("until", "till") else when.start
    topic = phrase_key(about)
    denied = tuple((value.text, value.key) for one in claim.denied if (value := read_value(one, reference)).key)
    confidence = HEARSAY if bare.hearsay else CORRECTED if corrects or denied else READ
    return Draft(
        text=text,
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.value.text,
        subject_key=phrase_key(claim.subject),
        object_key=phrase_key(claim.value.text) if claim.value.kind == "name" else "",
        topic=topic,
        slot=f"{topic}/{claim.slot_name}",
        value=claim.value.key,
        single=claim.single and not bare.adds,
        negated=bare.negated,
        denied=denied,
        valid_at=start,
        lasting=when is not None and not period and _lasts(when, bare),
        invalid_at=_end(when) or _that_year_only(claim, when, bare),
        confidence=confidence,
    )


def _end(when: When | None) -> datetime | None:
    if when is None:
        return None
    return when.start if when.how in ("until", "till") else when.end


def _lasts(when: When, bare: Plain) -> bool:
    """Whether it is so from then on and still: “since March”, “moved last month”, but not “was $5 last month”."""
    if when.how in _SINCE:
        return True
    changed = re.search(rf"\b{WENT}\b", bare.text, re.IGNORECASE) is not None
    return changed and _LATELY.fullmatch(when.text) is not None


def _that_year_only(claim: Claim, when: When | None, bare: Plain) -> datetime | None:
    """“In 2020 Paula lived in Quito”: nobody says that she does still."""
    past = re.search(r"\b(?:lived|worked|stayed|resided|studied|reported)\b", bare.text) is not None
    if when is None or not past or when.how not in _PERIOD_HOW or not re.fullmatch(r"\d{4}", when.text):
        return None
    return when.start.replace(year=when.start.year + 1) if claim.single else None


def _of_that_year(claim: Claim, when: When, bare: Plain) -> bool:
    """“The rate was 3% in Q1 2025” is a figure of that quarter, and says nothing of the next."""
    past = re.search(r"\b(?:was|were)\b", bare.text) is not None
    return past and claim.value.quantity is not None and _QUARTER.fullmatch(when.text) is not None


def _flows(claim: Claim) -> bool:
    return not OF_A_PERIOD.isdisjoint(words(claim.about))

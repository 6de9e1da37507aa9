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
from clew.memory.knowledge.extract.times import (
    MONTH,
    When,
    before_now,
    leading,
    period_end,
    period_name,
    resolve,
    trailing,
)
from clew.memory.knowledge.extract.values import is_state, read_value
from clew.memory.knowledge.extract.verbs import is_finite

# How much a reading is to be trusted: a correction most, a sentence that nobody could parse least.
CORRECTED, READ, HEARSAY, UNPARSED = 0.95, 0.85, 0.6, 0.5
_JOINED: Final = re.compile(r"\s*,\s*(?:and|but|while|whereas|yet)\s+|\s+(?:and|but|while|whereas)\s+", re.IGNORECASE)
_WHO: Final = re.compile(
    r"user(?=\s)|[A-Z][\w-]*(?: [A-Z][\w-]*){0,2}(?=\s[a-z])"
    r"|(?:The|Our)(?: [\w-]+){1,2}?(?=\s(?:is|was|has|[a-z]+(?:ed|[^su]s))\s)"
)
_WHICH_TIME: Final = re.compile(
    r"\b(?:due|scheduled|planned|booked|slated|valid|in force|in effect|runs?|lasts?|continues?|takes? place|falls"
    r"|happens|occurs|will be held)$"
)
_NOW: Final = re.compile(r"today|tonight|this|right now", re.IGNORECASE)
_QUARTER: Final = re.compile(r"(?:(?:Q[1-4]|H[12])\s+(?:of\s+)?|FY\s?)\d{4}", re.IGNORECASE)
_PERIOD: Final = rf"(?:(?:(?:{MONTH})|Q[1-4]|H[12])\s+(?:of\s+)?|FY\s?)?(?:19|20)\d{{2}}"
_OF_PERIOD: Final = re.compile(rf"\b(?:in|for|during)\s+(?P<period>{_PERIOD})\b(?!-)", re.IGNORECASE)
_NAMED_PERIOD: Final = re.compile(rf"\b(?P<period>{_PERIOD})\b(?!-)", re.IGNORECASE)
# What is told with these and a time was so at that time, and nobody says that it is still.
_PAST: Final = re.compile(
    r"\b(?:was|were|had|lived|worked|stayed|resided|studied|reported|stood|reached|hit|totall?ed|amounted|equall?ed"
    r"|closed at|opened at|ended at|came in|cost|weighed|earned|employed|managed|charged|averaged)\b",
    re.IGNORECASE,
)
_CHANGED: Final = re.compile(rf"\b(?:{WENT}|joined|hired|became|has been|have been)\b", re.IGNORECASE)
# What happened at a time that is itself the value: “started two weeks ago”.
_HAPPENED: Final = re.compile(
    r"\b(?:started|began|opened|launched|went live|shipped|ended|expired|closed|departed|arrived)\b"
)
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
    return [Draft(told, slot=stems, topic="", valid_at=_dated(told, reference), confidence=UNPARSED)]


def _dated(text: str, reference: datetime) -> datetime | None:
    """When something happened that could not be read into a triple: “the server crashed yesterday”."""
    bare = plain(text).text
    when = leading(bare, reference)[0] or trailing(bare, reference)[0]
    past = when is not None and when.how in (*_PERIOD_HOW, *_SINCE) and when.start <= reference
    return when.start if when is not None and past else None


def _clauses(sentence: str, reference: datetime) -> Iterator[str]:
    """The clauses of a sentence: it is cut where both sides can be read on their own."""
    for cut in _JOINED.finditer(sentence):
        left, right = sentence[: cut.start()], sentence[cut.end() :]
        if not _stands(left, reference):
            continue
        right = _with_subject(left, right)
        if _stands(right, reference):
            yield left
            yield from _clauses(right, reference)
            return
    yield sentence


def _with_subject(left: str, right: str) -> str:
    """“… and now works at Globex” with the subject of the clause before it."""
    who = _WHO.match(left)
    goes_on = re.match(r"(?:(?:now|then|currently|recently|since)\s+)?(?P<verb>[a-z]+)\s+\S", right)
    return f"{who[0]} {right}" if who and goes_on and is_finite(goes_on["verb"]) else right


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
    # “Due on Friday”, “valid until June”: the time is what is claimed.
    if when is not None and not _WHICH_TIME.search(shorter):
        found = claims(shorter, reference, negated=bare.negated)
        if found:
            return found, when
    return claims(text, reference, negated=bare.negated), None


def _told(claim: Claim, bare: Plain, part: str, *, single: bool) -> str:
    no = "not " if bare.negated else "no longer " if claim.ended else ""
    return part if single else f"{claim.subject} {no}{claim.predicate} {claim.value.text}"


def _draft(claim: Claim, text: str, bare: Plain, when: When | None, reference: datetime, *, corrects: bool) -> Draft:
    about = claim.about
    when = before_now(when, reference) if when is not None and _PAST.search(bare.text) else when
    period = when is not None and when.how in _PERIOD_HOW and (_flows(claim) or _of_that_year(claim, when, bare))
    if when is not None and period:
        about = f"{about} in {period_name(when)}"
    start, end = _span(claim, when, bare, reference, period=period)
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
        negated=bare.negated or claim.ended,
        denied=denied,
        valid_at=start,
        lasting=when is not None and not period and end is None and _lasts(when, bare),
        invalid_at=end,
        confidence=confidence,
    )


def _span(
    claim: Claim, when: When | None, bare: Plain, reference: datetime, *, period: bool
) -> tuple[datetime | None, datetime | None]:
    """From when to when the claim holds, as far as the clause says."""
    if when is None:
        return _of_its_subject(claim, bare, reference) or (_event(claim, bare, reference), None)
    if when.how in ("until", "till"):
        return None, when.start
    if when.end is not None:
        return when.start, when.end
    if period and not re.search(r"\d{4}|\b(?:last|ago|yesterday)\b", when.text, re.IGNORECASE):
        # “In Q3” of whichever year.
        return None, None
    return when.start, period_end(when.text, when.start) if period or _of_then(claim, when, bare) else None


def _of_then(claim: Claim, when: When, bare: Plain) -> bool:
    """“In 2020 Paula lived in Quito”, “headcount was 40 in March”: nobody says that it is so still."""
    told = claim.single and not is_state(claim.value.text) and when.how in _PERIOD_HOW and not _NOW.match(when.text)
    return told and _PAST.search(bare.text) is not None and _CHANGED.search(bare.text) is None


def _of_its_subject(claim: Claim, bare: Plain, reference: datetime) -> tuple[datetime, datetime] | None:
    """“Revenue in 2023 was $5M”: the subject says when."""
    found = _OF_PERIOD.findall(claim.about) or (_NAMED_PERIOD.findall(claim.about) if _flows(claim) else [])
    start = resolve(found[0], reference) if len(found) == 1 and claim.single and _PAST.search(bare.text) else None
    return None if start is None else (start, period_end(found[0], start))


def _event(claim: Claim, bare: Plain, reference: datetime) -> datetime | None:
    """When something happened of which the time is what is told; what is still to come is known from now on."""
    if claim.value.kind != "date" or (claim.single and not _HAPPENED.search(bare.text)):
        return None
    start = resolve(re.sub(r"^(?:on|in|at|by) ", "", claim.value.text), reference)
    return start if start is not None and start <= reference else None


def _lasts(when: When, bare: Plain) -> bool:
    """Whether it is so from then on and still: “since March”, “moved last month”, but not “was $5 last month”."""
    if when.how in _SINCE:
        return True
    changed = _CHANGED.search(bare.text) is not None
    return changed and _LATELY.fullmatch(when.text) is not None


def _of_that_year(claim: Claim, when: When, bare: Plain) -> bool:
    """“The rate was 3% in Q1 2025” is a figure of that quarter, and says nothing of the next."""
    past = re.search(r"\b(?:was|were)\b", bare.text) is not None
    return past and claim.value.quantity is not None and _QUARTER.fullmatch(when.text) is not None


def _flows(claim: Claim) -> bool:
    return not OF_A_PERIOD.isdisjoint(words(claim.about))

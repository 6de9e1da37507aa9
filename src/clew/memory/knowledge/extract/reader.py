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
from clew.memory.knowledge.extract.phrases import clipped, phrase_key
from clew.memory.knowledge.extract.rewriting import Plain, plain
from clew.memory.knowledge.extract.sentences import is_question, is_unsure, sentences, without_lead_in
from clew.memory.knowledge.extract.times import When, leading, trailing
from clew.memory.knowledge.extract.values import read_value

# How much a reading is to be trusted: a correction most, a sentence that nobody could parse least.
CORRECTED, READ, HEARSAY, UNPARSED = 0.95, 0.85, 0.6, 0.5
_JOINED: Final = re.compile(r"\s*,\s*(?:and|but|while|whereas|yet)\s+|\s+(?:and|but|while|whereas)\s+", re.IGNORECASE)
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
        context.saw(claim.subject)
        text = whole if alone and len(found) == 1 else _told(claim, bare, part, single=len(found) == 1)
        drafts.append(_draft(claim, text, bare, when, reference, corrects=corrects))
    return drafts


def _claimed(text: str, reference: datetime, bare: Plain) -> tuple[list[Claim], When | None]:
    """The claims, read without the time at the end unless that is what is claimed."""
    when, shorter = trailing(text, reference)
    if when is not None:
        found = claims(shorter, reference, negated=bare.negated)
        if found:
            return found, when
    return claims(text, reference, negated=bare.negated), None


def _told(claim: Claim, bare: Plain, part: str, *, single: bool) -> str:
    return part if single else f"{claim.subject} {'not ' if bare.negated else ''}{claim.predicate} {claim.value.text}"


def _draft(claim: Claim, text: str, bare: Plain, when: When | None, reference: datetime, *, corrects: bool) -> Draft:
    about = claim.about
    period = when is not None and when.how in _PERIOD_HOW and _flows(claim)
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
        topic=topic,
        slot=f"{topic}/{claim.slot_name}",
        value=claim.value.key,
        single=claim.single and not bare.adds,
        negated=bare.negated,
        denied=denied,
        valid_at=start,
        invalid_at=when.start if when is not None and when.how in ("until", "till") else None,
        confidence=confidence,
    )


def _flows(claim: Claim) -> bool:
    return not OF_A_PERIOD.isdisjoint(words(claim.about))

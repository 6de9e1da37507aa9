"""From drafts to statements: what each says of its slot, and the fact that it would make."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from clew.ids import new_id
from clew.memory.knowledge.extract import Draft
from clew.memory.knowledge.extract.phrases import clipped
from clew.memory.knowledge.timeline import Act, Statement


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement, and the draft whose words it has."""

    statement: Statement
    draft: Draft


def stated(drafts: Iterable[Draft], reference: datetime) -> list[Stated]:
    """The statements of an episode, in the order in which they take effect."""
    return [one for draft in drafts for one in _of(draft, reference)]


def renamed(draft: Draft, entity_of: Mapping[str, str]) -> Draft:
    """The draft with the names of things that are known under another name."""
    if not entity_of or not draft.topic:
        return draft
    topic = new_name(draft.topic, entity_of)
    slot = clipped(f"{topic}{draft.slot[len(draft.topic) :]}")
    subject_key = new_name(draft.subject_key, entity_of)
    told = (draft.topic, draft.slot, draft.subject_key)
    return replace(draft, topic=topic, slot=slot, subject_key=subject_key, told=_where_other(told, topic, subject_key))


def names_in(drafts: Iterable[Draft]) -> list[str]:
    """What may be another name of something: subjects, and each of their words."""
    found: dict[str, None] = {}
    for draft in drafts:
        for key in (draft.subject_key, draft.topic, *draft.topic.split()):
            if key:
                found[key] = None
    return list(found)


def _of(draft: Draft, reference: datetime) -> Iterator[Stated]:
    at = draft.valid_at or reference
    for text, key in draft.denied:
        past = replace(draft, text=_told_past(draft, text), object=text, value=key, denied=())
        yield Stated(_statement("ended", past, at, reference), past)
    if draft.negated:
        yield Stated(_statement("denied", draft, at, reference), replace(draft, single=False))
    elif draft.invalid_at is not None and draft.valid_at is not None:
        yield Stated(_statement("holds", draft, draft.valid_at, reference), draft)
        # Its end is its own: nothing else was said that closes it.
        yield Stated(replace(_statement("ended", draft, draft.invalid_at, reference), quote=""), draft)
    elif draft.invalid_at is not None:
        yield Stated(_statement("ended", draft, draft.invalid_at, reference), draft)
    else:
        yield Stated(_statement("holds", draft, at, reference), draft)


def _statement(act: Act, draft: Draft, at: datetime, said: datetime) -> Statement:
    quote, lasting = draft.evidence or draft.text, draft.lasting and act == "holds"
    return Statement(
        act, new_id(), draft.slot, draft.value, draft.object, draft.single, at, quote, said=said, lasting=lasting
    )


def _told_past(draft: Draft, value: str) -> str:
    if draft.predicate == "is":
        return f"{draft.subject} was {value}"
    if "/is " in draft.slot:
        return f"{draft.subject}'s {draft.predicate} was {value}"
    return f"{draft.subject} {draft.predicate} {value}"


def _where_other(told: tuple[str, str, str], topic: str, subject_key: str) -> tuple[str, str, str] | None:
    return told if (told[0], told[2]) != (topic, subject_key) else None


def new_name(key: str, entity_of: Mapping[str, str]) -> str:
    """A key with the names that things are known under, by their aliases."""
    if key in entity_of:
        return entity_of[key]
    words = key.split()
    if len(words) < 2:
        return key
    *narrowed, head = words
    for alias, entity in entity_of.items():
        parts = alias.split()
        if all(part in narrowed for part in parts):
            narrowed = [word for word in narrowed if word not in parts] + entity.split()
    return " ".join([*sorted(narrowed), head])

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
    topic = _renamed(draft.topic, entity_of)
    slot = clipped(f"{topic}{draft.slot[len(draft.topic) :]}")
    return replace(draft, topic=topic, slot=slot, subject_key=_renamed(draft.subject_key, entity_of))


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
        yield Stated(_statement("ended", past, at), past)
    if draft.negated:
        yield Stated(_statement("denied", draft, at), replace(draft, single=False))
    elif draft.invalid_at is not None:
        yield Stated(_statement("ended", draft, draft.invalid_at), draft)
    else:
        yield Stated(_statement("holds", draft, at), draft)


def _statement(act: Act, draft: Draft, at: datetime) -> Statement:
    return Statement(
        act, new_id(), draft.slot, draft.value, draft.object, draft.single, at, draft.evidence or draft.text
    )


def _told_past(draft: Draft, value: str) -> str:
    if draft.predicate == "is":
        return f"{draft.subject} was {value}"
    if "/is " in draft.slot:
        return f"{draft.subject}'s {draft.predicate} was {value}"
    return f"{draft.subject} {draft.predicate} {value}"


def _renamed(key: str, entity_of: Mapping[str, str]) -> str:
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

"""Facts from edges: as they are, or as they were known at a time."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from clew.memory.graphiti.records import Edge, Told
from clew.memory.knowledge.fact import Episode, Fact, Source

QUOTE_MAX_CHARS: Final = 1_000
# As in `KnowledgeBase`.
SUPERSEDED_SHARE: Final = 0.8


def episode_of(told: Told) -> Episode:
    """The episode, as a caller gets it."""
    return Episode(
        told.uuid,
        told.name,
        told.source,
        told.source_description,
        told.reference_time,
        told.created_at,
        told.thread_id,
        told.note.user_id,
        told.note.undone_at is not None,
    )


def fact_of(
    edge: Edge,
    episodes: Mapping[str, Told],
    *,
    known_at: datetime | None = None,
    ever: bool = False,
    score: float | None = None,
) -> Fact | None:
    """The fact that an edge is; None when it is not believed, unless asked for what ever was.

    Graphiti has one `expired_at` for what ended and for what was wrong. Until it, an end was not known; and what is
    known to end later holds still.
    """
    at = known_at or datetime.now(UTC)
    if known_at is not None and edge.created_at > known_at:
        return None
    sources = [one for uuid in edge.episodes if (one := episodes.get(uuid)) is not None and one.created_at <= at]
    believed = not sources or not all(one.undone(at) for one in sources)
    if not believed and not ever:
        return None
    invalid_at, expired_at = edge.ends
    if known_at is not None and expired_at is not None and expired_at > known_at:
        invalid_at = expired_at = None
    elif believed and invalid_at is not None and invalid_at > at:
        expired_at = None
    supporting = [one for one in sources if not one.undone(at)] if believed else sources
    return Fact(
        edge.uuid,
        edge.fact,
        edge.subject,
        edge.name,
        edge.object,
        max((one.note.confidence for one in supporting), default=1.0),
        edge.valid_at,
        invalid_at,
        edge.created_at,
        expired_at,
        tuple(_source(one, at) for one in supporting),
        score=score,
    )


def held(fact: Fact, as_of: datetime) -> bool:
    """Whether a fact was true at a time, as far as anybody said."""
    begun = fact.valid_at is None or fact.valid_at <= as_of
    return begun and (fact.invalid_at is None or fact.invalid_at > as_of)


def best(facts: Iterable[Fact], limit: int, as_of: datetime | None) -> list[Fact]:
    """The best of all, in the order in which to read them: what holds first, then by score, the newest of equals first.

    What holds no more must match better to be among them; asked of another time, nothing is past.
    """
    now, earliest = datetime.now(UTC), datetime.min.replace(tzinfo=UTC)

    def past(fact: Fact) -> bool:
        return as_of is None and (fact.superseded or (fact.valid_at or earliest) > now)

    def weight(fact: Fact) -> float:
        return (fact.score or 0.0) * (SUPERSEDED_SHARE if past(fact) else 1.0)

    def order(fact: Fact) -> tuple[bool, float, float, str]:
        return past(fact), -(fact.score or 0.0), -(fact.valid_at or earliest).timestamp(), fact.fact_id

    chosen = sorted(facts, key=lambda one: (-weight(one), one.fact_id))[:limit]
    return sorted(chosen, key=order)


def _source(told: Told, at: datetime) -> Source:
    return Source(
        told.uuid,
        told.name,
        told.source,
        told.source_description,
        told.thread_id,
        told.note.message_id,
        None,
        told.content[:QUOTE_MAX_CHARS],
        told.reference_time,
        told.undone(at),
        confidence=told.note.confidence,
    )

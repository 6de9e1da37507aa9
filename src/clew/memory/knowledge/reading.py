"""Facts from their rows, with their sources."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from psycopg import AsyncConnection

from clew.memory.knowledge.fact import Fact, Source
from clew.store.named_sql import statements

_SQL: Final = statements("knowledge_search")


async def facts_now(
    connection: AsyncConnection[Any],
    tenant_id: str,
    seqs: Sequence[int],
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> dict[int, list[Fact]]:
    """What is, or at `known_at` was, believed of some facts and, with `as_of`, held then; by row, without sources."""
    values = {"tenant_id": tenant_id, "seqs": list(seqs), "as_of": as_of, "known_at": known_at}
    return await _facts(connection, _SQL.beliefs, values)


async def facts_ever(connection: AsyncConnection[Any], tenant_id: str, seqs: Sequence[int]) -> dict[int, list[Fact]]:
    """The same of facts that nobody believes any more as well: each as it was believed last."""
    return await _facts(connection, _SQL.last_beliefs, {"tenant_id": tenant_id, "seqs": list(seqs)})


async def sourced(
    connection: AsyncConnection[Any], tenant_id: str, found: Iterable[tuple[int, Fact]]
) -> list[tuple[int, Fact]]:
    """Facts with those who said so, and who closed them. Of a fact that is believed, an undone episode is no source."""
    listed = list(found)
    sources = await _sources(connection, _SQL.sources, tenant_id, seqs=[seq for seq, _ in listed])
    closed = [(seq, fact.because) for seq, fact in listed if fact.because]
    values = {"seqs": [seq for seq, _ in closed], "quotes": [because for _, because in closed]}
    closers = await _sources(connection, _SQL.closers, tenant_id, **values)
    told = []
    for seq, fact in listed:
        of = _who_said_so(fact, [one for one in sources.get(seq, ()) if not one.undone or fact.expired_at is not None])
        by = next((one for one in reversed(closers.get(seq, ())) if one.quote == fact.because), None)
        told.append((seq, replace(fact, sources=of, confidence=_confidence(fact, of), closed_by=by)))
    return told


def _who_said_so(fact: Fact, sources: Sequence[Source]) -> tuple[Source, ...]:
    """Those who said that it is so; where nobody did, those who said that it is past."""
    act = "denied" if fact.negated else "holds"
    return tuple(one for one in sources if one.act == act) or tuple(sources)


async def told_facts(
    connection: AsyncConnection[Any], tenant_id: str, found: Mapping[int, Sequence[Fact]], seqs: Sequence[int]
) -> list[Fact]:
    """The facts of these rows, in their order, with their sources."""
    rows = [(seq, fact) for seq in seqs for fact in found.get(seq, ())]
    return [fact for _, fact in await sourced(connection, tenant_id, rows)]


def _confidence(fact: Fact, sources: Sequence[Source]) -> float:
    """That of the source which says so most surely."""
    act = "denied" if fact.negated else "holds"
    return max((one.confidence for one in sources if one.act == act), default=fact.confidence)


async def _facts(connection: AsyncConnection[Any], statement: Any, values: dict[str, Any]) -> dict[int, list[Fact]]:
    if not values["seqs"]:
        return {}
    found: dict[int, list[Fact]] = {}
    for row in await (await connection.execute(statement, values)).fetchall():
        found.setdefault(row[0], []).append(_fact(row))
    return found


async def _sources(
    connection: AsyncConnection[Any], statement: Any, tenant_id: str, **values: Any
) -> dict[int, list[Source]]:
    if not values["seqs"]:
        return {}
    rows = await (await connection.execute(statement, {"tenant_id": tenant_id, **values})).fetchall()
    found: dict[int, list[Source]] = {}
    for seq, *said, said_at, undone, act, confidence in rows:
        columns = (*said, said_at.astimezone(UTC), undone, act, round(float(confidence), 4))
        found.setdefault(seq, []).append(Source(*columns))
    return found


def _fact(row: Sequence[Any]) -> Fact:
    _, fact_id, text, subject, predicate, told, confidence, valid_at, invalid_at, created_at, expired_at, *rest = row
    negated, because, *_ = rest
    return Fact(
        fact_id=fact_id,
        text=text,
        subject=subject,
        predicate=predicate,
        object=told,
        confidence=round(float(confidence), 4),
        valid_at=_utc(valid_at),
        invalid_at=_utc(invalid_at),
        created_at=created_at.astimezone(UTC),
        expired_at=_utc(expired_at),
        negated=negated,
        because=(because or None) if invalid_at is not None else None,
        dated=invalid_at is not None and because == "",
    )


def _utc(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)

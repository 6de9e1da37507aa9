"""What is believed of some slots: read, changed, and every change logged. The one place that writes beliefs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from clew.memory.knowledge.timeline import PURPOSE, Span, Statement
from clew.store.named_sql import statements

_SQL: Final = statements("knowledge")
# PostgreSQL has room for some thousand locks in all: whoever wants more than these takes the tenant's one.
SLOTS_LOCKED_MAX: Final = 64
_TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Held:
    """A span that is believed, with the fact it is of."""

    slot: str
    seq: int
    span: Span
    created_at: datetime


class Beliefs:
    """What is believed of some slots, in the caller's transaction."""

    def __init__(self, connection: AsyncConnection[Any], tenant_id: str, episode_id: str) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._episode_id = episode_id
        self.seq_of: dict[str, int] = {}
        self.at: datetime | None = None

    async def lock(self, slots: Sequence[str] | None) -> None:
        """Wait for our turn on these slots; None, or very many, means all of the tenant's."""
        if slots is None or len(slots) > SLOTS_LOCKED_MAX:
            await self._connection.execute(_SQL.lock_tenant, {"tenant_id": self._tenant_id})
        else:
            await self._connection.execute(_SQL.lock_slots, {"tenant_id": self._tenant_id, "slots": list(slots)})

    async def read(self, statement: Any, **values: Any) -> dict[str, list[Held]]:
        """What is believed, by slot. The moment of our own changes is now, and after all that we found."""
        bound = {"tenant_id": self._tenant_id, **values}
        rows = await (await self._connection.execute(statement, bound)).fetchall()
        clock = await (await self._connection.execute(_SQL.clock)).fetchone()
        found: dict[str, list[Held]] = {}
        latest: datetime | None = clock[0] if clock else None
        for slot, seq, fact_id, value, told, single, negated, valid_at, invalid_at, belief, created_at in rows:
            span = Span(fact_id, value, told, single, negated, valid_at, invalid_at, belief)
            found.setdefault(slot, []).append(Held(slot, seq, span, created_at))
            self.seq_of[fact_id] = seq
            latest = max(latest or created_at, created_at + _TICK)
        self.at = latest
        return found

    async def change(self, slot_of: Mapping[str, str], before: Iterable[Span], after: Iterable[Span]) -> list[str]:
        """Believe `after` where we believed `before`; the facts that hold for less than they did."""
        old = {_identity(span): span for span in before}
        new = {_identity(span): span for span in after}
        gone = [span for key, span in old.items() if key not in new]
        come = [span for key, span in new.items() if key not in old]
        if gone:
            beliefs = [span.belief for span in gone]
            await self._run(_SQL.expire_beliefs, beliefs=beliefs, at=self.at)
        if come:
            await self._run(
                _SQL.add_beliefs,
                seq=[self.seq_of[span.fact] for span in come],
                slot=[slot_of[span.fact] for span in come],
                single=[span.single for span in come],
                valid_at=[span.valid_at for span in come],
                invalid_at=[span.invalid_at for span in come],
                because=[span.because for span in come],
                at=self.at,
                episode_id=self._episode_id,
            )
        return await self._log(gone, come)

    async def _log(self, gone: list[Span], come: list[Span]) -> list[str]:
        was, now = {span.fact: span for span in gone}, {span.fact: span for span in come}
        acts: dict[str, str] = {}
        for fact in dict.fromkeys([*was, *now]):
            acts[fact] = _act(was.get(fact), now.get(fact))
        if acts:
            await self._run(
                _SQL.add_changes,
                fact_id=list(acts),
                act=list(acts.values()),
                before=[_seen(was.get(fact)) for fact in acts],
                after=[_seen(now.get(fact)) for fact in acts],
                at=self.at,
                episode_id=self._episode_id,
            )
        return [fact for fact, act in acts.items() if act == "closed"]

    async def _run(self, statement: Any, **values: Any) -> None:
        await self._connection.execute(statement, {"tenant_id": self._tenant_id, **values})


async def held_spans(
    connection: AsyncConnection[Any], tenant_id: str, said: Sequence[Statement]
) -> dict[str, tuple[Span, ...]]:
    """What is believed of the slots that some statements are about, for whoever only wants to know."""
    slots, values = list({one.slot for one in said}), list({one.value for one in said})
    ended = whole_values(said)
    return spans_of(await Beliefs(connection, tenant_id, "").read(_SQL.held, slots=slots, values=values, ended=ended))


def whole_values(said: Iterable[Statement]) -> list[str]:
    """How values begin that some statements end, whatever they are good for."""
    return list({f"{one.value}{PURPOSE}" for one in said if one.act != "holds" and one.value})


def spans_of(held: Mapping[str, Sequence[Held]]) -> dict[str, tuple[Span, ...]]:
    """The spans alone."""
    return {slot: tuple(one.span for one in found) for slot, found in held.items()}


async def undated_tellings(
    connection: AsyncConnection[Any], tenant_id: str, said: Sequence[Statement]
) -> dict[str, frozenset[datetime]]:
    """When facts were told without a time, where a statement looks at it: few do."""
    slots = [one.slot for one in said if one.lasting and one.single]
    if not slots:
        return {}
    rows = await connection.execute(_SQL.undated, {"tenant_id": tenant_id, "slots": slots})
    return {fact: frozenset(times) for fact, times in await rows.fetchall()}


def _identity(span: Span) -> tuple[str, datetime | None, datetime | None]:
    return span.fact, span.valid_at, span.invalid_at


def _act(was: Span | None, now: Span | None) -> str:
    if was is None or now is None:
        return "added" if was is None else "expired"
    shorter = now.invalid_at is not None and (was.invalid_at is None or now.invalid_at < was.invalid_at)
    return "closed" if shorter else "reopened"


def _seen(span: Span | None) -> Jsonb | None:
    if span is None:
        return None
    times = {name: at.isoformat() if at else None for name, at in _times(span).items()}
    return Jsonb({"object": span.object, "because": span.because or None, **times})


def _times(span: Span) -> dict[str, datetime | None]:
    return {"valid_at": span.valid_at, "invalid_at": span.invalid_at}

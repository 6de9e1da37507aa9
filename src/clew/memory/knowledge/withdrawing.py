"""Taking an episode back, and forgetting it: what is believed of its slots is made anew from what others said."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from psycopg import AsyncConnection

from clew.memory.knowledge.beliefs import Beliefs, Held
from clew.memory.knowledge.extract import phrase_key
from clew.memory.knowledge.fact import Forgotten
from clew.memory.knowledge.renaming import give_back_names
from clew.memory.knowledge.timeline import Statement, replay
from clew.memory.knowledge.writing import add_terms, add_total, terms_of
from clew.store.named_sql import statements

_SQL: Final = statements("knowledge")
# A stamp that no episode has: what forgetting changed was caused by none.
_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


class Withdrawal:
    """One withdrawal, in the caller's transaction. The tenant's other writers wait."""

    def __init__(self, connection: AsyncConnection[Any], tenant_id: str, episode_id: str = _NOBODY) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._episode_id = episode_id
        self._beliefs = Beliefs(connection, tenant_id, episode_id)

    async def undo(self) -> tuple[list[int], list[int]] | None:
        """The rows of the facts that hold longer again, and of those believed no more; None without such an episode."""
        await self._beliefs.lock(None)
        at = await self._now()
        marked = await self._rows(_SQL.undo_episode, episode_id=self._episode_id, at=at)
        if not marked:
            return None
        if marked[0] != (True,):
            return [], []
        slots = [slot for (slot,) in await self._rows(_SQL.slots_of_episodes, episode_ids=[self._episode_id])]
        before, after = await self._anew(slots)
        return _longer(before, after), sorted(before.keys() - after.keys())

    async def forget(self, episode_ids: Sequence[str]) -> Forgotten:
        """Remove episodes and what only they supported; what others support too is told in their words."""
        await self._beliefs.lock(None)
        ids = [one for (one,) in await self._rows(_SQL.known_episodes, episode_ids=list(episode_ids))]
        if not ids:
            return Forgotten()
        slots = [slot for (slot,) in await self._rows(_SQL.slots_of_episodes, episode_ids=ids)]
        quotes = [quote for (quote,) in await self._rows(_SQL.quotes, episode_ids=ids)]
        [(named,)] = await self._rows(_SQL.gave_names, episode_ids=ids)
        facts = await self._rows(_SQL.facts_of_episodes, episode_ids=ids)
        gone = [(seq, fact_id, length) for seq, fact_id, length, kept in facts if not kept]
        kept = [(seq, fact_id) for seq, fact_id, _, kept in facts if kept]
        await self._run(_SQL.drop_episodes, episode_ids=ids)
        await self._drop(gone)
        await self._reword([seq for seq, _ in kept])
        said = {"episode_ids": ids, "quotes": quotes, "slots": slots}
        await self._run(_SQL.silence_beliefs, **said)
        await self._run(_SQL.silence_changes, **said, fact_ids=[fact_id for _, fact_id, *_ in (*gone, *kept)])
        moved = await give_back_names(self._connection, self._tenant_id, await self._now()) if named else []
        await self._anew(list(dict.fromkeys([*slots, *moved])))
        await self._note([fact_id for _, fact_id, _ in gone])
        return Forgotten(ids, [fact_id for _, fact_id, _ in gone], [fact_id for _, fact_id in kept])

    async def thread_episodes(self, thread_id: str) -> list[str]:
        """The episodes of a conversation."""
        return [one for (one,) in await self._rows(_SQL.episodes_of_thread, thread_id=thread_id)]

    async def _anew(self, slots: list[str]) -> tuple[dict[int, list[Held]], dict[int, list[datetime | None]]]:
        """Believe of the slots what their statements say; what was believed before and is after, by fact."""
        held = await self._beliefs.read(_SQL.held_in_slots, slots=slots)
        said: dict[str, list[Statement]] = {}
        for slot, seq, fact_id, *rest in await self._rows(_SQL.statements_of_slots, slots=slots):
            value, told, single, act, at, quote, moment, lasting = rest
            said.setdefault(slot, []).append(
                Statement(act, fact_id, slot, value, told, single, at, quote, said=moment, lasting=lasting)
            )
            self._beliefs.seq_of[fact_id] = seq
        slot_of = {one.fact: slot for slot, found in said.items() for one in found}
        slot_of |= {one.span.fact: slot for slot, found in held.items() for one in found}
        spans = [span for slot in slots for span in replay(said.get(slot, ()))]
        await self._beliefs.change(slot_of, [one.span for found in held.values() for one in found], spans)
        before: dict[int, list[Held]] = {}
        for one in (one for found in held.values() for one in found):
            before.setdefault(one.seq, []).append(one)
        after: dict[int, list[datetime | None]] = {}
        for span in spans:
            after.setdefault(self._beliefs.seq_of[span.fact], []).append(span.invalid_at)
        return before, after

    async def _drop(self, gone: list[tuple[int, str, int]]) -> None:
        seqs = [seq for seq, _, _ in gone]
        if seqs:
            await self._run(_SQL.drop_terms, seqs=seqs)
            await self._run(_SQL.drop_vectors, seqs=seqs)
            await self._run(_SQL.drop_facts, seqs=seqs)
            await add_total(self._connection, self._tenant_id, -len(seqs), -sum(length for _, _, length in gone))

    async def _reword(self, seqs: list[int]) -> None:
        """Tell facts in the words of a source that stays. Their vectors go: none can be made in a transaction."""
        if not seqs:
            return
        rows = await self._rows(_SQL.reworded, seqs=seqs)
        await self._run(_SQL.drop_terms, seqs=seqs)
        await self._run(_SQL.drop_vectors, seqs=seqs)
        terms = {seq: terms_of(text, subject, predicate) for seq, text, subject, predicate, *_ in rows}
        await add_terms(self._connection, self._tenant_id, terms)
        lengths = [found.total() for found in terms.values()]
        keys = [phrase_key(told) if leads and told else "" for *_, told, leads in rows]
        await self._run(_SQL.set_length, seq=list(terms), length=lengths, object_key=keys)
        grown = sum(lengths) - sum(row[4] for row in rows)
        await add_total(self._connection, self._tenant_id, 0, grown)

    async def _note(self, fact_ids: list[str]) -> None:
        if fact_ids:
            nothing = [None] * len(fact_ids)
            values = {"act": ["forgotten"] * len(fact_ids), "before": nothing, "after": nothing}
            at = await self._now()
            await self._run(_SQL.add_changes, fact_id=fact_ids, episode_id=self._episode_id, at=at, **values)

    async def _now(self) -> datetime:
        row = await (await self._connection.execute(_SQL.clock)).fetchone()
        found: datetime = row[0] if row else datetime.min
        return found

    async def _rows(self, statement: Any, **values: Any) -> list[Any]:
        return await (await self._connection.execute(statement, {"tenant_id": self._tenant_id, **values})).fetchall()

    async def _run(self, statement: Any, **values: Any) -> None:
        await self._connection.execute(statement, {"tenant_id": self._tenant_id, **values})


def _longer(before: dict[int, list[Held]], after: dict[int, list[datetime | None]]) -> list[int]:
    """The facts that hold for longer than they did."""
    found = []
    for seq, ends in after.items():
        old = [one.span.invalid_at for one in before.get(seq, [])]
        if (None in ends and None not in old) or _latest(ends) > _latest(old):
            found.append(seq)
    return found


def _latest(ends: Sequence[datetime | None]) -> float:
    return max((float("inf") if end is None else end.timestamp() for end in ends), default=float("-inf"))

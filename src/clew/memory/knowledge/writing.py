"""An episode into PostgreSQL: settled on what is believed, in one transaction, one after the other for each slot."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from clew.memory.analysis import content_stems, words
from clew.memory.knowledge.beliefs import Beliefs, spans_of, undated_tellings, whole_values
from clew.memory.knowledge.extract import Alias, Draft
from clew.memory.knowledge.fact import Episode
from clew.memory.knowledge.stating import Stated
from clew.memory.knowledge.timeline import Span, Undated, heard, settle
from clew.memory.preparing import FREQUENCY_MAX
from clew.memory.spaces import as_text
from clew.store.named_sql import statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[str, NDArray[np.float32]]

_SQL: Final = statements("knowledge")
TOTAL_SHARDS: Final = 16


@dataclass(frozen=True, slots=True)
class Written:
    """The facts that an episode told, in order, and those that it closed; by their rows."""

    told: list[int]
    closed: list[int]


class EpisodeWriter:
    """One episode on its way."""

    def __init__(self, connection: AsyncConnection[Any], tenant_id: str, episode: Episode, body: str) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._episode = episode
        self._body = body
        self._beliefs = Beliefs(connection, tenant_id, episode.episode_id)

    async def write(self, said: Sequence[Stated], aliases: Sequence[Alias], vectors: "Vectors", space: str) -> Written:
        """Store the episode and all that follows from it."""
        slots = list(dict.fromkeys(one.statement.slot for one in said))
        await self._beliefs.lock(slots)
        values = list({one.statement.value for one in said})
        ended = whole_values(one.statement for one in said)
        held = await self._beliefs.read(_SQL.held, slots=slots, values=values, ended=ended) if said else {}
        before = spans_of(held)
        undated = await undated_tellings(self._connection, self._tenant_id, [one.statement for one in said])
        after, supported = _settled(before, said, undated)
        await self._add_episode(aliases)
        known = set(self._beliefs.seq_of)
        made = [one for one, fact in zip(said, supported, strict=True) if fact == one.statement.fact]
        await self._add_facts(made, vectors, space)
        await self._add_sources(said, supported)
        slot_of = {one.statement.fact: one.statement.slot for one in said}
        slot_of |= {one.span.fact: slot for slot, found in held.items() for one in found}
        closed = await self._beliefs.change(
            slot_of,
            [span for spans in before.values() for span in spans],
            [s for spans in after.values() for s in spans],
        )
        seq_of = self._beliefs.seq_of
        # What the episode holds to be true first, then what it calls past and nobody had told.
        past = [one.statement.act == "ended" for one in said]
        telling = [n for n, one in enumerate(said) if not past[n] or supported[n] == one.statement.fact]
        told = list(dict.fromkeys(seq_of[supported[n]] for n in sorted(telling, key=lambda n: past[n])))
        return Written(told, [seq_of[fact] for fact in closed if fact in known])

    async def _add_episode(self, aliases: Sequence[Alias]) -> None:
        episode = self._episode
        values = {
            "name": episode.name,
            "source": episode.source,
            "source_description": episode.source_description,
            "thread_id": episode.thread_id,
            "user_id": episode.user_id,
            "body": self._body,
            "reference_time": episode.reference_time,
            "created_at": self._beliefs.at or episode.created_at,
        }
        await self._run(_SQL.add_episode, **values)
        if aliases:
            names = {"alias": [one.alias for one in aliases], "entity": [one.entity for one in aliases]}
            await self._run(_SQL.add_aliases, **names)

    async def _add_facts(self, made: Sequence[Stated], vectors: "Vectors", space: str) -> None:
        if not made:
            return
        terms = [terms_of(one.draft.text, one.draft.subject, one.draft.predicate) for one in made]
        values = _columns([one.draft for one in made])
        rows = await self._connection.execute(
            _SQL.add_facts,
            {
                "tenant_id": self._tenant_id,
                **values,
                "fact_id": [one.statement.fact for one in made],
                "negated": [one.statement.act == "denied" for one in made],
                "length": [found.total() for found in terms],
                "created_at": [self._beliefs.at] * len(made),
            },
        )
        added: dict[str, int] = dict(await rows.fetchall())
        self._beliefs.seq_of.update(added)
        seqs = [added[one.statement.fact] for one in made]
        await add_terms(self._connection, self._tenant_id, dict(zip(seqs, terms, strict=True)))
        embedded = [as_text(vectors[one.draft.text].tolist()) for one in made]
        await self._run(_SQL.add_vectors, space=space, seq=seqs, embedding=embedded)
        await add_total(self._connection, self._tenant_id, len(made), sum(found.total() for found in terms))

    async def _add_sources(self, said: Sequence[Stated], supported: Sequence[str]) -> None:
        if not said:
            return
        await self._run(
            _SQL.add_sources,
            place=list(range(len(said))),
            seq=[self._beliefs.seq_of[fact] for fact in supported],
            slot=[one.statement.slot for one in said],
            act=[one.statement.act for one in said],
            single=[one.statement.single for one in said],
            lasting=[one.statement.lasting for one in said],
            valid_at=[one.statement.at for one in said],
            text=[one.draft.text for one in said],
            subject=[one.draft.subject for one in said],
            predicate=[one.draft.predicate for one in said],
            object=[one.draft.object for one in said],
            confidence=[one.draft.confidence for one in said],
            told=[None if one.draft.told is None else Jsonb(one.draft.told) for one in said],
            message_id=[one.draft.message_id for one in said],
            role=[one.draft.role for one in said],
            quote=[one.statement.quote for one in said],
        )

    async def _run(self, statement: Any, **values: Any) -> None:
        bound = {"tenant_id": self._tenant_id, "episode_id": self._episode.episode_id, **values}
        await self._connection.execute(statement, bound)


def _settled(
    before: Mapping[str, tuple[Span, ...]], said: Sequence[Stated], undated: Undated
) -> tuple[dict[str, tuple[Span, ...]], list[str]]:
    """The spans of each slot after all statements, and the fact that each made or supports."""
    after = dict(before)
    supported = []
    for one in said:
        done = settle(after.get(one.statement.slot, ()), one.statement, undated)
        undated = heard(undated, done.fact, one.statement)
        after[one.statement.slot] = done.spans
        supported.append(done.fact)
    return after, supported


def _columns(drafts: Sequence[Draft]) -> dict[str, list[Any]]:
    names = (
        "text", "subject", "predicate", "object", "subject_key", "object_key", "topic", "slot", "value", "single",
        "confidence",
    )  # fmt: skip
    return {name: [getattr(draft, name) for draft in drafts] for name in names}


def terms_of(text: str, subject: str | None, predicate: str | None) -> Counter[str]:
    """What a fact is found by: its words, and those of its subject and predicate that its text leaves out."""
    said = Counter(content_stems(words(text)))
    for stem in content_stems(words(f"{subject or ''} {predicate or ''}")):
        said.setdefault(stem, 1)
    return said


async def add_terms(connection: AsyncConnection[Any], tenant_id: str, terms: Mapping[int, Counter[str]]) -> None:
    """The postings of facts, by their rows."""
    rows = sorted(
        (term, seq, min(count, FREQUENCY_MAX), found.total())
        for seq, found in terms.items()
        for term, count in found.items()
    )
    if rows:
        columns = zip(("term", "seq", "frequency", "length"), map(list, zip(*rows, strict=True)), strict=True)
        await connection.execute(_SQL.add_terms, {"tenant_id": tenant_id, **dict(columns)})


async def add_total(connection: AsyncConnection[Any], tenant_id: str, facts: int, length: int) -> None:
    """Count facts in, or out."""
    shard = random.randrange(TOTAL_SHARDS)  # noqa: S311, it spreads writers and hides nothing
    await connection.execute(_SQL.add_total, {"tenant_id": tenant_id, "shard": shard, "facts": facts, "length": length})

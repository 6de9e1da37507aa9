"""One search over facts: candidates by words and by meaning, ranked as memory ranks entries, the valid ones first."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from psycopg import AsyncConnection

from clew.memory.candidates import CHOOSING_TERMS_MAX, CHOSEN_EACH
from clew.memory.knowledge.fact import Fact
from clew.memory.knowledge.reading import facts_now, sourced
from clew.memory.question import Question
from clew.memory.ranking import QueryVectors, Statistics, score
from clew.memory.reading import Reader
from clew.memory.spaces import Embedders, Space, as_text
from clew.memory.stream import lay_out
from clew.models import StaticEmbedder
from clew.store.database import Database
from clew.store.named_sql import statements

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SQL: Final = statements("knowledge_search")
# Up to this many facts every one is ranked, which is exact and as quick as choosing first.
RANK_ALL_MAX: Final = 500
# A fact that holds no more must match this much better to be among the results at all.
SUPERSEDED_SHARE: Final = 0.8
# A word that is in tens of thousands of facts says little of which is meant, and takes long to count.
POSTINGS_MAX: Final = 20_000
# What begins to hold later than now is not read first; another machine's clock may be ahead of ours.
CLOCK_SLACK: Final = timedelta(hours=1)
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Moment:
    """Of when the truth is asked, and of when our knowledge of it; None means now."""

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {"as_of": self.as_of, "known_at": self.known_at}

    @property
    def now(self) -> bool:
        return self.as_of is None and self.known_at is None


class FactSearcher:
    """Searches, with what is worth keeping from one to the next."""

    def __init__(self, database: Database, embedders: Embedders) -> None:
        self._database = database
        self._embedders = embedders
        self._static = StaticEmbedder()
        self._reader = Reader(self._static)

    async def search(self, tenant_id: str, text: str, limit: int, moment: Moment) -> list[Fact]:
        """The facts that answer best, those that hold before those that do not."""
        question = Question.read(text)
        async with self._database.tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.prelude, {"tenant_id": tenant_id})).fetchone()
        if row is None or row[0] is None or not row[3]:
            return []
        space, facts, length = Space(*row[:3]), row[3], row[4]
        vectors, held = await self._embed(question, space)
        async with self._database.tenant(tenant_id) as connection:
            chooser = _Chooser(connection, tenant_id, space, moment)
            statistics = await chooser.statistics(question, facts)
            seqs = await chooser.choose(statistics, max(length / max(facts, 1), 1.0), held, limit)
            found = await facts_now(connection, tenant_id, seqs, **moment.values)
            rows = await chooser.texts(list(found))
        scores = await asyncio.to_thread(self._score, tenant_id, space, rows, question, statistics, vectors)
        best = _best(found, scores, limit, moment)
        async with self._database.tenant(tenant_id) as connection:
            return [fact for _, fact in await sourced(connection, tenant_id, best)]

    def forget(self) -> None:
        """Keep nothing that was read."""
        self._reader = Reader(self._static)

    def remembers(self, tenant_id: str) -> int:
        """Of how many facts of a tenant the words are kept."""
        return self._reader.remembers(tenant_id)

    async def _embed(self, question: Question, space: Space) -> "tuple[QueryVectors, NDArray[np.float32]]":
        """The question in the static space and in the tenant's; no connection is held meanwhile."""
        static = (await self._static.embed([question.text], purpose="query"))[0]
        if space.name == self._static.name:
            return QueryVectors(static, None), static
        held = (await self._embedders.of(space).embed([question.text], purpose="query"))[0]
        return QueryVectors(static, held), held

    def _score(
        self,
        tenant_id: str,
        space: Space,
        rows: Sequence[Sequence[Any]],
        question: Question,
        statistics: Statistics,
        vectors: QueryVectors,
    ) -> dict[int, float]:
        if not rows:
            return {}
        if self._reader.full:
            self._reader = Reader(self._static)
        reader = self._reader
        kept = reader.kept(tenant_id, space.name, {row[0]: row[1] for row in rows})
        fresh = [self._whole(row, space) for row in rows if row[0] not in kept]
        readings = {**kept, **(reader.read(tenant_id, space.name, fresh) if fresh else {})}
        ordered = [readings[seq] for seq in sorted(readings)]
        stream = lay_out(ordered, None, reader.lexicon)
        everything = np.ones(len(ordered), bool)
        scores = score(question, stream, everything, statistics, vectors, reader.lexicon)
        return {one.seq: float(total) for one, total in zip(ordered, scores.total, strict=True)}

    def _whole(self, row: Sequence[Any], space: Space) -> Sequence[Any]:
        """The row with a vector: the static one is quickly made where it is missing."""
        if row[-1] is not None or space.name != self._static.name:
            return row
        vector = self._static.word_vectors([row[-2]])[0]
        return (*row[:-1], b"\0\0\0\0" + vector.astype(">f2").tobytes())


class _Chooser:
    """The candidates of one question, in the transaction of one search."""

    def __init__(self, connection: AsyncConnection[Any], tenant_id: str, space: Space, moment: Moment) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._space = space
        self._moment = moment

    async def statistics(self, question: Question, facts: int) -> Statistics:
        terms = list(question.stems)
        found = await self._rows(_SQL.frequencies, terms=terms, most=POSTINGS_MAX) if terms else []
        return Statistics(facts, dict(found))

    async def choose(
        self, statistics: Statistics, mean_length: float, vector: "NDArray[np.float32]", limit: int
    ) -> list[int]:
        """Everything of a small tenant; of a large one the best by words and by meaning."""
        if statistics.entries <= RANK_ALL_MAX:
            return [seq for (seq,) in await self._rows(_SQL.everything, limit=2 * RANK_ALL_MAX)]
        each = max(CHOSEN_EACH, 2 * limit)
        terms = _rarest(statistics)
        found = []
        if terms:
            weights = [statistics.weight(term) for term in terms]
            found = await self._rows(
                _SQL.lexical if self._moment.now else _SQL.lexical_then,
                terms=terms,
                weights=weights,
                mean_length=mean_length,
                limit=each,
                **self._moment.values,
            )
        near = {"space": self._space.name, "vector": as_text(vector.tolist()), "limit": each}
        dense = _SQL.dense if self._moment.now else _SQL.dense_then
        found += await self._rows(dense, **near, **self._moment.values)
        return list(dict.fromkeys(seq for (seq,) in found))

    async def texts(self, seqs: list[int]) -> list[Any]:
        """What the ranker reads. A vector as bytes: half the size of text and a tenth of the time to read."""
        if not seqs:
            return []
        cursor = self._connection.cursor(binary=True)
        values = {"tenant_id": self._tenant_id, "space": self._space.name, "seqs": seqs}
        return await (await cursor.execute(_SQL.texts, values)).fetchall()

    async def _rows(self, statement: Any, **values: Any) -> list[Any]:
        return await (await self._connection.execute(statement, {"tenant_id": self._tenant_id, **values})).fetchall()


def _rarest(statistics: Statistics) -> list[str]:
    """The terms to choose by: the rarest, as long as they are not in very many facts together."""
    terms = sorted(statistics.frequency, key=lambda term: (statistics.frequency[term], term))[:CHOOSING_TERMS_MAX]
    reach = list(itertools.accumulate(statistics.frequency[term] for term in terms))
    return [term for n, term in enumerate(terms) if n == 0 or reach[n] < POSTINGS_MAX]


def _best(found: dict[int, list[Fact]], scores: dict[int, float], limit: int, moment: Moment) -> list[tuple[int, Fact]]:
    """The best of all with their rows, in the order in which to read them: what holds first, then by score and age."""
    facts = [(seq, fact) for seq, several in found.items() if seq in scores for fact in several]
    soon = datetime.now(UTC) + CLOCK_SLACK
    holding = {(fact.subject, fact.predicate) for _, fact in facts if fact.invalid_at is None}

    def past(fact: Fact) -> bool:
        # What was told of a time of its own is as good as ever, unless it is known what holds now.
        outdated = fact.superseded and not (fact.dated and (fact.subject, fact.predicate) not in holding)
        return moment.as_of is None and (outdated or (fact.valid_at is not None and fact.valid_at > soon))

    def weight(seq: int, fact: Fact) -> float:
        return round(scores[seq], 6) * (SUPERSEDED_SHARE if past(fact) else 1.0)

    def order(fact: Fact) -> tuple[bool, float, float, str]:
        return past(fact), -(fact.score or 0.0), -(fact.valid_at or _EARLIEST).timestamp(), fact.fact_id

    best = sorted(facts, key=lambda one: (-weight(*one), one[1].fact_id))[:limit]
    chosen = [(seq, replace(fact, score=round(scores[seq], 6))) for seq, fact in best]
    return sorted(chosen, key=lambda one: order(one[1]))

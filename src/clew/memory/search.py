"""One search, from the question to the ranked entries."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from clew.memory.analysis import READ_MAX_CHARS
from clew.memory.candidates import Candidates, Chooser, Prelude, read_prelude, read_statistics
from clew.memory.entry import MemoryEntry
from clew.memory.filters import Scope
from clew.memory.freshness import FRESHEN_TOP, Dated, Placed, newer_than, newest_first
from clew.memory.looking_up import entry_of
from clew.memory.question import Question
from clew.memory.ranking import QueryVectors, Statistics, score
from clew.memory.reading import Reader, Reading
from clew.memory.reasons import reasons
from clew.memory.spaces import Embedders, Space
from clew.memory.statement import STATEMENT_MAX_CHARS, read_statements
from clew.memory.stream import lay_out
from clew.models import StaticEmbedder
from clew.store.database import Database
from clew.store.named_sql import statements

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEARCH: Final = statements("memory_search")
_ENTRIES: Final = statements("memory")
# An entry may be deleted between ranking and reading: so many more are read than wanted.
SPARE_RESULTS: Final = 5


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry's row, its score, and why it has it."""

    seq: int
    score: float
    reasons: list[str]


class Searcher:
    """Searches, with what is worth keeping from one to the next."""

    def __init__(self, database: Database, embedders: Embedders) -> None:
        self._database = database
        self._embedders = embedders
        self._static = StaticEmbedder()
        self._reader = Reader(self._static)

    async def search(self, tenant_id: str, text: str, limit: int, scope: Scope) -> list[MemoryEntry]:
        """The best entries in scope, best first, as many as wanted and there are."""
        question = Question.read(text)
        async with self._database.tenant(tenant_id) as connection:
            prelude = await read_prelude(connection, tenant_id, question)
        if prelude.space is None:
            return []
        question = question.naming(prelude.speakers)
        vectors, vector = await self._embed(question, prelude.space)
        found = await self._candidates(tenant_id, question, prelude, prelude.space, vector, scope, limit)
        most = max(limit + SPARE_RESULTS, FRESHEN_TOP)
        ranked = await asyncio.to_thread(_ranked, question, found, vectors, most)
        return await self._entries(tenant_id, question, ranked, limit)

    def forget(self) -> None:
        """Keep no words of anybody's entries: those of one tenant can't be told from another's in a lexicon."""
        self._reader = Reader(self._static)
        read_statements.cache_clear()

    def remembers(self, tenant_id: str) -> int:
        """Of how many of a tenant's entries the words are kept."""
        return self._reader.remembers(tenant_id)

    async def _embed(self, question: Question, space: Space) -> "tuple[QueryVectors, NDArray[np.float32]]":
        """The question in the static space and in the tenant's; no connection is held meanwhile."""
        text = question.without_names
        static = (await self._static.embed([text], purpose="query"))[0]
        if space.name == self._static.name:
            return QueryVectors(static, None), static
        held = (await self._embedders.of(space).embed([text], purpose="query"))[0]
        return QueryVectors(static, held), held

    async def _candidates(
        self,
        tenant_id: str,
        question: Question,
        prelude: Prelude,
        space: Space,
        vector: "NDArray[np.float32]",
        scope: Scope,
        limit: int,
    ) -> "_Found":
        if self._reader.full:
            self._reader = Reader(self._static)
        reader = self._reader
        async with self._database.tenant(tenant_id) as connection:
            statistics = await read_statistics(connection, tenant_id, question, prelude.entries)
            chooser = Chooser(connection, tenant_id, scope, space)
            candidates = await chooser.choose(question, statistics, prelude.mean_length, vector, limit)
            readings = reader.kept(tenant_id, space.name, candidates.revisions)
            missing = [seq for seq in candidates.revisions if seq not in readings]
            rows: list[Any] = []
            if missing:
                values = {"tenant_id": tenant_id, "space": space.name, "seqs": missing, "read_chars": READ_MAX_CHARS}
                cursor = connection.cursor(binary=True)
                rows = await (await cursor.execute(_SEARCH.texts, values)).fetchall()
        if rows:
            readings |= await asyncio.to_thread(reader.read, tenant_id, space.name, rows)
        return _Found(candidates, readings, statistics, reader)

    async def _entries(
        self, tenant_id: str, question: Question, ranked: Sequence[Ranked], limit: int
    ) -> list[MemoryEntry]:
        """The ranked entries as they are now; one that was deleted meanwhile is left out."""
        best = {"tenant_id": tenant_id, "seqs": [one.seq for one in ranked], "most_chars": STATEMENT_MAX_CHARS}
        async with self._database.tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SEARCH.dated, best)).fetchall()
            dated = {row[0]: Dated.of_row(*row) for row in rows}
            ranked = (await asyncio.to_thread(_freshened, question, ranked, dated))[: limit + SPARE_RESULTS]
            values = {"tenant_id": tenant_id, "seqs": [one.seq for one in ranked]}
            rows = await (await connection.execute(_ENTRIES.whole, values)).fetchall()
        whole = {row[0]: row[1:] for row in rows}
        return [
            entry_of(tenant_id, whole[one.seq], score=one.score, reasons=one.reasons)
            for one in ranked
            if one.seq in whole
        ][:limit]


@dataclass(frozen=True, slots=True)
class _Found:
    candidates: Candidates
    readings: dict[int, Reading]
    statistics: Statistics
    reader: Reader


def _ranked(question: Question, found: _Found, vectors: QueryVectors, limit: int) -> list[Ranked]:
    """The candidates in the order of their scores; of equal ones the older entry first."""
    rows = sorted(
        found.readings.values(),
        key=lambda row: (row.agent_id, row.thread is None, row.thread or "", row.place, row.seq),
    )
    if not rows:
        return []
    after = found.candidates.after
    follows = None if after is None else [False, *(after.get(a.seq) == b.seq for a, b in pairwise(rows))]
    lexicon = found.reader.lexicon
    stream = lay_out(rows, follows, lexicon)
    chosen = np.array([row.seq in found.candidates.chosen for row in rows])
    scores = score(question, stream, chosen, found.statistics, vectors, lexicon)
    order = sorted(np.flatnonzero(chosen).tolist(), key=lambda n: (-scores.total[n], rows[n].seq))[:limit]
    why = reasons(question, stream, scores, order, lexicon)
    return [Ranked(rows[n].seq, round(float(scores.total[n]), 6), told) for n, told in zip(order, why, strict=True)]


def _freshened(question: Question, ranked: Sequence[Ranked], dated: Mapping[int, Dated]) -> list[Ranked]:
    """The newer of two that conflict above the older. Scores stay at their places: they fall, as before."""
    there = [one for one in ranked if one.seq in dated]
    # Whoever names a month asks what was so then, and not what is so now.
    if question.months:
        return there
    return [
        Ranked(there[now.index].seq, place.score, [*there[now.index].reasons, *_lifted(now, there, dated)])
        for now, place in zip(newest_first([dated[one.seq] for one in there]), there, strict=True)
    ]


def _lifted(now: Placed, there: Sequence[Ranked], dated: Mapping[int, Dated]) -> list[str]:
    return [] if now.above is None else [newer_than(dated[there[now.above].seq].text or "")]

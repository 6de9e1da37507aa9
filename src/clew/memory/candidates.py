"""Which entries are worth ranking: all of a small scope; of a large one the best by words, by meaning and by date,
with what stands around them in their threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from psycopg import AsyncConnection, sql

from clew.memory.filters import Scope
from clew.memory.indexing import SCAN_MAX_ENTRIES, nearest
from clew.memory.question import Question
from clew.memory.ranking import Statistics
from clew.memory.spaces import Space, as_text
from clew.store.named_sql import statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SQL: Final = statements("memory_search")
# Up to this many entries in scope every one is ranked; the answer is then exact, and as quick as choosing first.
RANK_ALL_MAX: Final = 1_500
# And up to this many words in them, stop words not counted: reading more would take longer than choosing.
RANK_ALL_MAX_WORDS: Final = 150_000
# How many of each kind are chosen in a larger scope; a large `limit` asks for more.
CHOSEN_EACH: Final = 150
# Of long entries fewer are chosen, so that no search reads more than about so many words, but never less than this.
CHOSEN_MAX_WORDS: Final = 150_000
CHOSEN_EACH_LEAST: Final = 40
CHOSEN_BY_DATE: Final = 50
# How many entries before and after a chosen one are read, and how many of those are candidates too.
REACH: Final = 4
NEIGHBOURS: Final = 1
# So many words are rare enough to choose by; a long question is a text, and its rarest words tell most of it.
CHOOSING_TERMS_MAX: Final = 24
_NEXT_MONTH_OF_DECEMBER: Final = 12


class Prelude(NamedTuple):
    """What is known of a tenant before a question is embedded."""

    space: Space | None
    entries: int
    mean_length: float
    speakers: list[str]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows to read, by revision, and which of them may be answers. `after` leads from a row to the next of its thread,
    where not all of a thread is here; None where all is."""

    revisions: dict[int, int]
    chosen: set[int]
    after: dict[int, int] | None


async def read_prelude(connection: AsyncConnection[Any], tenant_id: str, question: Question) -> Prelude:
    """The tenant's space and size, and who of the question's people speaks."""
    values = {"tenant_id": tenant_id, "words": question.possible_names}
    row = await (await connection.execute(_SQL.prelude, values)).fetchone()
    if row is None:
        return Prelude(None, 0, 1.0, [])
    space, model, dimensions, entries, length, speakers = row
    known = Space(space, model, dimensions) if space is not None else None
    return Prelude(known, entries, max(length / max(entries, 1), 1.0), speakers)


async def read_statistics(
    connection: AsyncConnection[Any], tenant_id: str, question: Question, entries: int
) -> Statistics:
    """How rare the question's terms are in the tenant's entries."""
    values = {"tenant_id": tenant_id, "terms": list(question.stems)}
    rows = await (await connection.execute(_SQL.frequencies, values)).fetchall() if question.stems else []
    return Statistics(entries, dict(rows))


class Chooser:
    """The candidates of one question, in the transaction of one search."""

    def __init__(self, connection: AsyncConnection[Any], tenant_id: str, scope: Scope, space: Space | None) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._scope = scope
        self._space = space

    async def choose(
        self,
        question: Question,
        statistics: Statistics,
        mean_length: float,
        vector: "NDArray[np.float32]",
        limit: int,
    ) -> Candidates:
        """Everything when the scope is small, else the best of each kind."""
        most = min(RANK_ALL_MAX, int(RANK_ALL_MAX_WORDS / mean_length))
        too_many = self._scope.open and statistics.entries > most
        rows = [] if too_many else await self._rows(_SQL.everything, self._scope, limit=most + 1)
        if not too_many and len(rows) <= most:
            revisions = dict(rows)
            if self._scope.open:
                return Candidates(revisions, set(revisions), None)
            return await self._surrounded(list(revisions), set(revisions), expand=False)
        few = max(CHOSEN_EACH_LEAST, int(CHOSEN_MAX_WORDS / mean_length))
        each = max(min(CHOSEN_EACH, few), 2 * limit)
        found = await self._best(self._scope, question, statistics, mean_length, vector, each)
        leading = set(found[:each])
        if question.months:
            dated = _within_months(self._scope, question)
            found += await self._best(dated, question, statistics, mean_length, vector, CHOSEN_BY_DATE)
        if len(set(found)) < limit:
            found += [seq for (seq,) in await self._rows(_SQL.latest, self._scope, limit=limit)]
        return await self._surrounded(list(dict.fromkeys(found)), leading, expand=True)

    async def _best(
        self,
        scope: Scope,
        question: Question,
        statistics: Statistics,
        mean_length: float,
        vector: "NDArray[np.float32]",
        limit: int,
    ) -> list[int]:
        """The best by words and by meaning, taken in turn."""
        terms = sorted(statistics.frequency, key=lambda term: (statistics.frequency[term], term))[:CHOOSING_TERMS_MAX]
        lexical: list[Any] = []
        if terms:
            lexical = await self._rows(
                _SQL.lexical if scope.open else _SQL.lexical_scoped,
                scope,
                limit=limit,
                terms=terms,
                weights=[statistics.weight(term) for term in terms],
                mean_length=mean_length,
            )
        dense = [] if self._space is None else await self._nearest(scope, self._space, statistics, vector, limit)
        return [row[0] for pair in _in_turn(lexical, dense) for row in pair]

    async def _nearest(
        self, scope: Scope, space: Space, statistics: Statistics, vector: "NDArray[np.float32]", limit: int
    ) -> list[Any]:
        """The best by meaning: by a scan, which is exact; of a very large tenant by its index, when it has one.

        Filters are always scanned for: an index that looks at the nearest first may find too few that pass.
        """
        if scope.open and statistics.entries > SCAN_MAX_ENTRIES:
            found = await nearest(self._connection, self._tenant_id, space, vector, limit)
            if found is not None:
                return found
        statement = _SQL.dense if scope.open else _SQL.dense_scoped
        return await self._rows(statement, scope, limit=limit, space=space.name, vector=as_text(vector.tolist()))

    async def _surrounded(self, seqs: list[int], leading: set[int], *, expand: bool) -> Candidates:
        """The entries with their neighbours; next to a leading one, neighbours in scope are candidates themselves."""
        rows = await self._rows(_SQL.around, self._scope, seqs=seqs, reach=REACH)
        revisions: dict[int, int] = {}
        chosen: set[int] = set()
        after: dict[int, int] = {}
        for seq, revision, before, behind in rows:
            revisions[seq] = revision
            chosen.add(seq)
            line = [*(_neighbour(one) for one in reversed(before)), (seq, revision, True), *map(_neighbour, behind)]
            for one, following in pairwise(line):
                after[one[0]] = following[0]
            for place, (near, near_revision, in_scope) in enumerate(line):
                revisions[near] = near_revision
                if expand and seq in leading and in_scope and abs(place - len(before)) <= NEIGHBOURS:
                    chosen.add(near)
        return Candidates(revisions, chosen, after)

    async def _rows(self, statement: Any, scope: Scope, **values: Any) -> list[Any]:
        composed = sql.SQL(statement).format(scope=scope.conditions)
        bound = {"tenant_id": self._tenant_id, **scope.values, **values}
        return await (await self._connection.execute(composed, bound)).fetchall()


def _in_turn(first: Sequence[Any], second: Sequence[Any]) -> list[list[Any]]:
    """The two lists' first, then their second, and so on, until both have ended."""
    longest = max(len(first), len(second))
    return [[*first[n : n + 1], *second[n : n + 1]] for n in range(longest)]


def _neighbour(sent: Any) -> tuple[int, int, bool]:
    """A neighbour as an array of numbers, which psycopg reads without help of ours."""
    seq, revision, in_scope = sent
    return seq, revision, bool(in_scope)


def _within_months(scope: Scope, question: Question) -> Scope:
    """The scope, and of it what happened in a month that the question names."""
    parts: list[sql.Composable] = []
    values = dict(scope.values)
    for n, asked in enumerate(question.months):
        if asked.year is None:
            values[f"month_{n}"] = asked.month
            parts.append(
                sql.SQL("extract(month FROM m.occurred_at AT TIME ZONE 'UTC') = ") + sql.Placeholder(f"month_{n}")
            )
            continue
        first, last = asked.month or 1, asked.month or _NEXT_MONTH_OF_DECEMBER
        values[f"from_{n}"] = datetime(asked.year, first, 1, tzinfo=UTC)
        values[f"until_{n}"] = datetime(asked.year + last // 12, last % 12 + 1, 1, tzinfo=UTC)
        parts.append(
            sql.SQL("m.occurred_at >= {low} AND m.occurred_at < {high}").format(
                low=sql.Placeholder(f"from_{n}"), high=sql.Placeholder(f"until_{n}")
            )
        )
    condition = sql.SQL(" AND (") + sql.SQL(" OR ").join(parts) + sql.SQL(")")
    return Scope(scope.conditions + sql.Composed([condition]), values)

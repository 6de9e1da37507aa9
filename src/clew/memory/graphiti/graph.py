"""One tenant's part of the graph."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from graphiti_core.driver.driver import GraphProvider
from graphiti_core.search.search_config import EdgeReranker, EdgeSearchConfig, EdgeSearchMethod, SearchConfig
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, SearchFilters

from clew.memory.analysis import words
from clew.memory.graphiti import cypher
from clew.memory.graphiti.facts import fact_of
from clew.memory.graphiti.recording import RecordingGraphiti
from clew.memory.graphiti.records import Edge, Ends, Told
from clew.memory.knowledge.fact import Fact

HISTORY_MAX: Final = 1_000
# How many candidates a search ranks for each result it is asked for, and how many at least and at most.
CANDIDATES_EACH: Final = 4
CANDIDATES_MIN: Final = 50
CANDIDATES_MAX: Final = 1_000
# Graphiti looks for no words at all when there are more than 128, and a sign that it leaves in is a syntax error.
QUERY_MAX_WORDS: Final = 100
_WORD: Final = re.compile(r"[^\W_]+")


class TenantGraph:
    """Reads and writes that see one tenant's group and nothing else. Whoever writes holds `writing`."""

    def __init__(self, graphiti: RecordingGraphiti, group_id: str) -> None:
        self.graphiti = graphiti
        self.group_id = group_id
        # A graph of FalkorDB's is one tenant's. Asked for its group all the same, its planner looks at every entity for
        # each edge: a search among 200 facts took 870 ms instead of 500 on a busy machine.
        alone = graphiti.driver.provider is GraphProvider.FALKORDB
        self._searched = None if alone else [group_id]
        # Graphiti asks that a group's episodes be told one after the other.
        self.writing = asyncio.Lock()

    async def run(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        """The rows of one of our own statements."""
        answer = await self.graphiti.driver.execute_query(statement, group_id=self.group_id, **values)
        return [dict(row) for row in answer[0]] if answer else []

    async def edges(self, uuids: Iterable[str]) -> list[Edge]:
        """Those of these edges that are the tenant's, in the order asked."""
        wanted = list(dict.fromkeys(uuids))
        rows = await self.run(cypher.EDGES, uuids=wanted) if wanted else []
        found = {row["uuid"]: Edge.read(row) for row in rows}
        return [found[uuid] for uuid in wanted if uuid in found]

    async def edges_about(self, subject: str) -> list[Edge]:
        """Of what has this name; of nothing, of what has all of its words in its name."""
        name = " ".join(subject.split()).lower()
        rows = await self.run(cypher.EDGES_OF, name=name, limit=HISTORY_MAX)
        said = words(subject)
        if not rows and said:
            lowered = [word.lower() for word in said]
            rows = await self.run(cypher.EDGES_NAMING, words=lowered, limit=HISTORY_MAX)
        return [Edge.read(row) for row in rows]

    async def episode(self, uuid: str) -> Told | None:
        """The episode, when it is the tenant's."""
        return (await self.episodes([uuid])).get(uuid)

    async def episodes(self, uuids: Iterable[str]) -> dict[str, Told]:
        wanted = list(dict.fromkeys(uuids))
        return {row["uuid"]: Told.read(row) for row in await self.run(cypher.EPISODES, uuids=wanted)} if wanted else {}

    async def episodes_by(self, statement: str, **values: Any) -> list[Told]:
        """The episodes that a statement finds, in its order."""
        return [Told.read(row) for row in await self.run(statement, **values)]

    async def note(self, told: Told) -> None:
        """Keep what is noted on an episode."""
        await self.run(
            cypher.NOTE,
            uuid=told.uuid,
            thread=told.thread_id,
            note=told.note.as_text(),
            entity_edges=list(told.edges),
        )

    async def set_ends(self, uuid: str, ends: Ends) -> None:
        await self.run(cypher.SET_ENDS, uuid=uuid, invalid_at=ends[0], expired_at=ends[1])

    async def facts(self, edges: Sequence[Edge], *, known_at: datetime | None = None, ever: bool = False) -> list[Fact]:
        """The facts that edges are, with their sources, in the same order; those not believed are left out."""
        episodes = await self.episodes(uuid for edge in edges for uuid in edge.episodes)
        facts = (fact_of(edge, episodes, known_at=known_at, ever=ever) for edge in edges)
        return [fact for fact in facts if fact is not None]

    async def candidates(self, query: str, limit: int, as_of: datetime | None, known_at: datetime | None) -> list[Edge]:
        """Edges that may answer, by words and by meaning.

        Graphiti's own reranking by a cross-encoder would keep one of several facts with the same words, so the ranking
        is left to the caller.
        """
        wide = min(max(CANDIDATES_EACH * limit, CANDIDATES_MIN), CANDIDATES_MAX)
        spoken = " ".join(_WORD.findall(query)[:QUERY_MAX_WORDS])
        by_words = [EdgeSearchMethod.bm25] if spoken else []
        config = SearchConfig(
            limit=wide,
            edge_config=EdgeSearchConfig(
                search_methods=[*by_words, EdgeSearchMethod.cosine_similarity],
                reranker=EdgeReranker.rrf,
                sim_min_score=0.0,
            ),
        )
        found = await self.graphiti.search_(
            spoken or query,
            config=config,
            group_ids=self._searched,
            search_filter=_filters(as_of, known_at),
            query_vector=await self.graphiti.embedder.create(input_data=[query]),
        )
        return await self.edges(edge.uuid for edge in found.edges)


def _filters(as_of: datetime | None, known_at: datetime | None) -> SearchFilters:
    """What the database can leave out already. An end that was learnt after `known_at` must not leave anything out."""
    filters = SearchFilters()
    if known_at is not None:
        filters.created_at = [[DateFilter(date=known_at, comparison_operator=ComparisonOperator.less_than_equal)]]
    if as_of is not None:
        unknown = [DateFilter(date=None, comparison_operator=ComparisonOperator.is_null)]
        begun = [DateFilter(date=as_of, comparison_operator=ComparisonOperator.less_than_equal)]
        filters.valid_at = [begun, unknown]
        if known_at is None:
            filters.invalid_at = [
                [DateFilter(date=as_of, comparison_operator=ComparisonOperator.greater_than)],
                unknown,
            ]
    return filters

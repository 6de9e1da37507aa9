"""`GraphitiKnowledgeBase`: the interface of `KnowledgeBase` over Graphiti."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from clew.errors import InvalidInput, NotFound
from clew.limits import check_count, check_text
from clew.memory.graphiti.connecting import Connection, need_extra, read_address
from clew.memory.graphiti.facts import best, episode_of, held
from clew.memory.graphiti.failing import graph_errors
from clew.memory.graphiti.groups import group_of
from clew.memory.graphiti.records import Note
from clew.memory.knowledge.base import EPISODES_MAX, FETCH_MAX, QUERY_MAX_BYTES, SEARCH_LIMIT_MAX, SUBJECT_MAX_BYTES
from clew.memory.knowledge.episodes import read_episode, read_moment, trusted
from clew.memory.knowledge.fact import Episode, EpisodeResult, Fact, Forgotten, Undone
from clew.models import Embedder, open_embedder
from clew.settings import Settings

if TYPE_CHECKING:
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client import LLMClient

    from clew.memory.graphiti.graph import TenantGraph

# So many tenants' graphs are kept ready; opening one again makes sure of some 30 indices.
GRAPHS_MAX: Final = 1_000


class GraphitiKnowledgeBase:
    """Knowledge with time, kept by Graphiti in Neo4j or FalkorDB and read from texts by a model.

        knowledge = GraphitiKnowledgeBase("falkor://localhost:6379", OpenAIClient(LLMConfig(api_key=...)))
        await knowledge.add_episode("chat", "Ada works at Initech since May.", tenant_id="acme")
        await knowledge.search("Where does Ada work?", tenant_id="acme")

    `llm_client`, `embedder` and `cross_encoder` are Graphiti's classes. Only the first is needed: texts are embedded,
    and answers ranked, by Clew's own offline model. A tenant is a group of Graphiti's; on FalkorDB a graph of its own.
    Its telemetry is off. It connects at first use; `close`, or `async with`, gives the connection back.
    """

    def __init__(
        self,
        url: str,
        llm_client: "LLMClient",
        *,
        embedder: "EmbedderClient | Embedder | str | None" = None,
        cross_encoder: "CrossEncoderClient | None" = None,
        settings: Settings | None = None,
    ) -> None:
        address = read_address(url)
        need_extra(address)
        self._llm_client = llm_client
        self._embedder = embedder
        self._cross_encoder = cross_encoder
        self._settings = settings or Settings()
        self._connection = Connection(address)
        self._graphs: OrderedDict[str, TenantGraph] = OrderedDict()
        self._opening = asyncio.Lock()
        self._models: tuple[EmbedderClient, CrossEncoderClient] | None = None

    async def setup(self) -> None:
        """Connect, so that what is wrong with the address or the models is told now."""
        self._clients()
        async with graph_errors():
            await self._connection.check()

    async def add_episode(
        self,
        name: str,
        episode_body: Any,
        *,
        source: str = "text",
        source_description: str = "",
        reference_time: datetime | str | None = None,
        tenant_id: str = "default",
        thread_id: str | None = None,
        message_id: str | None = None,
        user_id: str | None = None,
        confidence: float | None = None,
    ) -> EpisodeResult:
        """Learn what a text, messages or JSON say; the facts it told, and the facts that it closed.

        The model is called several times, before anything is written; a tenant's episodes are told one after the
        other. What fails while it is written is `Unavailable` with `outcome_unknown`: FalkorDB has no transactions.
        """
        group_id = group_of(tenant_id)
        sent = read_episode(
            name, episode_body, source, source_description, reference_time, thread_id, message_id, user_id
        )
        trusted(sent, confidence)
        note = Note(message_id, user_id, 1.0 if confidence is None else float(confidence))
        graph = await self._graph(group_id)
        from clew.memory.graphiti.telling import tell

        async with graph.writing, graph_errors(lambda: graph.graphiti.writing):
            return await tell(graph, sent, note)

    async def search(
        self,
        query: str,
        *,
        tenant_id: str = "default",
        limit: int = 5,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> list[Fact]:
        """The facts that answer best. What holds comes first, and what was superseded after it, with its `invalid_at`.

        `as_of` asks what was true at a time, and leaves out all else; `known_at` asks what was believed at a time. Both
        databases leave out by Graphiti's filters what they can, and the rest is left out after. What an undone episode
        had closed counts as open also at a `known_at` before the undoing: Graphiti keeps one pair of ends for a fact.
        """
        group_id = group_of(tenant_id)
        text = check_text(query, "query", max_bytes=QUERY_MAX_BYTES)
        if not text.strip():
            raise InvalidInput("must not be empty", where="query")
        check_count(limit, "limit", most=SEARCH_LIMIT_MAX)
        then, known = read_moment(as_of, "as_of"), read_moment(known_at, "known_at")
        graph = await self._graph(group_id)
        async with graph_errors():
            edges = await graph.candidates(text, limit, then, known)
            facts = [one for one in await graph.facts(edges, known_at=known) if then is None or held(one, then)]
            ranked = await self._clients()[1].rank(text, list(dict.fromkeys(fact.text for fact in facts)))
        scores = dict(ranked)
        scored = [replace(one, score=round(scores[one.text], 6)) for one in facts if one.text in scores]
        return best(scored, limit, then)

    async def history(self, subject: str, *, tenant_id: str = "default") -> list[Fact]:
        """Everything ever held of a subject, oldest first: what holds, what was closed, and what was taken back."""
        group_id = group_of(tenant_id)
        if not check_text(subject, "subject", max_bytes=SUBJECT_MAX_BYTES).strip():
            raise InvalidInput("must not be empty", where="subject")
        graph = await self._graph(group_id)
        async with graph_errors():
            facts = await graph.facts(await graph.edges_about(subject), ever=True)
        earliest = datetime.min.replace(tzinfo=UTC)
        return sorted(facts, key=lambda fact: (fact.valid_at or earliest, fact.created_at, fact.fact_id))

    async def fetch(self, fact_ids: Sequence[str], *, tenant_id: str = "default") -> list[Fact]:
        """Facts by id as they are now, in the order asked; what was forgotten is left out."""
        group_id = group_of(tenant_id)
        check_count(len(fact_ids), "fact_ids", least=0, most=FETCH_MAX)
        ids = [_check_uuid(one, "fact_ids") for one in fact_ids]
        graph = await self._graph(group_id)
        async with graph_errors():
            return await graph.facts(await graph.edges(ids), ever=True)

    async def episodes(self, *, tenant_id: str = "default", limit: int = 50) -> list[Episode]:
        """What was said and read, newest first, also what was taken back."""
        from clew.memory.graphiti import cypher

        group_id = group_of(tenant_id)
        check_count(limit, "limit", most=EPISODES_MAX)
        graph = await self._graph(group_id)
        async with graph_errors():
            return [episode_of(one) for one in await graph.episodes_by(cypher.NEWEST_EPISODES, limit=limit)]

    async def undo(self, episode_id: str, *, tenant_id: str = "default") -> Undone:
        """Take an episode back: what it closed holds again, what only it told is believed no more.

        Taken back already, nothing changes. It differs from `KnowledgeBase.undo`, which works out anew what all other
        episodes say: here the ends from before are put back, and what a later episode closed in its place is closed by
        that one. A fact that was told late, and was closed at once by one already known, stays closed when that one
        goes. No model is asked.
        """
        from clew.memory.graphiti.withdrawing import Withdrawal

        group_id, checked = group_of(tenant_id), _check_uuid(episode_id, "episode_id")
        graph = await self._graph(group_id)
        async with graph.writing, graph_errors():
            episode = await graph.episode(checked)
            if episode is None:
                raise NotFound("there is no such episode", where="episode_id")
            return await Withdrawal(graph, episode).undo()

    async def forget(
        self,
        *,
        tenant_id: str = "default",
        episode_id: str | None = None,
        thread_id: str | None = None,
        episode_ids: Sequence[str] | None = None,
    ) -> Forgotten:
        """Remove an episode, several, or all that a thread told; what went, by id. What is not there is no error.

        A fact that another source supports stays, in the words it was first told in. The summaries that Graphiti's
        model wrote of the things that the episode named are emptied, since they may hold what is to be forgotten.
        """
        from clew.memory.graphiti import cypher
        from clew.memory.graphiti.withdrawing import Withdrawal

        group_id = group_of(tenant_id)
        if sum(one is not None for one in (episode_id, thread_id, episode_ids)) != 1:
            raise InvalidInput("name an episode or a thread", where="episode_id, thread_id")
        named = episode_ids if episode_ids is not None else [] if episode_id is None else [episode_id]
        ids = [_check_uuid(one, "episode_id") for one in named]
        if thread_id is not None:
            check_text(thread_id, "thread_id", max_bytes=SUBJECT_MAX_BYTES)
        graph = await self._graph(group_id)
        all_gone = Forgotten()
        async with graph.writing, graph_errors(lambda: bool(all_gone.episodes)):
            if thread_id is not None:
                ids = [one.uuid for one in await graph.episodes_by(cypher.THREAD_EPISODES, thread_id=thread_id)]
            for uuid in ids:
                # Read when its turn comes: forgetting one may have changed what is noted on the next.
                episode = await graph.episode(uuid)
                if episode is not None:
                    _gather(all_gone, await Withdrawal(graph, episode).forget())
        return all_gone

    async def close(self) -> None:
        """Give the connection back."""
        self._graphs.clear()
        await self._connection.close()

    async def __aenter__(self) -> Self:
        await self.setup()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _graph(self, group_id: str) -> "TenantGraph":
        """The tenant's graph, opened if need be."""
        async with self._opening, graph_errors():
            if group_id not in self._graphs:
                self._graphs[group_id] = await self._opened(group_id)
                idle = [key for key, graph in self._graphs.items() if not graph.writing.locked() and key != group_id]
                for key in idle[: max(len(self._graphs) - GRAPHS_MAX, 0)]:
                    del self._graphs[key]
            self._graphs.move_to_end(group_id)
            return self._graphs[group_id]

    async def _opened(self, group_id: str) -> "TenantGraph":
        embedder, cross_encoder = self._clients()
        driver = await self._connection.driver(group_id)
        # Loaded on first use: Graphiti and the clients that it imports take their time.
        from clew.memory.graphiti.graph import TenantGraph
        from clew.memory.graphiti.recording import RecordingGraphiti

        graphiti = RecordingGraphiti(
            graph_driver=driver, llm_client=self._llm_client, embedder=embedder, cross_encoder=cross_encoder
        )
        graphiti.begin()
        return TenantGraph(graphiti, group_id)

    def _clients(self) -> "tuple[EmbedderClient, CrossEncoderClient]":
        if self._models is None:
            self._models = _read_clients(self._llm_client, self._embedder, self._cross_encoder, self._settings)
        return self._models


def _read_clients(
    llm_client: object, embedder: object, cross_encoder: object, settings: Settings
) -> "tuple[EmbedderClient, CrossEncoderClient]":
    """The models as Graphiti takes them: the caller's, or ours."""
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client import LLMClient

    from clew.memory.graphiti.offline import OfflineRanker, OurEmbedder

    if not isinstance(llm_client, LLMClient):
        raise InvalidInput(f"expected an LLMClient of Graphiti's, got {type(llm_client).__name__}", where="llm_client")
    if cross_encoder is not None and not isinstance(cross_encoder, CrossEncoderClient):
        kind = type(cross_encoder).__name__
        raise InvalidInput(f"expected a CrossEncoderClient of Graphiti's, got {kind}", where="cross_encoder")
    static = open_embedder("static", settings=settings)
    chosen = static if embedder is None else embedder
    if isinstance(chosen, str):
        chosen = open_embedder(chosen, settings=settings)
    if not isinstance(chosen, EmbedderClient | Embedder):
        raise InvalidInput(
            f"expected an EmbedderClient of Graphiti's, got {type(chosen).__name__}",
            where="embedder",
            fix="Or an embedder of Clew's, or a spec such as 'static'",
        )
    ours = chosen if isinstance(chosen, EmbedderClient) else OurEmbedder(chosen)
    return ours, cross_encoder or OfflineRanker(static)


def _gather(all_gone: Forgotten, gone: Forgotten) -> None:
    """Add what one episode took with it; a fact that a later one of them supported last is gone after all."""
    all_gone.episodes.extend(gone.episodes)
    all_gone.facts.extend(gone.facts)
    all_gone.kept[:] = [one for one in dict.fromkeys([*all_gone.kept, *gone.kept]) if one not in all_gone.facts]


def _check_uuid(value: object, where: str) -> str:
    """The id in its one spelling. Graphiti makes random ones, which are not in the order of time."""
    if isinstance(value, str):
        try:
            return str(UUID(value))
        except ValueError:
            pass
    raise InvalidInput("is not an id of Graphiti's", where=where)

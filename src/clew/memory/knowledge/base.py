"""`KnowledgeBase`: facts that keep their history."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection

from clew.errors import InvalidInput, NotFound
from clew.ids import check_id, check_tenant_id
from clew.limits import check_count, check_text
from clew.memory.knowledge.episodes import read_episode, read_moment, trusted
from clew.memory.knowledge.extract import phrase_key
from clew.memory.knowledge.fact import Change, Episode, EpisodeResult, Fact, Forgotten, Undone
from clew.memory.knowledge.looking import about, believed, by_ids, neighbouring, newest_episodes
from clew.memory.knowledge.reading import facts_ever, facts_now, told_facts
from clew.memory.knowledge.storing import Also, store_episode
from clew.memory.knowledge.withdrawing import Withdrawal
from clew.memory.spaces import Embedders, active_space, as_text
from clew.models import Embedder
from clew.settings import Settings
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.memory.knowledge.modelled import ModelReader
    from clew.memory.knowledge.searching import FactSearcher
    from clew.models.asking import ModelChoice

SEARCH_LIMIT_MAX: Final = 1_000
QUERY_MAX_BYTES: Final = 1024 * 1024
SUBJECT_MAX_BYTES: Final = 1024
CHANGES_MAX: Final = 10_000
EPISODES_MAX: Final = 10_000
FETCH_MAX: Final = 1_000
EMBED_CHUNK_FACTS: Final = 500

_SQL: Final = statements("knowledge")


class KnowledgeBase(Room):
    """What is known of the world, when it was true, and since when it has been known.

        knowledge = KnowledgeBase()                  # embedded, or a URL, or an open clew.Database
        await knowledge.add_episode("Q3 report", "Q3 revenue was $4.8M.", tenant_id="acme")
        await knowledge.add_episode("chat", "Q3 revenue was actually $5.2M, not $4.8M.", tenant_id="acme")
        await knowledge.search("Q3 revenue", tenant_id="acme")

    No model is called unless `extraction` names one; what fails there is read without. It opens what it needs on first
    use; `close`, or `async with`, gives back what it opened.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        embedding_model: str | Embedder | None = None,
        *,
        settings: Settings | None = None,
        extraction: "ModelChoice | None" = None,
    ) -> None:
        super().__init__(database, settings=settings)
        self._embedders = Embedders(embedding_model, settings or self._database.settings)
        self._searcher: FactSearcher | None = None
        self._model = None if extraction is None else _reader(extraction)

    async def setup(self) -> None:
        """Open the database, and the embedder, so that what is wrong with either is told now."""
        await self.opened()
        self._embedders.default()

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
        also: Also | None = None,
    ) -> EpisodeResult:
        """Learn what a text, messages or JSON say; the facts it told, and the facts that it closed.

        All of it is stored in one transaction, and found by the next search in any process. What has no date of its own
        holds from `reference_time` on, which is now unless given. `confidence` is the caller's own in what the episode
        makes. `also` runs first in the same transaction: what it raises comes out as it is, and nothing is stored.
        """
        check_tenant_id(tenant_id)
        sent = read_episode(
            name, episode_body, source, source_description, reference_time, thread_id, message_id, user_id
        )
        trusted(sent, confidence)
        await self.opened()
        notes: tuple[str, ...] = ()
        if self._model is not None:
            sent, notes = await self._model.read(sent)
        sent = trusted(sent, confidence)
        result = await store_episode(self._database, self._embedders, tenant_id, sent, also)
        return replace(result, notes=notes) if notes else result

    async def knows(
        self, content: Any, *, tenant_id: str = "default", reference_time: datetime | str | None = None
    ) -> bool:
        """Whether all that a text, a message or messages say is believed already: telling it would change nothing."""
        check_tenant_id(tenant_id)
        sent = read_episode("known?", content, reference_time=reference_time)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await believed(connection, tenant_id, sent)

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

        `as_of` asks what was true at a time, and leaves out all else; `known_at` asks what was believed at a time.
        """
        from clew.memory.knowledge.searching import Moment

        check_tenant_id(tenant_id)
        text = check_text(query, "query", max_bytes=QUERY_MAX_BYTES)
        if not text.strip():
            raise InvalidInput("must not be empty", where="query")
        check_count(limit, "limit", most=SEARCH_LIMIT_MAX)
        moment = Moment(read_moment(as_of, "as_of"), read_moment(known_at, "known_at"))
        await self.opened()
        return await self._search().search(tenant_id, text, limit, moment)

    async def history(self, subject: str, *, tenant_id: str = "default") -> list[Fact]:
        """Everything ever held of a subject, oldest first: what holds, what was closed, and what was taken back."""
        check_tenant_id(tenant_id)
        key = phrase_key(check_text(subject, "subject", max_bytes=SUBJECT_MAX_BYTES))
        if not key:
            raise InvalidInput("must not be empty", where="subject")
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            facts = await about(connection, tenant_id, key, subject)
        earliest = datetime.min.replace(tzinfo=UTC)
        return sorted(facts, key=lambda fact: (fact.valid_at or earliest, fact.created_at, fact.fact_id))

    async def neighbours(self, query: str, *, tenant_id: str = "default", limit: int = 20) -> list[Fact]:
        """What holds now of the things that a question names, and what leads to them, by whichever of their names.

        Nothing is ranked by meaning: the longest name comes first, then the newest fact.
        """
        check_tenant_id(tenant_id)
        text = check_text(query, "query", max_bytes=QUERY_MAX_BYTES)
        check_count(limit, "limit", most=SEARCH_LIMIT_MAX)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await neighbouring(connection, tenant_id, text, limit)

    async def fetch(self, fact_ids: Sequence[str], *, tenant_id: str = "default") -> list[Fact]:
        """Facts by id as they are now, in the order asked; what was forgotten is left out."""
        check_tenant_id(tenant_id)
        check_count(len(fact_ids), "fact_ids", least=0, most=FETCH_MAX)
        ids = [check_id(one, "fact_ids") for one in fact_ids]
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await by_ids(connection, tenant_id, ids)

    async def episodes(self, *, tenant_id: str = "default", limit: int = 50) -> list[Episode]:
        """What was said and read, newest first, also what was taken back."""
        check_tenant_id(tenant_id)
        check_count(limit, "limit", most=EPISODES_MAX)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await newest_episodes(connection, tenant_id, limit)

    async def undo(self, episode_id: str, *, tenant_id: str = "default") -> Undone:
        """Take an episode back: what it closed holds again, what only it told is believed no more.

        What later episodes said stays as if this one had never been. Taken back already, nothing changes.
        """
        check_tenant_id(tenant_id)
        checked = check_id(episode_id, "episode_id")
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            done = await Withdrawal(connection, tenant_id, checked).undo()
            if done is None:
                raise NotFound("there is no such episode", where="episode_id")
            reopened, expired = done
            now, gone = (
                await facts_now(connection, tenant_id, reopened),
                await facts_ever(connection, tenant_id, expired),
            )
            return Undone(
                checked,
                await told_facts(connection, tenant_id, now, reopened),
                await told_facts(connection, tenant_id, gone, expired),
            )

    async def forget_source(
        self,
        connection: AsyncConnection[Any],
        tenant_id: str,
        *,
        episode_id: str | None = None,
        thread_id: str | None = None,
        episode_ids: Sequence[str] | None = None,
    ) -> Forgotten:
        """Remove an episode, several, or all that a thread told, in a transaction of the caller's; what went, by id.

        A fact that another source supports stays, in that source's words. What is not there is no error.
        """
        if sum(one is not None for one in (episode_id, thread_id, episode_ids)) != 1:
            raise InvalidInput("name an episode or a thread", where="episode_id, thread_id")
        withdrawal = Withdrawal(connection, tenant_id)
        if thread_id is not None:
            check_text(thread_id, "thread_id", max_bytes=SUBJECT_MAX_BYTES)
            ids = await withdrawal.thread_episodes(thread_id)
        else:
            ids = [check_id(one, "episode_id") for one in (episode_ids if episode_ids is not None else [episode_id])]
        gone = await withdrawal.forget(ids)
        self.forget_tenant(tenant_id)
        return gone

    async def forget(
        self,
        *,
        tenant_id: str = "default",
        episode_id: str | None = None,
        thread_id: str | None = None,
        episode_ids: Sequence[str] | None = None,
    ) -> Forgotten:
        """The same in a transaction of its own."""
        check_tenant_id(tenant_id)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await self.forget_source(
                connection, tenant_id, episode_id=episode_id, thread_id=thread_id, episode_ids=episode_ids
            )

    def forget_tenant(self, tenant_id: str) -> None:
        """Keep no words of a tenant's facts in this process. What others said is read again when it is asked for."""
        check_tenant_id(tenant_id)
        if self._searcher is not None:
            self._searcher.forget()

    def remembers(self, tenant_id: str) -> int:
        """Of how many facts of a tenant this process keeps words."""
        return 0 if self._searcher is None else self._searcher.remembers(tenant_id)

    async def changes(
        self,
        *,
        tenant_id: str = "default",
        fact_id: str | None = None,
        episode_id: str | None = None,
        limit: int = 100,
    ) -> list[Change]:
        """The audit log, newest first: every change to what is believed, as it was before and after."""
        check_tenant_id(tenant_id)
        check_count(limit, "limit", most=CHANGES_MAX)
        values = {
            "tenant_id": tenant_id,
            "fact_id": None if fact_id is None else check_id(fact_id, "fact_id"),
            "episode_id": None if episode_id is None else check_id(episode_id, "episode_id"),
            "limit": limit,
        }
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.changes, values)).fetchall()
        return [Change(*row) for row in rows]

    async def reembed(self, *, tenant_id: str = "default") -> int:
        """Embed the facts that have no vector in the tenant's space, after it moved to another; how many."""
        check_tenant_id(tenant_id)
        await self.opened()
        done = 0
        while True:
            async with self._database.tenant(tenant_id) as connection:
                space = await active_space(connection, tenant_id)
                named = {"tenant_id": tenant_id, "space": space.name if space else "", "limit": EMBED_CHUNK_FACTS}
                rows = await (await connection.execute(_SQL.lacking, named)).fetchall()
                if space is None or not rows:
                    await connection.execute(_SQL.drop_other_spaces, named)
                    return done
            vectors = await self._embedders.of(space).embed([text for _, _, text in rows])
            made = {"seq": [row[0] for row in rows], "revision": [row[1] for row in rows]}
            embedded = [as_text(vector.tolist()) for vector in vectors]
            async with self._database.tenant(tenant_id) as connection:
                await connection.execute(_SQL.add_lacking, {**named, **made, "embedding": embedded})
            done += len(rows)

    def _search(self) -> "FactSearcher":
        # Loaded on first use: numpy takes 0.2 s.
        from clew.memory.knowledge.searching import FactSearcher

        if self._searcher is None:
            self._searcher = FactSearcher(self._database, self._embedders)
        return self._searcher


def _reader(extraction: "ModelChoice") -> "ModelReader":
    # Loaded when wanted: a model's client takes its time.
    from clew.memory.knowledge.modelled import ModelReader

    return ModelReader(extraction)

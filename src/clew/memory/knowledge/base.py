"""`KnowledgeBase`: facts that keep their history."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection

from clew.errors import InvalidInput, NotFound, Unavailable
from clew.ids import check_id, check_tenant_id, new_id
from clew.limits import check_count, check_text
from clew.memory.analysis import READ_MAX_CHARS, content_stems, words
from clew.memory.knowledge.episodes import Sent, read_episode, read_moment
from clew.memory.knowledge.extract import phrase_key
from clew.memory.knowledge.fact import Change, Episode, EpisodeResult, Fact, Forgotten, Undone
from clew.memory.knowledge.reading import facts_ever, facts_now, sourced
from clew.memory.knowledge.stating import Stated, names_in, renamed, stated
from clew.memory.knowledge.withdrawing import Withdrawal
from clew.memory.knowledge.writing import EpisodeWriter
from clew.memory.spaces import Embedders, Space, active_space, as_text, hold_space
from clew.models import Embedder
from clew.settings import Settings
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.memory.knowledge.searching import FactSearcher

SEARCH_LIMIT_MAX: Final = 1_000
HISTORY_MAX: Final = 1_000
QUERY_MAX_BYTES: Final = 1024 * 1024
SUBJECT_MAX_BYTES: Final = 1024
CHANGES_MAX: Final = 10_000
SPACE_MAX_ATTEMPTS: Final = 5
EMBED_CHUNK_FACTS: Final = 500

_SQL: Final = statements("knowledge")
_SEARCH: Final = statements("knowledge_search")


class KnowledgeBase(Room):
    """What is known of the world, when it was true, and since when it has been known.

        knowledge = KnowledgeBase()                  # embedded, or a URL, or an open clew.Database
        await knowledge.add_episode("Q3 report", "Q3 revenue was $4.8M.", tenant_id="acme")
        await knowledge.add_episode("chat", "Q3 revenue was actually $5.2M, not $4.8M.", tenant_id="acme")
        await knowledge.search("Q3 revenue", tenant_id="acme")

    No model is called. It opens what it needs on first use; `close`, or `async with`, gives back what it opened.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        embedding_model: str | Embedder | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(database, settings=settings)
        self._embedders = Embedders(embedding_model, settings or self._database.settings)
        self._searcher: FactSearcher | None = None

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
    ) -> EpisodeResult:
        """Learn what a text, messages or JSON say; the facts it told, and the facts that it closed.

        All of it is stored in one transaction, and found by the next search in any process. What has no date of its own
        holds from `reference_time` on, which is now unless given.
        """
        check_tenant_id(tenant_id)
        sent = read_episode(name, episode_body, source, source_description, reference_time, thread_id, message_id)
        await self.opened()
        return await self._store(tenant_id, sent)

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
            seqs = await _about(connection, tenant_id, key, subject)
            facts = await _told(connection, tenant_id, await facts_ever(connection, tenant_id, seqs), seqs)
        earliest = datetime.min.replace(tzinfo=UTC)
        return sorted(facts, key=lambda fact: (fact.valid_at or earliest, fact.created_at, fact.fact_id))

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
                await _told(connection, tenant_id, now, reopened),
                await _told(connection, tenant_id, gone, expired),
            )

    async def forget_source(
        self,
        connection: AsyncConnection[Any],
        tenant_id: str,
        *,
        episode_id: str | None = None,
        thread_id: str | None = None,
    ) -> Forgotten:
        """Remove an episode, or all that a thread told, in a transaction of the caller's; what went, by id.

        A fact that another source supports stays, in that source's words.
        """
        if (episode_id is None) == (thread_id is None):
            raise InvalidInput("name an episode or a thread", where="episode_id, thread_id")
        withdrawal = Withdrawal(connection, tenant_id)
        if thread_id is not None:
            return await withdrawal.forget(await withdrawal.thread_episodes(thread_id))
        return await withdrawal.forget([check_id(episode_id, "episode_id")])

    async def forget(
        self, *, tenant_id: str = "default", episode_id: str | None = None, thread_id: str | None = None
    ) -> Forgotten:
        """The same in a transaction of its own."""
        check_tenant_id(tenant_id)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await self.forget_source(connection, tenant_id, episode_id=episode_id, thread_id=thread_id)

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

    async def _store(self, tenant_id: str, sent: Sent) -> EpisodeResult:
        episode = Episode(
            new_id(),
            sent.name,
            sent.source,
            sent.source_description,
            sent.reference_time,
            datetime.now(UTC),
            sent.thread_id,
        )
        async with self._database.tenant(tenant_id) as connection:
            space = await active_space(connection, tenant_id)
            said = await _named(connection, tenant_id, sent)
        for _ in range(SPACE_MAX_ATTEMPTS):
            embedder, wanted = (self._embedders.of(space), space) if space else self._embedders.default()
            texts = list(dict.fromkeys(one.draft.text for one in said))
            rows = await embedder.embed([text[:READ_MAX_CHARS] for text in texts]) if texts else ()
            vectors = dict(zip(texts, rows, strict=True))
            async with self._database.tenant(tenant_id) as connection:
                space = await hold_space(connection, tenant_id, wanted)
                if space == wanted:
                    return await _written(connection, tenant_id, episode, sent, said, vectors, space)
        raise Unavailable("the tenant's embedding model keeps changing; nothing was stored", fix="Retry")


async def _written(
    connection: AsyncConnection[Any],
    tenant_id: str,
    episode: Episode,
    sent: Sent,
    said: Sequence[Stated],
    vectors: Any,
    space: Space,
) -> EpisodeResult:
    writer = EpisodeWriter(connection, tenant_id, episode, sent.body)
    written = await writer.write(said, sent.extracted.aliases, vectors, space.name)
    found = await facts_now(connection, tenant_id, list(dict.fromkeys([*written.told, *written.closed])))
    told = await _told(connection, tenant_id, found, [*written.told, *written.closed])
    split = sum(len(found.get(seq, ())) for seq in written.told)
    return EpisodeResult(episode, told[:split], told[split:])


async def _named(connection: AsyncConnection[Any], tenant_id: str, sent: Sent) -> list[Stated]:
    """The statements of an episode, with the names that things are known under."""
    drafts = sent.extracted.drafts
    own = {one.alias: one.entity for one in sent.extracted.aliases}
    keys = names_in(drafts)
    rows = await (await connection.execute(_SQL.aliases, {"tenant_id": tenant_id, "keys": keys})).fetchall()
    entity_of = {**dict(rows), **own}
    return stated([renamed(draft, entity_of) for draft in drafts], sent.reference_time)


async def _about(connection: AsyncConnection[Any], tenant_id: str, key: str, subject: str) -> list[int]:
    """The rows of the facts about a subject; when there are none, of those whose subject has all of its words."""
    named = await (await connection.execute(_SEARCH.names_of, {"tenant_id": tenant_id, "key": key})).fetchall()
    values = {"tenant_id": tenant_id, "keys": [key, *(name for (name,) in named)], "limit": HISTORY_MAX}
    rows = await (await connection.execute(_SEARCH.about, values)).fetchall()
    terms = list(dict.fromkeys(content_stems(words(subject))))
    if not rows and terms:
        rows = await (await connection.execute(_SEARCH.naming, {**values, "terms": terms})).fetchall()
    return [seq for (seq,) in rows]


async def _told(
    connection: AsyncConnection[Any], tenant_id: str, found: dict[int, list[Fact]], seqs: Sequence[int]
) -> list[Fact]:
    """The facts of these rows, in their order, with their sources."""
    rows = [(seq, fact) for seq in seqs for fact in found.get(seq, ())]
    return [fact for _, fact in await sourced(connection, tenant_id, rows)]

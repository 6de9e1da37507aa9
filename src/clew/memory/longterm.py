"""`LongTermMemory`: what is known, found again."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.ids import check_tenant_id
from clew.limits import check_count, check_text
from clew.memory.batching import chunks, vectors_of
from clew.memory.entry import BatchResult, FailedEntry, MemoryChange, MemoryEntry
from clew.memory.filters import scope_of
from clew.memory.indexing import build_index
from clew.memory.looking_up import CHANGES_LIMIT_MAX, REACH_MAX, beside, changes, check_ids, entry_of, fetch
from clew.memory.preparing import AGENT_ID_MAX_BYTES, MEMORY_ID_MAX_BYTES, Prepared, prepare, read_entry
from clew.memory.reembedding import Progress, Reembedding
from clew.memory.reordering import RERANK_TOP, reordered
from clew.memory.spaces import Embedders, active_space, hold_space
from clew.memory.writing import drop, drop_thread, write
from clew.models import Embedder
from clew.models.rerank import Reranker
from clew.settings import Settings
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.memory.search import Searcher

SEARCH_LIMIT_MAX: Final = 1_000
LIST_LIMIT_MAX: Final = 10_000
QUERY_MAX_BYTES: Final = 1024 * 1024
# A tenant's space may be changed while a chunk is embedded: then the chunk is embedded again.
SPACE_MAX_ATTEMPTS: Final = 5

_SQL: Final = statements("memory")


class LongTermMemory(Room):
    """Entries of many tenants, each found by its own tenant and no other.

        memory = LongTermMemory()                    # embedded, or a URL, or an open clew.Database
        await memory.store(MemoryEntry(tenant_id="acme", agent_id="support", content="Ana prefers tea"))
        await memory.search("acme", "what does Ana drink?")

    It opens what it needs on first use; `close`, or `async with`, gives back what it opened.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        embedding_model: str | Embedder | None = None,
        *,
        reranker: Reranker | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._reranker = reranker
        super().__init__(database, settings=settings)
        self._embedders = Embedders(embedding_model, settings or self._database.settings)
        self._searcher: Searcher | None = None

    @property
    def embedding_model(self) -> str | Embedder | None:
        """What the caller chose for tenants that have no embedding space yet; None for what the settings say."""
        return self._embedders.chosen

    async def setup(self) -> None:
        """Open the database, and the embedder, so that what is wrong with either is told now."""
        await self.opened()
        self._embedders.default()

    async def store(self, entry: MemoryEntry) -> str:
        """Store an entry and return its id; the next search finds it, in any process.

        The same id again changes the entry. An exact duplicate (same agent, content and metadata) is not stored
        again: its id is that of the entry there is.
        """
        prepared = prepare(read_entry(entry))
        await self.opened()
        return (await self._store_chunk(prepared.entry.tenant_id, [prepared]))[0]

    async def store_many(self, entries: Iterable[MemoryEntry]) -> BatchResult:
        """Store a batch, in chunks; what was stored and what failed, and why, together are what was sent."""
        if not isinstance(entries, Iterable) or isinstance(entries, str | bytes | Mapping | MemoryEntry):
            raise InvalidInput(
                f"expected entries, got {type(entries).__name__}", where="entries", fix="Send a list: [entry]"
            )
        await self.opened()
        stored: dict[int, str] = {}
        failed: list[FailedEntry] = []
        down: ClewError | None = None
        for chunk in chunks(entries, failed):
            for tenant_id in dict.fromkeys(one.entry.tenant_id for _, one in chunk):
                part = [(index, one) for index, one in chunk if one.entry.tenant_id == tenant_id]
                if down is None:
                    down = await self._store_part(tenant_id, part, stored, failed)
                else:
                    failed += [FailedEntry(index, one.entry.memory_id, down) for index, one in part]
        return BatchResult([stored[index] for index in sorted(stored)], sorted(failed, key=lambda one: one.index))

    async def search(
        self,
        tenant_id: str,
        query: str,
        limit: int = 10,
        agent_id: str | None = None,
        *,
        filters: Any = None,
    ) -> list[MemoryEntry]:
        """The entries that answer `query` best, best first, each with its score and the reasons for it.

        Filters narrow what is looked at, not the answer: there are `limit` entries when the scope has that many.
        A reranker, when there is one, puts the best of them into its own order; when it fails, the answer stays as it
        is, and its reasons say so.
        """
        if self._reranker is None:
            return await self._found(tenant_id, query, limit, agent_id, filters)
        found = await self._found(tenant_id, query, limit, agent_id, filters, at_least=RERANK_TOP)
        return (await reordered(self._reranker, query, found))[:limit]

    async def candidates(
        self, tenant_id: str, query: str, limit: int = 50, agent_id: str | None = None
    ) -> list[MemoryEntry]:
        """What `search` finds, in the order before any reranker: for a caller who reranks more than memory."""
        return await self._found(tenant_id, query, limit, agent_id, None)

    async def fetch(self, tenant_id: str, memory_ids: Iterable[str]) -> list[MemoryEntry]:
        """The entries of these ids, in the order asked; ids that the tenant does not have are left out."""
        check_tenant_id(tenant_id)
        wanted = check_ids(memory_ids)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await fetch(connection, tenant_id, wanted)

    async def around(
        self, tenant_id: str, memory_ids: Iterable[str], reach: int = 2
    ) -> dict[str, tuple[list[MemoryEntry], list[MemoryEntry]]]:
        """By id, what the same agent has before each entry in its thread, and what after it, each in order.

        Up to `reach` on either side; none for an entry without a thread. Ids the tenant does not have are left out.
        """
        check_tenant_id(tenant_id)
        wanted = check_ids(memory_ids)
        check_count(reach, "reach", most=REACH_MAX)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await beside(connection, tenant_id, wanted, reach)

    async def changes(self, tenant_id: str, memory_id: str | None = None, limit: int = 100) -> list[MemoryChange]:
        """Every change to the tenant's entries, or to one of them, newest first, with what it was before and after.

        Of an entry that was deleted the log says when, and what it said is gone from every change of it.
        """
        check_tenant_id(tenant_id)
        if memory_id is not None:
            check_text(memory_id, "memory_id", max_bytes=MEMORY_ID_MAX_BYTES)
        check_count(limit, "limit", most=CHANGES_LIMIT_MAX)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await changes(connection, tenant_id, memory_id, limit)

    async def delete(self, memory_id: str, tenant_id: str) -> bool:
        """Delete an entry; False when the tenant has none of this id, whoever else may."""
        check_tenant_id(tenant_id)
        check_text(memory_id, "memory_id", max_bytes=MEMORY_ID_MAX_BYTES)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            return await drop(connection, tenant_id, memory_id)

    async def list_by_tenant(self, tenant_id: str, limit: int = 50) -> list[MemoryEntry]:
        """The tenant's entries, newest first."""
        check_tenant_id(tenant_id)
        check_count(limit, "limit", most=LIST_LIMIT_MAX)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.newest, {"tenant_id": tenant_id, "limit": limit})).fetchall()
        return [entry_of(tenant_id, row) for row in rows]

    async def forget_thread(self, connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> int:
        """Delete what was remembered from a conversation, in a transaction of the caller's; how many entries."""
        return await drop_thread(connection, tenant_id, thread_id)

    def forget_tenant(self, tenant_id: str) -> None:
        """Keep no words of a tenant's entries in this process; they are read again when they are asked for."""
        check_tenant_id(tenant_id)
        if self._searcher is not None:
            self._searcher.forget()

    def remembers(self, tenant_id: str) -> int:
        """Of how many of a tenant's entries this process keeps words."""
        return 0 if self._searcher is None else self._searcher.remembers(tenant_id)

    async def index(self, tenant_id: str) -> bool:
        """Make an approximate index for a large tenant's searches; False when it has one, or nothing to index.

        Worth it from 20,000 entries on; below, the exact scan is used all the same. Needs a login that may act as
        `clew_owner`, as `clew migrate` does; the tenant is written to and searched meanwhile.
        """
        check_tenant_id(tenant_id)
        await self.opened()
        async with self._database.tenant(tenant_id) as connection:
            space = await active_space(connection, tenant_id)
        return space is not None and await build_index(self._database, tenant_id, space)

    async def reembed(
        self, tenant_id: str, embedding_model: str | Embedder, *, progress: Progress | None = None
    ) -> int:
        """Move a tenant to another embedding model; how many entries were embedded.

        The old model answers meanwhile, also for what is stored meanwhile, and the change is one step. `progress` is
        called with how many are done and how many there are.
        """
        check_tenant_id(tenant_id)
        embedder, space = self._embedders.opened(embedding_model)
        await self.opened()
        return await Reembedding(self._database, tenant_id, embedder, space).run(progress)

    async def _found(
        self, tenant_id: str, query: str, limit: int, agent_id: str | None, filters: Any, *, at_least: int = 0
    ) -> list[MemoryEntry]:
        """The best, `at_least` so many whatever the limit, once what was asked has been checked."""
        check_tenant_id(tenant_id)
        text = check_text(query, "query", max_bytes=QUERY_MAX_BYTES)
        if not text.strip():
            raise InvalidInput("must not be empty", where="query")
        check_count(limit, "limit", most=SEARCH_LIMIT_MAX)
        if agent_id is not None:
            check_text(agent_id, "agent_id", max_bytes=AGENT_ID_MAX_BYTES)
        scope = scope_of(filters, agent_id)
        await self.opened()
        return await self._search().search(tenant_id, text, max(limit, at_least), scope)

    def _search(self) -> "Searcher":
        # Loaded on first use: numpy takes 0.2 s, and whoever only stores a setting should not wait for it.
        from clew.memory.search import Searcher

        if self._searcher is None:
            self._searcher = Searcher(self._database, self._embedders)
        return self._searcher

    async def _store_part(
        self, tenant_id: str, part: list[tuple[int, Prepared]], stored: dict[int, str], failed: list[FailedEntry]
    ) -> ClewError | None:
        """Store one tenant's part of a chunk; the error, when whatever comes next would fail as well."""
        try:
            ids = await self._store_chunk(tenant_id, [one for _, one in part])
        except ClewError as error:
            if isinstance(error, Unavailable) or len(part) == 1:
                failed += [FailedEntry(index, one.entry.memory_id, error) for index, one in part]
                return error if isinstance(error, Unavailable) else None
            # Something that only the model or PostgreSQL could see is wrong with one of them: halve until it is alone.
            middle = len(part) // 2
            for half in (part[:middle], part[middle:]):
                if down := await self._store_part(tenant_id, half, stored, failed):
                    remaining = [one for one in part if one[0] not in stored and all(f.index != one[0] for f in failed)]
                    failed += [FailedEntry(index, one.entry.memory_id, down) for index, one in remaining]
                    return down
        else:
            stored.update(zip((index for index, _ in part), ids, strict=True))
        return None

    async def _store_chunk(self, tenant_id: str, prepared: list[Prepared]) -> list[str]:
        async with self._database.tenant(tenant_id) as connection:
            space = await active_space(connection, tenant_id)
        for _ in range(SPACE_MAX_ATTEMPTS):
            embedder, wanted = (self._embedders.of(space), space) if space else self._embedders.default()
            vectors = await vectors_of(embedder, prepared)
            async with self._database.tenant(tenant_id) as connection:
                space = await hold_space(connection, tenant_id, wanted)
                if space == wanted:
                    return await write(connection, tenant_id, prepared, vectors, space.name)
        raise Unavailable("the tenant's embedding model keeps changing; nothing was stored", fix="Retry")

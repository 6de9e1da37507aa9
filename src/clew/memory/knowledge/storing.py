"""One episode from what was sent to what is stored: named, embedded, written."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from psycopg import AsyncConnection

from clew.errors import Unavailable
from clew.ids import new_id
from clew.memory.analysis import READ_MAX_CHARS
from clew.memory.knowledge.episodes import Sent
from clew.memory.knowledge.fact import Episode, EpisodeResult
from clew.memory.knowledge.reading import facts_now, told_facts
from clew.memory.knowledge.stating import Stated, names_in, renamed, stated
from clew.memory.knowledge.writing import EpisodeWriter
from clew.memory.spaces import Embedders, active_space, hold_space
from clew.store.database import Database
from clew.store.named_sql import statements

Also = Callable[[AsyncConnection[Any]], Awaitable[None]]
SPACE_MAX_ATTEMPTS: Final = 5

_SQL: Final = statements("knowledge")


async def store_episode(
    database: Database, embedders: Embedders, tenant_id: str, sent: Sent, also: Also | None
) -> EpisodeResult:
    """Store all that an episode says in one transaction, after what `also` does in it. Vectors are made before."""
    async with database.tenant(tenant_id) as connection:
        space = await active_space(connection, tenant_id)
        said = await named(connection, tenant_id, sent)
    texts = list(dict.fromkeys(one.draft.text for one in said))
    for _ in range(SPACE_MAX_ATTEMPTS):
        embedder, wanted = (embedders.of(space), space) if space else embedders.default()
        rows = await embedder.embed([text[:READ_MAX_CHARS] for text in texts]) if texts else ()
        vectors = dict(zip(texts, rows, strict=True))
        async with database.tenant(tenant_id) as connection:
            space = await hold_space(connection, tenant_id, wanted)
            if space == wanted:
                if also is not None:
                    await also(connection)
                return await _written(connection, tenant_id, sent, said, vectors, space.name)
    raise Unavailable("the tenant's embedding model keeps changing; nothing was stored", fix="Retry")


async def named(connection: AsyncConnection[Any], tenant_id: str, sent: Sent) -> list[Stated]:
    """The statements of an episode, with the names that things are known under."""
    drafts = sent.extracted.drafts
    own = {one.alias: one.entity for one in sent.extracted.aliases}
    keys = names_in(drafts)
    rows = await (await connection.execute(_SQL.aliases, {"tenant_id": tenant_id, "keys": keys})).fetchall()
    entity_of = {**dict(rows), **own}
    return stated([renamed(draft, entity_of) for draft in drafts], sent.reference_time)


async def _written(
    connection: AsyncConnection[Any], tenant_id: str, sent: Sent, said: Sequence[Stated], vectors: Any, space: str
) -> EpisodeResult:
    episode = Episode(
        new_id(),
        sent.name,
        sent.source,
        sent.source_description,
        sent.reference_time,
        datetime.now(UTC),
        sent.thread_id,
        sent.user_id,
    )
    writer = EpisodeWriter(connection, tenant_id, episode, sent.body)
    written = await writer.write(said, sent.extracted.aliases, vectors, space)
    found = await facts_now(connection, tenant_id, list(dict.fromkeys([*written.told, *written.closed])))
    told = await told_facts(connection, tenant_id, found, [*written.told, *written.closed])
    split = sum(len(found.get(seq, ())) for seq in written.told)
    return EpisodeResult(episode, told[:split], told[split:])

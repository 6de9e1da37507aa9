"""From one embedding space to another: filled in the background, then changed in one step."""

from collections.abc import Callable
from typing import Any, Final

from clew.errors import Unavailable
from clew.memory.analysis import READ_MAX_CHARS
from clew.memory.spaces import Space, active_space, as_text
from clew.models import Embedder
from clew.store.database import Database
from clew.store.named_sql import statements

REEMBED_CHUNK_ENTRIES: Final = 500
# Each round ends with a try to change over; entries stored meanwhile make another round, each shorter than the last.
REEMBED_MAX_ROUNDS: Final = 1_000

Progress = Callable[[int, int], None]

_SQL: Final = statements("memory_spaces")


class Reembedding:
    """One tenant's way to another space. The old one answers until the last step."""

    def __init__(self, database: Database, tenant_id: str, embedder: Embedder, space: Space) -> None:
        self._database = database
        self._tenant_id = tenant_id
        self._embedder = embedder
        self._space = space
        self._named = {"tenant_id": tenant_id, "space": space.name}

    async def run(self, progress: Progress | None) -> int:
        """Embed what has no vector in the new space, then change over; how many were embedded.

        Stopped half-way it has changed nothing that answers, and goes on where it was when it is run again.
        """
        async with self._database.tenant(self._tenant_id) as connection:
            if await active_space(connection, self._tenant_id) == self._space:
                return 0
            described = {**self._named, "model": self._space.model, "dimensions": self._space.dimensions}
            await connection.execute(_SQL.add_waiting, described)
        done = 0
        for _ in range(REEMBED_MAX_ROUNDS):
            while count := await self._embed_some():
                done += count
                if progress:
                    progress(done, done + await self._left())
            if await self._change_over():
                return done
        raise Unavailable("entries are stored faster than they are embedded; the old space answers still", fix="Retry")

    async def _embed_some(self) -> int:
        values = {**self._named, "limit": REEMBED_CHUNK_ENTRIES, "read_chars": READ_MAX_CHARS}
        async with self._database.tenant(self._tenant_id) as connection:
            rows = await (await connection.execute(_SQL.lacking, values)).fetchall()
        if not rows:
            return 0
        vectors = await self._embedder.embed([content for _, _, content in rows])
        made: dict[str, Any] = {
            **self._named,
            "seq": [seq for seq, _, _ in rows],
            "revision": [revision for _, revision, _ in rows],
            "embedding": [as_text(vector.tolist()) for vector in vectors],
        }
        async with self._database.tenant(self._tenant_id) as connection:
            await connection.execute(_SQL.add_lacking, made)
        return len(rows)

    async def _left(self) -> int:
        async with self._database.tenant(self._tenant_id) as connection:
            row = await (await connection.execute(_SQL.count_lacking, self._named)).fetchone()
        return int(row[0]) if row else 0

    async def _change_over(self) -> bool:
        """Let the new space answer, unless an entry came in that has no vector there."""
        values = {**self._named, "limit": 1, "read_chars": 1}
        async with self._database.tenant(self._tenant_id) as connection:
            await connection.execute(_SQL.lock, self._named)
            if await (await connection.execute(_SQL.lacking, values)).fetchone():
                return False
            await connection.execute(_SQL.retire, self._named)
            await connection.execute(_SQL.activate, self._named)
            await connection.execute(_SQL.clear_others, self._named)
        return True

"""The collector: removes what is past its lifetime and named nowhere, and what interrupted work left behind.

An artifact's row goes first and its object is condemned in the same transaction; then the object goes, then the blob's
row. Interrupted anywhere, the next collection finds the condemned row and goes on from there.
"""

import asyncio
from typing import Any, Final

from psycopg import AsyncConnection

from clew.artifacts.objects.blobs import Blobs
from clew.artifacts.objects.rows import blob_key
from clew.artifacts.ref import Collected
from clew.logs import logger
from clew.store.database import Database
from clew.store.named_sql import statements

# What was stored or used within the last hour is nobody's to collect: whoever got its id may be about to say it.
ORPHAN_GRACE_S: Final = 3_600
BATCH: Final = 500
DELETIONS_AT_ONCE: Final = 16
_SQL: Final = statements("artifacts")
_log: Final = logger("clew.artifacts")


class Collector:
    """Collects in one tenant."""

    def __init__(self, database: Database, blobs: Blobs, tenant_id: str, *, grace_s: int, dry_run: bool) -> None:
        self._database = database
        self._blobs = blobs
        self._tenant_id = tenant_id
        self._grace_s = grace_s
        self._dry_run = dry_run

    async def collect(self) -> Collected:
        """Remove expired artifacts, then orphans; in a dry run, only say which they are."""
        done = Collected(self._dry_run)
        after = ""
        while True:
            batch, after = await self._expired(after)
            done += batch
            if not after:
                break
        done += await self._orphans()
        _log.info("collected artifacts", tenant_id=self._tenant_id, expired=len(done.expired), orphans=done.orphans)
        return done

    async def _expired(self, after: str) -> tuple[Collected, str]:
        """One batch, and the id after which the next begins; none when this was the last."""
        async with self._database.tenant(self._tenant_id) as connection:
            candidates = await self._ids(connection, _SQL.hold_expired, after=after)
            named = await self._named(connection, candidates) if candidates else set()
            expired = [artifact_id for artifact_id in candidates if artifact_id not in named]
            condemned: dict[str, int] = {}
            if self._dry_run:
                size = (await self._ids(connection, _SQL.freed_bytes, artifact_ids=expired))[0]
            else:
                freed = await self._ids(connection, _SQL.delete_artifacts, artifact_ids=expired)
                condemned = await self._condemned(
                    connection, await self._ids(connection, _SQL.hold_blobs, blob_ids=freed)
                )
                size = sum(condemned.values())
        await self._removed(list(condemned))
        last = candidates[-1] if len(candidates) == BATCH else ""
        return Collected(self._dry_run, tuple(expired), len(named), bytes=size), last

    async def _named(self, connection: AsyncConnection[Any], artifact_ids: list[str]) -> set[str]:
        by_threads = await self._ids(connection, _SQL.named_by_threads, artifact_ids=artifact_ids)
        mine = {"from": f"{self._tenant_id}/", "to": f"{self._tenant_id}0"}
        by_checkpoints = await self._ids(connection, _SQL.named_by_checkpoints, artifact_ids=artifact_ids, **mine)
        return {*by_threads, *by_checkpoints}

    async def _orphans(self) -> Collected:
        done = Collected(self._dry_run)
        while True:
            async with self._database.tenant(self._tenant_id) as connection:
                held = await self._ids(connection, _SQL.hold_orphans)
                condemned = [] if self._dry_run else list(await self._condemned(connection, held))
            found = held if self._dry_run else condemned
            size = sum([await self._blobs.size(self._key(blob_id)) or 0 for blob_id in found])
            await self._removed(condemned)
            done += Collected(orphans=len(found), bytes=size)
            # A dry run would find the same ones again; and what is left in a batch that gave up none is somebody's.
            if self._dry_run or len(held) < BATCH or not condemned:
                return done

    async def _condemned(self, connection: AsyncConnection[Any], blob_ids: list[str]) -> dict[str, int]:
        """Those that nothing names, and their sizes. Nothing can name them any more."""
        wanted = {"tenant_id": self._tenant_id, "blob_ids": blob_ids}
        rows = await (await connection.execute(_SQL.condemn_blobs, wanted)).fetchall()
        return dict(rows)

    async def _removed(self, blob_ids: list[str]) -> None:
        for first in range(0, len(blob_ids), DELETIONS_AT_ONCE):
            few = blob_ids[first : first + DELETIONS_AT_ONCE]
            await asyncio.gather(*(self._blobs.delete(self._key(blob_id)) for blob_id in few))
        if blob_ids:
            async with self._database.tenant(self._tenant_id) as connection:
                await connection.execute(_SQL.forget_blobs, {"tenant_id": self._tenant_id, "blob_ids": blob_ids})

    async def _ids(self, connection: AsyncConnection[Any], statement: Any, **values: Any) -> list[Any]:
        """The first column of what a statement about this tenant answers."""
        about = {"tenant_id": self._tenant_id, "grace_s": self._grace_s, "limit": BATCH, **values}
        return [row[0] for row in await (await connection.execute(statement, about)).fetchall()]

    def _key(self, blob_id: str) -> str:
        return blob_key(self._tenant_id, blob_id)

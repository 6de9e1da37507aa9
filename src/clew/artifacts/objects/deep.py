"""The deep collection: the tenant's folder in the object store, compared with what the rows say is in it."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from clew.artifacts.objects.blobs import Blobs, Listed
from clew.artifacts.objects.owners import other_marks
from clew.artifacts.objects.rows import blob_key, tenant_folder
from clew.artifacts.ref import Collected
from clew.store.database import Database
from clew.store.named_sql import statements

PAGE: Final = 1_000
_SQL: Final = statements("artifacts")


class DeepCollector:
    """Looks through one tenant's objects: strays go, and what is missing is told."""

    def __init__(self, database: Database, blobs: Blobs, tenant_id: str, *, grace_s: int, dry_run: bool) -> None:
        self._database = database
        self._blobs = blobs
        self._tenant_id = tenant_id
        self._old = datetime.now(UTC) - timedelta(seconds=grace_s)
        self._dry_run = dry_run
        self._shared = True

    async def collect(self) -> Collected:
        """Remove objects that have no row and are old enough; say which artifacts have lost theirs."""
        sizes: dict[str, int] = {}
        self._shared = bool(await other_marks(self._database, self._blobs, self._tenant_id))
        done = Collected(self._dry_run)
        async for page in self._blobs.listed(tenant_folder(self._tenant_id)):
            # In memory: about 150 bytes an object, 150 MB for a tenant with a million of them.
            sizes |= {found.key: found.size for found in page if not found.staged}
            done += await self._strays(page)
        return done + Collected(damaged=await self._damaged(sizes))

    async def _strays(self, page: list[Listed]) -> Collected:
        old = [found for found in page if found.modified_at < self._old and _blob_id(found)]
        known = await self._known([_blob_id(found) for found in old])
        # A write that is going on touches its file; one that old and not yet an object is nobody's, whatever its row.
        strays = [found for found in old if found.staged or _blob_id(found) not in known]
        if self._shared:
            return Collected(foreign=len(strays))
        if not self._dry_run:
            for found in strays:
                await self._blobs.delete(found.key)
        return Collected(orphans=len(strays), bytes=sum(found.size for found in strays))

    async def _known(self, blob_ids: list[str]) -> set[str]:
        wanted = {"tenant_id": self._tenant_id, "blob_ids": blob_ids}
        async with self._database.tenant(self._tenant_id) as connection:
            return {row[0] for row in await (await connection.execute(_SQL.known_blobs, wanted)).fetchall()}

    async def _damaged(self, sizes: dict[str, int]) -> tuple[str, ...]:
        """The artifacts whose object was not listed, or with another size, and still isn't when looked at again."""
        lost: list[str] = []
        after = str(UUID(int=0))
        while after:
            wanted = {"tenant_id": self._tenant_id, "after": after, "limit": PAGE}
            async with self._database.tenant(self._tenant_id) as connection:
                rows = await (await connection.execute(_SQL.stored_blobs, wanted)).fetchall()
            for blob_id, size in rows:
                key = blob_key(self._tenant_id, blob_id)
                if sizes.get(key) != size and await self._blobs.size(key) != size:
                    lost.append(blob_id)
            after = rows[-1][0] if len(rows) == PAGE else ""
        async with self._database.tenant(self._tenant_id) as connection:
            wanted = {"tenant_id": self._tenant_id, "blob_ids": lost}
            rows = await (await connection.execute(_SQL.artifacts_of_blobs, wanted)).fetchall()
        return tuple(row[0] for row in rows)


def _blob_id(found: Listed) -> str:
    """The blob that an object's name says it is; nothing for what we didn't name."""
    name = found.key.rpartition("/")[2].partition("#")[0]
    try:
        return str(UUID(name)) if str(UUID(name)) == name else ""
    except ValueError:
        return ""

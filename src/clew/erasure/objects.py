"""The objects under artifacts: condemned in the erasure's transaction, deleted after it, looked for again."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from psycopg import AsyncConnection

from clew.artifacts import ArtifactStore
from clew.artifacts.objects.blobs import Blobs
from clew.artifacts.objects.collecting import DELETIONS_AT_ONCE
from clew.artifacts.objects.owners import other_marks
from clew.artifacts.objects.rows import blob_key, tenant_folder
from clew.erasure.report import Check
from clew.store.database import Database
from clew.store.named_sql import statements

_SQL: Final = statements("erasure")
_ARTIFACTS: Final = statements("artifacts")


async def drop_artifacts(connection: AsyncConnection[Any], tenant_id: str, artifact_ids: Sequence[str]) -> list[str]:
    """Delete artifacts; the blobs that nothing names any more, condemned."""
    about: dict[str, Any] = {"tenant_id": tenant_id, "artifact_ids": list(artifact_ids)}
    freed = await (await connection.execute(_ARTIFACTS.delete_artifacts, about)).fetchall()
    about["blob_ids"] = [row[0] for row in freed]
    held = await (await connection.execute(_ARTIFACTS.hold_blobs, about)).fetchall()
    about["blob_ids"] = [row[0] for row in held]
    condemned = await (await connection.execute(_ARTIFACTS.condemn_blobs, about)).fetchall()
    return [row[0] for row in condemned]


async def condemn_all(connection: AsyncConnection[Any], tenant_id: str) -> list[str]:
    """Condemn every blob of a tenant whose artifacts are gone."""
    rows = await (await connection.execute(_SQL.condemn_all, {"tenant_id": tenant_id})).fetchall()
    return [row[0] for row in rows]


class Objects:
    """One tenant's objects, after the transaction."""

    def __init__(self, database: Database, artifacts: ArtifactStore, tenant_id: str) -> None:
        self._database = database
        self._artifacts = artifacts
        self._tenant_id = tenant_id

    @property
    def _blobs(self) -> Blobs:
        """Opened when there is something to delete or to look for: many tenants have no artifacts."""
        return self._artifacts._opened_blobs()

    async def delete_condemned(self) -> None:
        """Delete the objects of condemned blobs, those of an erasure that was interrupted too; then their rows."""
        async with self._database.tenant(self._tenant_id) as connection:
            rows = await (await connection.execute(_SQL.condemned, {"tenant_id": self._tenant_id})).fetchall()
        blob_ids = [row[0] for row in rows]
        await self._delete([blob_key(self._tenant_id, blob_id) for blob_id in blob_ids])
        if blob_ids:
            about = {"tenant_id": self._tenant_id, "blob_ids": blob_ids}
            async with self._database.tenant(self._tenant_id) as connection:
                await connection.execute(_ARTIFACTS.forget_blobs, about)

    async def delete_strays(self) -> None:
        """Delete what else is in the tenant's folder, unless another database keeps its objects there as well."""
        if not await other_marks(self._database, self._blobs, self._tenant_id):
            await self._delete(await self._listed())

    async def check(self, blob_ids: Sequence[str]) -> Check:
        """Whether any of these objects, or a part of one, is still listed."""
        wanted = {blob_key(self._tenant_id, blob_id) for blob_id in blob_ids}
        left = [key for key in await self._listed() if key.partition("#")[0] in wanted]
        return Check("object store", f"{len(wanted):,} objects", len(left))

    async def check_tenant(self, blob_ids: Sequence[str]) -> Check:
        """Whether anything is left in the tenant's folder; where it is shared, anything that was ours."""
        if await other_marks(self._database, self._blobs, self._tenant_id):
            return await self.check(blob_ids)
        return Check("object store", f"objects of {self._tenant_id}", len(await self._listed()))

    async def _listed(self) -> list[str]:
        return [found.key async for page in self._blobs.listed(tenant_folder(self._tenant_id)) for found in page]

    async def _delete(self, keys: Sequence[str]) -> None:
        for first in range(0, len(keys), DELETIONS_AT_ONCE):
            await asyncio.gather(*(self._blobs.delete(key) for key in keys[first : first + DELETIONS_AT_ONCE]))

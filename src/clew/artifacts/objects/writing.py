"""How an artifact comes to be: a blob's row, then its object, then in one transaction the digest and the artifact.

A crash anywhere leaves at most a row that no artifact names, and the object it leads to; the collector removes both.
"""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from psycopg import AsyncConnection
from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from clew.artifacts.objects.blobs import Blobs
from clew.artifacts.objects.checks import artifact_id_of
from clew.artifacts.objects.chunks import Digester, Digests, digests_of
from clew.artifacts.objects.rows import blob_key, ref_of
from clew.artifacts.ref import ArtifactRef, Lifetime
from clew.errors import ClewError, Conflict, Damaged, InvalidInput, Unavailable
from clew.ids import new_id
from clew.store.database import Database
from clew.store.named_sql import statements

# 64 GiB, which fits S3's 10,000 parts.
STREAM_MAX_BYTES: Final = 64 * 1024**3
# Well within the time after which the collector takes a write for a dead one.
RENEW_AFTER_S: Final = 300.0
# Up to here, to look at what is stored costs hardly more than to ask for its size.
COMPARE_MAX_BYTES: Final = 8 * 1024 * 1024
_SQL: Final = statements("artifacts")


@dataclass(frozen=True, slots=True)
class Label:
    """What an artifact is called and how long it is kept: everything but its bytes."""

    media_type: str
    name: str | None
    details: dict[str, Any]
    keep: Lifetime


class Writer:
    """Writes one tenant's artifacts."""

    def __init__(self, database: Database, blobs: Blobs, tenant_id: str) -> None:
        self._database = database
        self._blobs = blobs
        self._tenant_id = tenant_id
        self._kept: set[str] = set()

    async def put(self, data: bytes, label: Label) -> ArtifactRef:
        """Store bytes; those that are there already are only looked after."""
        digests = await asyncio.to_thread(digests_of, data)
        known = await self._known(digests)
        if known is not None:
            if not await self._intact(self._key(known), data):
                await self._blobs.write(self._key(known), data)
            async with self._database.tenant(self._tenant_id) as connection:
                if await self._held(connection, digests) == known:
                    return await self._claimed(connection, known, digests, label)
            # A collector has taken it since, and may have looked for the object before we mended it.
            await self._abandoned(known)
        async with self._new_blob() as blob_id:
            await self._blobs.write(self._key(blob_id), data)
            return await self._finished(blob_id, digests, label)

    async def put_stream(self, chunks: AsyncIterable[bytes], label: Label) -> ArtifactRef:
        """Store bytes as they come, of which a few parts are in memory at a time."""
        digester = Digester()
        async with self._new_blob() as blob_id:
            await self._blobs.write(self._key(blob_id), self._digested(chunks, digester, blob_id))
            digests = digester.digests()
            known = await self._known(digests)
            if known is not None and await self._blobs.size(self._key(known)) != digests.size:
                await self._blobs.copy(self._key(blob_id), self._key(known))
            return await self._finished(blob_id, digests, label)

    async def _digested(self, chunks: AsyncIterable[bytes], digester: Digester, blob_id: str) -> AsyncIterator[bytes]:
        """The same bytes, on their way to the object store."""
        renew_at = time.monotonic() + RENEW_AFTER_S
        async for chunk in chunks:
            if not isinstance(chunk, bytes | bytearray | memoryview):
                raise InvalidInput(f"expected bytes, got {type(chunk).__name__}", where="chunks")
            data = bytes(chunk)
            if digester.size + len(data) > STREAM_MAX_BYTES:
                raise InvalidInput(f"the stream is longer than {STREAM_MAX_BYTES:,} bytes", where="chunks")
            await asyncio.to_thread(digester.update, data)
            if time.monotonic() >= renew_at:
                await self._renewed(blob_id)
                renew_at = time.monotonic() + RENEW_AFTER_S
            if data:
                yield data

    async def _intact(self, key: str, data: bytes) -> bool:
        """Whether an object still holds these bytes; of a long one only its size is asked."""
        if len(data) > COMPARE_MAX_BYTES:
            return await self._blobs.size(key) == len(data)
        try:
            return await self._blobs.read(key, 0, len(data)) == data
        except Damaged:
            return False

    async def _known(self, digests: Digests) -> str | None:
        """The blob that holds these bytes already."""
        wanted = {"tenant_id": self._tenant_id, "sha256": digests.sha256}
        async with self._database.tenant(self._tenant_id) as connection:
            row = await (await connection.execute(_SQL.find_blob, wanted)).fetchone()
        return row and str(row[0])

    @asynccontextmanager
    async def _new_blob(self) -> AsyncIterator[str]:
        """A blob to write to; if in the end no artifact came to name it, it goes again."""
        blob_id = new_id()
        async with self._database.tenant(self._tenant_id) as connection:
            await connection.execute(_SQL.begin_blob, self._row(blob_id))
        try:
            yield blob_id
        except Damaged:
            raise _taken_for_dead() from None
        finally:
            if blob_id in self._kept:
                self._kept.discard(blob_id)
            else:
                await self._abandoned(blob_id)

    async def _renewed(self, blob_id: str) -> None:
        async with self._database.tenant(self._tenant_id) as connection:
            if not await (await connection.execute(_SQL.end_blob, self._row(blob_id))).fetchone():
                raise _taken_for_dead()
            await connection.execute(_SQL.begin_blob, self._row(blob_id))

    async def _finished(self, blob_id: str, digests: Digests, label: Label) -> ArtifactRef:
        """One transaction: the blob has its digest, and an artifact names it; or the one that was there before does."""
        done = {"sha256": digests.sha256, "size": digests.size, "chunks": digests.chunks}
        async with self._database.tenant(self._tenant_id) as connection:
            try:
                # A savepoint: refused for the digest, we go on in the same transaction with whoever has it.
                async with connection.transaction():
                    finished = await connection.execute(_SQL.finish_blob, {**self._row(blob_id), **done})
                    holder = blob_id if await finished.fetchone() else None
            except UniqueViolation:
                holder = await self._held(connection, digests)
            if holder is None:
                raise _taken_for_dead()
            ref = await self._claimed(connection, holder, digests, label)
        self._kept.add(holder)
        return ref

    async def _held(self, connection: AsyncConnection[Any], digests: Digests) -> str | None:
        wanted = {"tenant_id": self._tenant_id, "sha256": digests.sha256}
        row = await (await connection.execute(_SQL.hold_blob, wanted)).fetchone()
        return row and str(row[0])

    async def _claimed(
        self, connection: AsyncConnection[Any], blob_id: str, digests: Digests, label: Label
    ) -> ArtifactRef:
        artifact = {
            **self._row(blob_id),
            "artifact_id": artifact_id_of(label.media_type, digests.sha256),
            "media_type": label.media_type,
            "name": label.name,
            "details": Jsonb(label.details),
            "keep": label.keep.kind,
            "keep_seconds": label.keep.seconds,
        }
        row = await (await connection.execute(_SQL.claim_artifact, artifact)).fetchone()
        if row is None:
            raise Conflict(f"the id {artifact['artifact_id']} stands for other bytes already")
        return ref_of(row, digests.sha256, digests.size)

    async def _abandoned(self, blob_id: str) -> None:
        """Remove what a write left that came to nothing, even when its row is gone: a collector came before the object.

        Whatever prevents it, the next collector comes by later.
        """
        with suppress(ClewError):
            async with self._database.tenant(self._tenant_id) as connection:
                await connection.execute(_SQL.abandon_blob, self._row(blob_id))
                row = await (await connection.execute(_SQL.is_stored, self._row(blob_id))).fetchone()
            if row and row[0]:
                return
            await self._blobs.delete(self._key(blob_id))
            async with self._database.tenant(self._tenant_id) as connection:
                await connection.execute(_SQL.forget_blobs, {"tenant_id": self._tenant_id, "blob_ids": [blob_id]})

    def _key(self, blob_id: str) -> str:
        return blob_key(self._tenant_id, blob_id)

    def _row(self, blob_id: str) -> dict[str, Any]:
        return {"tenant_id": self._tenant_id, "blob_id": blob_id}


def _taken_for_dead() -> Unavailable:
    return Unavailable("the write took so long that it was collected as a dead one; nothing was stored", fix="Retry")

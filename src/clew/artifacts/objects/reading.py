"""How an artifact is read: only the stretches that are wanted, and none that isn't what was stored."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

from clew.artifacts.objects.blobs import Blobs
from clew.artifacts.objects.chunks import Digests
from clew.artifacts.objects.rows import blob_key, ref_of
from clew.artifacts.ref import ArtifactRef
from clew.errors import Damaged, InvalidInput, NotFound
from clew.store.database import Database
from clew.store.named_sql import statements

# A read notes that an artifact was used unless one did within the last minute: reads rarely write.
TOUCH_AFTER_S: Final = 60.0
# What one request asks the object store for, and so what a stream holds in memory.
FETCH_CHUNKS: Final = 8
READ_MAX_BYTES: Final = 256 * 1024 * 1024
_SQL: Final = statements("artifacts")


class Reader:
    """Reads one artifact of one tenant."""

    def __init__(self, database: Database, blobs: Blobs, tenant_id: str, artifact_id: str) -> None:
        self._database = database
        self._blobs = blobs
        self._tenant_id = tenant_id
        self._wanted = {"tenant_id": tenant_id, "artifact_id": artifact_id, "touch_after_s": TOUCH_AFTER_S}

    async def found(self) -> tuple[ArtifactRef, str, Digests]:
        """The reference, where its object is, and what must be in it; noted as used."""
        async with self._database.tenant(self._tenant_id) as connection:
            row = await (await connection.execute(_SQL.find, self._wanted)).fetchone()
            if row is not None and row[11]:
                touched = await connection.execute(_SQL.touch, self._wanted)
                row = row if await touched.fetchone() else None
        if row is None:
            raise NotFound(f"there is no artifact {self._wanted['artifact_id']}", where="artifact_id")
        blob_id, sha256, size, chunks = row[7:11]
        digests = Digests(bytes(sha256), size, bytes(chunks))
        return ref_of(row, sha256, size), blob_key(self._tenant_id, blob_id), digests

    async def whole(self) -> tuple[ArtifactRef, bytes]:
        """All of it, when it is what was stored."""
        ref, key, digests = await self.found()
        if ref.size > READ_MAX_BYTES:
            raise InvalidInput(
                f"{ref.artifact_id} is {ref.size:,} bytes long; the limit is {READ_MAX_BYTES:,}",
                where="artifact_id",
                fix="Use read for a part of it, or stream",
            )
        pieces = [piece async for piece in self._pieces(ref, key, digests, 0, digests.count)]
        return ref, b"".join(pieces)

    async def part(self, start: int, length: int | None) -> bytes:
        """So many bytes from there on, fewer at the end; only the stretches they are in are fetched."""
        ref, key, digests = await self.found()
        stop = ref.size if length is None else min(ref.size, start + length)
        if stop - start > READ_MAX_BYTES:
            raise InvalidInput(
                f"{stop - start:,} bytes at once; the limit is {READ_MAX_BYTES:,}", where="length", fix="Use stream"
            )
        if start >= stop:
            return b""
        first, last = start // digests.chunk_bytes, -(-stop // digests.chunk_bytes)
        pieces = [piece async for piece in self._pieces(ref, key, digests, first, last)]
        offset = first * digests.chunk_bytes
        return b"".join(pieces)[start - offset : stop - offset]

    async def stream(self) -> AsyncIterator[bytes]:
        """All of it in stretches, each checked before it is handed on."""
        ref, key, digests = await self.found()
        async for piece in self._pieces(ref, key, digests, 0, digests.count):
            yield piece

    async def _pieces(
        self, ref: ArtifactRef, key: str, digests: Digests, first: int, stop: int
    ) -> AsyncIterator[bytes]:
        """Some stretches, a few a request: none takes so long that it could time out, however slow the reader is."""
        used_at = time.monotonic()
        for start in range(first, stop, FETCH_CHUNKS):
            if time.monotonic() - used_at > TOUCH_AFTER_S:
                await self.found()
                used_at = time.monotonic()
            with _naming(ref):
                fetched = await self._chunks(key, digests, start, min(stop, start + FETCH_CHUNKS))
            for piece in fetched:
                yield piece

    async def _chunks(self, key: str, digests: Digests, first: int, stop: int) -> list[bytes]:
        size = digests.chunk_bytes
        data = await self._blobs.read(key, first * size, min(stop * size, digests.size))

        def checked() -> list[bytes]:
            pieces = (data[offset : offset + size] for offset in range(0, len(data), size))
            return [digests.check(first + number, piece) for number, piece in enumerate(pieces)]

        return await asyncio.to_thread(checked)


@contextmanager
def _naming(ref: ArtifactRef) -> Iterator[None]:
    """Damage in the block is the damage of this artifact."""
    try:
        yield
    except Damaged as error:
        raise Damaged(error.what, where=ref.artifact_id, fix="Store it again to mend it") from None

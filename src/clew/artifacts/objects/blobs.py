"""The object store, behind a small class: obstore's calls, with errors of ours and writes that last."""

import asyncio
import os
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import LocalStore

from clew.errors import ClewError, Damaged, Misconfigured, Unavailable

if TYPE_CHECKING:
    from obstore.store import ObjectStore

# S3 takes up to 10,000 parts: so long a part allows for objects of 80 GiB. Two at once, and one being filled, are what
# a stream of any length holds in memory.
PART_BYTES: Final = 8 * 1024 * 1024
PARTS_AT_ONCE: Final = 2
LIST_PAGE_OBJECTS: Final = 1_000
_STATUS: Final = re.compile(r"status(?: code)?:? (\d{3})|\b([45]\d\d) [A-Z]")


@dataclass(frozen=True, slots=True)
class Listed:
    """An object, as the store lists it."""

    key: str
    size: int
    modified_at: datetime
    staged: bool = False
    """A write that did not end: no object yet, only its bytes so far."""


class Blobs:
    """Objects by key. A write is there whole, or not at all; once it returns, it lasts."""

    def __init__(self, store: "ObjectStore", address: str) -> None:
        self._store = store
        self.address = address
        """Where it is, without a secret: fit for errors and logs."""

    async def write(self, key: str, data: bytes | AsyncIterable[bytes]) -> None:
        """Store an object, from bytes or from a stream of them, in place of what is there."""
        source = data if isinstance(data, bytes) else _Source(data)
        try:
            with self._translated():
                await obstore.put_async(
                    self._store, key, source, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE, mode="overwrite"
                )
        except ClewError as error:
            if isinstance(source, _Source) and source.error is not None:
                raise source.error from None
            if isinstance(error, Damaged):
                raise Misconfigured(
                    f"there is no bucket or folder at {self.address}", fix="Make it, or check CLEW_ARTIFACTS_URL"
                ) from None
            raise

    async def read(self, key: str, start: int, stop: int) -> bytes:
        """A stretch of an object, all of it; `Damaged` when the object is missing, or too short for that."""
        if start == stop:
            return b""
        try:
            with self._translated():
                data = bytes(await obstore.get_range_async(self._store, key, start=start, end=stop))
        except Unavailable:
            # Stores differ in what they say of a range beyond the end; they agree on an object's size.
            size = await self.size(key)
            if size is None or size >= stop:
                raise
            raise Damaged(f"the object holds {size:,} bytes where {stop:,} were stored") from None
        if len(data) != stop - start:
            raise Damaged(f"the object ends {stop - start - len(data):,} bytes before it should")
        return data

    async def size(self, key: str) -> int | None:
        """How many bytes an object has; None when there is none."""
        try:
            with self._translated():
                return int((await obstore.head_async(self._store, key))["size"])
        except Damaged:
            return None

    async def delete(self, key: str) -> None:
        """Remove an object; one that isn't there is no less removed."""
        with suppress(Damaged), self._translated():
            await obstore.delete_async(self._store, key)

    async def copy(self, key: str, to: str) -> None:
        """Put an object's bytes under another key, in place of what is there."""
        with self._translated():
            await obstore.copy_async(self._store, key, to)

    async def listed(self, folder: str) -> AsyncIterator[list[Listed]]:
        """What there is in a folder, a page at a time."""
        with self._translated():
            async for page in obstore.list(self._store, folder, chunk_size=LIST_PAGE_OBJECTS):
                yield [Listed(found["path"], found["size"], found["last_modified"]) for found in page]

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The one place where the object store's errors become ours; theirs may repeat a signed URL, and go unsaid."""
        try:
            yield
        except FileNotFoundError:
            raise Damaged("the object is not in the object store") from None
        except (PermissionDeniedError, UnauthenticatedError, PermissionError):
            raise Misconfigured(
                f"the object store at {self.address} refuses", fix="Check CLEW_ARTIFACTS_URL and its credentials"
            ) from None
        except (BaseError, OSError) as error:
            status = _STATUS.search(str(error))
            reason = f"it answers {status[1] or status[2]}" if status else _plain_reason(error)
            raise Unavailable(f"the object store at {self.address} can't do this now: {reason}", fix="Retry") from None


class LocalBlobs(Blobs):
    """Objects in a folder that only this account can look into, flushed to the disk before a write counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = str(folder)
        with self._translated():
            made = not folder.exists()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if made:
                folder.chmod(0o700)
                _flush(folder.parent)
            super().__init__(LocalStore(folder), str(folder))

    async def write(self, key: str, data: bytes | AsyncIterable[bytes]) -> None:
        await self._on_disk(self._make_room, key)
        await super().write(key, data)
        await self._on_disk(self._keep, key)

    async def delete(self, key: str) -> None:
        if "#" not in key:
            await super().delete(key)
        await self._on_disk(self._drop_staged, key)

    async def copy(self, key: str, to: str) -> None:
        await super().copy(key, to)
        await self._on_disk(self._keep, to)

    async def listed(self, folder: str) -> AsyncIterator[list[Listed]]:
        async for page in super().listed(folder):
            yield page
        # obstore writes to "name#1" and renames; it never lists what a killed process left of that.
        yield await asyncio.to_thread(lambda: list(self._staged(folder)))

    async def _on_disk(self, work: Callable[[str], None], key: str) -> None:
        with self._translated():
            await asyncio.to_thread(work, key)

    def _make_room(self, key: str) -> None:
        folder = (self._folder / key).parent
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            _flush(self._folder)

    def _keep(self, key: str) -> None:
        path = self._folder / key
        try:
            path.chmod(0o600)
            _flush(path)
        except FileNotFoundError:
            raise Unavailable("the object was collected while it was being written", fix="Retry") from None
        _flush(path.parent)

    def _drop_staged(self, key: str) -> None:
        path = self._folder / key
        for staged in path.parent.glob(path.name if "#" in key else f"{path.name}#*"):
            staged.unlink(missing_ok=True)
        if path.parent.exists():
            _flush(path.parent)

    def _staged(self, folder: str) -> Iterator[Listed]:
        for path in (self._folder / folder).glob("*#*"):
            with suppress(FileNotFoundError):
                about = path.stat()
                modified_at = datetime.fromtimestamp(about.st_mtime, UTC)
                yield Listed(f"{folder}/{path.name}", about.st_size, modified_at, staged=True)


class _Source:
    """A stream on its way into the object store, which remembers an error that was its own and not the store's."""

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self._chunks = chunks
        self.error: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks:
                yield chunk
        except Exception as error:
            self.error = error
            raise


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _plain_reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    said = str(error)
    known = {
        "error sending request": "no connection",
        "timed out": "no answer in time",
        "No space left": "no space left",
        "Not a directory": "a file is in the way",
    }
    return next((reason for part, reason in known.items() if part in said), "it fails")

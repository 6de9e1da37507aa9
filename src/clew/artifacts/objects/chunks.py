"""A digest for every stretch of an object, so that a part of it can be read alone and still be trusted."""

import hashlib
from dataclasses import dataclass
from typing import Final, Self

from clew.errors import Damaged

# 1 MiB: 32 bytes of digests for a million of data, and a small read fetches no more than that.
CHUNK_BITS: Final = 20
CHUNK_BYTES: Final = 1 << CHUNK_BITS
_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Digests:
    """What an object must be: its digest, its size, and its stretches' digests."""

    sha256: bytes
    size: int
    chunks: bytes
    """One byte that says how long a stretch is, as a power of two; then 32 bytes for each of them."""

    @property
    def chunk_bytes(self) -> int:
        return 1 << self.chunks[0]

    @property
    def count(self) -> int:
        return -(-self.size // self.chunk_bytes)

    def check(self, number: int, data: bytes) -> bytes:
        """The bytes themselves, when they are that stretch of the object."""
        start = 1 + number * _DIGEST_BYTES
        if hashlib.sha256(data).digest() != self.chunks[start : start + _DIGEST_BYTES]:
            first = number * self.chunk_bytes
            raise Damaged(f"bytes {first:,} to {first + len(data):,} are not what was stored")
        return data


class Digester:
    """Takes an object's bytes in whatever pieces they come and ends up with its digests."""

    def __init__(self) -> None:
        self.size = 0
        self._whole = hashlib.sha256()
        self._chunk = hashlib.sha256()
        self._digests = bytearray([CHUNK_BITS])

    def update(self, data: bytes) -> Self:
        """Take the next bytes."""
        self._whole.update(data)
        view = memoryview(data)
        while view:
            room = CHUNK_BYTES - self.size % CHUNK_BYTES
            taken, view = view[:room], view[room:]
            self._chunk.update(taken)
            self.size += len(taken)
            if len(taken) == room:
                self._close_chunk()
        return self

    def digests(self) -> Digests:
        """What came in, once all of it has."""
        if self.size % CHUNK_BYTES:
            self._close_chunk()
        return Digests(self._whole.digest(), self.size, bytes(self._digests))

    def _close_chunk(self) -> None:
        self._digests += self._chunk.digest()
        self._chunk = hashlib.sha256()


def digests_of(data: bytes) -> Digests:
    """The digests of bytes that are all there."""
    return Digester().update(data).digests()

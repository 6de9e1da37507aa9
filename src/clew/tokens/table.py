"""The official token tables, as shipped in this package and checked before use."""

import gzip
import hashlib
import zlib
from importlib import resources
from typing import Final

from clew.errors import ClewError

# OpenAI publishes these digests of the two tables; tiktoken checks the same ones after its download.
TABLE_SHA256: Final = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}

_REINSTALL: Final = "The installation is damaged: install clew again"


def packed_table(encoding: str) -> bytes:
    """The gzipped table of an encoding, as it lies in the package."""
    return resources.files("clew.tokens").joinpath("tables", f"{encoding}.tiktoken.gz").read_bytes()


def unpacked_table(encoding: str, packed: bytes) -> bytes:
    """The table itself; a single changed byte is refused, because a wrong table gives wrong counts without a sound."""
    where = f"token table {encoding}"
    try:
        table = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise ClewError(f"cannot be unpacked ({error})", where=where, fix=_REINSTALL) from error
    digest = hashlib.sha256(table).hexdigest()
    if digest != TABLE_SHA256[encoding]:
        raise ClewError(f"has the sha-256 {digest}, expected {TABLE_SHA256[encoding]}", where=where, fix=_REINSTALL)
    return table

"""A process of its own that streams a gigabyte in and out, and says how much memory that took, in MB."""

import asyncio
import hashlib
import json
import resource
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from clew import Database, Settings
from clew.artifacts import ArtifactStore

PIECE = bytes(range(256)) * (8 * 1024 * 4)
TENANT = "big"


def peak_mb() -> float:
    """Of this program: what `getrusage` says begins with the peak of whoever started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    (peak,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


async def pieces(count: int) -> AsyncIterator[bytes]:
    for number in range(count):
        yield number.to_bytes(8) + PIECE[8:]


async def main(data_dir: str, folder: str, count: int) -> None:
    async with Database(settings=Settings(data_dir=Path(data_dir))) as database:
        store = ArtifactStore(database, url=folder)
        small = await store.put_stream(pieces(4), media_type="application/octet-stream", tenant_id=TENANT)
        async for _ in store.stream(small.artifact_id, tenant_id=TENANT):
            pass
        before = peak_mb()
        big = await store.put_stream(pieces(count), media_type="application/octet-stream", tenant_id=TENANT)
        stored = peak_mb()
        digest, size = hashlib.sha256(), 0
        async for chunk in store.stream(big.artifact_id, tenant_id=TENANT):
            digest.update(chunk)
            size += len(chunk)
        streamed = peak_mb()
        held = await store.read(big.artifact_id, 0, 200 * 1024 * 1024, tenant_id=TENANT)
        told = {
            "size": size,
            "same": digest.hexdigest() == big.sha256,
            "in_mb": stored - before,
            "out_mb": streamed - stored,
            "control_mb": peak_mb() - streamed,
            "held": len(held),
        }
        print(json.dumps(told))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

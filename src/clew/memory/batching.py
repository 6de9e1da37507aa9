"""A batch on its way into memory: cut into chunks, each entry with its vector."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from clew.errors import ClewError, InvalidInput
from clew.memory.analysis import READ_MAX_CHARS
from clew.memory.entry import FailedEntry
from clew.memory.preparing import Prepared, prepare, read_entry
from clew.models import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A batch is stored in chunks, so that neither we nor PostgreSQL hold more than this of it at once.
CHUNK_ENTRIES: Final = 1_000
CHUNK_BYTES: Final = 8 * 1024 * 1024


def chunks(entries: Iterable[Any], failed: list[FailedEntry]) -> Iterator[list[tuple[int, Prepared]]]:
    """The entries that can be stored, a chunk at a time; the others go to `failed`."""
    chunk: list[tuple[int, Prepared]] = []
    size = 0
    for index, sent in enumerate(entries):
        try:
            one = prepare(read_entry(sent))
        except ClewError as error:
            failed.append(FailedEntry(index, _id_of(sent), error))
            continue
        chunk.append((index, one))
        size += len(one.entry.content)
        if len(chunk) >= CHUNK_ENTRIES or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _id_of(sent: Any) -> str | None:
    found = sent.get("memory_id") if isinstance(sent, dict) else getattr(sent, "memory_id", None)
    return found if isinstance(found, str) else None


async def vectors_of(embedder: Embedder, prepared: list[Prepared]) -> "NDArray[np.float32]":
    """A vector for each entry: the caller's own where there is one, the model's for the others."""
    import numpy as np

    rows = np.empty((len(prepared), embedder.dimensions), np.float32)
    wanted = []
    for index, one in enumerate(prepared):
        given = one.entry.embedding
        if given is None:
            wanted.append(index)
        else:
            rows[index] = _given(given, embedder)
    if wanted:
        rows[wanted] = await embedder.embed([prepared[index].entry.content[:READ_MAX_CHARS] for index in wanted])
    return rows


def _given(given: list[float], embedder: Embedder) -> "NDArray[np.float64]":
    import numpy as np

    if len(given) != embedder.dimensions:
        raise InvalidInput(
            f"has {len(given)} dimensions, and {embedder.name} has {embedder.dimensions}",
            where="embedding",
            fix="Send vectors of the tenant's model, or none: they are made here",
        )
    try:
        row = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("is not a list of numbers", where="embedding") from None
    length = float(np.linalg.norm(row))
    if not np.isfinite(length) or length < 1e-12:
        raise InvalidInput(
            "is not a vector with a direction", where="embedding", fix="Send finite numbers, not all zero"
        )
    unit: NDArray[np.float64] = row / length
    return unit

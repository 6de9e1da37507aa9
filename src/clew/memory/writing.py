"""Entries into PostgreSQL: new ones, changed ones and duplicates told apart, in one transaction a chunk."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from clew.errors import Unavailable
from clew.memory.preparing import FREQUENCY_MAX, Prepared
from clew.memory.spaces import as_text
from clew.store.named_sql import statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SQL: Final = statements("memory")
TOTAL_SHARDS: Final = 16
# Another writer may store the same id or duplicate between our look and our write: then we look again.
WRITE_MAX_ATTEMPTS: Final = 5


async def write(
    connection: AsyncConnection[Any],
    tenant_id: str,
    prepared: Sequence[Prepared],
    vectors: "NDArray[np.float32]",
    space: str,
) -> list[str]:
    """Store entries of one tenant; the id of each, in order. A duplicate's id is that of the entry there was."""
    batch = _Batch(connection, tenant_id, prepared, vectors, space)
    for _ in range(WRITE_MAX_ATTEMPTS):
        if await batch.attempt():
            return batch.ids()
    raise Unavailable("other writers keep storing the same entries", fix="Retry")


class _Batch:
    """One chunk on its way: which of its entries stand for which rows."""

    def __init__(
        self,
        connection: AsyncConnection[Any],
        tenant_id: str,
        prepared: Sequence[Prepared],
        vectors: "NDArray[np.float32]",
        space: str,
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._prepared = prepared
        self._vectors = vectors
        self._space = space
        self._id_of: dict[int, str] = {}

    def ids(self) -> list[str]:
        return [self._id_of[index] for index in range(len(self._prepared))]

    async def attempt(self) -> bool:
        """Store what is not stored yet; False when another writer was quicker with some of it."""
        waiting = [index for index in range(len(self._prepared)) if index not in self._id_of]
        lengths, owners = await self._known(waiting)
        added: dict[str, int] = {}
        changed: dict[str, int] = {}
        for index in waiting:
            one = self._prepared[index]
            memory_id = one.entry.memory_id
            if memory_id in lengths or memory_id in added:
                # Of one id twice in a batch the last counts.
                (changed if memory_id in lengths else added)[memory_id] = index
            elif one.fingerprint not in owners:
                added[memory_id] = index
                owners[one.fingerprint] = memory_id
            else:
                self._id_of[index] = owners[one.fingerprint]
                continue
            self._id_of[index] = memory_id
        stored = await self._rows(_SQL.add, added)
        stored_changes = await self._rows(_SQL.change, changed)
        await self._drop_derived(list(stored_changes.values()))
        await self._derive({added[memory_id]: seq for memory_id, seq in stored.items()})
        await self._derive({changed[memory_id]: seq for memory_id, seq in stored_changes.items()})
        before = sum(lengths[memory_id] for memory_id in stored_changes)
        after = [self._prepared[(added | changed)[memory_id]].length for memory_id in [*stored, *stored_changes]]
        await self._add_total(len(stored), sum(after) - before)
        return self._settled((added.keys() - stored.keys()) | (changed.keys() - stored_changes.keys()), added | changed)

    def _settled(self, missed: set[str], sent: dict[str, int]) -> bool:
        """Whether everything found its row; what did not is taken back, with the duplicates that relied on it."""
        if not missed:
            return True
        gone = {memory_id for memory_id in missed if memory_id in sent}
        self._id_of = {index: memory_id for index, memory_id in self._id_of.items() if memory_id not in gone}
        return False

    async def _known(self, waiting: Sequence[int]) -> tuple[dict[str, int], dict[bytes, str]]:
        """Of what is stored already: the length of each entry by its id, and the id by the fingerprint."""
        values = {
            "tenant_id": self._tenant_id,
            "memory_ids": [self._prepared[index].entry.memory_id for index in waiting],
            "fingerprints": [self._prepared[index].fingerprint for index in waiting],
        }
        rows = await (await self._connection.execute(_SQL.known, values)).fetchall()
        lengths = {memory_id: length for memory_id, _, _, length in rows}
        owners = {bytes(fingerprint): memory_id for memory_id, _, fingerprint, _ in rows}
        sent = set(values["memory_ids"])
        # An entry that this batch changes may stop being what another one duplicates.
        return {key: value for key, value in lengths.items() if key in sent}, {
            key: value for key, value in owners.items() if value not in sent
        }

    async def _rows(self, statement: Any, chosen: dict[str, int]) -> dict[str, int]:
        """The rows of `clew.memories` written, by id."""
        if not chosen:
            return {}
        parts = [self._prepared[index] for index in chosen.values()]
        values = {
            "tenant_id": self._tenant_id,
            "memory_id": [one.entry.memory_id for one in parts],
            "agent_id": [one.entry.agent_id for one in parts],
            "content": [one.entry.content for one in parts],
            "metadata": [Jsonb(one.metadata) for one in parts],
            "thread_id": [one.thread_id for one in parts],
            "place": [one.place for one in parts],
            "speaker": [one.speaker for one in parts],
            "speaker_key": [one.speaker_key for one in parts],
            "source": [one.source for one in parts],
            "occurred_at": [one.occurred_at for one in parts],
            "length": [one.length for one in parts],
            "fingerprint": [one.fingerprint for one in parts],
            "created_at": [one.entry.created_at for one in parts],
            "updated_at": [one.entry.updated_at for one in parts],
        }
        rows = await (await self._connection.execute(statement, values)).fetchall()
        return dict(rows)

    async def _derive(self, seqs: dict[int, int]) -> None:
        """The terms and vectors of entries, by their index in the batch."""
        if not seqs:
            return
        terms = [
            (term, seq, min(count, FREQUENCY_MAX), self._prepared[index].length)
            for index, seq in seqs.items()
            for term, count in self._prepared[index].terms.items()
        ]
        # In the order of the key: the index is then filled page by page.
        terms.sort()
        if terms:
            names = ("term", "seq", "frequency", "length")
            columns = {name: list(column) for name, column in zip(names, zip(*terms, strict=True), strict=True)}
            await self._connection.execute(_SQL.add_terms, {"tenant_id": self._tenant_id, **columns})
        values = {
            "tenant_id": self._tenant_id,
            "space": self._space,
            "seq": list(seqs.values()),
            "embedding": [as_text(self._vectors[index].tolist()) for index in seqs],
        }
        await self._connection.execute(_SQL.add_vectors, values)

    async def _drop_derived(self, seqs: list[int]) -> None:
        if seqs:
            await drop_derived(self._connection, self._tenant_id, seqs)

    async def _add_total(self, entries: int, length: int) -> None:
        if entries or length:
            await add_total(self._connection, self._tenant_id, entries=entries, length=length)


async def drop_derived(connection: AsyncConnection[Any], tenant_id: str, seqs: list[int]) -> None:
    """Forget the terms and the vectors, of every space, that entries had."""
    values = {"tenant_id": tenant_id, "seqs": seqs}
    await connection.execute(_SQL.drop_terms, values)
    await connection.execute(_SQL.drop_vectors, values)


async def add_total(connection: AsyncConnection[Any], tenant_id: str, *, entries: int, length: int) -> None:
    """Count entries in, or out."""
    shard = random.randrange(TOTAL_SHARDS)  # noqa: S311, it spreads writers and hides nothing
    values = {"tenant_id": tenant_id, "shard": shard, "entries": entries, "length": length}
    await connection.execute(_SQL.add_total, values)


async def drop(connection: AsyncConnection[Any], tenant_id: str, memory_id: str) -> bool:
    """Delete an entry and all that was derived from it; False when there is none of this id."""
    return await _dropped(connection, tenant_id, _SQL.drop, memory_id=memory_id) > 0


async def drop_thread(connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> int:
    """Delete every entry of a conversation and all that was derived from them; how many there were."""
    return await _dropped(connection, tenant_id, _SQL.drop_thread, thread_id=thread_id)


async def _dropped(connection: AsyncConnection[Any], tenant_id: str, statement: Any, **which: str) -> int:
    rows = await (await connection.execute(statement, {"tenant_id": tenant_id, **which})).fetchall()
    if rows:
        await drop_derived(connection, tenant_id, [seq for seq, _ in rows])
        await add_total(connection, tenant_id, entries=-len(rows), length=-sum(length for _, length in rows))
    return len(rows)

"""Entries by their ids, what stands beside them, and what became of them: look-ups, no search."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from psycopg import AsyncConnection

from clew.errors import InvalidInput
from clew.limits import check_text
from clew.memory.entry import MemoryChange, MemoryEntry
from clew.memory.preparing import MEMORY_ID_MAX_BYTES
from clew.store.named_sql import statements

FETCH_MAX_IDS: Final = 1_000
REACH_MAX: Final = 100
CHANGES_LIMIT_MAX: Final = 10_000

_SQL: Final = statements("memory")


def check_ids(memory_ids: Any) -> list[str]:
    """The ids, each once, in the order asked; `InvalidInput` for what are none, and for too many."""
    if not isinstance(memory_ids, Iterable) or isinstance(memory_ids, str | bytes):
        raise InvalidInput("expected a list of ids", where="memory_ids", fix="Send a list: [memory_id]")
    found = list(dict.fromkeys(check_text(one, "memory_ids", max_bytes=MEMORY_ID_MAX_BYTES) for one in memory_ids))
    if len(found) > FETCH_MAX_IDS:
        raise InvalidInput(
            f"{len(found):,} ids; the limit is {FETCH_MAX_IDS:,}", where="memory_ids", fix="Ask in parts"
        )
    return found


async def fetch(connection: AsyncConnection[Any], tenant_id: str, memory_ids: list[str]) -> list[MemoryEntry]:
    """The entries, in the order of the ids; those that are not there are left out."""
    rows = await (await connection.execute(_SQL.fetch, {"tenant_id": tenant_id, "memory_ids": memory_ids})).fetchall()
    found = {row[0]: entry_of(tenant_id, row) for row in rows}
    return [found[one] for one in memory_ids if one in found]


async def beside(
    connection: AsyncConnection[Any], tenant_id: str, memory_ids: list[str], reach: int
) -> dict[str, tuple[list[MemoryEntry], list[MemoryEntry]]]:
    """By id what stands before and after each entry in its thread, each in order."""
    values = {"tenant_id": tenant_id, "memory_ids": memory_ids, "reach": reach}
    rows = await (await connection.execute(_SQL.beside, values)).fetchall()
    found: dict[str, tuple[list[MemoryEntry], list[MemoryEntry]]] = {row[0]: ([], []) for row in rows}
    for of_id, is_after, *row in rows:
        if row[0] is not None:
            found[of_id][is_after].append(entry_of(tenant_id, row))
    return {one: found[one] for one in memory_ids if one in found}


async def changes(
    connection: AsyncConnection[Any], tenant_id: str, memory_id: str | None, limit: int
) -> list[MemoryChange]:
    """The log of a tenant, or of one of its entries, newest first."""
    statement = _SQL.changes if memory_id is None else _SQL.changes_of
    values = {"tenant_id": tenant_id, "memory_id": memory_id, "limit": limit}
    rows = await (await connection.execute(statement, values)).fetchall()
    return [MemoryChange(*row) for row in rows]


def entry_of(tenant_id: str, row: Sequence[Any], **extra: Any) -> MemoryEntry:
    """An entry from its row."""
    memory_id, agent_id, content, metadata, created_at, updated_at = row
    return MemoryEntry(
        memory_id=memory_id,
        tenant_id=tenant_id,
        agent_id=agent_id,
        content=content,
        metadata=metadata,
        created_at=created_at,
        updated_at=updated_at,
        **extra,
    )

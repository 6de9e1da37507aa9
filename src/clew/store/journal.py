"""The journal: what happened in a tenant, in the order it happened. Entries are added and read, never changed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from clew.errors import InvalidInput
from clew.ids import check_id, new_id
from clew.limits import JOURNAL_READ_MAX, check_count, check_json, check_text
from clew.store.database import Database
from clew.store.named_sql import statements

_SQL = statements("journal")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened."""

    entry_id: str
    kind: str
    detail: dict[str, Any]
    created_at: datetime


class Journal:
    """Each tenant's own account of what happened."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, tenant_id: str, kind: str, detail: dict[str, Any], *, entry_id: str | None = None) -> str:
        """Store an entry and return its id; the same `entry_id` again stores nothing more."""
        entry_id = new_id() if entry_id is None else check_id(entry_id, "entry_id")
        if not isinstance(detail, dict):
            raise InvalidInput(f"expected an object, got {type(detail).__name__}", where="detail")
        row = {
            "tenant_id": tenant_id,
            "entry_id": entry_id,
            "kind": check_text(kind, "kind", allow_empty=False),
            "detail": Jsonb(check_json(detail, "detail")),
        }
        async with self._database.tenant(tenant_id) as connection:
            await connection.execute(_SQL.add, row)
        return entry_id

    async def newest(self, tenant_id: str, limit: int = 50) -> list[Entry]:
        """The latest entries, newest first."""
        row = {"tenant_id": tenant_id, "limit": check_count(limit, "limit", most=JOURNAL_READ_MAX)}
        async with self._database.tenant(tenant_id) as connection:
            rows = await connection.execute(_SQL.newest, row)
            return [Entry(*row) async for row in rows]

"""Which databases keep their objects in an object store: each leaves its mark before its first object.

Where there are two, an object that has no row in one of them may have one in the other, and nobody may take it for a
stray.
"""

from typing import Final

import psycopg

from clew.artifacts.objects.blobs import Blobs
from clew.errors import Misconfigured
from clew.store.database import Database
from clew.store.named_sql import statements

_FOLDER: Final = "databases"
_SQL: Final = statements("artifacts")


async def leave_mark(database: Database, blobs: Blobs, tenant_id: str) -> None:
    """Say in the object store that this database keeps objects in it."""
    key = await _mark(database, tenant_id)
    if await blobs.size(key) is None:
        await blobs.write(
            key, b"A Clew database keeps its artifacts here. Remove this only when the database is gone.\n"
        )


async def other_marks(database: Database, blobs: Blobs, tenant_id: str) -> list[str]:
    """The marks of other databases."""
    own = await _mark(database, tenant_id)
    return [found.key async for page in blobs.listed(_FOLDER) for found in page if found.key != own]


async def _mark(database: Database, tenant_id: str) -> str:
    try:
        async with database.tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.identity)).fetchone()
    except (Misconfigured, psycopg.Error):
        # Some hosted servers keep their number to themselves. Then there is one mark for all of them, and no telling.
        row = None
    return f"{_FOLDER}/{row[0] if row else 'unnumbered'}"

"""The index of a large tenant's own, whose condition has the tenant's name in it."""

from typing import Final

from psycopg import sql

from clew.errors import Misconfigured
from clew.logs import logger
from clew.store.database import Database
from clew.store.named_sql import statements

_SQL: Final = statements("erasure")
_INDEX: Final = statements("memory_index")
_log: Final = logger("clew.erasure")


async def drop_indexes(database: Database, tenant_id: str) -> None:
    """Drop it, if this login may act as the owner of the tables; if not, the report says that it is left."""
    async with database.tenant(tenant_id) as connection:
        rows = await (await connection.execute(_SQL.indexes_of_tenant, {"tenant_id": tenant_id})).fetchall()
    if not rows:
        return
    try:
        async with database.owner() as connection:
            for (name,) in rows:
                await connection.execute(sql.SQL(_INDEX.drop).format(index=sql.Identifier(name)))
    except Misconfigured as error:
        _log.warning("index_left", error=str(error))

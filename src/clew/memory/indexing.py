"""An approximate index for a tenant whose exact scan has become long. Without one every scan is exact."""

import hashlib
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection, sql

from clew.errors import InvalidInput
from clew.memory.spaces import Space, as_text
from clew.store.database import Database
from clew.store.named_sql import statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Up to here a scan takes 9 ms (benchmarks/context.py prints it) and nobody looks for an index.
SCAN_MAX_ENTRIES: Final = 20_000
# What the index can be asked for at once, by its ef_search, and how long its vectors may be.
NEAREST_MAX: Final = 300
INDEXED_DIMENSIONS_MAX: Final = 4_000
_SQL: Final = statements("memory_index")


def index_name(tenant_id: str, space: Space) -> str:
    """What the index of a tenant's space is called."""
    return "memory_vectors_" + hashlib.sha256(f"{tenant_id}/{space.name}".encode()).hexdigest()[:24]


async def build_index(database: Database, tenant_id: str, space: Space) -> bool:
    """Make the index of a tenant's space, as the owner of the tables; False when it is there already."""
    if space.dimensions > INDEXED_DIMENSIONS_MAX:
        raise InvalidInput(
            f"vectors of {space.dimensions:,} dimensions can't be indexed; the limit is {INDEXED_DIMENSIONS_MAX:,}",
            where=space.name,
            fix="Search goes on exactly, or move the tenant to a smaller model: clew models use",
        )
    name = index_name(tenant_id, space)
    async with database.owner() as connection:
        valid = await (await connection.execute(_SQL.there, {"index": name})).fetchone()
        if valid == (True,):
            return False
        await connection.execute(sql.SQL(_SQL.drop).format(index=sql.Identifier(name)))
        await connection.execute("SET maintenance_work_mem = '256MB'")
        await connection.execute(
            sql.SQL(_SQL.create).format(
                index=sql.Identifier(name),
                dimensions=sql.Literal(space.dimensions),
                tenant_id=sql.Literal(tenant_id),
                space=sql.Literal(space.name),
            )
        )
    return True


async def nearest(
    connection: AsyncConnection[Any], tenant_id: str, space: Space, vector: "NDArray[np.float32]", limit: int
) -> list[Any] | None:
    """The entries nearest to a vector by the tenant's index; None when there is none, or it is asked for too many."""
    if limit > NEAREST_MAX:
        return None
    valid = await (await connection.execute(_SQL.there, {"index": index_name(tenant_id, space)})).fetchone()
    if valid != (True,):
        return None
    statement = sql.SQL(_SQL.nearest).format(dimensions=sql.Literal(space.dimensions))
    values = {"tenant_id": tenant_id, "space": space.name, "vector": as_text(vector.tolist()), "limit": limit}
    await connection.execute(_SQL.prefer)
    rows = await (await connection.execute(statement, values)).fetchall()
    await connection.execute(_SQL.prefer_no_more)
    return rows

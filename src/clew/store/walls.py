"""Are the walls between tenants up? Asked at every start, and by `clew doctor`."""

from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from clew.errors import WallDown
from clew.store.named_sql import statements


@dataclass(frozen=True, slots=True)
class Breach:
    """One wall that is down: which table or role, what is wrong with it, and what raises it again."""

    where: str
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where} {self.what} (fix: {self.fix})"


async def breaches(connection: AsyncConnection[Any]) -> list[Breach]:
    """Every breach there is, by the rules in sql/walls.sql."""
    rules = statements("walls")
    found = []
    async with connection.transaction():
        # A function of the same name as one of PostgreSQL's, found first by a search path, would read like it.
        await connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        for rule in dir(rules):
            rows = await (await connection.execute(getattr(rules, rule))).fetchall()
            found += [Breach(*row) for row in rows]
    return found


async def refuse_if_down(connection: AsyncConnection[Any]) -> None:
    """Raise `WallDown`, naming every breach."""
    if found := await breaches(connection):
        raise WallDown("the walls between tenants are down: " + "; ".join(map(str, found)))

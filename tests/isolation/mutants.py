"""A mutant is a database with one wall torn down. The start must refuse it, and say which table or role is wrong."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psycopg
import pytest

from clew import Database, WallDown

from .rows import ALICE

if TYPE_CHECKING:
    from .conftest import OpenAnyway

FOREIGN_ROWS: Final = f"SELECT count(*) FROM clew.journal WHERE tenant_id <> '{ALICE}'"


@dataclass(frozen=True)
class Mutant:
    """What to tear down, what the refusal must name, and what would leak if nobody refused."""

    name: str
    tear: str
    named: str
    """What the refusal must name: a table, a role, a view."""
    mend: str = ""
    """Puts back what belongs to the whole server; the database itself is thrown away."""
    leak: tuple[str, ...] = ()
    """Statements that ALICE runs through the door; the last one counts what she must not see. May be empty."""

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


@contextmanager
def torn(mutant: Mutant, admin: psycopg.Connection) -> Iterator[None]:
    """The wall torn down, and whatever belongs to the whole server mended afterwards."""
    try:
        for statement in _each(mutant.tear, admin):
            admin.execute(statement)
        yield
    finally:
        for statement in _each(mutant.mend, admin):
            admin.execute(statement)


def _each(statements: str, admin: psycopg.Connection) -> list[str]:
    """The statements, one a line, with this database's name in them."""
    return [line.format(database=admin.info.dbname) for line in statements.strip().splitlines() if line.strip()]


async def assert_refused(mutant: Mutant, url: str) -> None:
    """Opening the database raises `WallDown`, and the message names the culprit."""
    with pytest.raises(WallDown, match=re.escape(mutant.named)):
        async with Database(url):
            pass


async def count_leaked(mutant: Mutant, database: Database) -> int:
    """How much ALICE sees that is not hers."""
    async with database.tenant(ALICE) as connection, connection.transaction(force_rollback=True):
        for statement in mutant.leak:
            cursor = await connection.execute(statement)
        row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def assert_noticed(mutant: Mutant, admin: psycopg.Connection, url: str, open_anyway: "OpenAnyway") -> None:
    """The start is refused; and where the mutant leaks rows, it is shown to: the check guards something real."""
    with torn(mutant, admin):
        if mutant.leak:
            async with open_anyway(url) as database:
                assert await count_leaked(mutant, database) > 0
        await assert_refused(mutant, url)

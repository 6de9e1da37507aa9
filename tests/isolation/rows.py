"""Two tenants' rows in every table that has tenants: the tables come from the catalog, the rows from here."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import psycopg
from psycopg import sql

from clew.ids import new_id

ALICE: Final = "alice"
BOB: Final = "bob"
ROWS_EACH: Final = 3

# One row a table: what to write beside tenant_id. A new table needs a line here before its walls count as tested.
MAKERS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "clew.journal": lambda: {"entry_id": new_id(), "kind": "isolation"},
}

_TENANT_TABLES: Final = """
    SELECT format('%I.%I', n.nspname, c.relname)
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     WHERE n.nspname = 'clew' AND c.relkind IN ('r', 'p')
     ORDER BY 1
"""


class NoRowMaker(AssertionError):
    """A table with tenants that these tests have no row for."""


def tenant_tables(connection: psycopg.Connection) -> list[str]:
    """Every table of ours that has tenants, as the catalog knows them."""
    return [name for (name,) in connection.execute(_TENANT_TABLES)]


def insertion(table: str, tenant_id: str) -> tuple[sql.Composed, dict[str, Any]]:
    """A statement that adds one row of a tenant's to a table, and its values."""
    try:
        made = MAKERS[table]()
    except KeyError:
        raise NoRowMaker(f"{table} has a tenant_id and no row to test it with: add one to MAKERS in rows.py") from None
    row = {"tenant_id": tenant_id, **made}
    columns, values = sql.SQL(", ").join(map(sql.Identifier, row)), sql.SQL(", ").join(map(sql.Placeholder, row))
    return sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(named(table), columns, values), row


def fill(connection: psycopg.Connection, tenant_ids: Iterable[str] = (ALICE, BOB)) -> None:
    """Rows of every tenant in every table, written by an administrator."""
    for table in tenant_tables(connection):
        for tenant_id in tenant_ids:
            for _ in range(ROWS_EACH):
                connection.execute(*insertion(table, tenant_id))


def named(table: str) -> sql.Identifier:
    """A table's name, as an identifier."""
    return sql.Identifier(*table.split("."))

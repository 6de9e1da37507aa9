"""The tables that have tenants, as the catalog knows them: what is in them, and how to empty them."""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, Final

from psycopg import AsyncConnection, sql

from clew.erasure.report import Check
from clew.erasure.subject import Named
from clew.store.named_sql import statements

_SQL: Final = statements("erasure")
# LangGraph's own schemas, where a thread's id begins with its tenant.
_GRAPHS: Final = "clew_lg_"
BLOBS: Final = "clew.blobs"


@dataclass(frozen=True, slots=True)
class Table:
    """One table. Where the application may not delete from it, its rows go with those that they refer to."""

    schema: str
    name: str
    deletable: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def of_graphs(self) -> bool:
        return self.schema.startswith(_GRAPHS)

    def filled(self, statement: Any, naming: sql.Composable | None = None) -> sql.Composed:
        """A statement about one tenant's rows in this table, or about those of them that name something."""
        mine = "thread_id >= %(from)s AND thread_id < %(to)s" if self.of_graphs else "tenant_id = %(tenant_id)s"
        table = sql.Identifier(self.schema, self.name)
        return sql.SQL(statement).format(table=table, tenant=sql.SQL(mine), naming=naming)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column that holds ids, and the words beside them, which must be gone where the id may stay."""

    table: Table
    name: str
    kind: str
    words: Sequence[str]

    @property
    def values(self) -> str:
        """Under which name the ids are sent that are looked for in it."""
        if self.name == "seq":
            return "memory_rows" if self.table.name.startswith("memor") else "fact_rows"
        return "stored_ids" if self.table.of_graphs else self.name

    def naming(self) -> sql.Composed:
        """That it holds one of them. Their type is the column's: cast the other way, no index would help."""
        ids = sql.SQL("{}::{}[]").format(sql.Placeholder(self.values), sql.SQL(self.kind))
        found = sql.SQL("{} = ANY ({})").format(sql.Identifier(self.name), ids)
        if not self.words:
            return found
        told = sql.SQL(" OR ").join(sql.SQL("{}::text <> ''").format(sql.Identifier(word)) for word in self.words)
        return sql.SQL("({} AND ({}))").format(found, told)


async def tenant_tables(connection: AsyncConnection[Any]) -> list[Table]:
    """Every table with tenants, those that refer to others before them."""
    rows = await (await connection.execute(_SQL.tenant_tables)).fetchall()
    found = {table.full_name: table for table in (Table(*row) for row in rows)}
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(found, ()))
    for referring, referred in await (await connection.execute(_SQL.references_between)).fetchall():
        order.add(referred, referring)
    return [found[name] for name in order.static_order() if name in found]


async def empty(connection: AsyncConnection[Any], tenant_id: str) -> None:
    """Delete a tenant's rows from every table but that of blobs: a blob's row outlives its object.

    Twice, since a log may write down that rows of another table went.
    """
    tables = [one for one in await tenant_tables(connection) if one.deletable and one.full_name != BLOBS]
    for table in (*tables, *tables):
        await connection.execute(table.filled(_SQL.delete_rows), place(tenant_id))


async def count_tenant(connection: AsyncConnection[Any], tenant_id: str) -> list[Check]:
    """How many rows a tenant has in each table."""
    counts = []
    for table in sorted(await tenant_tables(connection), key=lambda table: table.full_name):
        found = await _count(connection, table.filled(_SQL.count_rows), tenant_id)
        counts.append(Check(table.full_name, f"rows of {tenant_id}", found))
    return counts


async def count_named(connection: AsyncConnection[Any], tenant_id: str, named: Named) -> list[Check]:
    """How many rows of a tenant name something, in every table that has a column for its id."""
    stored = [f"{tenant_id}/{thread_id}" for thread_id in named.ids["thread_id"]]
    rows = {"memory_rows": named.memory_rows, "fact_rows": named.fact_rows, "stored_ids": stored}
    values: dict[str, Any] = {**named.ids, **rows}
    counts = []
    for table, columns in (await _naming(connection, values)).items():
        either = sql.SQL(" OR ").join(column.naming() for column in columns)
        found = await _count(connection, table.filled(_SQL.count_naming, either), tenant_id, values)
        counts.append(Check(table.full_name, ", ".join(column.name for column in columns), found))
    return counts


async def _naming(connection: AsyncConnection[Any], values: dict[str, Any]) -> dict[Table, list[_Column]]:
    """The columns in which any of the values may be, by table."""
    found: dict[Table, list[_Column]] = {}
    asked = {"columns": [*values, "seq"]}
    for schema, table, name, kind, words in await (await connection.execute(_SQL.naming_columns, asked)).fetchall():
        column = _Column(Table(schema, table), name, kind, words)
        numbered = name != "seq" or table.startswith(("memor", "fact"))
        if numbered and values[column.values]:
            found.setdefault(column.table, []).append(column)
    return found


def place(tenant_id: str) -> dict[str, Any]:
    """Whose rows: by their tenant, and in LangGraph's tables by the range of its thread ids."""
    return {"tenant_id": tenant_id, "from": f"{tenant_id}/", "to": f"{tenant_id}0"}


async def _count(
    connection: AsyncConnection[Any], statement: sql.Composed, tenant_id: str, values: dict[str, Any] | None = None
) -> int:
    row = await (await connection.execute(statement, {**place(tenant_id), **(values or {})})).fetchone()
    return int(row[0]) if row else 0

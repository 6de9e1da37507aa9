"""Looking for another tenant's rows by every means. Each probe answers with what leaked; no answer, no leak.

The same probes run against the walls as they are, where they must find nothing, and against walls that a test has torn
down, where they must find something: a probe that never finds anything proves nothing.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, sql

from clew import Database

from .rows import ALICE, BOB, column, named, owned, tenant

Door = Callable[[str], AbstractAsyncContextManager[AsyncConnection[Any]]]

READS: Final = {
    "SELECT": "SELECT count(*) FROM {table} WHERE {tenant} <> {me}",
    "SELECT by name": "SELECT count(*) FROM {table} WHERE {tenant} = {other}",
    "SELECT by range": "SELECT count(*) FROM {table} WHERE {column} >= {other} AND {column} < {other} || '0'",
    "a join": "SELECT count(*) FROM (SELECT {tenant} AS t FROM {table}) AS mine"
    " JOIN (SELECT {tenant} AS t FROM {table}) AS theirs ON mine.t <> theirs.t",
    "a lateral count": "SELECT coalesce(sum(n) FILTER (WHERE t <> {me}), 0)::int"
    " FROM (SELECT {tenant} AS t, count(*) AS n FROM {table} GROUP BY 1) AS counted",
}
WRITES: Final = {
    "UPDATE": "UPDATE {table} SET {column} = {column} WHERE {tenant} <> {me}",
    "UPDATE that takes": "UPDATE {table} SET {column} = {mine} WHERE {column} = {theirs}",
    "DELETE": "DELETE FROM {table} WHERE {column} = {theirs}",
    "DELETE of everything else": "DELETE FROM {table} WHERE {tenant} <> {me}",
    "a locking read": "SELECT FROM {table} WHERE {tenant} <> {me} FOR UPDATE",
}


def phrase(words: str, table: str, me: str = ALICE, other: str = BOB) -> sql.Composed:
    """A probe's SQL for one table and two tenants: their names, and what stands in the column of each one's rows."""
    return sql.SQL(words).format(
        table=named(table),
        column=sql.Identifier(column(table)),
        tenant=sql.SQL(tenant(table)),
        me=sql.Literal(me),
        other=sql.Literal(other),
        mine=sql.Literal(owned(table, me)[column(table)]),
        theirs=sql.Literal(owned(table, other)[column(table)]),
    )


async def leaks(door: Door, tables: list[str]) -> list[str]:
    """What each of two tenants sees, or changes, of the other's rows through a door."""
    found = []
    for table in tables:
        for me, other in ((ALICE, BOB), (BOB, ALICE)):
            async with door(me) as connection:
                found += await _foreign(connection, table, me, other)
    return found


async def _foreign(connection: AsyncConnection[Any], table: str, me: str, other: str) -> list[str]:
    found = []
    for name, words in READS.items():
        row = await (await connection.execute(phrase(words, table, me, other))).fetchone()
        found += [f"{table}: {me} reads {row[0]} by {name}"] if row and row[0] else []
    for name, words in WRITES.items():
        try:
            async with connection.transaction(force_rollback=True):
                changed = (await connection.execute(phrase(words, table, me, other))).rowcount
        except psycopg.errors.InsufficientPrivilege:
            continue
        except psycopg.IntegrityError:
            changed = 1  # the row was reached: only a key stood in the way
        found += [f"{table}: {me} touches {changed} by {name}"] if changed else []
    return found


async def forgotten(database: Database, tables: list[str], rounds: int = 8) -> list[str]:
    """What code sees that forgets to name a tenant, on connections that other tenants have just used."""
    found = []
    for number in range(rounds):
        async with database.tenant((ALICE, BOB)[number % 2]) as connection:
            await connection.execute("SELECT 1")
        for table in tables:
            seen = await count_without_tenant(database, table)
            found += [f"{table}: {seen} rows without a tenant"] if seen else []
    return found


async def count_without_tenant(database: Database, table: str) -> int:
    """How many rows a pooled connection shows to code that goes around the door."""
    assert database._pool is not None
    async with database._pool.connection() as connection:
        row = await (await connection.execute(phrase("SELECT count(*) FROM {table}", table))).fetchone()
    return row[0] if row else 0

"""What the door sets ends with its transaction, and the probes that pass on it notice a door that is built wrongly."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from clew import ClewError, Database, InvalidInput
from clew.store import database as door_module

from .conftest import OpenAnyway, Standing
from .probes import count_without_tenant, forgotten, leaks, phrase
from .rows import ALICE, BOB, WRITER, insertion, tenant_tables

LEFT_BEHIND = (
    "SELECT current_user = session_user, coalesce(current_setting('clew.tenant_id', true), ''),"
    " current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')"
)


async def left_behind(database: Database) -> tuple[Any, ...] | None:
    """What a pooled connection still carries when a tenant's block has ended."""
    async with database.tenant(ALICE) as connection:
        await connection.execute("SELECT 1")
    return await _raw(database, LEFT_BEHIND)


async def _raw(database: Database, statement: str) -> tuple[Any, ...] | None:
    assert database._pool is not None
    async with database._pool.connection() as connection:
        return await (await connection.execute(statement)).fetchone()


def uncleaned(monkeypatch: pytest.MonkeyPatch, database: Database) -> None:
    """A pool that hands connections on as they come back, as one behind pgbouncer must."""
    monkeypatch.setattr(database._pool, "_check", AsyncConnectionPool.check_connection)


def spoil(monkeypatch: pytest.MonkeyPatch, database: Database, was: str, becomes: str) -> None:
    """The door, with other words in its first statement, and a pool that cleans up after nobody."""
    uncleaned(monkeypatch, database)
    words = door_module._ENTER.as_string()
    assert was in words
    monkeypatch.setattr(door_module, "_ENTER", psycopg.sql.SQL(words.replace(was, becomes)))


@pytest.fixture
def tables(standing: Standing) -> list[str]:
    return tenant_tables(standing.admin)


@pytest.fixture
async def one_connection(standing: Standing) -> AsyncIterator[Database]:
    """A pool of one: every request gets the connection that the one before had."""
    async with Database(standing.app_url, pool_size=1) as database:
        yield database


async def test_the_door_leaves_nothing_on_its_connection(one_connection: Database, tables: list[str]) -> None:
    assert await left_behind(one_connection) == (True, "", "0", "0")
    assert await forgotten(one_connection, tables) == []
    assert await leaks(one_connection.tenant, tables) == []


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("SET LOCAL clew.tenant_id = {tenant}", "SET clew.tenant_id = {tenant}"),
        ("SET LOCAL clew.tenant_id = {tenant}", "SELECT set_config('clew.tenant_id', {tenant}, false)"),
    ],
)
async def test_a_tenant_set_for_the_session_is_noticed(
    monkeypatch: pytest.MonkeyPatch, one_connection: Database, tables: list[str], was: str, becomes: str
) -> None:
    spoil(monkeypatch, one_connection, was, becomes)
    assert await forgotten(one_connection, tables) != []
    assert (await left_behind(one_connection) or ())[1] == ALICE


async def test_a_door_that_forgets_the_tenant_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, one_connection: Database, tables: list[str]
) -> None:
    spoil(monkeypatch, one_connection, "SET LOCAL clew.tenant_id = {tenant}", "SELECT {tenant}")
    for table in tables:
        async with one_connection.tenant(ALICE) as connection:
            seen = await (await connection.execute(phrase("SELECT count(*) FROM {table}", table))).fetchone()
        assert seen == (0,)


async def test_a_role_taken_for_the_session_is_noticed(
    monkeypatch: pytest.MonkeyPatch, standing: Standing, open_anyway: OpenAnyway
) -> None:
    """Seen with a login that is not clew_app: otherwise the role before and after is the same."""
    async with open_anyway(standing.admin_url, pool_size=1) as database:
        uncleaned(monkeypatch, database)
        assert (await left_behind(database) or ())[0] is True
        spoil(monkeypatch, database, "SET LOCAL ROLE", "SET ROLE")
        assert (await left_behind(database) or ())[0] is False


async def test_a_door_without_the_role_leaves_a_superusers_login_its_power(
    monkeypatch: pytest.MonkeyPatch, standing: Standing, tables: list[str], open_anyway: OpenAnyway
) -> None:
    async with open_anyway(standing.admin_url, pool_size=1) as database:
        uncleaned(monkeypatch, database)
        assert await leaks(database.tenant, tables) == []
        spoil(monkeypatch, database, "SET LOCAL ROLE {role};", "SELECT {role} FROM (SELECT 1 AS {role}) AS nothing;")
        assert await leaks(database.tenant, tables) != []


@pytest.mark.parametrize(
    "way",
    [
        "CREATE TEMP TABLE carried AS SELECT tenant_id FROM clew.journal",
        "DECLARE carried CURSOR WITH HOLD FOR SELECT tenant_id FROM clew.journal",
    ],
    ids=["a-temporary-table", "a-held-cursor"],
)
async def test_a_connection_carries_no_rows_to_its_next_user_in(one_connection: Database, way: str) -> None:
    """A session outlives a tenant's block, and so would whatever is kept in the session."""
    async with one_connection.tenant(BOB) as connection:
        await connection.execute(way)
    read = "SELECT * FROM carried" if "TABLE" in way else "FETCH ALL FROM carried"
    seen: list[Any] = []
    with pytest.raises(psycopg.Error):
        async with one_connection.tenant(ALICE) as connection:
            seen = await (await connection.execute(read)).fetchall()
    assert seen == []


async def test_a_session_level_tenant_set_inside_a_block_does_not_outlive_it(
    one_connection: Database, tables: list[str]
) -> None:
    async with one_connection.tenant(ALICE) as connection:
        await connection.execute("SET clew.tenant_id = 'bob'")
    assert [await count_without_tenant(one_connection, table) for table in tables] == [0] * len(tables)


async def test_a_commit_inside_the_block_ends_the_tenant(one_connection: Database, tables: list[str]) -> None:
    for table in tables:
        async with one_connection.tenant(ALICE) as connection:
            await connection.execute("COMMIT")
            seen = await (await connection.execute(phrase("SELECT count(*) FROM {table}", table))).fetchone()
        assert seen == (0,)


async def add(connection: AsyncConnection[Any], table: str) -> None:
    await connection.execute(*insertion(table, WRITER))


async def count(database: Database, table: str) -> int:
    async with database.tenant(WRITER) as connection:
        row = await (await connection.execute(phrase("SELECT count(*) FROM {table}", table))).fetchone()
    return row[0] if row else -1


async def test_a_block_that_ends_well_is_stored(one_connection: Database, tables: list[str]) -> None:
    for table in tables:
        before = await count(one_connection, table)
        async with one_connection.tenant(WRITER) as connection:
            await add(connection, table)
        assert await count(one_connection, table) == before + 1


async def _add_and_raise(database: Database, table: str) -> None:
    async with database.tenant(WRITER) as connection:
        await add(connection, table)
        raise LookupError("lost my place")


async def _add_and_swallow(database: Database, table: str) -> None:
    async with database.tenant(WRITER) as connection:
        await add(connection, table)
        with contextlib.suppress(psycopg.errors.DivisionByZero):
            await connection.execute("SELECT 1 / 0")


async def test_a_block_that_raises_stores_nothing_and_says_what_was_raised(
    one_connection: Database, tables: list[str]
) -> None:
    for table in tables:
        before = await count(one_connection, table)
        with pytest.raises(LookupError, match="lost my place"):
            await _add_and_raise(one_connection, table)
        assert await count(one_connection, table) == before


async def test_an_error_swallowed_inside_the_block_stores_nothing_and_is_raised_at_its_end(
    one_connection: Database, tables: list[str]
) -> None:
    for table in tables:
        before = await count(one_connection, table)
        with pytest.raises(ClewError, match="nothing was stored"):
            await _add_and_swallow(one_connection, table)
        assert await count(one_connection, table) == before


async def test_an_error_inside_a_savepoint_costs_only_the_savepoint(
    one_connection: Database, tables: list[str]
) -> None:
    for table in tables:
        before = await count(one_connection, table)
        async with one_connection.tenant(WRITER) as connection:
            await add(connection, table)
            with contextlib.suppress(psycopg.errors.DivisionByZero):
                async with connection.transaction():
                    await add(connection, table)
                    await connection.execute("SELECT 1 / 0")
        assert await count(one_connection, table) == before + 1


async def test_a_value_that_postgresql_cannot_store_is_the_callers_error(one_connection: Database) -> None:
    with pytest.raises(InvalidInput, match="can't store a value"):
        async with one_connection.tenant(ALICE) as connection:
            await connection.execute("SELECT 'no number'::int")

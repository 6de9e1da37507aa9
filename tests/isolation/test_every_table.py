"""No tenant sees, changes or counts another's rows, in any table, as the application or as the tables' owner."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest
from psycopg import AsyncConnection, sql

from clew import Database

from .conftest import OpenAnyway, Standing
from .probes import Door, count_without_tenant, forgotten, leaks, phrase
from .rows import ALICE, BOB, ROWS_EACH, NoRowMaker, insertion, tenant_tables

if TYPE_CHECKING:
    from ..conftest import Scratch


BY_TENANT: Final = "SELECT tenant_id, count(*) FROM {table} GROUP BY 1 ORDER BY 1"


def owners_door(admin_url: str) -> Door:
    """The same transaction as the application's, for the role that owns the tables."""

    @asynccontextmanager
    async def door(tenant_id: str) -> AsyncIterator[AsyncConnection[Any]]:
        async with await AsyncConnection.connect(admin_url) as connection:
            await connection.execute("SET LOCAL ROLE clew_owner")
            await connection.execute(sql.SQL("SET LOCAL clew.tenant_id = {}").format(sql.Literal(tenant_id)))
            yield connection

    return door


@pytest.fixture(params=["application", "owner"])
def door(request: pytest.FixtureRequest, scratch: "Scratch", walled: Database) -> Door:
    return walled.tenant if request.param == "application" else owners_door(scratch.admin_url)


async def test_a_tenant_finds_none_of_anothers_rows_by_any_probe(door: Door, tables: list[str]) -> None:
    assert await leaks(door, tables) == []


async def test_the_same_probes_find_the_rows_once_row_security_is_off(
    scratch: "Scratch", admin: psycopg.Connection, tables: list[str], every_verb: None, open_anyway: OpenAnyway
) -> None:
    for table in tables:
        admin.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    async with open_anyway(scratch.app_url) as database:
        by_application = await leaks(database.tenant, tables)
    by_owner = await leaks(owners_door(scratch.admin_url), tables)
    every_probe_both_ways = len(tables) * 2 * 9
    assert len(by_application) == len(by_owner) == every_probe_both_ways


async def test_a_tenant_sees_all_of_its_own_rows(door: Door, tables: list[str]) -> None:
    for table in tables:
        async with door(ALICE) as connection:
            counted = await (await connection.execute(phrase("SELECT count(*) FROM {table}", table))).fetchone()
            changed = await connection.execute(phrase("UPDATE {table} SET tenant_id = tenant_id", table))
            deleted = await connection.execute(phrase("DELETE FROM {table}", table))
        assert (counted, changed.rowcount, deleted.rowcount) == ((ROWS_EACH,), ROWS_EACH, ROWS_EACH)


def test_the_administrator_sees_both_tenants_rows(admin: psycopg.Connection, tables: list[str]) -> None:
    for table in tables:
        counts = admin.execute(
            phrase("SELECT tenant_id, count(*) FROM {table} GROUP BY 1 ORDER BY 1", table)
        ).fetchall()
        assert counts == [(ALICE, ROWS_EACH), (BOB, ROWS_EACH)]


async def test_deleting_everything_leaves_the_other_tenant_whole(
    door: Door, admin: psycopg.Connection, tables: list[str]
) -> None:
    for table in tables:
        async with door(ALICE) as connection:
            await connection.execute(phrase("DELETE FROM {table}", table))
        left = admin.execute(phrase(BY_TENANT, table)).fetchall()
        assert left == [(BOB, ROWS_EACH)]


async def test_a_row_with_another_tenants_id_is_refused(
    door: Door, admin: psycopg.Connection, tables: list[str]
) -> None:
    for table in tables:
        for statement, row in (insertion(table, BOB), (phrase("UPDATE {table} SET tenant_id = {other}", table), {})):
            with pytest.raises(Exception, match="row-level security policy"):
                async with door(ALICE) as connection:
                    await connection.execute(statement, row)
        async with door(ALICE) as connection:
            await connection.execute(*insertion(table, ALICE))
        counts = admin.execute(
            phrase("SELECT tenant_id, count(*) FROM {table} GROUP BY 1 ORDER BY 1", table)
        ).fetchall()
        assert counts == [(ALICE, ROWS_EACH + 1), (BOB, ROWS_EACH)]


async def test_without_a_tenant_there_are_no_rows(walled: Database, tables: list[str]) -> None:
    assert tables
    assert await forgotten(walled, tables) == []


@pytest.mark.parametrize("role", ["clew_app", "clew_owner"])
@pytest.mark.parametrize("tenant", ["never set", "", "nobody", "ALICE", "alice ", "%"])
def test_a_tenant_that_is_not_there_owns_no_rows(standing: Standing, role: str, tenant: str) -> None:
    for table in tenant_tables(standing.admin):
        with standing.admin.transaction(force_rollback=True):
            standing.admin.execute(f"SET LOCAL ROLE {role}")
            if tenant != "never set":
                standing.admin.execute("SELECT set_config('clew.tenant_id', %s, true)", [tenant])
            assert standing.admin.execute(phrase("SELECT count(*) FROM {table}", table)).fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security policy"):
                _insert_within(standing.admin, table)
            standing.admin.execute("SELECT set_config('clew.tenant_id', %s, true)", [ALICE])
            assert standing.admin.execute(phrase("SELECT count(*) FROM {table}", table)).fetchone() == (ROWS_EACH,)
            _insert_within(standing.admin, table)


def _insert_within(connection: psycopg.Connection, table: str) -> None:
    with connection.transaction():
        connection.execute(*insertion(table, ALICE))


async def test_a_default_tenant_would_be_noticed_by_whoever_forgets(
    scratch: "Scratch", admin: psycopg.Connection, tables: list[str], open_anyway: OpenAnyway
) -> None:
    admin.execute(f"ALTER DATABASE {admin.info.dbname} SET clew.tenant_id = '{BOB}'")
    async with open_anyway(scratch.app_url) as database:
        assert [await count_without_tenant(database, table) for table in tables] == [ROWS_EACH] * len(tables)
        assert await forgotten(database, tables) != []


def test_a_new_table_without_a_row_to_test_it_with_is_named(admin: psycopg.Connection) -> None:
    admin.execute("CREATE TABLE clew.novelty (tenant_id text NOT NULL)")
    assert "clew.novelty" in tenant_tables(admin)
    with pytest.raises(NoRowMaker, match=r"clew\.novelty has a tenant_id and no row"):
        insertion("clew.novelty", ALICE)

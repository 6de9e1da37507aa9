"""No tenant sees, changes or counts another's rows, in any table, as the application or as the tables' owner."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest
from psycopg import AsyncConnection, sql

from clew import Database

from .conftest import OpenAnyway, Standing
from .probes import READS, WRITES, Door, count_without_tenant, forgotten, leaks, phrase
from .rows import ALICE, BOB, MAKERS, ROWS_EACH, NoRowMaker, column, insertion, tenant_tables

if TYPE_CHECKING:
    from ..conftest import Scratch


BY_TENANT: Final = "SELECT {tenant}, count(*) FROM {table} GROUP BY 1 ORDER BY 1"


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
    every_probe_both_ways = len(tables) * 2 * len(READS | WRITES)
    assert len(by_application) == len(by_owner) == every_probe_both_ways


async def test_a_tenant_sees_all_of_its_own_rows(door: Door, tables: list[str]) -> None:
    for table in tables:
        async with door(ALICE) as connection, connection.transaction(force_rollback=True):
            counted = await (await connection.execute(phrase("SELECT count(*) FROM {table}", table))).fetchone()
            changed = await connection.execute(phrase("UPDATE {table} SET {column} = {column}", table))
            deleted = await connection.execute(phrase("DELETE FROM {table}", table))
        assert (counted, changed.rowcount, deleted.rowcount) == ((ROWS_EACH,), ROWS_EACH, ROWS_EACH)


def test_the_administrator_sees_both_tenants_rows(admin: psycopg.Connection, tables: list[str]) -> None:
    for table in tables:
        counts = admin.execute(phrase(BY_TENANT, table)).fetchall()
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
        for statement, row in (insertion(table, BOB), (phrase("UPDATE {table} SET {column} = {theirs}", table), {})):
            with pytest.raises(Exception, match="row-level security policy"):
                async with door(ALICE) as connection:
                    await connection.execute(statement, row)
        async with door(ALICE) as connection:
            await connection.execute(*insertion(table, ALICE))
        counts = admin.execute(phrase(BY_TENANT, table)).fetchall()
        assert counts == [(ALICE, ROWS_EACH + 1), (BOB, ROWS_EACH)]


async def test_without_a_tenant_there_are_no_rows(walled: Database, tables: list[str]) -> None:
    assert tables
    assert await forgotten(walled, tables) == []


@pytest.mark.parametrize("role", ["clew_app", "clew_owner"])
@pytest.mark.parametrize("tenant", ["never set", "", "nobody", "ALICE", "alice ", "alice/", "alice/thread", "%"])
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


THREAD_IDS: Final = {
    "another's": ("bob/thread", "row-level security"),
    "another's, with hers inside": ("bob/alice/thread", "row-level security"),
    "nobody's, with hers inside": ("/alice/thread", "row-level security"),
    "one that begins like hers": ("alicette/thread", "row-level security"),
    "one that ends like hers": ("malice/thread", "row-level security"),
    "hers in capitals": ("ALICE/thread", "row-level security"),
    "hers and a space": ("alice /thread", "row-level security"),
    "nothing": ("", "row-level security"),
    "null": (None, "row-level security"),
    "hers without a slash": ("alice", "check constraint"),
}


@pytest.mark.parametrize("role", ["clew_app", "clew_owner"])
@pytest.mark.parametrize(("thread_id", "refusal"), THREAD_IDS.values(), ids=THREAD_IDS)
def test_langgraphs_tables_refuse_a_thread_id_that_is(
    standing: Standing, role: str, thread_id: str | None, refusal: str
) -> None:
    for table in filter(_langgraphs, tenant_tables(standing.admin)):
        statement, row = insertion(table, ALICE)
        with standing.admin.transaction(force_rollback=True):
            standing.admin.execute(f"SET LOCAL ROLE {role}; SET LOCAL clew.tenant_id = '{ALICE}'")
            standing.admin.execute(statement, row)
            with pytest.raises(psycopg.Error, match=refusal), standing.admin.transaction():
                standing.admin.execute(statement, {**row, "thread_id": thread_id})


async def test_only_the_first_slash_of_a_thread_id_says_whose_it_is(door: Door, tables: list[str]) -> None:
    thread_ids = ["alice/", "alice/bob/thread", "alice//bob"]
    found = "SELECT FROM {table} WHERE thread_id = ANY (%s)"
    for table in filter(_langgraphs, tables):
        statement, row = insertion(table, ALICE)
        async with door(ALICE) as connection:
            for thread_id in thread_ids:
                await connection.execute(statement, {**row, "thread_id": thread_id})
        for tenant_id, visible in ((ALICE, len(thread_ids)), (BOB, 0)):
            async with door(tenant_id) as connection:
                assert (await connection.execute(phrase(found, table), [thread_ids])).rowcount == visible


def _langgraphs(table: str) -> bool:
    return not table.startswith("clew.")


@pytest.mark.parametrize("table", ["clew.novelty", "clew_lg_00.novelty", "clew_lg_01.novelty"])
def test_a_new_table_without_a_row_to_test_it_with_is_named(admin: psycopg.Connection, table: str) -> None:
    assert set(tenant_tables(admin)) == set(MAKERS)
    admin.execute(f"CREATE SCHEMA IF NOT EXISTS {table.split('.')[0]}")
    admin.execute(f"CREATE TABLE {table} ({column(table)} text NOT NULL)")
    assert table in tenant_tables(admin)
    with pytest.raises(NoRowMaker, match=f"{table} has tenants and no row"):
        insertion(table, ALICE)

"""LangGraph's own conformance suite, whole, and tables that are LangGraph's own."""

import subprocess
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from clew import Database, Misconfigured
from clew.sessions import SessionStore

if TYPE_CHECKING:
    from ...conftest import Scratch

EXPECTED = {
    "put": 17,
    "put_writes": 10,
    "get_tuple": 10,
    "list": 16,
    "delete_thread": 5,
    "delete_for_runs": 7,
    "copy_thread": 8,
    "prune": 8,
}

COLUMNS = """
    SELECT c.relname, a.attname, a.atttypid::regtype::text, a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'checkpoint%%'
     ORDER BY 1, a.attnum
"""
INDEXES = """
    SELECT tablename, indexname, replace(indexdef, %(schema)s || '.', '')
      FROM pg_indexes WHERE schemaname = %(schema)s AND tablename LIKE 'checkpoint%%' ORDER BY 1, 2
"""


@pytest.mark.parametrize("bound", [False, True], ids=["tenant from the configuration", "one tenant"])
async def test_all_81_of_langgraphs_conformance_tests_pass(store: SessionStore, tenant: str, bound: bool):
    @checkpointer_test(name="clew")
    async def fresh():
        yield store.checkpointer_for(tenant) if bound else store.checkpointer

    report = await validate(fresh)
    outcomes = {
        name: (r.tests_passed, r.tests_failed, r.tests_skipped, r.failures) for name, r in report.results.items()
    }
    assert outcomes == {name: (count, 0, 0, []) for name, count in EXPECTED.items()}
    assert sum(EXPECTED.values()) == 81
    assert report.conformance_level() == "FULL"


async def test_our_migration_makes_the_tables_that_langgraphs_own_setup_makes(scratch: "Scratch"):
    async with AsyncPostgresSaver.from_conn_string(scratch.admin_url) as stock:
        await stock.setup()
    with psycopg.connect(scratch.admin_url) as connection:
        for question in (COLUMNS, INDEXES):
            theirs = connection.execute(question, {"schema": "public"}).fetchall()
            ours = connection.execute(question, {"schema": "clew_lg_00"}).fetchall()
            assert ours == theirs
            assert theirs
        versions = connection.execute("SELECT array_agg(v ORDER BY v) FROM public.checkpoint_migrations").fetchone()
        ours = connection.execute("SELECT array_agg(v ORDER BY v) FROM clew_lg_00.checkpoint_migrations").fetchone()
        assert ours == versions


async def test_setup_makes_nothing_and_is_content(store: SessionStore, tenant: str):
    await store.checkpointer.setup()
    await store.checkpointer_for(tenant).setup()


async def test_setup_refuses_a_library_that_expects_other_tables(store: SessionStore, monkeypatch: pytest.MonkeyPatch):
    checkpointer = store.checkpointer
    monkeypatch.setattr(type(checkpointer), "MIGRATIONS", [*checkpointer.MIGRATIONS, "SELECT 1"])
    with pytest.raises(Misconfigured, match="wants its tables at revision 10; they are at 9"):
        await checkpointer.setup()


def test_it_is_an_async_postgres_saver_and_can_be_made_before_there_is_a_loop(database: Database):
    assert isinstance(SessionStore(database).checkpointer, AsyncPostgresSaver)


def test_a_log_alone_does_not_import_langgraph():
    code = "import clew.sessions, sys; sys.exit(any(name.startswith('langgraph') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

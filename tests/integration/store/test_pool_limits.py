"""Waiting has an end: for a connection, for a statement; and a block that was given up leaves nothing behind."""

import asyncio

import pytest

from clew import ClewError, Database, InvalidInput, Misconfigured, Settings, Unavailable
from clew.store import database as database_module
from clew.store.journal import Journal

INSERT = "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES ('t', gen_random_uuid(), 'k')"


@pytest.fixture
def one_connection(scratch):
    return Database(scratch.app_url, settings=Settings(), pool_size=1)


async def is_clean(database):
    """Whether the one connection there is came back, outside any transaction and as nobody's."""
    async with database._connection() as connection:
        found = await connection.execute("SELECT current_setting('clew.tenant_id', true), current_user = session_user")
        tenant, itself = await found.fetchone()
        return not tenant and itself and connection.info.transaction_status == 0


async def test_a_pool_with_no_connection_left_is_unavailable(monkeypatch, one_connection):
    monkeypatch.setattr(database_module, "POOL_WAIT_TIMEOUT_S", 0.3)
    async with one_connection as database, database.tenant("t") as busy:
        with pytest.raises(Unavailable, match="CLEW_POOL_SIZE") as caught:
            async with database.tenant("t"):
                pytest.fail("there was a second connection")
        assert caught.value.outcome_unknown is False
        await busy.execute("SELECT 1")


async def test_a_statement_that_takes_too_long_is_unavailable_and_stores_nothing(monkeypatch, one_connection):
    monkeypatch.setattr(database_module, "STATEMENT_TIMEOUT_MS", 100)
    async with one_connection as database:
        with pytest.raises(Unavailable, match="nothing was stored") as caught:
            async with database.tenant("t") as connection:
                await connection.execute(INSERT)
                await connection.execute("SELECT pg_sleep(30)")
        assert caught.value.outcome_unknown is False
        assert await Journal(database).newest("t") == []
        assert await is_clean(database)


async def test_a_block_that_idles_too_long_is_unavailable_and_stores_nothing(monkeypatch, one_connection):
    monkeypatch.setattr(database_module, "IDLE_TRANSACTION_TIMEOUT_MS", 100)
    async with one_connection as database:
        with pytest.raises(Unavailable):
            async with database.tenant("t") as connection:
                await connection.execute(INSERT)
                await asyncio.sleep(0.5)
                await connection.execute("SELECT 1")
        assert await Journal(database).newest("t") == []


@pytest.mark.parametrize("statement", ["SELECT pg_sleep(30)", None], ids=["in a statement", "between statements"])
async def test_a_task_cancelled_inside_the_block_stores_nothing_and_gives_its_connection_back(
    one_connection, statement
):
    async with one_connection as database:
        inside = asyncio.Event()

        async def work():
            async with database.tenant("t") as connection:
                await connection.execute(INSERT)
                inside.set()
                await (connection.execute(statement) if statement else asyncio.Event().wait())

        for _ in range(3):
            inside.clear()
            task = asyncio.create_task(work())
            await asyncio.wait_for(inside.wait(), 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 20)
        assert await Journal(database).newest("t") == []
        assert await is_clean(database)


async def test_a_task_cancelled_while_it_waits_for_a_connection_costs_none(one_connection):
    async with one_connection as database:
        async with database.tenant("t"):
            waiting = asyncio.create_task(Journal(database).add("t", "k", {}))
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert await Journal(database).newest("t") == []
        assert await is_clean(database)


async def test_an_exception_inside_the_block_passes_through_and_stores_nothing(one_connection):
    async with one_connection as database:
        with pytest.raises(ZeroDivisionError):
            async with database.tenant("t") as connection:
                await connection.execute(INSERT)
                raise ZeroDivisionError
        assert await Journal(database).newest("t") == []
        assert await is_clean(database)
        async with database.tenant("t") as connection:
            await connection.execute(INSERT)
        assert len(await Journal(database).newest("t")) == 1


async def test_an_error_caught_inside_the_block_does_not_pass_for_success(one_connection):
    async with one_connection as database:
        with pytest.raises(ClewError, match="nothing was stored"):
            async with database.tenant("t") as connection:
                await connection.execute(INSERT)
                with pytest.raises(Exception, match="division by zero"):
                    await connection.execute("SELECT 1 / 0")
        assert await Journal(database).newest("t") == []


async def test_a_value_that_postgresql_refuses_is_invalid_input(one_connection):
    async with one_connection as database:
        with pytest.raises(InvalidInput):
            async with database.tenant("t") as connection:
                await connection.execute("SELECT %s::int", ("no number",))


async def test_a_database_that_is_not_open_says_so(one_connection):
    with pytest.raises(Misconfigured, match="not open"):
        await Journal(one_connection).newest("t")
    async with one_connection as database:
        assert await Journal(database).newest("t") == []
    with pytest.raises(Misconfigured, match="not open"):
        await Journal(one_connection).newest("t")
    async with one_connection as database:
        assert await Journal(database).newest("t") == []

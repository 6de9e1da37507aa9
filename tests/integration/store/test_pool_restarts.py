"""PostgreSQL restarts underneath an open database, or drops its connections, and nobody has to open it again."""

import asyncio
import signal

import psycopg
import pytest

from clew import Database, Settings, Unavailable
from clew.store.journal import Journal


@pytest.fixture
async def opened(restartable):
    url = restartable.url()
    await Database(url, settings=Settings()).migrate()
    async with Database(url, settings=Settings(), pool_size=4) as database:
        yield database


async def in_parallel(journal, count):
    return await asyncio.gather(*(journal.add("t", "k", {"n": n}) for n in range(count)))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
async def test_the_same_database_goes_on_after_a_restart(opened, restartable, how):
    journal = Journal(opened)
    before = await in_parallel(journal, 8)
    await asyncio.to_thread(restartable.restart, how)
    after = await in_parallel(journal, 8)
    stored = {entry.entry_id for entry in await journal.newest("t")}
    assert stored == {*before, *after}


async def test_requests_made_while_the_server_is_down_wait_for_it(opened, restartable):
    journal = Journal(opened)
    await in_parallel(journal, 4)
    await asyncio.to_thread(restartable.stop)
    waiting = asyncio.create_task(in_parallel(journal, 4))
    await asyncio.sleep(0)
    await asyncio.to_thread(restartable.start)
    assert len(await waiting) == 4
    assert len(await journal.newest("t")) == 8


async def test_connections_terminated_between_uses_go_unnoticed(opened, restartable):
    journal = Journal(opened)
    await in_parallel(journal, 8)
    gone = restartable.admin(
        "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'clew'"
    )
    assert gone
    await in_parallel(journal, 8)
    assert len(await journal.newest("t")) == 16
    alive = restartable.admin("SELECT pid FROM pg_stat_activity WHERE application_name = 'clew'")
    assert not {pid for (pid,) in alive} & {pid for pid, _ in gone}


@pytest.mark.parametrize("times", [1, 5])
async def test_a_connection_lost_inside_the_block_is_unavailable_and_stores_nothing(opened, restartable, times):
    journal = Journal(opened)
    for _ in range(times):
        with pytest.raises(Unavailable, match="nothing was stored") as caught:
            async with opened.tenant("t") as connection:
                await connection.execute(
                    "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES ('t', gen_random_uuid(), 'lost')"
                )
                restartable.admin(f"SELECT pg_terminate_backend({connection.info.backend_pid}, 5000)")
                await connection.execute("SELECT 1")
        assert caught.value.outcome_unknown is False
        assert caught.value.retryable
    assert await journal.newest("t") == []
    await journal.add("t", "k", {})
    assert len(await journal.newest("t")) == 1


async def test_a_connection_lost_before_anything_was_asked_of_it_again_is_never_called_stored(opened, restartable):
    """Nothing after the loss touches the connection but COMMIT itself."""
    with pytest.raises(Unavailable) as caught:
        async with opened.tenant("t") as connection:
            await connection.execute(
                "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES ('t', gen_random_uuid(), 'lost')"
            )
            restartable.admin(f"SELECT pg_terminate_backend({connection.info.backend_pid}, 5000)")
    assert caught.value.outcome_unknown is True
    assert await Journal(opened).newest("t") == []


async def test_a_loss_that_was_swallowed_inside_the_block_does_not_pass_for_success(opened, restartable):
    with pytest.raises(Unavailable):
        async with opened.tenant("t") as connection:
            await connection.execute(
                "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES ('t', gen_random_uuid(), 'lost')"
            )
            restartable.admin(f"SELECT pg_terminate_backend({connection.info.backend_pid}, 5000)")
            with pytest.raises(psycopg.OperationalError):
                await connection.execute("SELECT 1")
    assert await Journal(opened).newest("t") == []

"""Jobs are no tenant's: no tenant sees them, they see no tenant, and their tables are procrastinate's own."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from clew import Database, Settings, WallDown
from clew.store.jobs import Jobs
from clew.store.journal import Journal
from clew.store.migrate import migrate

from .test_pgbouncer import SERVER_CONNECTIONS, bouncer, url  # noqa: F401 - fixtures

TABLES = ["jobs", "events", "workers", "periodic_defers"]


@pytest.fixture
async def database(scratch) -> AsyncIterator[Database]:
    async with Database(scratch.app_url, settings=Settings()) as database:
        yield database


async def count(connection: psycopg.AsyncConnection[Any], table: str) -> int:
    row = await (await connection.execute(f"SELECT count(*) FROM {table}")).fetchone()
    return row[0]


async def test_the_transaction_of_jobs_sees_no_tenants_rows(database):
    await Journal(database).add("acme", "noted", {})
    async with database.tenant("acme") as connection:
        assert await count(connection, "clew.journal") == 1
    async with database.jobs() as connection:
        assert await count(connection, "clew.journal") == 0
        user = await (await connection.execute("SELECT current_user, current_setting('clew.tenant_id')")).fetchone()
        assert user == ("clew_app", "")


async def test_a_tenants_transaction_sees_no_jobs(scratch, database, jobs, work):
    jobs.task("work", work)
    await jobs.defer("work", tenant_id="globex")
    async with database.jobs() as connection:
        assert await count(connection, "procrastinate_jobs") == 1
    async with database.tenant("acme") as connection:
        seen = [await count(connection, f"clew_jobs.procrastinate_{table}") for table in TABLES]
        gone = await connection.execute("DELETE FROM clew_jobs.procrastinate_jobs")
    assert (seen, gone.rowcount) == ([0, 0, 0, 0], 0)
    with psycopg.connect(scratch.admin_url) as admin:
        admin.execute("ALTER TABLE clew_jobs.procrastinate_jobs DISABLE ROW LEVEL SECURITY")
    async with database.tenant("acme") as connection:
        assert await count(connection, "clew_jobs.procrastinate_jobs") == 1, "the control"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "tear",
    [
        "ALTER TABLE {} DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE {} NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY jobs_wall ON {}",
        "ALTER POLICY jobs_wall ON {} USING (true)",
        "CREATE POLICY hole ON {} USING (true)",
        "ALTER TABLE {} OWNER TO clew_app",
        "GRANT TRUNCATE ON {} TO clew_app",
    ],
)
async def test_a_start_is_refused_when_tenants_would_see_jobs(scratch, tear, table):
    name = f"clew_jobs.procrastinate_{table}"
    with psycopg.connect(scratch.admin_url) as admin:
        admin.execute(tear.format(name))
    with pytest.raises(WallDown, match=name.replace(".", r"\.")):
        await Database(scratch.app_url, settings=Settings()).open()
    if "ROW LEVEL SECURITY" in tear or "DROP" in tear:
        migrate(scratch.admin_url)
        async with Database(scratch.app_url, settings=Settings()):
            pass


async def test_nothing_of_it_stays_in_the_session(scratch, work):
    async with Database(scratch.app_url, settings=Settings(), pool_size=1) as database:
        jobs = Jobs(database, in_process=False)
        jobs.task("work", work)
        await jobs.defer("work", n=1)
        await jobs.run(until_idle=True)
        # As the next user of the connection gets it, and before it is cleaned.
        async with database._pool.connection() as connection:
            found = await connection.execute(
                "SELECT current_setting('search_path'), current_setting('clew.tenant_id', true)"
            )
            assert await found.fetchone() == ('"$user", public', "")


async def test_through_pgbouncer_two_share_fifty_jobs_and_leave_nothing_in_its_sessions(url, work):  # noqa: F811
    await Database(url, settings=Settings()).migrate()
    async with Database(url, settings=Settings(), pool_size=8) as one, Database(url, settings=Settings()) as other:
        several = [Jobs(database, in_process=False) for database in (one, other)]
        for jobs in several:
            jobs.task("work", work)
        for n in range(50):
            await several[n % 2].defer("work", once=f"{n}", n=n)
        await asyncio.gather(*(jobs.run(until_idle=True) for jobs in several))
        settings = set()
        for _ in range(5 * SERVER_CONNECTIONS):
            async with one._connection() as connection:
                found = await connection.execute(
                    "SELECT current_user, current_setting('search_path'), current_setting('clew.tenant_id', true)"
                )
                settings.add(await found.fetchone())
    assert sorted(call["n"] for call in work.calls) == list(range(50))
    assert {(user, path, tenant or "") for user, path, tenant in settings} == {("postgres", '"$user", public', "")}


def test_down_takes_all_of_it_and_up_brings_it_back(scratch):
    def things() -> int:
        with psycopg.connect(scratch.admin_url) as admin:
            return admin.execute(
                "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'clew_jobs'::regnamespace)"
                " + (SELECT count(*) FROM pg_proc WHERE pronamespace = 'clew_jobs'::regnamespace)"
                " + (SELECT count(*) FROM pg_type WHERE typnamespace = 'clew_jobs'::regnamespace)"
            ).fetchone()[0]

    full = things()
    for revision in ("0004", "0001", "base"):
        migrate(scratch.admin_url, revision)
        assert things() == 0
        migrate(scratch.admin_url)
        assert things() == full > 50

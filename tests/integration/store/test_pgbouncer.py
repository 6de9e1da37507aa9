"""Behind pgbouncer in transaction mode, where each transaction may be in another session, shared with others."""

import asyncio
import shutil
import signal
import subprocess

import psycopg
import pytest

from clew import Database, Settings
from clew.store.journal import Journal
from clew.store.server_check import newest

SERVER_CONNECTIONS = 2
TENANTS = 6
ROUNDS = 20

CONFIG = """
[databases]
* = host={host} port={server_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
server_reset_query =
ignore_startup_parameters = extra_float_digits
logfile = {folder}/pgbouncer.log
pidfile =
"""


class Bouncer:
    """A pgbouncer with few server connections in front of a server; everyone is let in as the superuser it names."""

    def __init__(self, port):
        self.port = port

    def url(self, dbname):
        return f"postgresql://postgres@127.0.0.1:{self.port}/{dbname}?sslmode=disable"

    def answers(self):
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


@pytest.fixture
def bouncer(postgres_18, unused_tcp_port, open_folder, wait_until):
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        pytest.skip("no pgbouncer on this machine")
    (open_folder / "users.txt").write_text('"postgres" ""\n')
    config = open_folder / "pgbouncer.ini"
    # "any" lets a client in as whom its database names.
    config.write_text(
        CONFIG.format(
            host="127.0.0.1",
            server_port=postgres_18.port,
            port=unused_tcp_port,
            folder=open_folder,
            connections=SERVER_CONNECTIONS,
        ).replace("* = ", "* = user=postgres ")
    )
    postgres_18.identity.own(open_folder)
    process = subprocess.Popen(
        [program, str(config)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        preexec_fn=postgres_18.identity.become,  # noqa: PLW1509 - pgbouncer refuses to run as root, too
    )
    bouncer = Bouncer(unused_tcp_port)
    try:
        wait_until(bouncer.answers, "pgbouncer answers", patience_s=20)
        yield bouncer
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


@pytest.fixture
def url(bouncer, postgres_18):
    return bouncer.url(postgres_18.new_database())


async def test_migrations_go_through_it_up_and_down(url):
    database = Database(url, settings=Settings())
    assert await database.migrate() == (None, newest())
    assert await database.migrate("base") == (newest(), None)
    assert await database.migrate() == (None, newest())


async def test_interleaved_tenants_never_see_each_other_through_two_server_connections(url, postgres_18):
    await Database(url, settings=Settings()).migrate()
    leaks, backends = [], set()
    async with Database(url, settings=Settings(), pool_size=8) as database:
        journal = Journal(database)

        async def live(tenant):
            for n in range(ROUNDS):
                await journal.add(tenant, tenant, {"n": n})
                leaks.extend(entry for entry in await journal.newest(tenant) if entry.kind != tenant)
                async with database.tenant(tenant) as connection:
                    row = await connection.execute(
                        "SELECT pg_backend_pid(), current_setting('clew.tenant_id'), count(*) FROM clew.journal"
                    )
                    backend, setting, count = await row.fetchone()
                    backends.add(backend)
                    assert (setting, count) == (tenant, n + 1)

        await asyncio.gather(*(live(f"tenant-{number}") for number in range(TENANTS)))
        assert leaks == []
        # Tenants did share sessions, or this shows nothing.
        assert 1 <= len(backends) <= SERVER_CONNECTIONS < TENANTS
        for number in range(TENANTS):
            assert len(await journal.newest(f"tenant-{number}")) == ROUNDS


async def test_a_session_setting_does_leak_through_it(url, postgres_18):
    """The control: what SET LOCAL avoids."""
    await Database(url, settings=Settings()).migrate()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=None) as careless:
        await careless.execute("SET clew.tenant_id = 'careless'")
    seen = set()
    for _ in range(SERVER_CONNECTIONS + 1):
        async with await psycopg.AsyncConnection.connect(url, autocommit=True, prepare_threshold=None) as next_one:
            row = await (await next_one.execute("SELECT current_setting('clew.tenant_id', true)")).fetchone()
            seen.add(row[0])
    assert "careless" in seen


async def test_blocks_that_fail_leave_nothing_in_the_shared_session(url):
    await Database(url, settings=Settings()).migrate()
    async with Database(url, settings=Settings(), pool_size=4) as database:
        for _ in range(10):
            with pytest.raises(ZeroDivisionError):
                async with database.tenant("raiser") as connection:
                    await connection.execute("SELECT 1")
                    raise ZeroDivisionError
            async with database._connection() as connection:
                row = await connection.execute(
                    "SELECT current_setting('clew.tenant_id', true), current_user, current_setting('statement_timeout')"
                )
                tenant, user, timeout = await row.fetchone()
            assert (tenant or "", user, timeout) == ("", "postgres", "0")


async def test_the_same_statement_many_times_prepares_nothing_in_a_session(url, postgres_18):
    await Database(url, settings=Settings()).migrate()
    async with Database(url, settings=Settings(), pool_size=8) as database:
        journal = Journal(database)
        for _ in range(3):
            await asyncio.gather(*(journal.newest("t") for _ in range(16)))
        async with database._connection() as connection:
            row = await (await connection.execute("SELECT count(*) FROM pg_prepared_statements")).fetchone()
        assert row == (0,)

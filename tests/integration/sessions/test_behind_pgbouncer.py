"""Behind pgbouncer in transaction mode the log and the checkpointer work as they do without it."""

import asyncio
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from psycopg.conninfo import conninfo_to_dict

from clew import Database, Settings
from clew.sessions import SessionStore
from clew.sessions.state import SessionState
from clew.store.embedded.cluster import APP_ROLE
from clew.store.embedded.identity import Identity
from clew.store.embedded.server import EmbeddedServer

from .conftest import echo_graph, on, texts, user

CONFIG = """
[databases]
* = host={host} port={port} user={user} password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
logfile =
pidfile =
"""


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def bouncer_url(server: EmbeddedServer, settings: Settings, database: Database) -> Iterator[str]:
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        pytest.skip("no pgbouncer on this machine")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        listen = probe.getsockname()[1]
    identity = Identity.for_folder(settings.data_dir / "postgres" / "data")
    with tempfile.TemporaryDirectory(prefix="clew-bouncer-") as folder:
        config = Path(folder) / "pgbouncer.ini"
        config.write_text(CONFIG.format(**conninfo_to_dict(server.conninfo(server.ensure(), APP_ROLE)), listen=listen))
        identity.own(Path(folder))
        process = subprocess.Popen(
            [program, str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            preexec_fn=identity.become,  # noqa: PLW1509 - pgbouncer refuses to run as root
        )
        try:
            url = f"postgresql://{APP_ROLE}@127.0.0.1:{listen}/clew?sslmode=disable"
            for _ in range(200):
                if answers(url):
                    break
                assert process.poll() is None, "pgbouncer ended"
                time.sleep(0.05)
            yield url
        finally:
            process.terminate()
            process.wait(20)


async def test_the_log_the_conformance_suite_and_a_graph_pass_behind_pgbouncer(bouncer_url: str, tenant: str):
    async with Database(bouncer_url, settings=Settings(), pool_size=6) as database:
        store = SessionStore(database)
        await asyncio.gather(*(store.append("t", user("x"), tenant_id=tenant) for _ in range(40)))
        assert [row.position for row in await store.read("t", tenant_id=tenant)] == list(range(1, 41))

        @checkpointer_test(name="behind pgbouncer")
        async def fresh():
            yield store.checkpointer_for(tenant)

        report = await validate(fresh)
        assert sum(result.tests_passed for result in report.results.values()) == 81

        graph = echo_graph(SessionState, store.checkpointer_for(tenant))
        await asyncio.gather(*(graph.ainvoke({"messages": [user(f"{n}")]}, on(f"g{n}")) for n in range(12)))
        for n in range(12):
            assert texts(await store.get_session_messages(f"g{n}", tenant_id=tenant)) == [f"{n}", f"1: {n}"]

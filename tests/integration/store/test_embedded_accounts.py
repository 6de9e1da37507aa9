"""Who can reach the embedded server: the account that runs it, with its password, and nobody else on the machine."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer

TRY = """
import sys, psycopg
with psycopg.connect(sys.argv[1], connect_timeout=5) as connection:
    print(connection.execute("SELECT 'connected'").fetchone()[0])
"""


@pytest.fixture
def running(folder_at, open_folder, wait_until):
    """A server whose data folder every account may walk up to."""
    folder = folder_at(open_folder / "clew")
    server = EmbeddedServer(folder.data_dir)
    server.acquire()
    yield server, folder
    server.release()


def connect_as(account, conninfo):
    ids = {} if account.uid is None else {"user": account.uid, "group": account.uid, "extra_groups": []}
    return subprocess.run(
        [account.python, "-c", TRY, conninfo],
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **ids,
    )


def test_an_ordinary_user_has_a_server_of_their_own(folder_at, open_folder, other_account, start_user, wait_until):
    os.chown(open_folder, other_account.uid, other_account.uid)
    open_folder.chmod(0o700)
    folder = folder_at(open_folder / "clew")
    before = folder.modes()
    user = start_user(
        folder.data_dir, uid=other_account.uid, python=other_account.python, HOME=str(open_folder), TMPDIR="/tmp"
    )
    postmaster = psutil.Process(user.ready())
    assert set(postmaster.uids()) == {other_account.uid}
    user.ask("add mine")
    assert user.ask("count") == "1"
    assert folder.modes() == before
    assert user.quit() == 0
    wait_until(folder.is_idle)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL under another id")
def test_root_runs_it_under_an_id_that_nobody_has_and_with_one_power_left(running):
    _, folder = running
    (pid,) = folder.postmasters()
    uids = set(psutil.Process(pid).uids())
    assert len(uids) == 1
    assert uids.isdisjoint({0, 65534})
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    powers = int(status["CapEff"], 16)
    assert powers.bit_count() <= 1
    # Either of the two that look past folder permissions.
    assert powers & ~(1 << 1 | 1 << 2) == 0
    assert status["Groups"].strip() == ""


def test_no_other_account_can_connect_even_with_the_password(running, other_account):
    server, _ = running
    conninfo = server.conninfo(server.ensure(), APP_ROLE)
    refused = connect_as(other_account, conninfo)
    assert refused.returncode != 0
    assert "Permission denied" in refused.stderr
    ours = connect_as(type(other_account)(None, sys.executable), conninfo)
    assert ours.stdout.strip() == "connected", ours.stderr


def test_no_other_account_can_connect_to_a_socket_that_had_to_be_elsewhere(folder_at, open_folder, other_account):
    folder = folder_at(open_folder / ("long" * 30))
    server = EmbeddedServer(folder.data_dir)
    server.acquire()
    try:
        conninfo = server.conninfo(server.ensure(), APP_ROLE)
        assert server.ensure().startswith(tempfile.gettempdir())
        refused = connect_as(other_account, conninfo)
        assert refused.returncode != 0
        assert "Permission denied" in refused.stderr
        with psycopg.connect(conninfo) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.release()


def test_no_other_account_can_read_the_secret_or_the_rows(running, other_account):
    _, folder = running
    for path in (folder.home / "secret", folder.home / "data" / "PG_VERSION", folder.home / "server.log"):
        assert path.read_bytes()
        seen = subprocess.run(
            ["/bin/cat", str(path)],
            user=other_account.uid,
            group=other_account.uid,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Permission denied" in seen.stderr


@pytest.mark.parametrize("role", [ADMIN_ROLE, APP_ROLE])
def test_the_right_socket_with_a_wrong_password_or_none_is_not_enough(running, role):
    server, _ = running
    host = server.ensure()
    for password in ("wrong", ""):
        with pytest.raises(psycopg.OperationalError, match=r"password"):
            psycopg.connect(make_conninfo(server.conninfo(host, role), password=password))
    with psycopg.connect(server.conninfo(host, role)) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (role,)


def test_it_listens_on_no_port(running):
    server, folder = running
    listening = {c.pid for c in psutil.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    assert listening.isdisjoint(process.pid for process in folder.processes())
    with psycopg.connect(server.conninfo(server.ensure(), ADMIN_ROLE)) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    sockets = {c.pid for c in psutil.net_connections("unix")}
    assert sockets & set(folder.postmasters()), "psutil sees no sockets of it at all"


def test_somebody_elses_data_folder_is_refused_with_a_clear_word(running, other_account, start_user):
    _, folder = running
    intruder = start_user(folder.data_dir, uid=other_account.uid, python=other_account.python, HOME="/")
    _, errors = intruder.process.communicate(timeout=60)
    assert "clew.errors.Misconfigured: CLEW_DATA_DIR" in errors


def test_a_folder_that_may_not_be_written_is_refused_with_a_clear_word(open_folder, other_account, start_user):
    intruder = start_user(open_folder / "clew", uid=other_account.uid, python=other_account.python, HOME="/")
    _, errors = intruder.process.communicate(timeout=60)
    assert "clew.errors.Misconfigured: CLEW_DATA_DIR" in errors
    assert not (open_folder / "clew").exists()
    shutil.rmtree(open_folder)

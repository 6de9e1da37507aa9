"""Where the data lies: permissions, odd names, long names, and places that won't do."""

import os
import stat
import subprocess

import psycopg
import pytest

from clew import Database, Misconfigured, Settings
from clew.store.embedded.cluster import ADMIN_ROLE, MAJOR_VERSION, Cluster
from clew.store.embedded.server import EmbeddedServer


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def is_usable(data_dir):
    """Whether a server starts there, and answers."""
    server = EmbeddedServer(data_dir)
    server.acquire()
    try:
        with psycopg.connect(server.conninfo(server.ensure(), ADMIN_ROLE)) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.release()


def test_the_data_folder_is_ours_alone_and_the_folders_above_keep_their_permissions(folder_at, tmp_path):
    middle = tmp_path / "middle"
    private = middle / "private"
    private.mkdir(parents=True)
    middle.chmod(0o751)
    private.chmod(0o700)
    folder = folder_at(private / "clew")
    before = folder.modes()
    assert is_usable(folder.data_dir)
    assert folder.modes() == before
    assert mode(folder.data_dir) == 0o700
    assert mode(folder.home) == 0o700
    assert mode(folder.home / "data") == 0o700
    assert mode(folder.home / "secret") == 0o600
    assert mode(folder.home / "server.log") == 0o600


def test_an_open_umask_opens_nothing(folder):
    before = os.umask(0)
    try:
        assert is_usable(folder.data_dir)
    finally:
        os.umask(before)
    assert mode(folder.data_dir) == mode(folder.home) == mode(folder.home / "data") == 0o700
    assert mode(folder.home / "secret") == 0o600


def test_a_folder_that_holds_other_things_keeps_its_permissions(folder):
    folder.data_dir.mkdir()
    (folder.data_dir / "notes.txt").write_text("mine")
    folder.data_dir.chmod(0o755)
    assert is_usable(folder.data_dir)
    assert mode(folder.data_dir) == 0o755
    assert mode(folder.home) == 0o700
    assert (folder.data_dir / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    ["with space", "a,b", "it's", 'say "hi"', "naïve-Ω-数据-🧵", "per%cent $HOME `x` \\ ;", "x" * 150, "-D"],
)
def test_a_folder_may_have_any_name(name, folder_at, tmp_path):
    folder = folder_at(tmp_path / name)
    assert is_usable(folder.data_dir)
    assert (folder.home / "data" / "PG_VERSION").exists()


def test_a_socket_that_had_to_be_elsewhere_is_private_and_goes_with_the_server(folder_at, tmp_path, wait_until):
    folder = folder_at(tmp_path / ("long" * 30))
    server = EmbeddedServer(folder.data_dir)
    server.acquire()
    sockets = folder.home.parent / server.ensure()
    assert folder.home not in sockets.parents
    assert mode(sockets) == 0o700
    assert any(sockets.iterdir())
    server.release()
    wait_until(folder.is_idle)
    assert not sockets.exists()


def test_a_relative_folder_means_the_same_folder_to_every_process(folder, start_user, monkeypatch):
    folder.data_dir.parent.mkdir(exist_ok=True)
    monkeypatch.chdir(folder.data_dir.parent)
    data_dir = folder.data_dir.relative_to(folder.data_dir.parent)
    assert is_usable(data_dir)
    assert (folder.home / "data" / "PG_VERSION").exists()


def test_a_data_folder_of_another_major_version_is_refused_by_both_names(folder, postgres_16):
    data = folder.home / "data"
    folder.home.mkdir(parents=True)
    made = subprocess.run(
        ["cp", "-r", str(postgres_16.folder / "data"), str(data)], capture_output=True, text=True, check=False
    )
    assert (data / "PG_VERSION").read_text() == "16\n", made.stderr
    before = sorted(path.name for path in folder.home.iterdir())
    with pytest.raises(Misconfigured, match=rf"PostgreSQL 16\b.* PostgreSQL {MAJOR_VERSION}\b"):
        EmbeddedServer(folder.data_dir).acquire()
    assert sorted(path.name for path in folder.home.iterdir()) == before
    assert Cluster(folder.home).exists()


async def test_a_file_where_the_folder_should_be_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    for data_dir in (file, file / "below"):
        with pytest.raises(Misconfigured, match="CLEW_DATA_DIR"):
            await Database(settings=Settings(data_dir=data_dir)).open()
    assert file.read_text() == "mine"


async def test_a_name_that_no_file_system_takes_is_refused(tmp_path):
    with pytest.raises(Misconfigured, match="CLEW_DATA_DIR"):
        await Database(settings=Settings(data_dir=tmp_path / ("x" * 300))).open()


@pytest.mark.parametrize("port", ["6543"])
def test_users_with_other_postgresql_variables_share_the_server_all_the_same(port, folder, start_user):
    first = start_user(folder.data_dir, PGPORT=port, PGDATABASE="other", PGUSER="somebody", PGPASSWORD="wrong")
    first.ready()
    second = start_user(folder.data_dir)
    second.ready()
    first.ask("add one")
    assert second.ask("count") == "1"

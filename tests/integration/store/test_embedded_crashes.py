"""`kill -9` of the keeper, of the postmaster, of everything: open databases go on, and the next start works."""

import contextlib
import os
import threading
import time

import psutil
import pytest

from clew import Database, Settings
from clew.store.embedded.identity import Identity


def kill_keeper(folder):
    (pid,) = folder.keepers()
    os.kill(pid, 9)


def kill_postmaster(folder):
    (pid,) = folder.postmasters()
    os.kill(pid, 9)


def kill_tree(folder):
    folder.kill_tree()


def kill_everything(folder):
    """Keeper first, so that it has no time to restart the rest."""
    kill_keeper(folder)
    folder.kill_tree()


CRASHES = [kill_keeper, kill_postmaster, kill_tree, kill_everything]


@contextlib.contextmanager
def most_postmasters_at_once(folder):
    """Counts, as often as it can, how many postmasters run on the folder; yields the counts."""
    counts, stop = [], threading.Event()

    def watch():
        while not stop.is_set():
            counts.append(len(folder.postmasters()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield counts
    finally:
        stop.set()
        watcher.join()


@pytest.mark.parametrize("crash", CRASHES)
def test_open_databases_go_on_after(crash, folder, start_user, wait_until):
    users = [start_user(folder.data_dir) for _ in range(2)]
    before = users[0].ready()
    users[1].ready()
    users[0].ask("add before")
    with most_postmasters_at_once(folder) as counts:
        crash(folder)
        wait_until(lambda: len(users[0].ask("add after")) == 36, "a write succeeds")
        answers = [user.ask("count") for user in users]
        wait_until(lambda: folder.postmasters() and folder.postmasters() != [before], "a new postmaster runs")
    # A write whose answer was an error stored nothing, so there are exactly two.
    assert answers == ["2", "2"]
    assert counts
    assert max(counts) == 1


@pytest.mark.parametrize("crash", CRASHES)
def test_the_very_next_start_works_after(crash, folder, start_user):
    user = start_user(folder.data_dir)
    user.ready()
    user.ask("add kept")
    crash(folder)
    user.die()
    again = start_user(folder.data_dir)
    again.ready()
    assert again.ask("count") == "1"


async def test_a_database_opened_right_after_the_postmaster_died_waits_for_the_next_one(folder):
    settings = Settings(data_dir=folder.data_dir)
    async with Database(settings=settings):
        for _ in range(3):
            kill_postmaster(folder)
            # No pause: the keeper has not noticed yet, and the socket that it announced answers nobody.
            async with Database(settings=settings) as late, late.tenant("t") as connection:
                assert await (await connection.execute("SELECT 1")).fetchone() == (1,)


async def test_a_pool_recovers_within_seconds_of_a_crash(folder):
    async with Database(settings=Settings(data_dir=folder.data_dir)) as database:
        folder.kill_tree()
        started = time.monotonic()
        async with database.tenant("t") as connection:
            assert await (await connection.execute("SELECT 1")).fetchone() == (1,)
        assert time.monotonic() - started < 25


def test_a_state_file_cut_short_by_a_power_failure_needs_no_hand_repair(folder, start_user, wait_until):
    user = start_user(folder.data_dir)
    user.ready()
    user.ask("add kept")
    user.die()
    wait_until(folder.is_idle)
    (folder.home / "server.json").write_text("")
    again = start_user(folder.data_dir)
    again.ready()
    assert again.ask("count") == "1"


def test_a_stale_pid_file_that_names_a_living_process_needs_no_hand_repair(folder, start_user, wait_until):
    """As after a container's restart, where process ids begin anew and somebody else has the old postmaster's."""
    user = start_user(folder.data_dir)
    user.ready()
    user.ask("add kept")
    kill_everything(folder)
    user.die()
    wait_until(folder.is_idle)
    pid_file = folder.home / "data" / "postmaster.pid"
    identity = Identity.for_folder(folder.home / "data")
    stranger = psutil.Popen(["/bin/sleep", "120"], preexec_fn=identity.become)
    try:
        # Where the path is too long for a socket, that and its lock are elsewhere.
        for path in (pid_file, *(folder.home / "run").glob(".s.PGSQL.5432.lock")):
            lines = path.read_text().splitlines()
            path.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        again = start_user(folder.data_dir)
        again.ready()
        assert again.ask("count") == "1"
        assert stranger.is_running()
    finally:
        stranger.kill()
        stranger.wait()

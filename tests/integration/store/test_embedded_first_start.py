"""The first start makes the data folder: by many at once, and killed at any moment, it ends with one good server."""

import contextlib
import os
import random
import subprocess
from functools import partial

import psutil
import pytest

from clew.store.embedded.cluster import Cluster

PROCESSES = 8
KILLS = 5
# From before the keeper runs, through initdb and the first start, to the migration.
KILL_DELAYS_MAX_S = 2.0


def test_eight_processes_that_start_at_the_same_moment_on_a_new_folder_all_succeed(folder, start_user):
    users = [start_user(folder.data_dir) for _ in range(PROCESSES)]
    assert len({user.ready() for user in users}) == 1
    for number, user in enumerate(users):
        assert len(user.ask(f"add {number}")) == 36
    assert {user.ask("count") for user in users} == {str(PROCESSES)}
    assert len(folder.keepers()) == len(folder.postmasters()) == 1


def everybody(folder, user):
    """The user, the keeper, and whatever those started."""
    return [user.pid, *folder.keepers(), *children_of(folder.keepers()), *(p.pid for p in folder.processes())]


def user_and_keeper(folder, user):
    """PostgreSQL's own programs, initdb among them, are left without a parent."""
    return [user.pid, *folder.keepers()]


def user_alone(folder, user):
    return [user.pid]


def children_of(pids):
    found = []
    for pid in pids:
        try:
            found += [child.pid for child in psutil.Process(pid).children(recursive=True)]
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("victims", [everybody, user_and_keeper, user_alone])
def test_a_first_start_killed_at_any_moment_converges(victims, folder, start_user, wait_until):
    moments = random.Random(victims.__name__)
    for _ in range(KILLS):
        user = start_user(folder.data_dir)
        delay_s = moments.uniform(0.2, KILL_DELAYS_MAX_S)
        with pytest.raises(TimeoutError):
            wait(user, delay_s)
        for pid in victims(folder, user):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                continue
        user.die()
    last = start_user(folder.data_dir)
    last.ready()
    last.ask("add at last")
    assert last.ask("count") == "1"
    wait_until(lambda: len(folder.postmasters()) == 1)


def wait(user, seconds):
    """The moment of the kill is the point of the test: there is nothing to poll for."""
    try:
        user.process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None


def test_a_keeper_killed_while_initdb_runs_leaves_a_folder_that_the_next_one_can_finish(folder, start_user, wait_until):
    user = start_user(folder.data_dir)
    wait_until(partial(drafts, folder), "initdb has begun")
    for pid in folder.keepers():
        os.kill(pid, 9)
    # The user is still there: it starts another keeper, while the first one's initdb may still be writing.
    user.ready()
    user.ask("add done")
    assert user.ask("count") == "1"
    assert Cluster(folder.home).exists()
    assert drafts(folder) == set()


def test_an_initdb_that_outlives_its_keeper_does_not_write_into_the_next_ones_work(folder, start_user, wait_until):
    """On a slow disk the first initdb is still at it when the second begins; here it is held up to make sure."""
    user = start_user(folder.data_dir)
    draft_of_first = wait_until(partial(drafts, folder), "initdb has begun")
    (keeper,) = folder.keepers()
    # Held open, so that the next draft can't get the same inode.
    held = [os.open(path, os.O_RDONLY) for path in folder.home.glob("data*draft*")]
    first = []
    try:
        # Parents before children: one that stands still starts no others.
        for pid in (keeper, *children_of([keeper])):
            with contextlib.suppress(psutil.NoSuchProcess):
                first.append(psutil.Process(pid))
                first[-1].suspend()
        first = [process for process in first if process.pid != keeper]
        os.kill(keeper, 9)
        # The user is still there, and starts another keeper, which starts over.
        wait_until(
            lambda: drafts(folder) - draft_of_first or (folder.home / "data").exists(), "another initdb has begun"
        )
        for process in first:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()
        user.ready()
    finally:
        for descriptor in held:
            os.close(descriptor)
        for process in first:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    user.ask("add done")
    assert user.ask("count") == "1"


def drafts(folder):
    """The unfinished data folders, by what tells one from the next of the same name."""
    found = set()
    for path in folder.home.glob("data*draft*") if folder.home.exists() else ():
        if (path / "base").exists():
            found.add(path.stat().st_ino)
    return found

"""Several processes share one embedded server; it ends with its last user, however that one ends."""


def test_processes_share_one_running_server(folder, start_user):
    users = [start_user(folder.data_dir) for _ in range(3)]
    postmasters = {user.ready() for user in users}
    assert postmasters == set(folder.postmasters())
    assert len(postmasters) == 1
    assert len(folder.keepers()) == 1
    users[0].ask("add from the first")
    assert users[2].ask("count") == "1"


def test_the_last_one_out_stops_the_server(folder, start_user, wait_until):
    first, second = start_user(folder.data_dir), start_user(folder.data_dir)
    postmaster = first.ready()
    second.ready()
    assert first.quit() == 0
    assert second.ask("count") == "0"
    assert folder.postmasters() == [postmaster]
    assert second.quit() == 0
    wait_until(folder.is_idle, "the server and its keeper have ended")
    assert not (folder.home / "server.json").exists()
    log = (folder.home / "server.log").read_text()
    assert "database system is shut down" in log
    assert "not properly shut down" not in log


def test_a_user_killed_with_kill_9_leaves_the_others_alone(folder, start_user):
    victim, survivor = start_user(folder.data_dir), start_user(folder.data_dir)
    postmaster = victim.ready()
    survivor.ready()
    victim.ask("add before")
    victim.die()
    survivor.ask("add after")
    assert survivor.ask("count") == "2"
    assert folder.postmasters() == [postmaster]


def test_the_server_ends_by_itself_when_its_only_user_is_killed_with_kill_9(folder, start_user, wait_until):
    user = start_user(folder.data_dir)
    postmaster = user.ready()
    assert folder.postmasters() == [postmaster]
    entry = user.ask("add kept")
    user.die()
    wait_until(folder.is_idle, "the server and its keeper have ended")
    again = start_user(folder.data_dir)
    assert again.ready() != postmaster
    assert (len(entry), again.ask("count")) == (36, "1")


def test_one_who_comes_while_the_server_is_stopping_gets_a_server(folder, start_user):
    for visit in range(4):
        user = start_user(folder.data_dir)
        user.ready()
        user.ask("add visit")
        assert user.ask("count") == str(visit + 1)
        # At once, without waiting for the server to have stopped.
        user.die()

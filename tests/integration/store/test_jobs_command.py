"""`clew worker`, as a person types it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from clew.cli.worker import _print as print_ran
from clew.store.job_queue import Ran

from .conftest import PATIENCE_S


@pytest.fixture
def start(scratch):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CLEW_", "DATABASE_URL"))}
    started = []

    def start(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("clew"), "worker", "--database", scratch.app_url, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, "COLUMNS": "160"},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_until_idle_ends_by_itself(start):
    for words in ((), ("--json",)):
        process = start("--until-idle", *words)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, out) == (0, ""), err
        assert ("0 done" in err) == (not words)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(scratch, start, how, wait_until):
    process = start()

    def registered() -> bool:
        with psycopg.connect(scratch.admin_url) as admin:
            return admin.execute("SELECT count(*) FROM clew_jobs.procrastinate_workers").fetchone() == (1,)

    wait_until(registered, "the worker is at work")
    process.send_signal(how)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    assert "0 done" in err
    assert not registered()


def test_a_job_is_a_line_that_cannot_drive_the_terminal(capsys):
    for ran, mark in (
        (Ran("work", {"n": "[red]\x1b[2J"}, 1.25, None, False), "✔"),
        (Ran("work", {"n": 1}, 1.25, "ValueError: [b]no", True), "↻"),
        (Ran("work", {"n": 1}, 1.25, "ValueError: no", False), "✘"),
    ):
        print_ran(ran, as_json=False)
        line = capsys.readouterr().out
        assert line.startswith(f"{mark} work n=")
        assert line.count("\n") == 1
        assert "\x1b" not in line
        assert ran.error is None or ran.error in line
        print_ran(ran, as_json=True)
        assert json.loads(capsys.readouterr().out)["arguments"] == ran.arguments


def test_a_size_that_is_none_is_a_wrong_word(start):
    process = start("--concurrency", "0")
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2

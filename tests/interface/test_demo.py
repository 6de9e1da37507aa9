"""`clew demo`: a scene in the terminal, offline, in under 20 seconds."""

import time

import pytest


@pytest.fixture(scope="module")
def demo(cli):
    started = time.monotonic()
    done = cli("demo")
    return done, time.monotonic() - started


def test_it_ends_well_and_soon(demo):
    done, took_s = demo
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert took_s < 20


def test_it_shows_two_tenants_a_budget_memories_and_a_wall(demo):
    shown = demo[0].stdout.lower()
    assert "acme" in shown or "tenant" in shown
    assert "token" in shown
    assert "memor" in shown or "remember" in shown
    assert len(shown.splitlines()) > 15


def test_it_ends_by_telling_what_to_try_next(demo):
    last = "\n".join(demo[0].stdout.strip().splitlines()[-12:])
    assert "clew " in last


def test_it_can_be_run_again(cli, demo):
    again = cli("demo")
    assert again.returncode == 0, again.stderr

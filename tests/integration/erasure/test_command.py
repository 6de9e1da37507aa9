"""`clew forget`, as a person types it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Rooms
from .planting import Canary, plant_user
from .scanning import columns_with

CLEW = Path(sys.executable).with_name("clew")
OURS = Canary("zyxourbird", "idxourbird")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def forget(rooms: Rooms) -> Run:
    """Run `clew forget` on the rooms' own database and objects."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CLEW_", "DATABASE_URL"))}
    places = {"CLEW_DATABASE_URL": rooms.database.url, "CLEW_ARTIFACTS_URL": str(rooms.objects), "COLUMNS": "160"}

    def run(*words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
        command = [CLEW, "forget", *words]
        return subprocess.run(
            command, env={**clean, **places}, input=typed, capture_output=True, text=True, timeout=120, check=False
        )

    return run


async def test_a_user_is_forgotten_and_every_check_is_shown(rooms: Rooms, forget: Run):
    await plant_user(rooms, "acme", OURS)
    counted = forget("--user", OURS.user_id, "--tenant", "acme", "--dry-run")
    assert (counted.returncode, "would go" in counted.stdout) == (0, True)
    assert list(columns_with(rooms.admin_url, OURS.word)), "a dry run removes nothing"
    refused = forget("--user", OURS.user_id, "--tenant", "acme", typed="n\n")
    assert refused.returncode != 0
    assert list(columns_with(rooms.admin_url, OURS.word)), "nor does an answer of no"
    done = forget("--user", OURS.user_id, "--tenant", "acme", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "memory vectors" in done.stdout
    assert "✔" in done.stdout
    assert "✘" not in done.stdout
    assert list(columns_with(rooms.admin_url, OURS.word)) == []


async def test_memories_are_forgotten_by_their_ids_and_told_as_json(rooms: Rooms, forget: Run):
    for name in ("one", "two", "three"):
        entry = {"tenant_id": "acme", "agent_id": "a", "content": f"tea {name}", "memory_id": name}
        await rooms.memory.store(entry)
    done = forget("one", "two", "never", "--tenant", "acme", "--json")
    reports = json.loads(done.stdout)
    assert [report["removed"].get("memories", 0) for report in reports] == [1, 1, 0]
    assert all(report["complete"] for report in reports)
    assert [entry.memory_id for entry in await rooms.memory.list_by_tenant("acme")] == ["three"]


async def test_a_whole_tenant_goes_only_when_its_name_is_typed(rooms: Rooms, forget: Run):
    await rooms.memory.store({"tenant_id": "acme", "agent_id": "a", "content": "tea"})
    assert forget("--everything", "--tenant", "acme", typed="acne\n").returncode != 0
    assert forget("--everything", "--tenant", "acme", "--json").returncode != 0, "a program has to say --yes"
    assert len(await rooms.memory.list_by_tenant("acme")) == 1
    assert forget("--everything", "--tenant", "acme", typed="acme\n").returncode == 0
    assert await rooms.memory.list_by_tenant("acme") == []


async def test_what_to_forget_has_to_be_said_and_one_kind_at_a_time(forget: Run):
    for words in ((), ("m", "--user", "ana"), ("--thread", "t", "--everything")):
        done = forget(*words)
        assert (done.returncode, "error:" in done.stderr) == (1, True)

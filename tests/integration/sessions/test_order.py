"""However many write at once, and however they end, a thread has no gap, no fork, and no half of an append."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.sessions import SessionStore

from .conftest import texts, user

if TYPE_CHECKING:
    from ...conftest import Scratch

WRITERS = 16
APPENDS = 25


def writer(url: str, tenant: str, name: str, appends: int, messages_each: int) -> subprocess.Popen[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    return subprocess.Popen(
        [
            sys.executable,
            Path(__file__).with_name("writer_process.py"),
            url,
            tenant,
            name,
            str(appends),
            str(messages_each),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**inherited, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


async def check(store: SessionStore, tenant: str, messages_each: int) -> dict[str, list[int]]:
    """The appends of each writer that are in the log, after making sure that it is whole."""
    rows = await store.read("shared", 10_000, tenant_id=tenant)
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    assert len({row.message_id for row in rows}) == len(rows)
    assert [row.created_at for row in rows] == sorted(row.created_at for row in rows)
    (thread,) = await store.threads(tenant_id=tenant)
    assert (thread.message_count, thread.token_count) == (len(rows), sum(row.tokens for row in rows))
    found = defaultdict(list)
    for start in range(0, len(rows), messages_each):
        together = [row.message.text.split(":") for row in rows[start : start + messages_each]]
        name, number, _ = together[0]
        assert together == [[name, number, str(part)] for part in range(messages_each)], "an append stays together"
        found[name].append(int(number))
    return found


async def test_sixteen_writers_in_one_process_leave_no_gap_and_no_fork(store: SessionStore, tenant: str):
    async def write(name: str) -> None:
        for number in range(APPENDS):
            await store.append("shared", [user(f"{name}:{number}:{part}") for part in range(3)], tenant_id=tenant)

    await asyncio.gather(*(write(f"w{n}") for n in range(WRITERS)))
    found = await check(store, tenant, messages_each=3)
    assert found == {f"w{n}": list(range(APPENDS)) for n in range(WRITERS)}


async def test_four_processes_leave_no_gap_and_no_fork(scratch: "Scratch", tenant: str):
    writers = [writer(scratch.app_url, tenant, f"p{n}", 40, 2) for n in range(4)]
    for process in writers:
        _, errors = await asyncio.to_thread(process.communicate, timeout=120)
        assert process.returncode == 0, errors
    async with SessionStore(scratch.app_url) as store:
        found = await check(store, tenant, messages_each=2)
    assert found == {f"p{n}": list(range(40)) for n in range(4)}


@pytest.mark.parametrize("after", [1, 7, 30])
async def test_a_writer_killed_in_the_middle_leaves_whole_appends_and_nothing_acknowledged_is_lost(
    scratch: "Scratch", tenant: str, after: int
):
    victim = writer(scratch.app_url, tenant, "victim", 100_000, 5)
    other = writer(scratch.app_url, tenant, "other", 60, 5)
    acknowledged = -1
    while acknowledged < after:
        acknowledged = int(await asyncio.to_thread(victim.stdout.readline))
    victim.send_signal(signal.SIGKILL)
    said, _ = await asyncio.to_thread(victim.communicate)
    acknowledged = max([acknowledged, *(int(line) for line in said.split("\n")[:-1])])
    assert (await asyncio.to_thread(other.communicate, timeout=120))[1] == ""
    async with SessionStore(scratch.app_url) as store:
        await store.append("shared", [user(f"after:0:{part}") for part in range(5)], tenant_id=tenant)
        found = await check(store, tenant, messages_each=5)
    assert found["other"] == list(range(60))
    assert found["after"] == [0]
    assert found["victim"] == list(range(len(found["victim"])))
    assert acknowledged + 1 <= len(found["victim"]) <= acknowledged + 2, "at most the one on its way"


async def test_clearing_while_others_write_begins_the_thread_anew(store: SessionStore, tenant: str):
    async def write(name: str) -> None:
        for number in range(APPENDS):
            await store.append(
                "shared", user(f"{name}:{number}:0"), tenant_id=tenant, idempotency_key=f"{name}{number}"
            )

    async def clear() -> None:
        for _ in range(5):
            await asyncio.sleep(0.05)
            await store.clear_session("shared", tenant_id=tenant)

    await asyncio.gather(clear(), *(write(f"w{n}") for n in range(6)))
    await store.append("shared", user("last:0:0"), tenant_id=tenant)
    await check(store, tenant, messages_each=1)
    assert texts(await store.get_session_messages("shared", 1, tenant_id=tenant)) == ["last:0:0"]

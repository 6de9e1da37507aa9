"""Several hands on one user's instructions."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from clew.context.standing import StandingInstruction
from clew.context.standing.kept import Heard
from clew.store.embedded.cluster import APP_ROLE

from ...conftest import url_of
from .conftest import rows

MESSAGES = 12


def _hear_in_two_processes(url: str, tenant: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    command = [sys.executable, str(Path(__file__).with_name("hearing_process.py")), url, tenant, str(MESSAGES)]
    environment = {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
    assert [process.returncode for process in started] == [0, 0]


async def test_two_processes_that_hear_the_same_messages_keep_each_instruction_once(database, server, tenant):
    url = url_of(server.conninfo(server.ensure(), APP_ROLE))
    await asyncio.to_thread(_hear_in_two_processes, url, tenant)
    kept = [(text, revoked_by) for text, _, _, revoked_by in await rows(database, tenant)]
    assert [text for text, _ in kept if text.startswith("Always")] == [f"Always say {n}" for n in range(MESSAGES)]
    languages = [text for text, revoked_by in kept if revoked_by is None and text.startswith("Answer")]
    assert languages == [f"Answer in language {MESSAGES - 1}"], (
        "the last of them holds, however late the first is heard"
    )
    assert len(kept) == 2 * MESSAGES


async def test_an_instruction_of_a_transaction_that_is_rolled_back_was_never_heard(standing, database, tenant, texts):
    heard = Heard(StandingInstruction("Always be kind"), (), "t", "sam", "m")
    try:
        async with database.tenant(tenant) as connection:
            await standing.heard(connection, tenant, said=[heard])
            raise RuntimeError("the rest of it failed")
    except RuntimeError:
        assert await texts() == []
    async with database.tenant(tenant) as connection:
        await standing.heard(connection, tenant, said=[heard])
    assert await texts() == ["Always be kind"]


async def test_many_at_once_keep_one_name(standing, database, tenant, texts):
    async def named(number: int) -> None:
        async with database.tenant(tenant) as connection:
            given = StandingInstruction(f"Call me {number}", slot="address")
            await standing.heard(connection, tenant, said=[Heard(given, (), "t", "sam", str(number))])

    await asyncio.gather(*(named(number) for number in range(12)))
    assert len(await texts()) == 1
    assert len(await rows(database, tenant)) == 12

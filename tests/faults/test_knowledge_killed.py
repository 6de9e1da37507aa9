"""Many processes that tell contradicting things, killed at any moment: one value holds, and history has every one."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from clew import Database, Settings
from clew.memory.knowledge import KnowledgeBase

if TYPE_CHECKING:
    from ..conftest import Scratch

TENANT = "contradicting"
EPISODES = 60
PROCESSES = 4
ROUNDS = 5

_PROGRAM = """
import asyncio, sys
from clew import Database, Settings
from clew.memory.knowledge import KnowledgeBase

async def main(url, first, last):
    async with Database(url, settings=Settings()) as database:
        knowledge = KnowledgeBase(database)
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(int(first), int(last)):
            body = f"The Orion budget is ${number}M."
            await knowledge.add_episode(f"episode {number}", body, tenant_id="contradicting")
            print(number, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def start(url: str, first: int) -> "subprocess.Popen[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    command = [sys.executable, "-c", _PROGRAM, url, str(first), str(first + EPISODES)]
    return subprocess.Popen(command, env=clean, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def tell(url: str, kills: bool, seed: int) -> list[int]:
    """What the processes were told is stored; all but the first are killed at some time."""
    started = [start(url, 10_000 * seed + 1_000 * n + 100) for n in range(PROCESSES)]
    for process in started:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    chance = random.Random(seed)
    told = []
    for process in reversed(started):
        try:
            said, _ = process.communicate(
                timeout=chance.uniform(0.05, 0.3) if kills and process is not started[0] else 120
            )
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
        told += [int(line) for line in said.split()]
    return told


async def check(database: Database, told: list[int]) -> int:
    """One value holds, all that was acknowledged is in the history once, nothing is half there; how many there are."""
    history = await KnowledgeBase(database).history("Orion budget", tenant_id=TENANT)
    values = [fact.object for fact in history]
    assert len(set(values)) == len(values)
    assert {f"${number}M" for number in told} <= set(values)
    assert len([fact for fact in history if not fact.superseded]) == 1
    async with database.tenant(TENANT) as connection:
        counts = [
            (await (await connection.execute(statement)).fetchone() or (None,))[0]
            for statement in (
                "SELECT count(*) FROM clew.episodes",
                "SELECT count(*) FROM clew.facts",
                "SELECT count(DISTINCT seq) FROM clew.fact_sources",
                "SELECT count(DISTINCT seq) FROM clew.fact_terms",
            )
        ]
    assert counts == [len(values)] * len(counts)
    return len(values)


async def test_four_processes_that_contradict_each_other_leave_one_value_and_the_whole_history(
    scratch: "Scratch",
) -> None:
    told = await asyncio.to_thread(tell, scratch.app_url, False, 1)
    assert len(told) == PROCESSES * EPISODES
    async with Database(scratch.app_url, settings=Settings()) as database:
        assert await check(database, told) == len(told)


async def test_the_same_with_processes_killed_at_any_moment(scratch: "Scratch") -> None:
    told: list[int] = []
    async with Database(scratch.app_url, settings=Settings()) as database:
        for seed in range(1, ROUNDS + 1):
            told += await asyncio.to_thread(tell, scratch.app_url, True, seed)
            stored = await check(database, told)
            assert stored - len(told) <= (PROCESSES - 1) * seed, "at most those whose answers never came"
    assert len(told) < PROCESSES * EPISODES * ROUNDS, "some were killed"

"""A process that talks in a thread and kills itself at a point: `python appending_process.py URL THREAD POINT FIRST`.

It prints the number of each message once it was acknowledged. "catch up" as the point appends nothing, and reads.
"""

import asyncio
import os
import signal
import sys
from typing import Any

import clew
from clew import Database, Settings
from clew.context.standing.kept import StandingInstructions
from clew.context.writing_back import write_back
from clew.memory.knowledge import storing
from clew.memory.knowledge.writing import Beliefs, EpisodeWriter
from clew.sessions import SessionStore

TENANT = "killed"
MESSAGES = 40
# Each is reached by several messages; the process dies the third time.
TIMES = 3
POINTS = {
    "when the message is stored": (SessionStore, "append"),
    "when the log was read": (SessionStore, "read"),
    "when the mark was moved": (write_back, "_move"),
    "when the instructions were heard": (StandingInstructions, "heard"),
    "when the space is held": (storing, "hold_space"),
    "when the episode is stored": (EpisodeWriter, "_add_episode"),
    "when the facts are stored": (EpisodeWriter, "_add_facts"),
    "before the commit": (Beliefs, "change"),
    "when one is learnt": (write_back.WriteBack, "_keep"),
    "when all is read": (write_back.WriteBack, "catch_up"),
}


def text_of(number: int) -> str:
    """What the nth message says: a fact, and now and then a wish or nothing at all."""
    if number % 10 == 7:
        return f"Always mention item {number} in your answers."
    return "Thanks!" if number % 10 == 9 else f"The budget of project P{number} is ${number}M."


def prepare(point: str) -> None:
    owner, name = POINTS[point]
    inner, reached = getattr(owner, name), 0

    async def dies(*args: Any, **options: Any) -> Any:
        nonlocal reached
        answer = await inner(*args, **options)
        reached += 1
        if reached == TIMES:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(owner, name, dies)


async def main() -> None:
    url, thread_id, point, first = sys.argv[1:]
    if point in POINTS:
        prepare(point)
    async with Database(url, settings=Settings(worker="separate")) as database:
        engine = clew.open(database)
        thread = engine.tenant(TENANT).thread(thread_id)
        if point == "catch up":
            await engine.write_back.catch_up(thread_id, tenant_id=TENANT)
            return
        for number in range(int(first), int(first) + MESSAGES):
            await thread.append({"role": "user", "content": text_of(number)})
            print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(main())

"""A process that tells something, and kills itself at a point: `python telling_process.py URL POINT`."""

import asyncio
import os
import signal
import sys
from typing import Any

from clew import Database, Settings
from clew.memory.knowledge import KnowledgeBase, storing
from clew.memory.knowledge.beliefs import Beliefs
from clew.memory.knowledge.writing import EpisodeWriter

POINTS = ("before anything", "when the episode is stored", "when the facts are stored", "before the commit")
TENANT = "killed"
BODY = "Ana moved to Rome. The budget is $5M. Ana Silva Group (ASG) hired Bob."


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(owner: Any, name: str) -> None:
    inner = getattr(owner, name)

    async def dies(*args: Any, **options: Any) -> Any:
        await inner(*args, **options)
        die()

    setattr(owner, name, dies)


def prepare(point: str) -> None:
    match point:
        case "before anything":
            after(storing, "hold_space")
        case "when the episode is stored":
            after(EpisodeWriter, "_add_episode")
        case "when the facts are stored":
            after(EpisodeWriter, "_add_facts")
        case "before the commit":
            after(Beliefs, "change")
        case "nowhere":
            pass
        case _:
            raise SystemExit(f"no such point: {point}")


async def main() -> None:
    url, point = sys.argv[1:]
    prepare(point)
    async with Database(url, settings=Settings()) as database:
        await KnowledgeBase(database).add_episode("second", BODY, tenant_id=TENANT)


if __name__ == "__main__":
    asyncio.run(main())

"""A worker in a process of its own: `python worker_process.py URL CONCURRENCY STALLED_S [until-idle|hang]`.

Its one task notes in a tenant's journal that it has begun, then (unless it hangs) that it is done, each time with the
number of the job and the process.
"""

import asyncio
import os
import sys

from clew import Database, Settings
from clew.store.jobs import Jobs
from clew.store.journal import Journal

TENANT = "workers"
TASK = "step"


def with_step(database: Database, *, hang: bool = False, **options: float | bool) -> Jobs:
    """Jobs that know the task."""
    journal = Journal(database)
    jobs = Jobs(database, **options)

    async def step(n: int) -> None:
        await journal.add(TENANT, "begun", {"n": n, "pid": os.getpid()})
        await asyncio.sleep(600 if hang else 0.005)
        await journal.add(TENANT, "done", {"n": n, "pid": os.getpid()})

    jobs.task(TASK, step)
    return jobs


async def main() -> None:
    url, concurrency, stalled_s, how = sys.argv[1:]
    async with Database(url, settings=Settings()) as database:
        jobs = with_step(database, hang=how == "hang", in_process=False, stalled_s=float(stalled_s))
        await jobs.run(until_idle=how == "until-idle", concurrency=int(concurrency))


if __name__ == "__main__":
    asyncio.run(main())

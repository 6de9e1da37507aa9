"""A task that remembers, and what is left of jobs in the table."""

import asyncio
from typing import Any

from clew import Database


async def rows(database: Database) -> list[tuple[str, int]]:
    """Each job's status, and how often it was tried."""
    async with database.jobs() as connection:
        found = await connection.execute("SELECT status::text, attempts FROM procrastinate_jobs ORDER BY id")
        return await found.fetchall()


class Recorder:
    """A task that remembers what it was called with, and does what the test wants it to."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.running = 0
        self.most_at_once = 0
        self.begun = asyncio.Event()
        self.wait_s = 0.0
        self.failures = 0

    async def __call__(self, **arguments: Any) -> None:
        self.calls.append(arguments)
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        self.begun.set()
        try:
            await asyncio.sleep(self.wait_s)
        finally:
            self.running -= 1
        if self.failures > 0:
            self.failures -= 1
            raise ValueError("not now")

"""Background work that names what is erased. Its tables are no tenant's: it goes in a transaction of its own."""

import asyncio
from collections.abc import Sequence
from typing import Final

from clew.erasure.report import Check
from clew.store.database import Database
from clew.store.named_sql import statements

TABLE: Final = "clew_jobs.procrastinate_jobs"
# So long a job that runs may go on: it ends with what it has, and finds that its thread is gone.
WAIT_S: Final = 5.0
_LOOK_S: Final = 0.1
_SQL: Final = statements("erasure")


class Queue:
    """The jobs that name a tenant, or some of its threads, or a user."""

    def __init__(
        self,
        database: Database,
        tenant_id: str,
        *,
        whole: bool = False,
        thread_ids: Sequence[str] = (),
        user_id: str | None = None,
    ) -> None:
        self._database = database
        self._whole = whole
        self._about = {"tenant_id": tenant_id, "whole": whole, "thread_ids": list(thread_ids), "user_id": user_id}

    async def count(self) -> int:
        """How many there are."""
        async with self._database.jobs() as connection:
            row = await (await connection.execute(_SQL.count_jobs, self._about)).fetchone()
        return int(row[0]) if row else 0

    async def drop(self) -> int:
        """Delete them: those that wait at once, those that run when they have ended or it takes too long; how many."""
        gone = await self._drop(running=False)
        for _ in range(round(WAIT_S / _LOOK_S)):
            if not await self.count():
                return gone
            await asyncio.sleep(_LOOK_S)
        return gone + await self._drop(running=True)

    async def check(self) -> Check:
        """Whether any is left."""
        return Check(TABLE, "the tenant" if self._whole else "thread_id, user_id", await self.count())

    async def _drop(self, *, running: bool) -> int:
        async with self._database.jobs() as connection:
            done = await connection.execute(_SQL.drop_jobs, {**self._about, "running": running})
            return done.rowcount

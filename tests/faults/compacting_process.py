"""A worker that compacts, and kills itself at a point: `python compacting_process.py URL POINT`, or `… URL nowhere`."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from clew import Compactor, Database, Settings
from clew.context import compactor as room
from clew.context.views import Views
from clew.store.job_queue import Connector
from clew.store.jobs import Jobs

POINTS = (
    "when the job begins",
    "when the thread was read",
    "before the summary",
    "during the summary",
    "after the summary",
    "before the commit",
    "inside the transaction",
    "after the commit",
    "before the job is marked done",
)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str) -> None:
    inner = getattr(owner, name)

    async def dies(*args: Any, **options: Any) -> Any:
        die()
        return await inner(*args, **options)

    setattr(owner, name, dies)


def after(owner: Any, name: str) -> None:
    inner = getattr(owner, name)

    async def dies(*args: Any, **options: Any) -> Any:
        await inner(*args, **options)
        die()

    setattr(owner, name, dies)


def inside_the_transaction() -> None:
    """The row is written, and not committed."""
    commit = Views.commit

    async def dies(self: Views, *args: Any, **options: Any) -> Any:
        tenant = Database.tenant

        def watched(database: Database, tenant_id: str) -> Any:
            return _DiesAtTheEnd(tenant(database, tenant_id))

        Database.tenant = watched  # type: ignore[method-assign]
        return await commit(self, *args, **options)

    Views.commit = dies  # type: ignore[method-assign]


class _DiesAtTheEnd:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aenter__(self) -> Any:
        return await self._inner.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        die()


def before_the_job_is_marked_done() -> None:
    tell = Connector.execute_query_async

    async def dies(self: Connector, query: str, **arguments: Any) -> None:
        if arguments.get("status") is not None:
            die()
        await tell(self, query, **arguments)

    Connector.execute_query_async = dies  # type: ignore[method-assign]


async def dies_while_writing(messages: list[dict[str, Any]]) -> str:
    asyncio.get_running_loop().call_later(0.05, die)
    await asyncio.Event().wait()
    return ""


def prepare(point: str) -> Callable[[list[dict[str, Any]]], Awaitable[str]] | None:
    """Have the process die at a point; the model, where that is the one to die."""
    match point:
        case "when the job begins":
            before(room.Compactor, "compact")
        case "when the thread was read":
            after(room.Compactor, "entries")
        case "before the summary":
            before(room, "verified_view")
        case "during the summary":
            return dies_while_writing
        case "after the summary":
            after(room, "verified_view")
        case "before the commit":
            before(Views, "commit")
        case "inside the transaction":
            inside_the_transaction()
        case "after the commit":
            after(Views, "commit")
        case "before the job is marked done":
            before_the_job_is_marked_done()
        case "nowhere":
            pass
        case _:
            raise SystemExit(f"no such point: {point}")
    return None


async def main() -> None:
    url, point = sys.argv[1:]
    model = prepare(point)
    async with Database(url, settings=Settings()) as database:
        jobs = Jobs(database, in_process=False)
        Compactor(database, jobs=jobs, write_summary=model)
        await jobs.run(until_idle=True)


if __name__ == "__main__":
    asyncio.run(main())

"""`Jobs`: work that may take a while, kept in PostgreSQL until it is done."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import TYPE_CHECKING, Any, Final

from clew.errors import InvalidInput, Misconfigured, Unavailable
from clew.limits import check_count, check_json, check_text
from clew.logs import logger
from clew.settings import Settings
from clew.store.database import Database
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.store.job_queue import App, Connector, Ran, Worker

# What can be deferred.
NAME_MAX_BYTES: Final = 128
LOCK_MAX_BYTES: Final = 2_000
ARGUMENTS_MAX_BYTES: Final = 8_000
DELAY_MAX_S: Final = 366 * 86_400.0

# How it is done.
CONCURRENCY: Final = 4
CONCURRENCY_MAX: Final = 64
RETRY_FIRST_S: Final = 2.0
# A worker says every third of this that it is alive; when it has not for this long, others do its jobs.
STALLED_S: Final = 30.0
# How long closing waits for jobs that are running.
CLOSE_WITHIN_S: Final = 10.0
FAILED_KEPT_HOURS: Final = 30 * 24

_LOOK_S: Final = 0.1
_RESTART_S: Final = 1.0
_RESTART_LONGEST_S: Final = 30.0
_log: Final = logger("clew.store")

Work = Callable[..., Awaitable[None]]


class Jobs(Room):
    """Background work that survives its process: deferred here, done here or by a `clew worker`, at least once.

        jobs.task("compact", compact)                                 # async def compact(tenant_id, thread_id)
        await jobs.defer("compact", once="compact/acme/support-42", tenant_id="acme", thread_id="support-42")

    Arguments are ids, never content: they are kept outside the tenants' walls. With `in_process` (by default what
    `CLEW_WORKER` says) the first deferral starts a worker in this event loop; `close()` ends it.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        *,
        in_process: bool | None = None,
        settings: Settings | None = None,
        stalled_s: float = STALLED_S,
        retry_s: float = RETRY_FIRST_S,
        close_within_s: float = CLOSE_WITHIN_S,
    ) -> None:
        super().__init__(database, settings=settings)
        self._in_process = self._database.settings.worker == "in-process" if in_process is None else in_process
        self._stalled_s = stalled_s
        self._retry_s = retry_s
        self._close_within_s = close_within_s
        self._tasks: dict[str, Work] = {}
        # Also what workers take from the table: a job of another program, or of a newer release, is left alone.
        self._names: list[str] = []
        self._queue: tuple[App, Connector] | None = None
        self._workers: set[Worker] = set()
        self._own: asyncio.Task[None] | None = None
        self._closed = False

    def task(self, name: str, work: Work) -> None:
        """Give a kind of work its name. `work` is called with a job's arguments, and may be called again with them."""
        check_text(name, "name", max_bytes=NAME_MAX_BYTES, allow_empty=False)
        if name in self._tasks:
            raise InvalidInput(f"there is a task {name!a} already", where="name")
        self._tasks[name] = work
        self._names.append(name)
        if self._queue is not None:
            self._register(self._queue[0], name)

    async def defer(
        self,
        name: str,
        /,
        *,
        once: str | None = None,
        lock: str | None = None,
        delay_s: float | None = None,
        **arguments: Any,
    ) -> bool:
        """Have something done soon; True when it is stored, False when one with the same `once` is waiting already.

        Two jobs with the same `lock` never run at the same time, and run in the order they were deferred in.
        """
        if check_text(name, "name") not in self._tasks:
            raise InvalidInput(f"{name!a} is not a task", where="name", fix=f"There are {self._names}")
        for where, text in (("once", once), ("lock", lock)):
            if text is not None:
                check_text(text, where, max_bytes=LOCK_MAX_BYTES, allow_empty=False)
        _check_arguments(arguments)
        app, connector = self._opened_queue()
        from clew.store.job_queue import AlreadyEnqueued

        job = app.configure_task(
            name,
            queue=name,
            lock=lock,
            queueing_lock=once,
            task_kwargs=arguments,
            schedule_in=None if delay_s is None else {"milliseconds": round(_checked_delay(delay_s) * 1000)},
        )
        stored = True
        try:
            await job.defer_async()
        except AlreadyEnqueued:
            stored = False
        self._start()
        connector.bell.set()
        return stored

    async def run(
        self,
        *,
        until_idle: bool = False,
        concurrency: int = CONCURRENCY,
        watch: "Callable[[Ran], None] | None" = None,
    ) -> None:
        """Work: for ever, or `until_idle`. Cancelled, it lets running jobs finish for a while, then puts them back.

        `watch` is told how each attempt went. A database that goes away is waited for, but not `until_idle`.
        """
        check_count(concurrency, "concurrency", most=CONCURRENCY_MAX)
        self._opened_queue()
        from clew.store.job_queue import TROUBLE

        pause_s = _RESTART_S
        while True:
            try:
                if await self._serve(until_idle, concurrency, watch):
                    return
                pause_s = _RESTART_S
            except Misconfigured:
                raise
            except TROUBLE as error:
                if until_idle:
                    raise Unavailable(f"background work stopped: {error}", fix="Run it again") from error
                _log.warning("worker_restarts", reason=str(error))
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _RESTART_LONGEST_S)

    async def idle(self) -> None:
        """Wait until every job that is due has been done. Returns at once where no worker runs."""
        while self._workers or (self._own is not None and not self._own.done()):
            if await self._nothing_left():
                return
            await asyncio.sleep(_LOOK_S)

    async def close(self) -> None:
        """End the worker that runs in this process. What it has not finished stays in the table for the next one."""
        self._closed = True
        if self._own is not None:
            self._own.cancel()
            # Longer than it gives its jobs; one that ignores its cancellation does not keep us.
            await asyncio.wait([self._own], timeout=2 * self._close_within_s + 1)
            self._own = None
        await super().close()

    def _start(self) -> None:
        """Start the worker of this process, unless one runs here. It belongs to no request: no context goes along."""
        if self._in_process and not self._closed and not self._workers and (self._own is None or self._own.done()):
            self._own = asyncio.get_running_loop().create_task(self._run_here(), name="clew jobs", context=Context())

    async def _run_here(self) -> None:
        try:
            await self.run()
        except Misconfigured as error:
            _log.info("worker_ended", reason=str(error))  # The database was closed before we were, for example.

    def _opened_queue(self) -> "tuple[App, Connector]":
        if self._queue is None:
            from clew.store.job_queue import App, Connector

            connector = Connector(self.opened)
            app = App(connector=connector)
            for name in self._names:
                self._register(app, name)
            self._queue = app, connector
        return self._queue

    def _register(self, app: "App", name: str) -> None:
        from clew.store.job_queue import Backoff, attempted

        app.task(name=name, queue=name, retry=Backoff(self._retry_s), pass_context=True)(attempted(self._tasks[name]))

    async def _serve(self, until_idle: bool, concurrency: int, watch: "Callable[[Ran], None] | None") -> bool:
        """One worker, from its registration to its end; whether it has nothing left to do."""
        from clew.store.job_queue import new_worker

        app, connector = self._opened_queue()
        connector.trouble.clear()
        limits = {"stalled_s": self._stalled_s, "close_within_s": self._close_within_s}
        worker = new_worker(app, self._names, concurrency=concurrency, watch=watch, **limits)
        self._workers.add(worker)
        overseer = asyncio.create_task(self._oversee(worker, connector, until_idle), name="clew jobs overseer")
        try:
            await worker.run()  # type: ignore[no-untyped-call]
            return overseer.done() and overseer.result()
        finally:
            self._workers.discard(worker)
            overseer.cancel()
            await asyncio.wait([overseer])
            if not overseer.cancelled():
                overseer.exception()  # Known: it ended the worker. Unasked for, asyncio would print it.

    async def _oversee(self, worker: "Worker", connector: "Connector", until_idle: bool) -> bool:
        """Put back what workers left that have gone; stop this one when it is in trouble, or has nothing left to do."""
        pause_s = _LOOK_S if until_idle else min(_RESTART_S, self._stalled_s / 3)
        look_again = 0.0
        try:
            await worker.app.job_manager.delete_old_jobs(FAILED_KEPT_HOURS, include_failed=True)
            while not connector.trouble.is_set():
                if time.monotonic() >= look_again:
                    await connector.put_back(self._stalled_s)
                    look_again = time.monotonic() + self._stalled_s / 3
                if until_idle and await self._nothing_left():
                    return True
                await asyncio.sleep(pause_s)
            return False
        finally:
            worker.stop()  # type: ignore[no-untyped-call]

    async def _nothing_left(self) -> bool:
        ids = [worker.worker_id for worker in self._workers if worker.worker_id is not None]
        if not ids or len(ids) < len(self._workers):
            return False
        _, connector = self._opened_queue()
        return await connector.left_to_do(self._names, ids) == 0


def _check_arguments(arguments: dict[str, Any]) -> None:
    check_json(arguments, "arguments", max_bytes=ARGUMENTS_MAX_BYTES)
    size = len(json.dumps(arguments))
    if size > ARGUMENTS_MAX_BYTES:
        what = f"are {size:,} bytes long; the limit is {ARGUMENTS_MAX_BYTES:,}"
        raise InvalidInput(what, where="arguments", fix="Pass ids, and let the task look up what they stand for")


def _checked_delay(delay_s: float) -> float:
    if isinstance(delay_s, bool) or not isinstance(delay_s, int | float) or not 0 <= delay_s <= DELAY_MAX_S:
        raise InvalidInput(f"expected a number of seconds from 0 to {DELAY_MAX_S:,.0f}", where="delay_s")
    return delay_s

"""procrastinate on our own door: its questions, its worker, and when a job is tried again.

It takes 0.2 s to import, which only programs with background work should pay: `clew.store.jobs` does so at first use.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from procrastinate import App
from procrastinate.connector import BaseAsyncConnector, Notify
from procrastinate.exceptions import AlreadyEnqueued, NoResult, ProcrastinateException, UniqueViolation
from procrastinate.job_context import JobContext
from procrastinate.jobs import Job
from procrastinate.manager import QUEUEING_LOCK_CONSTRAINT
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.sql import queries
from procrastinate.worker import Worker
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from clew.errors import ClewError
from clew.logs import logger
from clew.store.database import Database
from clew.store.named_sql import statements

__all__ = ["TROUBLE", "AlreadyEnqueued", "App", "Backoff", "Connector", "Ran", "Worker", "attempted", "new_worker"]

# How often a worker asks for jobs that another process has deferred, or that are due again.
POLL_S: Final = 1.0
# How often a job is tried, killed workers counted, and the longest time between two attempts.
ATTEMPTS_MAX: Final = 5
RETRY_LONGEST_S: Final = 600.0
REASON_MAX_CHARS: Final = 300
# Nobody asks for a running job to be aborted.
_NEVER_S: Final = 86_400.0
_RING_AGAIN_S: Final = 0.05
_WORKER: Final = "clew"
_BELL: Final = '{"type": "job_inserted", "job_id": 0}'

# What can end a worker, and what a new one may well survive.
TROUBLE: Final = (ClewError, psycopg.Error, ProcrastinateException)

_SQL: Final = statements("jobs")
_log: Final = logger("clew.store")

Work = Callable[..., Awaitable[None]]


def _not_ours(record: logging.LogRecord) -> bool:
    worker = getattr(record, "worker", None)
    return not (isinstance(worker, dict) and worker.get("name") == _WORKER)


# How jobs end is in our own log, and procrastinate would add a traceback on stderr. Only what it says of our workers is
# dropped: the program may have others of its own.
logging.getLogger("procrastinate.worker").addFilter(_not_ours)
logging.getLogger(f"procrastinate.worker.{_WORKER}").setLevel(logging.CRITICAL)
if logging.getLogger("procrastinate").level == logging.NOTSET:
    logging.getLogger("procrastinate").setLevel(logging.WARNING)


class Connector(BaseAsyncConnector):
    """Each of procrastinate's questions in a transaction of its own, so that nothing of it stays in a session."""

    def __init__(self, opened: Callable[[], Awaitable[Database]]) -> None:
        self._opened = opened
        self.bell = asyncio.Event()
        """Rings when a job may have become ready here: LISTEN, without the connection that this would take."""
        self.trouble = asyncio.Event()
        """Something about a job could not be told to the database; a new worker, with a new number, gets over it."""

    def get_sync_connector(self) -> "Connector":
        return self

    async def open_async(self, pool: Any = None) -> None: ...

    async def close_async(self) -> None: ...

    async def execute_query_all_async(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
        """The rows. A driver's error that the door doesn't know stays as it is, but for the one procrastinate asks."""
        bound = {name: _bound(value) for name, value in arguments.items()}
        database = await self._opened()
        try:
            async with database.jobs() as connection, connection.cursor(row_factory=dict_row) as cursor:
                await cursor.execute(query.encode(), bound)
                return await cursor.fetchall() if cursor.description else []
        except psycopg.errors.UniqueViolation as error:
            # Row security keeps the lock's name out of PostgreSQL's message.
            raise UniqueViolation(constraint_name=error.diag.constraint_name, queueing_lock=None) from error

    async def execute_query_one_async(self, query: str, **arguments: Any) -> dict[str, Any]:
        rows = await self.execute_query_all_async(query, **arguments)
        if not rows:
            raise NoResult
        return rows[0]

    async def execute_query_async(self, query: str, **arguments: Any) -> None:
        """What a worker has to tell: that a job ended, is to be tried again, that it is alive, or gone.

        It raises nothing, since procrastinate's tasks would die of it with a traceback and the job would be nobody's.
        """
        try:
            await self._tell(query, arguments)
        except TROUBLE as error:
            _log.warning("worker_not_heard", reason=str(error))
            self.trouble.set()
        self.bell.set()

    async def _tell(self, query: str, arguments: dict[str, Any]) -> None:
        try:
            await self.execute_query_all_async(query, **arguments)
        except UniqueViolation as error:
            if query != queries["retry_job"] or error.constraint_name != QUEUEING_LOCK_CONSTRAINT:
                raise
            # An equal one was deferred meanwhile: it does what this one would have tried again.
            ended = {"job_id": arguments["job_id"], "status": "succeeded", "delete_job": True}
            await self.execute_query_all_async(queries["finish_job"], **ended)

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Pass the bell on to the worker; what other processes do is found by polling."""
        while True:
            await self.bell.wait()
            self.bell.clear()
            await on_notification(channel="", payload=_BELL)
            # A ring during a look at the table is forgotten with the look: so once more, a moment later.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.bell.wait(), _RING_AGAIN_S)
                continue
            await on_notification(channel="", payload=_BELL)

    async def put_back(self, stalled_s: float) -> None:
        """Have the jobs of workers that have gone done by others."""
        try:
            jobs = await self.execute_query_all_async(_SQL.put_back, stalled_s=stalled_s, attempts_max=ATTEMPTS_MAX)
        except UniqueViolation:
            return  # An equal one was deferred this very moment; the next look sees it.
        for job in jobs:
            _log.warning("job_of_lost_worker", task=job["task_name"], job=job["id"], status=job["status"])
            self.bell.set()

    async def left_to_do(self, queues: list[str], workers: list[int]) -> int:
        """How many jobs these workers have begun with, or could begin with now."""
        row = await self.execute_query_one_async(_SQL.left_to_do, queues=queues, workers=workers)
        return int(row["jobs"])


def _bound(value: Any) -> Any:
    """The value as psycopg wants it; procrastinate sends lists of tuples that hold dicts."""
    match value:
        case dict():
            return Jsonb(value)
        case list():
            return [_bound(item) for item in value]
        case tuple():
            return tuple(_bound(item) for item in value)
    return value


class Backoff(BaseRetryStrategy):
    """Again after a while, and after four times as long the next time, until it has been tried often enough."""

    def __init__(self, first_s: float) -> None:
        self._first_s = first_s

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """When; None for never. Whoever was cancelled did not fail, and is done as soon as somebody can."""
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision()
        if job.attempts + 1 >= ATTEMPTS_MAX:
            return None
        wait_s = min(self._first_s * 4**job.attempts, RETRY_LONGEST_S)
        return RetryDecision(retry_in={"milliseconds": round(wait_s * 1000)})


@dataclass(frozen=True, slots=True)
class Ran:
    """How one attempt at a job went."""

    task: str
    arguments: Mapping[str, Any]
    seconds: float
    error: str | None
    again: bool
    """Whether it will be tried again."""


def attempted(work: Work) -> Callable[..., Awaitable[None]]:
    """The work as procrastinate calls it; how it went is logged."""

    async def attempt(context: JobContext, /, **arguments: Any) -> None:
        started = time.monotonic()
        try:
            await work(**arguments)
        except asyncio.CancelledError:
            _log.info("job_put_back", task=context.job.task_name, job=context.job.id)
            raise
        except Exception as error:
            _tell(context, started, error)
            raise
        _tell(context, started, None)

    return attempt


def _tell(context: JobContext, started: float, error: Exception | None) -> None:
    """Log how an attempt went, and tell whoever watches the worker."""
    job, seconds = context.job, time.monotonic() - started
    again = error is not None and job.attempts + 1 < ATTEMPTS_MAX
    reason = None if error is None else f"{type(error).__name__}: {error}"[:REASON_MAX_CHARS]
    about = {"task": job.task_name, "job": job.id, "attempt": job.attempts + 1, "seconds": round(seconds, 3)}
    if reason is None:
        _log.info("job_done", **about)
    elif again:
        _log.info("job_tried_again_later", **about, reason=reason)
    else:
        _log.warning("job_failed", **about, reason=reason)
    if (watch := context.additional_context.get("watch")) is not None:
        watch(Ran(job.task_name, job.task_kwargs, seconds, reason, again))


def new_worker(
    app: App, queues: list[str], *, concurrency: int, stalled_s: float, close_within_s: float, **context: Any
) -> Worker:
    """A worker, not yet running: it polls, handles no signals, and forgets what went well."""
    return Worker(
        app,
        queues=queues,
        name=_WORKER,
        concurrency=concurrency,
        fetch_job_polling_interval=POLL_S,
        abort_job_polling_interval=_NEVER_S,
        shutdown_graceful_timeout=close_within_s,
        listen_notify=True,
        delete_jobs="successful",
        additional_context=context,
        install_signal_handlers=False,
        update_heartbeat_interval=stalled_s / 3,
        stalled_worker_timeout=stalled_s,
    )

"""LangGraph's own saver on our tables: one tenant's checkpoints, by the thread ids they are stored under."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

# Private names, and the price of running `keep_latest` in a transaction of ours: the saver opens a transaction inside
# it, and PostgreSQL lets only the outermost one choose its isolation level.
from langgraph.checkpoint.postgres.base import PRUNE_STRATEGIES, _aexecute, _keep_latest, _refuse_delta_threads
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import AsyncCursor, Capabilities
from psycopg.rows import DictRow, dict_row

from clew.errors import Conflict, InvalidInput, Misconfigured
from clew.store.database import Database
from clew.store.named_sql import statements

RUN_IDS_MAX: Final = 10_000
_SQL: Final = statements("checkpoints")

Opened = Callable[[], Awaitable[Database]]


class TenantTables(AsyncPostgresSaver):
    """One tenant's checkpoints. Thread ids are as stored, `tenant/thread`: `Checkpointer` is what callers see."""

    def __init__(self, opened: Opened, tenant_id: str, serde: SerializerProtocol) -> None:
        # Not AsyncPostgresSaver's own: it wants a connection to keep, and we take one from the pool each time.
        super(AsyncPostgresSaver, self).__init__(serde=serde)
        self._opened = opened
        self.tenant_id = tenant_id
        self.pipe = None
        self.lock = asyncio.Lock()
        self.supports_pipeline = Capabilities().has_pipeline()
        self.meet_loop()

    def meet_loop(self) -> None:
        """Remember the event loop, for the methods that other threads call; made outside one, we meet it later."""
        with suppress(RuntimeError):
            self.loop = asyncio.get_running_loop()

    async def setup(self) -> None:
        """Nothing is made here, the application may not: `clew migrate` did. Refuses when LangGraph expects more."""
        async with self._cursor() as cursor:
            row = await (await cursor.execute(_SQL.revision)).fetchone()
        newest = len(self.MIGRATIONS) - 1
        if row is None or row["revision"] != newest:
            raise Misconfigured(
                f"langgraph-checkpoint-postgres wants its tables at revision {newest}; "
                f"they are at {row and row['revision']}",
                fix="Run: pip install --upgrade clew 'langgraph-checkpoint-postgres<4'; then: clew migrate",
            )

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """A cursor in the tenant's transaction, whose unqualified names are LangGraph's tables."""
        database = await self._opened()
        async with database.tenant(self.tenant_id) as connection, AsyncExitStack() as stack:
            if pipeline and self.supports_pipeline:
                await stack.enter_async_context(connection.pipeline())
            cursor = await stack.enter_async_context(connection.cursor(binary=True, row_factory=dict_row))
            await cursor.execute(_SQL.enter)
            yield cursor

    def _search_where(
        self, config: RunnableConfig | None, filter: dict[str, Any] | None, before: RunnableConfig | None = None
    ) -> tuple[str, list[Any]]:
        """As LangGraph's, and all of the tenant's threads rather than all there are: a range of the index."""
        where, values = super()._search_where(config, filter, before)
        if config:
            return where, values
        mine = "WHERE thread_id >= %s AND thread_id < %s"
        return where.replace("WHERE", f"{mine} AND", 1) if where else mine, [*self._range().values(), *values]

    def _range(self) -> dict[str, str]:
        return {"from": f"{self.tenant_id}/", "to": f"{self.tenant_id}0"}

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As LangGraph's: the latest checkpoint of each namespace stays, or nothing does.

        It, too, keeps the latest only of threads without a `DeltaChannel`: `InvalidInput`, and nothing is deleted.
        """
        if strategy not in PRUNE_STRATEGIES:
            raise ValueError(f"Unknown prune strategy: {strategy!r}")
        if strategy == "delete":
            await super().aprune(thread_ids, strategy=strategy)
            return
        try:
            async with self._cursor() as cursor:
                await _aexecute(cursor, _refuse_delta_threads(thread_ids))
            for thread_id in thread_ids:
                async with self._cursor() as cursor:
                    await _aexecute(cursor, _keep_latest(thread_id))
        except NotImplementedError:
            raise InvalidInput(
                "a thread with a DeltaChannel is rebuilt from the checkpoints that keep_latest would delete",
                where="thread_ids",
                fix="Leave it out: it grows no faster than its conversation",
            ) from None

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a whole thread; a `Conflict` when the target has something in it: two histories don't make one."""
        names = {"source": source_thread_id, "target": target_thread_id}
        async with self._cursor() as cursor:
            row = await (await cursor.execute(_SQL.is_there, {"thread_id": target_thread_id})).fetchone()
            if row and row["found"]:
                raise Conflict("the target thread has checkpoints already", where="target_thread_id")
            for statement in (_SQL.copy_checkpoints, _SQL.copy_blobs, _SQL.copy_writes):
                await cursor.execute(statement, names)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what these runs saved, in every thread of the tenant; what other runs saved keeps its ancestors.

        A thread that keeps its messages in a `DeltaChannel` can lose its last runs only, since later ones are built on
        what earlier ones wrote: `InvalidInput`, and nothing is deleted.
        """
        if len(run_ids) > RUN_IDS_MAX:
            raise InvalidInput(f"holds {len(run_ids):,} ids; the limit is {RUN_IDS_MAX:,}", where="run_ids")
        scope = {**self._range(), "run_ids": [str(run_id) for run_id in run_ids]}
        async with self._cursor() as cursor:
            if await (await cursor.execute(_SQL.built_on_runs, scope)).fetchone():
                raise InvalidInput(
                    "later runs of a thread with a DeltaChannel are built on one of these",
                    where="run_ids",
                    fix="Delete the later runs too, or the thread",
                )
            await cursor.execute(_SQL.adopt_children, scope)
            await cursor.execute(_SQL.delete_run_writes, scope)
            freed = await (await cursor.execute(_SQL.delete_run_checkpoints, scope)).fetchall()
            columns = {
                "thread_ids": [row["thread_id"] for row in freed],
                "namespaces": [row["checkpoint_ns"] for row in freed],
                "channels": [row["channel"] for row in freed],
                "versions": [row["version"] for row in freed],
            }
            await cursor.execute(_SQL.delete_unreferenced_blobs, columns)

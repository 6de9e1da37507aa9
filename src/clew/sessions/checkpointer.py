"""The checkpointer that graphs are compiled with: LangGraph's saver, with a wall around each tenant."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from clew.errors import InvalidInput
from clew.ids import check_tenant_id
from clew.sessions.rows import check_thread_id
from clew.sessions.tables import Opened, TenantTables

DEFAULT_TENANT: Final = "default"
PRUNE_MAX_THREADS: Final = 10_000
_T = TypeVar("_T")


class Checkpointer(TenantTables):
    """An `AsyncPostgresSaver` in which every thread has a tenant.

    The tenant is `config["configurable"]["tenant_id"]`, or `"default"`; a checkpointer made for one tenant refuses any
    other. What goes in as a thread id comes out as one: the tenant before it is seen by PostgreSQL's policies alone.
    """

    def __init__(self, opened: Opened, tenant_id: str | None, serde: SerializerProtocol) -> None:
        super().__init__(opened, tenant_id or DEFAULT_TENANT, serde)
        self._bound = tenant_id is not None

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the configuration names, or the latest."""
        door = self._door(config)
        found = await door.tables.aget_tuple(door.config(config))
        return found and door.shown(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, newest first; without a configuration those of all the tenant's threads."""
        door = self._door(config)
        inner = door.config(config) if config else None
        # All of them before the first is handed on: a caller that takes its time would hold a transaction open.
        found = [item async for item in door.tables.alist(inner, filter=filter, before=before, limit=limit)]
        for item in found:
            yield door.shown(item)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; the configuration that names it."""
        door = self._door(config)
        return door.outside(await door.tables.aput(door.config(config), checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save what a step wrote before its checkpoint is complete."""
        door = self._door(config)
        await door.tables.aput_writes(door.config(config), writes, task_id, task_path)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What a delta channel is rebuilt from."""
        door = self._door(config)
        return await door.tables.aget_delta_channel_history(config=door.config(config), channels=channels)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread's checkpoints; its log stays. These last methods have no configuration: own tenant only."""
        door = self._door(None)
        await door.tables.adelete_thread(door.stored(thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep only the latest checkpoint of each thread and namespace, or, with `"delete"`, none."""
        if isinstance(thread_ids, str):
            raise TypeError("thread_ids must be a sequence of thread IDs, not a str")
        if len(thread_ids) > PRUNE_MAX_THREADS:
            raise InvalidInput(f"holds {len(thread_ids):,} ids; the limit is {PRUNE_MAX_THREADS:,}", where="thread_ids")
        door = self._door(None)
        await door.tables.aprune([door.stored(thread_id) for thread_id in thread_ids], strategy=strategy)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all of a thread's checkpoints to a thread that has none."""
        door = self._door(None)
        await door.tables.acopy_thread(door.stored(source_thread_id), door.stored(target_thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what these runs saved, in every thread; what is left keeps its ancestors."""
        await self._door(None).tables.adelete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`acopy_thread`, from another thread than the event loop's."""
        self._wait(self.acopy_thread(source_thread_id, target_thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`adelete_for_runs`, from another thread than the event loop's."""
        self._wait(self.adelete_for_runs(run_ids))

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        try:
            here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self.loop:
            work.close()
            raise asyncio.InvalidStateError("From the event loop's own thread, use the methods that begin with 'a'.")
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def _door(self, config: RunnableConfig | None) -> "_Door":
        """The tables of the tenant that a configuration means."""
        self.meet_loop()
        asked = (config or {}).get("configurable", {}).get("tenant_id")
        tenant_id = self.tenant_id if asked is None else check_tenant_id(asked)
        if self._bound and tenant_id != self.tenant_id:
            raise InvalidInput(
                "this checkpointer was made for another tenant",
                where="configurable.tenant_id",
                fix="Leave it out, or use SessionStore.checkpointer",
            )
        return _Door(TenantTables(self._opened, tenant_id, self.serde), tenant_given=asked is not None)


class _Door:
    """Between a caller's thread ids and those of the tables."""

    def __init__(self, tables: TenantTables, *, tenant_given: bool) -> None:
        self.tables = tables
        self._tenant_given = tenant_given

    def stored(self, thread_id: object, where: str = "thread_id") -> str:
        """LangGraph takes any object as a thread id and writes it as text."""
        return f"{self.tables.tenant_id}/{check_thread_id(str(thread_id), where)}"

    def config(self, config: RunnableConfig) -> RunnableConfig:
        inner = {key: value for key, value in config["configurable"].items() if key != "tenant_id"}
        if "thread_id" not in inner:
            raise InvalidInput("is missing", where="configurable.thread_id")
        inner["thread_id"] = self.stored(inner["thread_id"], "configurable.thread_id")
        return {**config, "configurable": inner}

    def outside(self, config: RunnableConfig) -> RunnableConfig:
        """As the caller knows it; with the tenant if the caller gave it, so that it can be used as it is."""
        inner = config["configurable"]
        tenant = {"tenant_id": self.tables.tenant_id} if self._tenant_given else {}
        thread_id = inner["thread_id"].removeprefix(f"{self.tables.tenant_id}/")
        return {**config, "configurable": {**inner, **tenant, "thread_id": thread_id}}

    def shown(self, found: CheckpointTuple) -> CheckpointTuple:
        parent = found.parent_config and self.outside(found.parent_config)
        return found._replace(config=self.outside(found.config), parent_config=parent)

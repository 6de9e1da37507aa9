"""`Erasure`: forget a source, a user or a tenant everywhere, and prove it."""

from collections.abc import Sequence
from typing import Final

from psycopg import Rollback

from clew.artifacts import ArtifactStore
from clew.artifacts.objects.checks import check_artifact_id
from clew.context.standing.kept import StandingInstructions
from clew.erasure.caches import Cache, WordCaches
from clew.erasure.indexes import drop_indexes
from clew.erasure.objects import Objects, condemn_all
from clew.erasure.proving import Doors, Proof
from clew.erasure.queue import Queue
from clew.erasure.removing import Gone, Removal
from clew.erasure.report import Check, ErasureReport, bounded
from clew.erasure.subject import Subject
from clew.erasure.tables import count_tenant, empty
from clew.errors import InvalidInput
from clew.ids import check_id, check_tenant_id
from clew.limits import check_text
from clew.memory import LongTermMemory
from clew.memory.knowledge import KnowledgeBase
from clew.memory.preparing import MEMORY_ID_MAX_BYTES
from clew.sessions import SessionStore
from clew.sessions.rows import check_thread_id, check_user_id
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room

_SQL: Final = statements("erasure")
_KNOWLEDGE: Final = statements("knowledge")


class Erasure(Room):
    """Forgets for good, in every store, and says what went.

        report = await engine.erasure.source(tenant_id="acme", thread_id="support-42")
        report.removed        # {"messages": 12, "memories": 3, "memory_vectors": 3, "facts": 5, …}
        report.complete       # every store was asked again, and none had anything left

    Rows go in one transaction, objects right after it. The same call again removes nothing more; after an interruption
    it goes on where the first ended. `caches` are what else keeps tenants' words in this process.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        *,
        sessions: SessionStore,
        memory: LongTermMemory,
        knowledge: KnowledgeBase,
        artifacts: ArtifactStore,
        standing: StandingInstructions | None = None,
        caches: Sequence[Cache] = (),
    ) -> None:
        super().__init__(database)
        self._artifacts = artifacts
        own: list[Cache] = [memory, knowledge, WordCaches()]
        self._doors = Doors(sessions, memory, knowledge, standing, [*own, *caches])

    async def source(
        self,
        tenant_id: str = "default",
        *,
        thread_id: str | None = None,
        episode_id: str | None = None,
        memory_id: str | None = None,
        artifact_id: str | None = None,
        dry_run: bool = False,
    ) -> ErasureReport:
        """Forget a thread, an episode, a memory or an artifact, and what only it supported.

        With a thread go its messages, checkpoints, summaries and tool results, what was remembered, learnt and asked
        for once and for all in it, and what its tools gave back, unless another thread names it. A fact that another
        source supports stays, in that source's words. `dry_run` counts and removes nothing.
        """
        subject = _source(check_tenant_id(tenant_id), thread_id, episode_id, memory_id, artifact_id)
        return await self._erase(subject, dry_run)

    async def user(self, user_id: str, *, tenant_id: str = "default", dry_run: bool = False) -> ErasureReport:
        """Forget a user: every thread of theirs, as `source` does, and what says `user_id` in memory and knowledge."""
        return await self._erase(Subject("user", check_user_id(user_id), check_tenant_id(tenant_id)), dry_run)

    async def tenant(self, tenant_id: str, *, dry_run: bool = False) -> ErasureReport:
        """Forget everything of a tenant: every row of every table, every object, every job."""
        database = await self.opened()
        queue = Queue(database, check_tenant_id(tenant_id), whole=True)
        before, blobs = await _emptied(database, tenant_id, dry_run)
        removed = {check.store.partition(".")[2]: check.found for check in before}
        removed |= {"objects": len(blobs), "jobs": await (queue.count() if dry_run else queue.drop())}
        checks = () if dry_run else await self._tenant_checks(database, tenant_id, blobs, queue)
        return ErasureReport(
            scope="tenant",
            subject=tenant_id,
            tenant_id=tenant_id,
            removed={kind: count for kind, count in removed.items() if count},
            ids=bounded({"objects": blobs}),
            checks=checks,
            dry_run=dry_run,
        )

    async def _erase(self, subject: Subject, dry_run: bool) -> ErasureReport:
        database, tenant_id = await self.opened(), subject.tenant_id
        async with database.tenant(tenant_id) as connection:
            gone = await Removal(connection, subject, self._doors.knowledge).remove()
            if dry_run:
                raise Rollback
        queue = Queue(database, tenant_id, thread_ids=gone.found.thread_ids, user_id=subject.user_id)
        jobs = await (queue.count() if dry_run else queue.drop())
        return ErasureReport(
            scope=subject.scope,
            subject=subject.name,
            tenant_id=tenant_id,
            removed=gone.counts | ({"jobs": jobs} if jobs else {}),
            ids=bounded(gone.ids),
            kept=bounded(gone.kept),
            checks=() if dry_run else await self._checks(database, tenant_id, gone, queue),
            dry_run=dry_run,
        )

    async def _checks(self, database: Database, tenant_id: str, gone: Gone, queue: Queue) -> tuple[Check, ...]:
        """After the transaction: the objects go, the caches forget, and every store is asked again."""
        objects = Objects(database, self._artifacts, tenant_id)
        await objects.delete_condemned()
        proof = Proof(database, tenant_id, self._doors)
        checks = [*await proof.of(gone), await queue.check()]
        if gone.blob_ids:
            checks.append(await objects.check(gone.blob_ids))
        # Last: nothing that comes before can bring a word back.
        self._doors.forget(tenant_id)
        return (*checks, *proof.caches())

    async def _tenant_checks(
        self, database: Database, tenant_id: str, blobs: Sequence[str], queue: Queue
    ) -> tuple[Check, ...]:
        objects = Objects(database, self._artifacts, tenant_id)
        await objects.delete_condemned()
        await objects.delete_strays()
        await drop_indexes(database, tenant_id)
        proof = Proof(database, tenant_id, self._doors)
        checks = [*await proof.of_tenant(), await queue.check(), await objects.check_tenant(blobs)]
        self._doors.forget(tenant_id)
        return (*checks, *proof.caches())


async def _emptied(database: Database, tenant_id: str, dry_run: bool) -> tuple[list[Check], list[str]]:
    """How many rows each table had, and the blobs whose objects are to go. All else is gone; in a dry run nothing."""
    async with database.tenant(tenant_id) as connection:
        await connection.execute(_SQL.unhurried)
        for lock in (_SQL.one_at_a_time, _SQL.lock_spaces, _SQL.lock_threads, _KNOWLEDGE.lock_tenant):
            await connection.execute(lock, {"tenant_id": tenant_id})
        before = await count_tenant(connection, tenant_id)
        await empty(connection, tenant_id)
        blobs = await condemn_all(connection, tenant_id)
        if dry_run:
            raise Rollback
    return before, blobs


def _source(
    tenant_id: str, thread_id: str | None, episode_id: str | None, memory_id: str | None, artifact_id: str | None
) -> Subject:
    """The one source that was named."""
    if sum(one is not None for one in (thread_id, episode_id, memory_id, artifact_id)) != 1:
        raise InvalidInput("name one source", where="thread_id, episode_id, memory_id, artifact_id")
    if thread_id is not None:
        return Subject("thread", check_thread_id(thread_id), tenant_id)
    if episode_id is not None:
        return Subject("episode", check_id(episode_id, "episode_id"), tenant_id)
    if artifact_id is not None:
        return Subject("artifact", check_artifact_id(artifact_id), tenant_id)
    checked = check_text(memory_id, "memory_id", max_bytes=MEMORY_ID_MAX_BYTES, allow_empty=False)
    return Subject("memory", checked, tenant_id)

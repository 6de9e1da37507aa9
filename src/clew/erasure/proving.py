"""Asking every store again, in a new transaction and through the rooms' own doors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.standing.kept import StandingInstructions
from clew.erasure.caches import Cache, CountedCache, check
from clew.erasure.removing import Gone
from clew.erasure.report import IDS_MAX, Check
from clew.erasure.tables import count_named, count_tenant
from clew.memory import LongTermMemory
from clew.memory.knowledge import KnowledgeBase
from clew.sessions import SessionStore
from clew.store.database import Database
from clew.store.named_sql import statements

# So many threads are read again; the tables are asked about all of them.
THREADS_ASKED_MAX: Final = 100
_SQL: Final = statements("erasure")


@dataclass(frozen=True, slots=True)
class Doors:
    """The rooms that would show what is left."""

    sessions: SessionStore
    memory: LongTermMemory
    knowledge: KnowledgeBase
    standing: StandingInstructions | None
    caches: Sequence[Cache]

    def forget(self, tenant_id: str) -> None:
        """Keep no words of a tenant in this process."""
        for cache in self.caches:
            cache.forget_tenant(tenant_id)


class Proof:
    """What the stores answer of one tenant, after an erasure."""

    def __init__(self, database: Database, tenant_id: str, doors: Doors) -> None:
        self._database = database
        self._tenant_id = tenant_id
        self._doors = doors

    async def of(self, gone: Gone) -> list[Check]:
        """Whether what went is named in any table, or shown by any room."""
        async with self._database.tenant(self._tenant_id) as connection:
            tables = await count_named(connection, self._tenant_id, gone.named)
        return [*tables, *await self._rooms(gone)]

    async def of_tenant(self) -> list[Check]:
        """Whether the tenant has a row in any table, or an index of its own."""
        async with self._database.tenant(self._tenant_id) as connection:
            tables = await count_tenant(connection, self._tenant_id)
            indexes = await connection.execute(_SQL.indexes_of_tenant, {"tenant_id": self._tenant_id})
            left = len(await indexes.fetchall())
        return [*tables, Check("indexes", f"an index of {self._tenant_id}", left)]

    def caches(self) -> list[Check]:
        """Whether this process keeps words of the tenant."""
        return [check(cache, self._tenant_id) for cache in self._doors.caches if isinstance(cache, CountedCache)]

    async def _rooms(self, gone: Gone) -> Iterable[Check]:
        memories, facts = list(gone.found.memories)[:IDS_MAX], gone.fact_ids[:IDS_MAX]
        threads = gone.found.thread_ids[:THREADS_ASKED_MAX]
        messages = [await self._doors.sessions.read(one, tenant_id=self._tenant_id) for one in threads]
        remembered = await self._doors.memory.fetch(self._tenant_id, memories) if memories else []
        known = await self._doors.knowledge.fetch(facts, tenant_id=self._tenant_id) if facts else []
        checks = [
            Check("sessions", f"messages of {len(threads)} threads", sum(map(len, messages))),
            Check("memory", f"{len(memories)} memories", len(remembered)),
            Check("knowledge", f"{len(facts)} facts", len(known)),
        ]
        if self._doors.standing is not None:
            checks.append(await self._instructions(gone, self._doors.standing))
        return checks

    async def _instructions(self, gone: Gone, standing: StandingInstructions) -> Check:
        ids, user_id = {*gone.found.instruction_ids}, gone.found.subject.user_id
        left: set[str] = set()
        for thread_id in (*gone.found.thread_ids[:THREADS_ASKED_MAX], None):
            held = await standing.active(tenant_id=self._tenant_id, thread_id=thread_id, user_id=user_id)
            left |= ids & {one.instruction_id for one in held}
        return Check("standing instructions", f"{len(ids)} instructions", len(left))

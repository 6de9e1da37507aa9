"""What is to be erased, and everything that it left: by which ids each table names it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg import AsyncConnection

from clew.erasure.report import Scope
from clew.store.named_sql import statements

_SQL: Final = statements("erasure")
_KNOWLEDGE: Final = statements("knowledge")


@dataclass(frozen=True, slots=True)
class Subject:
    """A source or a user, as it was named."""

    scope: Scope
    name: str
    tenant_id: str

    @property
    def user_id(self) -> str | None:
        return self.name if self.scope == "user" else None

    def own(self, scope: Scope) -> list[str]:
        """The id itself, when it is of this kind."""
        return [self.name] if self.scope == scope else []


@dataclass(frozen=True, slots=True)
class Found:
    """What a subject left. Facts and artifacts may be others' too: these are all that it has a part in."""

    subject: Subject
    thread_ids: list[str]
    logged_ids: list[str]
    """Those of the threads that have a log; nobody adds to it until the transaction ends."""
    message_ids: list[str]
    memories: dict[str, int]
    """Their rows' numbers, by id; so are those of facts."""
    episode_ids: list[str]
    facts: dict[str, int]
    instruction_ids: list[str]
    artifact_ids: list[str]

    def named(self, facts: Sequence[str] | None = None, artifacts: Sequence[str] | None = None) -> "Named":
        """By which ids rows name it; with only those facts and artifacts that went, when they are known.

        The id that was given is among them, whether or not anything was found of it.
        """
        fact_ids = list(self.facts if facts is None else facts)
        given = self.subject.own
        return Named(
            ids={
                "thread_id": self.thread_ids,
                "message_id": self.message_ids,
                "memory_id": _once(given("memory"), self.memories),
                "episode_id": _once(given("episode"), self.episode_ids),
                "fact_id": fact_ids,
                "artifact_id": _once(given("artifact"), self.artifact_ids if artifacts is None else artifacts),
                "instruction_id": self.instruction_ids,
                "user_id": given("user"),
            },
            memory_rows=list(self.memories.values()),
            fact_rows=[self.facts[one] for one in fact_ids if one in self.facts],
        )


@dataclass(frozen=True, slots=True)
class Named:
    """Ids by the columns that hold them; row numbers, which memory and knowledge both call `seq`, apart."""

    ids: dict[str, list[str]]
    memory_rows: list[int]
    fact_rows: list[int]


class Search:
    """Finds what a subject left, in the transaction that removes it; other writers of the same things wait."""

    def __init__(self, connection: AsyncConnection[Any], subject: Subject) -> None:
        self._connection = connection
        self._subject = subject
        self._values: dict[str, Any] = {"tenant_id": subject.tenant_id, "user_id": subject.user_id}

    async def find(self) -> Found:
        """Everything of it."""
        await self._rows(_SQL.one_at_a_time)
        threads = await self._threads()
        logged = await self._ids(_SQL.hold_threads, thread_ids=threads) if threads else []
        # Nobody tells or forgets meanwhile: what a fact rests on must not change between looking and removing. After
        # the threads, as whoever learns from one does it: the other way round the two could wait for each other.
        await self._connection.execute(_KNOWLEDGE.lock_tenant, self._values)
        messages = await self._ids(_SQL.messages_of, thread_ids=logged) if logged else []
        own = {"thread_ids": threads, "message_ids": messages}
        memories = await self._rows(_SQL.memories_of, **own, memory_ids=self._subject.own("memory"))
        episodes = await self._ids(_SQL.episodes_of, **own, episode_ids=self._subject.own("episode"))
        return Found(
            subject=self._subject,
            thread_ids=threads,
            logged_ids=logged,
            message_ids=messages,
            memories=dict(memories),
            episode_ids=episodes,
            facts=dict(await self._rows(_SQL.facts_of, episode_ids=episodes)),
            instruction_ids=await self._ids(_SQL.instructions_of, **own),
            artifact_ids=await self._ids(_SQL.artifacts_near, **own, artifact_ids=self._subject.own("artifact")),
        )

    async def _threads(self) -> list[str]:
        if self._subject.scope != "user":
            return self._subject.own("thread")
        mine = {"from": f"{self._subject.tenant_id}/", "to": f"{self._subject.tenant_id}0"}
        return sorted(await self._ids(_SQL.threads_of_user, **mine))

    async def _ids(self, statement: Any, **values: Any) -> list[str]:
        return [row[0] for row in await self._rows(statement, **values)]

    async def _rows(self, statement: Any, **values: Any) -> list[Any]:
        cursor = await self._connection.execute(statement, {**self._values, **values})
        return await cursor.fetchall()


def _once(*several: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(one for ids in several for one in ids))

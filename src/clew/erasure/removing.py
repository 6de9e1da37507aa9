"""Removing what a source or a user left, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg import AsyncConnection

from clew.erasure.objects import drop_artifacts
from clew.erasure.report import Check
from clew.erasure.subject import Found, Named, Search, Subject
from clew.erasure.tables import count_named, place
from clew.memory.knowledge import KnowledgeBase
from clew.memory.writing import add_total, drop_derived
from clew.store.named_sql import statements

_SQL: Final = statements("erasure")
_ARTIFACTS: Final = statements("artifacts")


@dataclass(frozen=True, slots=True)
class Gone:
    """What was removed, and what was not, though the subject had a part in it."""

    found: Found
    fact_ids: list[str]
    kept_fact_ids: list[str]
    artifact_ids: list[str]
    kept_artifact_ids: list[str]
    naming_threads: list[str]
    blob_ids: list[str]
    counts: dict[str, int]

    @property
    def named(self) -> Named:
        """By which ids it must not be found any more."""
        return self.found.named(self.fact_ids, self.artifact_ids)

    @property
    def ids(self) -> dict[str, list[str]]:
        """By kind, as the report tells them."""
        return {
            "threads": self.found.thread_ids if self.counts else [],
            "messages": self.found.message_ids,
            "memories": list(self.found.memories),
            "episodes": self.found.episode_ids,
            "facts": self.fact_ids,
            "instructions": self.found.instruction_ids,
            "artifacts": self.artifact_ids,
            "objects": self.blob_ids,
        }

    @property
    def kept(self) -> dict[str, list[str]]:
        """What others hold too."""
        return {"facts": self.kept_fact_ids, "artifacts": self.kept_artifact_ids, "threads": self.naming_threads}


class Removal:
    """Removes what one subject left, in the caller's transaction."""

    def __init__(self, connection: AsyncConnection[Any], subject: Subject, knowledge: KnowledgeBase) -> None:
        self._connection = connection
        self._subject = subject
        self._tenant_id = subject.tenant_id
        self._knowledge = knowledge

    async def remove(self) -> Gone:
        """Find it, count it, remove it; what went is what is counted no more."""
        await self._rows(_SQL.unhurried)
        found = await Search(self._connection, self._subject).find()
        before = await count_named(self._connection, self._tenant_id, found.named())
        artifacts = await self._artifacts(found)
        naming = await self._naming_threads(found, artifacts)
        blobs = await self._drop(found, artifacts)
        told = await self._knowledge.forget_source(self._connection, self._tenant_id, episode_ids=found.episode_ids)
        after = await count_named(self._connection, self._tenant_id, found.named())
        return Gone(
            found=found,
            fact_ids=told.facts,
            kept_fact_ids=told.kept,
            artifact_ids=artifacts,
            kept_artifact_ids=sorted({*found.artifact_ids} - {*artifacts}),
            naming_threads=naming,
            blob_ids=blobs,
            counts=_difference(before, after, objects=len(blobs)),
        )

    async def _artifacts(self, found: Found) -> list[str]:
        """Those that go: the one that was named, or what only these threads keep. Their checkpoints go on the way."""
        await self._rows(_SQL.hold_artifacts, artifact_ids=found.artifact_ids)
        await self._rows(_SQL.drop_checkpoints, stored_ids=[f"{self._tenant_id}/{one}" for one in found.thread_ids])
        if self._subject.scope == "artifact" or not found.artifact_ids:
            return found.artifact_ids
        wanted = {"thread_ids": found.thread_ids, "artifact_ids": found.artifact_ids}
        only = [row[0] for row in await self._rows(_SQL.artifacts_only_of, **wanted)]
        # Asked after the threads' own checkpoints are gone: those that are left are others'.
        mine = place(self._tenant_id)
        named = await self._rows(_ARTIFACTS.named_by_checkpoints, **mine, artifact_ids=only) if only else []
        return sorted({*only} - {row[0] for row in named})

    async def _naming_threads(self, found: Found, artifact_ids: Sequence[str]) -> list[str]:
        asked = {"artifact_ids": artifact_ids, "thread_ids": found.thread_ids}
        return sorted(row[0] for row in await self._rows(_SQL.threads_naming, **asked))

    async def _drop(self, found: Found, artifact_ids: Sequence[str]) -> list[str]:
        """Delete all but what was told, which knowledge does itself; the blobs that are nobody's now."""
        going = {"thread_ids": found.thread_ids, "artifact_ids": artifact_ids}
        await self._rows(_SQL.drop_threads, thread_ids=found.logged_ids)
        for statement in (_SQL.drop_tool_results, _SQL.drop_artifact_uses):
            await self._rows(statement, **going)
        await self._rows(_SQL.drop_instructions, instruction_ids=found.instruction_ids)
        await self._drop_memories(list(found.memories))
        return await drop_artifacts(self._connection, self._tenant_id, artifact_ids)

    async def _drop_memories(self, memory_ids: list[str]) -> None:
        rows = await self._rows(_SQL.drop_memories, memory_ids=memory_ids)
        if rows:
            await drop_derived(self._connection, self._tenant_id, [seq for seq, _ in rows])
            length = sum(length for _, length in rows)
            await add_total(self._connection, self._tenant_id, entries=-len(rows), length=-length)
        await self._rows(_SQL.drop_memory_changes, memory_ids=memory_ids)

    async def _rows(self, statement: Any, **values: Any) -> list[Any]:
        cursor = await self._connection.execute(statement, {"tenant_id": self._tenant_id, **values})
        return await cursor.fetchall() if cursor.description else []


def _difference(before: Sequence[Check], after: Sequence[Check], **more: int) -> dict[str, int]:
    """How many rows of each table went, by its plain name; nothing of those that lost none."""
    left = {check.store: check.found for check in after}
    went = {check.store.partition(".")[2]: check.found - left.get(check.store, 0) for check in before}
    return {kind: count for kind, count in {**went, **more}.items() if count > 0}

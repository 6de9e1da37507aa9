"""`HierarchicalMemory`: three depths of one agent's past, from the last words to what once went wrong."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from clew.context.compactor import Compactor
from clew.context.views import SessionSummary, Views
from clew.errors import InvalidInput
from clew.ids import check_tenant_id, new_id
from clew.limits import check_json, check_text
from clew.memory import LongTermMemory, MemoryEntry
from clew.memory.analysis import content_stems, words
from clew.messages import group, repair, to_openai
from clew.sessions import SessionStore
from clew.sessions.rows import SESSION_READ_MAX, check_thread_id
from clew.store.database import Database
from clew.store.room import Room

WORKING_MESSAGES: Final = 5
SESSION_SUMMARIES: Final = 3
PAST_EXPERIENCES: Final = 2
# Summaries of so many of the tenant's threads are looked at, the most recent ones.
SUMMARIES_READ: Final = 200
# To show a message with the call it answers, a little more than the last few is read.
READ_AHEAD: Final = 20
READ_GROWTH: Final = 8
EXPERIENCE: Final = "experience"
# BM25's usual constants.
_K1: Final = 1.2
_B: Final = 0.75


class HierarchicalMemory(Room):
    """Working messages in full, summaries of sessions, and past experience, for one thread of one tenant.

        past = clew.HierarchicalMemory(tenant_id="acme", thread_id="nightly-run")
        await past.add_message({"role": "user", "content": "Test the checkout"})
        await past.add_experience(failure="button #pay not found", fix="look it up by its text: Pay now")
        await past.get_context("the pay button is missing")

    Messages go to the session log and are compacted as any others; experience goes to long-term memory.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        *,
        thread_id: str = "default",
        tenant_id: str = "default",
        agent_id: str = "default",
        memory: LongTermMemory | None = None,
        compactor: Compactor | None = None,
    ) -> None:
        super().__init__(database)
        self._thread_id, self._tenant_id = check_thread_id(thread_id), check_tenant_id(tenant_id)
        self._agent_id = check_text(agent_id, "agent_id", allow_empty=False)
        self._sessions, self._views = SessionStore(self), Views(self)
        self._memory = LongTermMemory(self) if memory is None else memory
        self._own_compactor = compactor is None
        self._compactor = Compactor(self) if compactor is None else compactor

    async def close(self) -> None:
        """Let running work end, and close the database, unless it was given to us open."""
        if self._own_compactor:
            await self._compactor.close()
        await super().close()

    async def add_message(self, message: Any) -> None:
        """Add a message to the thread; one that grew long is compacted in the background."""
        await self._sessions.append(self._thread_id, message, tenant_id=self._tenant_id)
        current = await self._compactor.current(self._thread_id, tenant_id=self._tenant_id)
        await self._compactor.compact_when_due(current)

    async def add_experience(self, failure: str, fix: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Remember what went wrong and what helped; its id."""
        failure, fix = check_text(failure, "failure", allow_empty=False), check_text(fix, "fix", allow_empty=False)
        if not (metadata is None or isinstance(metadata, Mapping)):
            raise InvalidInput(f"expected a mapping, got {type(metadata).__name__}", where="metadata")
        check_json(dict(metadata or {}), "metadata")
        now = datetime.now(UTC)
        return await self._memory.store(
            MemoryEntry(
                memory_id=new_id(),
                tenant_id=self._tenant_id,
                agent_id=self._agent_id,
                content=f"Failure: {failure}\nWhat worked: {fix}",
                metadata={**(metadata or {}), "kind": EXPERIENCE, "failure": failure, "fix": fix},
                created_at=now,
                updated_at=now,
            )
        )

    async def experiences(self, failure: str, limit: int = PAST_EXPERIENCES) -> list[MemoryEntry]:
        """Similar failures of the past, best first; `metadata["fix"]` is what worked."""
        return await self._memory.search(self._tenant_id, failure, limit, filters={"metadata.kind": EXPERIENCE})

    async def get_context(self, query: str) -> list[dict[str, Any]]:
        """The working messages in full, then the session summaries and the past experience that answer the query."""
        check_text(query, "query", allow_empty=False)
        working = await self._working()
        summaries = ranked(await self._summaries(), query)[:SESSION_SUMMARIES]
        past = await self.experiences(query)
        told = [f"[Summary of the session {one.thread_id}]\n{one.text}\n[End of the summary]" for one in summaries]
        told += [f"[Past experience]\n{entry.content}\n[End of past experience]" for entry in past]
        return [*working, *({"role": "user", "content": text} for text in told)]

    async def _working(self) -> list[dict[str, Any]]:
        """The last messages, fit to be sent; more where a result would otherwise stand without its call."""
        limit = WORKING_MESSAGES + READ_AHEAD
        rows = await self._sessions.read(self._thread_id, limit, tenant_id=self._tenant_id)
        while len(rows) == limit < SESSION_READ_MAX and rows[0].message.role == "tool":
            limit = min(limit * READ_GROWTH, SESSION_READ_MAX)
            rows = await self._sessions.read(self._thread_id, limit, tenant_id=self._tenant_id)
        messages = repair(row.message for row in rows).messages
        start = max(0, len(messages) - WORKING_MESSAGES)
        for found in group(messages):
            if found.start < start < found.start + len(found.messages):
                start = found.start
        return to_openai(messages[start:])

    async def _summaries(self) -> list[SessionSummary]:
        return await self._views.summaries(SUMMARIES_READ, tenant_id=self._tenant_id)


def ranked(summaries: Sequence[SessionSummary], query: str) -> list[SessionSummary]:
    """The summaries by what they share with the query (BM25), the best first; of equals the more recent."""
    counts = [Counter(_terms(one.text)) for one in summaries]
    lengths = [sum(count.values()) for count in counts]
    usual = sum(lengths) / len(lengths) if lengths else 1.0
    scores = [0.0] * len(summaries)
    for term in set(_terms(query)):
        holding = sum(term in count for count in counts)
        rarity = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
        for place, count in enumerate(counts):
            damped = count[term] + _K1 * (1 - _B + _B * lengths[place] / usual)
            scores[place] += rarity * count[term] * (_K1 + 1) / damped
    order = sorted(range(len(summaries)), key=lambda place: -scores[place])
    return [summaries[place] for place in order]


def _terms(text: str) -> list[str]:
    return content_stems(words(text))

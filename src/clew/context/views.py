"""Where the views of threads are kept: each committed whole or not at all, and every refusal with its reason."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from clew.context.compaction import Refused, View
from clew.errors import BudgetExceeded
from clew.ids import check_tenant_id, new_id
from clew.limits import check_count
from clew.sessions.rows import check_thread_id
from clew.store.named_sql import statements
from clew.store.room import Room

HISTORY_READ_MAX: Final = 1_000
# After a refusal, so many messages must come before the next attempt by itself: the same stretch would fail again.
RETRY_AFTER_MESSAGES: Final = 5
PINS_MAX: Final = 10_000
REASON_MAX_CHARS: Final = 2_000
# What PostgreSQL can't hold in a text.
_UNWRITABLE: Final = re.compile("[\x00\ud800-\udfff]")
_SQL: Final = statements("compactions")


@dataclass(frozen=True, slots=True)
class Compaction:
    """A committed change of what a model sees of a thread."""

    compaction_id: str
    thread_id: str
    generation: int
    view: View
    tiers: tuple[str, ...]
    """What was done, cheapest first: `repeat`, `clear`, `summarise`."""
    tokens_before: int
    tokens_after: int
    created_at: datetime

    @property
    def summary(self) -> str:
        """The summary as a model with `recall_messages` sees it; empty when the cheaper tiers were enough."""
        return self.view.summary.text(references=True) if self.view.summary else ""

    @property
    def through(self) -> int:
        """The last position of the log that the summary stands for."""
        return self.view.through


@dataclass(frozen=True, slots=True)
class Refusal:
    """A compaction that was not committed, and why: the view stayed as it was."""

    refusal_id: str
    thread_id: str
    code: str
    reason: str
    at_position: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What the older part of one thread was about."""

    thread_id: str
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Current:
    """A thread as it is now: the length of its log, and what a model sees of it."""

    tenant_id: str
    thread_id: str
    thread_created_at: datetime
    messages: int
    log_tokens: int
    generation: int
    view: View
    view_tokens: int
    refused_at: int
    """How long the log was when a compaction was last refused; 0 when none ever was."""
    pinned: tuple[int, ...]
    """The positions of what never leaves the window."""

    @property
    def refused_lately(self) -> bool:
        """Whether too little was said since a compaction was refused to try another one unasked."""
        return bool(self.refused_at) and self.messages < self.refused_at + RETRY_AFTER_MESSAGES

    @property
    def view_messages(self) -> int:
        """The messages that no summary stands for."""
        return self.messages - self.view.through


class Views(Room):
    """The views of threads, in PostgreSQL."""

    async def current(self, thread_id: str, *, tenant_id: str = "default") -> Current | None:
        """The thread's view and size; None for a thread that has no log."""
        place = {"tenant_id": check_tenant_id(tenant_id), "thread_id": check_thread_id(thread_id)}
        async with (await self.opened()).tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.current, {**place, "pins": PINS_MAX + 1})).fetchone()
        if row is None:
            return None
        if len(row[-1]) > PINS_MAX:
            raise BudgetExceeded(f"the thread has more than {PINS_MAX:,} pinned messages", where="thread_id")
        created_at, messages, log_tokens, generation, view, tokens_then, tokens_after, refused_at, pinned = row
        return Current(
            **place,
            thread_created_at=created_at,
            messages=messages,
            log_tokens=log_tokens,
            generation=generation or 0,
            view=View() if view is None else View.from_json(json.loads(view)),
            view_tokens=log_tokens if view is None else tokens_after + log_tokens - tokens_then,
            refused_at=refused_at or 0,
            pinned=tuple(pinned),
        )

    async def commit(
        self, base: Current, view: View, *, tiers: tuple[str, ...], tokens_before: int, tokens_after: int
    ) -> Compaction | None:
        """The view as the thread's next one; None when another was faster, or the thread is another by now."""
        row = {
            **_place(base),
            "compaction_id": new_id(),
            "generation": base.generation + 1,
            "through": view.through,
            "view": json.dumps(view.as_json(), ensure_ascii=False, separators=(",", ":")),
            "tiers": list(tiers),
            "log_tokens": base.log_tokens,
            "tokens_before": tokens_before,
            "tokens_after": tokens_after,
        }
        async with (await self.opened()).tenant(base.tenant_id) as connection:
            stored = await (await connection.execute(_SQL.commit, row)).fetchone()
        if stored is None:
            return None
        return Compaction(
            row["compaction_id"],
            base.thread_id,
            row["generation"],
            view,
            tiers,
            tokens_before,
            tokens_after,
            stored[0].astimezone(UTC),
        )

    async def refuse(self, base: Current, refused: Refused) -> None:
        """Record why a compaction was not committed."""
        row = {
            **_place(base),
            "refusal_id": new_id(),
            "generation": base.generation + 1,
            "at_position": base.messages,
            "code": refused.code,
            "reason": _UNWRITABLE.sub("\ufffd", refused.reason)[:REASON_MAX_CHARS],
        }
        async with (await self.opened()).tenant(base.tenant_id) as connection:
            await connection.execute(_SQL.refuse, row)

    async def committed(self, thread_id: str, limit: int = 50, *, tenant_id: str = "default") -> list[Compaction]:
        """The thread's compactions, the newest first."""
        rows = await self._listed(_SQL.committed, thread_id, limit, tenant_id)
        return [
            Compaction(id, thread_id, generation, View.from_json(json.loads(view)), tuple(tiers), before, after, when)
            for id, generation, view, tiers, before, after, when in rows
        ]

    async def refusals(self, thread_id: str, limit: int = 50, *, tenant_id: str = "default") -> list[Refusal]:
        """The compactions of the thread that were refused, the newest first."""
        return [
            Refusal(id, thread_id, code, reason, at_position, when)
            for id, _, at_position, code, reason, when in await self._listed(_SQL.refused, thread_id, limit, tenant_id)
        ]

    async def summaries(self, limit: int = 50, *, tenant_id: str = "default") -> list[SessionSummary]:
        """The summary of each of the tenant's threads that has one, the most recent first."""
        page = {"tenant_id": check_tenant_id(tenant_id), "limit": check_count(limit, "limit", most=HISTORY_READ_MAX)}
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.newest_of_threads, page)).fetchall()
        seen = [(thread_id, View.from_json(json.loads(view)).summary, when) for thread_id, view, when in rows]
        return [SessionSummary(id, one.text(references=False), when.astimezone(UTC)) for id, one, when in seen if one]

    async def _listed(self, statement: Any, thread_id: str, limit: int, tenant_id: str) -> list[tuple[Any, ...]]:
        """Rows whose last column is a moment, which is made UTC."""
        page = {
            "tenant_id": check_tenant_id(tenant_id),
            "thread_id": check_thread_id(thread_id),
            "limit": check_count(limit, "limit", most=HISTORY_READ_MAX),
        }
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(statement, page)).fetchall()
        return [(*row[:-1], row[-1].astimezone(UTC)) for row in rows]


def _place(base: Current) -> dict[str, Any]:
    return {
        "tenant_id": base.tenant_id,
        "thread_id": base.thread_id,
        "thread_created_at": base.thread_created_at,
    }

"""`Compactor`: old turns become a summary in the view; the log itself is never changed."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from clew.context.compaction import (
    Entry,
    Policy,
    Proposal,
    Refused,
    View,
    is_due,
    propose,
    shown,
)
from clew.context.compaction.units import units
from clew.context.recall import positions_of
from clew.context.summarising import SUMMARY_TIMEOUT_S, Complete, Writer, check_timeout, verified_view
from clew.context.views import Compaction, Current, Refusal, Views
from clew.errors import InvalidInput, Unavailable
from clew.logs import logger
from clew.messages import Message
from clew.sessions import SessionStore, StoredMessage
from clew.sessions.rows import SESSION_READ_MAX
from clew.store.database import Database
from clew.store.jobs import Jobs
from clew.store.room import Room

log: Final = logger("clew.context")

TASK: Final = "compact"
# The share of what was said (numbers, dates, paths, names …) that a summary must keep to be committed.
KEEP_SHARE: Final = 0.9
# A log is read in pages, from the last cut on; past so many messages the rest waits for the next compaction.
READ_MAX_MESSAGES: Final = 50_000
# How far from a pinned call its results may stand, or the other way round.
UNIT_REACH: Final = 64
# The last requests that are remembered, for a summary to continue.
REQUESTS_MAX: Final = 64


class Compactor(Room):
    """Keeps what a model sees of a thread small: past a threshold, older turns are replaced by a verified summary.

        compactor = clew.Compactor(threshold_messages=20, keep_recent=10, threshold_tokens=100_000)
        await compactor.compact("support-42", tenant_id="acme")     # Compaction, or None when nothing changed

    `write_summary` is a model (`async (messages) -> text`); without one, summaries are extracted, offline. A summary
    that fails, or that loses what it should keep, changes nothing, and `refusals` says why. `jobs` does the work of
    `wait=False` in the background.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        *,
        threshold_messages: int = 20,
        keep_recent: int = 10,
        threshold_tokens: int = 100_000,
        keep_share: float = KEEP_SHARE,
        write_summary: Complete | None = None,
        timeout_s: float = SUMMARY_TIMEOUT_S,
        jobs: Jobs | None = None,
    ) -> None:
        super().__init__(database)
        if not (write_summary is None or callable(write_summary)):
            raise InvalidInput(f"expected a function, got {type(write_summary).__name__}", where="write_summary")
        self.policy = Policy(
            threshold_messages=threshold_messages,
            keep_recent=keep_recent,
            threshold_tokens=threshold_tokens,
            keep_share=keep_share,
        )
        self._sessions, self._views = SessionStore(self), Views(self)
        self._write_summary, self._timeout_s = write_summary, check_timeout(timeout_s)
        self._requests: OrderedDict[tuple[str, str], _Request] = OrderedDict()
        self._own_jobs = jobs is None
        self._jobs = Jobs(self) if jobs is None else jobs
        self._jobs.task(TASK, self._job)

    async def close(self) -> None:
        """Let running work end, and close the database, unless it was given to us open."""
        if self._own_jobs:
            await self._jobs.close()
        await super().close()

    async def current(self, thread_id: str, *, tenant_id: str = "default") -> Current | None:
        """What a model sees of the thread now; None for a thread that has no log."""
        return await self._views.current(thread_id, tenant_id=tenant_id)

    async def compact(self, thread_id: str, *, tenant_id: str = "default", wait: bool = True) -> Compaction | None:
        """Make the thread's view smaller, if it is past a threshold; what was committed, or None.

        With `wait=False` the work is left to a background job, and None is returned at once.
        """
        current = await self.current(thread_id, tenant_id=tenant_id)
        if current is None or not self._is_due(current):
            return None
        if not wait:
            await self._defer(current)
            return None
        entries = await self.entries(current)
        proposal = await asyncio.to_thread(propose, current.view, entries, self.policy)
        if proposal is None:
            # Told like a refusal, so that a thread that stays due is not looked at with every message.
            await self._refuse(current, Refused("nothing_to_move", "What could be moved is not worth a cut yet."))
            return None
        view = await verified_view(current.view, proposal, entries, self.policy, self._writer(current, proposal))
        if isinstance(view, Refused):
            await self._refuse(current, view)
            return None
        return await self._commit(current, view, proposal.tiers, entries)

    async def compact_when_due(self, current: Current | None) -> bool:
        """Leave a thread that is past a threshold to a background job; whether one was queued."""
        if current is None or current.refused_lately or not self._is_due(current):
            return False
        try:
            return await self._defer(current)
        except Unavailable as error:
            # The context is compiled and on its way; the thread is still due the next time.
            log.warning("compaction_not_queued", thread_id=current.thread_id, error=str(error))
            return False

    async def recall_messages(
        self,
        thread_id: str,
        query: str | None = None,
        *,
        positions: str | Sequence[int] | None = None,
        limit: int = 10,
        tenant_id: str = "default",
    ) -> list[StoredMessage]:
        """The originals, whatever the view shows: by their positions (`"3-7, 12"`), or by the words they hold."""
        if (query is None) == (positions is None):
            raise InvalidInput("give either query or positions", where="query")
        if positions is not None:
            return await self._sessions.at(thread_id, positions_of(positions), tenant_id=tenant_id)
        return await self._sessions.search(thread_id, query or "", limit, tenant_id=tenant_id, match="any")

    async def compactions(self, thread_id: str, limit: int = 50, *, tenant_id: str = "default") -> list[Compaction]:
        """What was committed, the newest first."""
        return await self._views.committed(thread_id, limit, tenant_id=tenant_id)

    async def refusals(self, thread_id: str, limit: int = 50, *, tenant_id: str = "default") -> list[Refusal]:
        """What was not committed, and why; the newest first."""
        return await self._views.refusals(thread_id, limit, tenant_id=tenant_id)

    async def entries(self, current: Current) -> list[Entry]:
        """The log after the last cut, and the pinned messages before it."""
        pinned = await self.staying(current, current.view.through)
        rows: list[StoredMessage] = []
        last = min(current.messages, current.view.through + READ_MAX_MESSAGES)
        for first in range(current.view.through + 1, last + 1, SESSION_READ_MAX):
            end = min(first + SESSION_READ_MAX, last + 1)
            rows += await self._sessions.read(current.thread_id, end - first, before=end, tenant_id=current.tenant_id)
        return entries_of([*pinned, *rows])

    async def staying(self, current: Current, through: int) -> list[StoredMessage]:
        """The messages up to a position that never leave the window, a call always with its results."""
        pins = {position for position in (*current.view.pinned, *current.pinned) if position <= through}
        if not pins:
            return []
        rows = await self._at(current, pins)
        around = {
            position
            for row in rows
            if row.message.tool_calls or row.message.tool_results
            for position in range(max(1, row.position - UNIT_REACH), min(through, row.position + UNIT_REACH) + 1)
        }
        if not around:
            return rows
        near = await self._at(current, pins | around)
        whole = {
            entry.position
            for unit in units(entries_of(near))
            if any(entry.position in pins for entry in unit.entries)
            for entry in unit.entries
        }
        return [row for row in near if row.position in pins | whole]

    async def _at(self, current: Current, positions: set[int]) -> list[StoredMessage]:
        wanted = sorted(positions)
        pages = [wanted[start : start + SESSION_READ_MAX] for start in range(0, len(wanted), SESSION_READ_MAX)]
        return [
            row
            for page in pages
            for row in await self._sessions.at(current.thread_id, page, tenant_id=current.tenant_id)
        ]

    def remember_request(
        self, tenant_id: str, thread_id: str, sent: list[dict[str, Any]], message_ids: frozenset[str]
    ) -> None:
        """What was last sent to the model for a thread, so that the request for a summary can continue it."""
        if self._write_summary is None:
            return
        self._requests[tenant_id, thread_id] = _Request(sent, message_ids)
        self._requests.move_to_end((tenant_id, thread_id))
        while len(self._requests) > REQUESTS_MAX:
            self._requests.popitem(last=False)

    def remembers(self, tenant_id: str) -> int:
        """How many of a tenant's last requests are kept here."""
        return sum(key[0] == tenant_id for key in self._requests)

    def forget_tenant(self, tenant_id: str) -> None:
        """Forget a tenant's last requests."""
        for key in [key for key in self._requests if key[0] == tenant_id]:
            del self._requests[key]

    def _is_due(self, current: Current) -> bool:
        return is_due(current.view, current.view_messages, current.view_tokens, self.policy)

    async def _defer(self, current: Current) -> bool:
        key = f"{TASK}/{current.tenant_id}/{current.thread_id}"
        return await self._jobs.defer(
            TASK, once=key, lock=key, tenant_id=current.tenant_id, thread_id=current.thread_id
        )

    async def _job(self, *, tenant_id: str, thread_id: str) -> None:
        await self.compact(thread_id, tenant_id=tenant_id)

    def _writer(self, current: Current, proposal: Proposal) -> Writer | None:
        """The model, with the thread's last request, when that held everything that the summary is about."""
        if self._write_summary is None:
            return None
        last = self._requests.get((current.tenant_id, current.thread_id))
        held = last is not None and last.message_ids.issuperset(entry.message.id or "" for entry in proposal.replaced)
        return Writer(self._write_summary, last.sent if last is not None and held else None, self._timeout_s)

    async def _commit(
        self, current: Current, view: View, tiers: tuple[str, ...], entries: Sequence[Entry]
    ) -> Compaction | None:
        tokens = {
            "tokens_before": await asyncio.to_thread(_tokens, current.view, entries),
            "tokens_after": await asyncio.to_thread(_tokens, view, entries),
        }
        committed = await self._views.commit(current, view, tiers=tiers, **tokens)
        who = {"tenant_id": current.tenant_id, "thread_id": current.thread_id}
        if committed is None:
            log.info("compaction_overtaken", **who)
        else:
            log.info("compacted", **who, tiers=tiers, through=view.through, **tokens)
        return committed

    async def _refuse(self, current: Current, refused: Refused) -> None:
        log.warning("compaction_refused", tenant_id=current.tenant_id, thread_id=current.thread_id, code=refused.code)
        await self._views.refuse(current, refused)


class _Request:
    def __init__(self, sent: list[dict[str, Any]], message_ids: frozenset[str]) -> None:
        self.sent, self.message_ids = sent, message_ids


def entries_of(rows: Sequence[StoredMessage]) -> list[Entry]:
    """Rows of the log as compaction takes them."""
    return [Entry(row.position, _named(row), row.tokens) for row in rows]


def _named(row: StoredMessage) -> Message:
    return row.message.model_copy(update={"id": row.message_id})


def _tokens(view: View, entries: Sequence[Entry]) -> int:
    return sum(item.tokens for item in shown(view, entries, references=True))

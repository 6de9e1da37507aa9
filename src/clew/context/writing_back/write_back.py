"""`WriteBack`: reads what was said, once, and keeps what it tells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from psycopg import AsyncConnection

from clew.context.assertions.assertion import CONFIDENCE, Assertion
from clew.context.standing.kept import Heard, KeptInstruction, StandingInstructions
from clew.context.writing_back.telling import Learnt, Refused, Telling, body_of, telling_of
from clew.errors import ClewError, InvalidInput
from clew.ids import check_tenant_id
from clew.limits import check_text
from clew.logs import logger
from clew.memory.gate import Gate, Verdict
from clew.memory.knowledge import EpisodeResult, KnowledgeBase
from clew.sessions import SessionStore, StoredMessage
from clew.sessions.rows import check_thread_id
from clew.store.jobs import Jobs
from clew.store.named_sql import statements
from clew.store.room import Room

log: Final = logger("clew.context")

# So much of a backlog is read at once; a thread that was imported is read on in the background.
READ_MAX_MESSAGES: Final = 200
# What "it" and "that figure" refer to was said in one of so many messages before.
BEFORE_MESSAGES: Final = 6
ATTEMPTS_MAX: Final = 20
TASK: Final = "read_thread"
SOURCE_TYPES: Final = tuple(CONFIDENCE)
CONTENT_MAX_BYTES: Final = 20_000
RESULT_MAX_CHARS: Final = 20_000
_SQL: Final = statements("writing_back")


class Shown(Protocol):
    """Says what a thread was last shown from memory: none of it is news."""

    async def shown(self, tenant_id: str, thread_id: str) -> list[str]: ...

    async def near(self, tenant_id: str, content: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class _Place:
    tenant_id: str
    thread_id: str
    created_at: datetime
    user_id: str | None


class _Overtaken(Exception):
    """Somebody else read on, or the thread was cleared: nothing of ours is stored."""


class WriteBack(Room):
    """Facts and standing instructions out of conversations, each message read once.

    A message counts as read in the transaction that stores what it told. So nothing is told twice, a crash in between
    loses nothing, and a failure leaves the message for the next time.
    """

    def __init__(
        self,
        database: Any = None,
        *,
        knowledge: KnowledgeBase | None = None,
        standing: StandingInstructions | None = None,
        gate: Gate | None = None,
        shown: Shown | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        super().__init__(database)
        self._sessions = SessionStore(self)
        self._knowledge = KnowledgeBase(self) if knowledge is None else knowledge
        self._standing = StandingInstructions(self) if standing is None else standing
        self._gate = Gate() if gate is None else gate
        self._shown, self._jobs = shown, jobs
        if jobs is not None:
            jobs.task(TASK, self._job)

    async def catch_up(self, thread_id: str, *, tenant_id: str = "default") -> Learnt:
        """Read what a thread has that was not read before, and keep what it tells; what that was.

        Of a long backlog the oldest messages are read, and the rest by a background job where there are jobs.
        """
        check_tenant_id(tenant_id)
        check_thread_id(thread_id)
        learnt = Learnt()
        for _ in range(ATTEMPTS_MAX):
            thread = await self._thread(tenant_id, thread_id)
            if thread is None:
                break
            place, through, count = thread
            learnt.user_id = place.user_id
            if through >= count:
                break
            try:
                await self._read(place, through, min(count, through + READ_MAX_MESSAGES), learnt)
            except _Overtaken:
                continue
            if count > through + READ_MAX_MESSAGES:
                await self._defer(place)
            break
        return learnt

    async def index(
        self,
        content: str,
        source_type: str = "new_info",
        *,
        tenant_id: str = "default",
        thread_id: str | None = None,
    ) -> "EpisodeResult | str":
        """Keep one statement of an agent's; what it changed, or the reason for which the gate refused it."""
        check_tenant_id(tenant_id)
        check_text(content, "content", max_bytes=CONTENT_MAX_BYTES, allow_empty=False)
        if source_type not in SOURCE_TYPES:
            raise InvalidInput("is not known", where="source_type", fix=f"Use one of {', '.join(SOURCE_TYPES)}")
        assertion = Assertion(source_type, content)
        place = None
        if thread_id is not None:
            row = await self._thread(tenant_id, check_thread_id(thread_id))
            place = row[0] if row else None
        verdict = await self._checked(tenant_id, thread_id, assertion, "agent")
        if verdict.content is None:
            await self._count(tenant_id, [verdict.reason or "unreadable"])
            return verdict.reason or "unreadable"
        return await self._knowledge.add_episode(
            _name(thread_id),
            verdict.content,
            source_description="kept by the agent",
            tenant_id=tenant_id,
            thread_id=thread_id,
            user_id=place.user_id if place else None,
            confidence=assertion.confidence,
        )

    async def refused(self, *, tenant_id: str = "default") -> list[Refused]:
        """What the gate kept out, counted by its reason, the most frequent first."""
        check_tenant_id(tenant_id)
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.refusals, {"tenant_id": tenant_id})).fetchall()
        return [Refused(*row) for row in rows]

    async def _read(self, place: _Place, through: int, end: int, learnt: Learnt) -> None:
        """The messages up to `end`, one after the other; the mark moves with each that tells something."""
        first = max(1, through - BEFORE_MESSAGES + 1)
        rows = await self._sessions.read(place.thread_id, end - first + 1, before=end + 1, tenant_id=place.tenant_id)
        active = await self._active(place)
        for at, row in enumerate(rows):
            if row.position <= through:
                continue
            telling = telling_of(row, rows[max(0, at - BEFORE_MESSAGES) : at], active)
            if telling.assertion is None and not telling.instructs:
                continue
            await self._keep(place, through, row, telling, learnt)
            learnt.messages += row.position - through
            through = row.position
            active = await self._active(place) if telling.instructs else active
        if through < end:
            async with (await self.opened()).tenant(place.tenant_id) as connection:
                await _move(connection, place, through, end)
            learnt.messages += end - through

    async def _active(self, place: _Place) -> list[KeptInstruction]:
        return await self._standing.active(tenant_id=place.tenant_id, thread_id=place.thread_id, user_id=place.user_id)

    async def _keep(self, place: _Place, through: int, row: StoredMessage, telling: Telling, learnt: Learnt) -> None:
        """What one message tells, and the mark behind it, in one transaction."""
        wishes = [(one, self._gate.check_wish(one.text, forbids=one.forbids)) for one in telling.given]
        telling = replace(telling, given=tuple(one for one, checked in wishes if checked.kept))
        verdict = await self._verdict(place, row, telling)
        checked = [one for _, one in wishes] + ([] if verdict is None else [verdict])
        refused = [one.reason or "unreadable" for one in checked if not one.kept]

        async def also(connection: AsyncConnection[Any]) -> None:
            await _move(connection, place, through, row.position)
            await self._standing.heard(connection, place.tenant_id, said=_heard(place, row, telling))
            await _count(connection, place.tenant_id, refused)

        told = None
        if verdict is not None and verdict.content is not None and telling.assertion is not None:
            try:
                told = await self._told(place, row, telling.assertion, verdict.content, also)
            except InvalidInput:
                refused.append("unreadable")  # and would be the next time: the thread must not stop at it
        if told is None:
            async with (await self.opened()).tenant(place.tenant_id) as connection:
                await also(connection)
        learnt.episodes += [] if told is None else [told]
        learnt.instructions += len(telling.given)
        learnt.revoked += len(telling.revoked)
        learnt.refused += refused

    async def _verdict(self, place: _Place, row: StoredMessage, telling: Telling) -> Verdict | None:
        if telling.assertion is None:
            return None
        source = "tool" if row.message.role == "tool" else "user"
        if source == "tool":
            # The whole of it: what a result says beside an order, it says for the order's sake.
            whole = self._gate.check(row.message.text[:RESULT_MAX_CHARS], source="tool")
            if whole.reason == "instruction":
                return whole
        return await self._checked(place.tenant_id, place.thread_id, telling.assertion, source)

    async def _told(
        self, place: _Place, row: StoredMessage, assertion: Assertion, content: str, also: Any
    ) -> EpisodeResult:
        said: dict[str, Any] = {"role": row.message.role, "content": content, "id": row.message_id}
        if row.message.role == "tool":
            said = {"role": "user", "content": content, "id": row.message_id, "name": "tool"}
        else:
            said["name"] = row.message.name or speaker_of(place.user_id, place.thread_id)
        return await self._knowledge.add_episode(
            _name(place.thread_id),
            said,
            source_description=f"said in conversation {place.thread_id}",
            reference_time=row.created_at,
            tenant_id=place.tenant_id,
            thread_id=place.thread_id,
            message_id=row.message_id,
            user_id=place.user_id,
            confidence=assertion.confidence,
            also=also,
        )

    async def _checked(self, tenant_id: str, thread_id: str | None, assertion: Assertion, source: Any) -> Verdict:
        """What the gate says. What a person confirms was told before, and is no news to refuse."""
        confirms = assertion.source_type == "confirmation" and source == "user"
        recalled = [] if confirms else await self._recalled(tenant_id, thread_id, assertion.content, source)
        verdict = self._gate.check(body_of(assertion), recalled=recalled, source=source)
        if verdict.content is None or confirms or assertion.source_type == "correction":
            return verdict
        if await self._knowledge.knows(verdict.content, tenant_id=tenant_id):
            return Verdict(None, "duplicate")
        return verdict

    async def _recalled(self, tenant_id: str, thread_id: str | None, content: str, source: str) -> list[str]:
        if self._shown is None:
            return []
        shown = [] if thread_id is None else await self._shown.shown(tenant_id, thread_id)
        return [*shown, *(await self._shown.near(tenant_id, content))] if source == "agent" else shown

    async def _thread(self, tenant_id: str, thread_id: str) -> tuple[_Place, int, int] | None:
        named = {"tenant_id": tenant_id, "thread_id": thread_id}
        async with (await self.opened()).tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.unread, named)).fetchone()
        if row is None:
            return None
        count, created_at, user_id, through = row
        return _Place(tenant_id, thread_id, created_at, user_id), through, count

    async def _count(self, tenant_id: str, reasons: Sequence[str]) -> None:
        async with (await self.opened()).tenant(tenant_id) as connection:
            await _count(connection, tenant_id, reasons)

    async def _defer(self, place: _Place) -> None:
        if self._jobs is None:
            return
        key = f"{TASK}/{place.tenant_id}/{place.thread_id}"
        await self._jobs.defer(TASK, once=key, lock=key, tenant_id=place.tenant_id, thread_id=place.thread_id)

    async def _job(self, *, tenant_id: str, thread_id: str) -> None:
        while (await self.catch_up(thread_id, tenant_id=tenant_id)).messages:
            pass


async def read_or_log(write_back: WriteBack, tenant_id: str, thread_id: str) -> Learnt | str:
    """Catch up; when that fails, a sentence about it. What was said is stored already, and is read the next time."""
    try:
        return await write_back.catch_up(thread_id, tenant_id=tenant_id)
    except InvalidInput:
        raise  # an id that is none: what is wrong with a message is counted, not raised
    except ClewError as error:
        log.warning("write_back_failed", tenant_id=tenant_id, thread_id=thread_id, code=error.code)
        return f"what was said last is not learnt yet ({error})"
    except Exception as error:  # noqa: BLE001 - a caller's embedder or model raises what it likes, and the log is stored
        log.warning("write_back_failed", tenant_id=tenant_id, thread_id=thread_id, code=type(error).__name__)
        return f"what was said last is not learnt yet ({type(error).__name__})"


async def _move(connection: AsyncConnection[Any], place: _Place, before: int, through: int) -> None:
    values = {
        "tenant_id": place.tenant_id,
        "thread_id": place.thread_id,
        "created_at": place.created_at,
        "before": before,
        "through": through,
    }
    if not await (await connection.execute(_SQL.move, values)).fetchone():
        raise _Overtaken


async def _count(connection: AsyncConnection[Any], tenant_id: str, reasons: Sequence[str]) -> None:
    if reasons:
        await connection.execute(_SQL.count_refusals, {"tenant_id": tenant_id, "reasons": list(reasons)})


def _heard(place: _Place, row: StoredMessage, telling: Telling) -> list[Heard]:
    """What is taken back goes first, so that what is given in the same breath stays."""
    said: dict[str, Any] = {
        "thread_id": place.thread_id,
        "user_id": place.user_id,
        "message_id": row.message_id,
        "at": row.created_at,
    }
    first = telling.given[0] if telling.given else None
    return [
        Heard(given=first, revoked=telling.revoked, **said),
        *(Heard(given=one, revoked=(), **said) for one in telling.given[1:]),
    ]


def speaker_of(user_id: str | None, thread_id: str) -> str:
    """Who says "I" in a thread. Where nobody knows, two threads may be two people: neither speaks of the other."""
    return user_id or f"user of {thread_id}"


def _name(thread_id: str | None) -> str:
    return "agent" if thread_id is None else f"conversation {thread_id}"

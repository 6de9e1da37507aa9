"""`SessionStore`: each tenant's conversations, in the order they happened, until somebody clears them."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from psycopg import AsyncConnection

from clew.errors import Conflict, InvalidInput, NotFound
from clew.ids import check_id, check_tenant_id
from clew.limits import check_count, check_text
from clew.messages import Message, to_openai
from clew.sessions.batch import Batch, folded, prepare
from clew.sessions.rows import (
    SESSION_READ_MAX,
    THREADS_READ_MAX,
    Forgotten,
    StoredMessage,
    ThreadInfo,
    check_idempotency_key,
    check_thread_id,
    check_user_id,
)
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.sessions.checkpointer import Checkpointer

SEARCH_MAX_WORDS: Final = 32
SEARCH_MAX_BYTES: Final = 4_096
OFFSET_MAX: Final = 1_000_000
_WORDS: Final = re.compile(r'"([^"]+)"|(\S+)')
_SQL: Final = statements("sessions")
_CHECKPOINTS_SQL: Final = statements("checkpoints")


class Forgets(Protocol):
    """Removes what another room derived from a session, in the transaction that clears it; how much it was."""

    async def __call__(self, connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> int: ...


class SessionStore(Room):
    """What was said: an append-only log a thread, and a checkpointer for LangGraph's graphs.

        async with clew.SessionStore() as sessions:       # embedded; or a URL, or an open clew.Database
            await sessions.append("support-42", {"role": "user", "content": "hello"}, tenant_id="acme")
            await sessions.get_session_messages("support-42", tenant_id="acme")

    A database it opens itself is opened at first use and closed with it; one that it is given stays the giver's.
    `checkpoint_types` are classes of yours, beside LangChain's and LangGraph's own, that a graph's state may hold.
    """

    def __init__(self, database: Database | Room | str | None = None, *, checkpoint_types: Iterable[type] = ()) -> None:
        super().__init__(database)
        self._checkpoint_types = tuple(checkpoint_types)
        self._checkpointer: Checkpointer | None = None

    @property
    def checkpointer(self) -> "Checkpointer":
        """For `graph.compile(checkpointer=…)`; the tenant is `configurable["tenant_id"]`, or `"default"`."""
        if self._checkpointer is None:
            self._checkpointer = self._new_checkpointer(None)
        return self._checkpointer

    def checkpointer_for(self, tenant_id: str) -> "Checkpointer":
        """The same for one tenant only: no configuration can make it reach another's threads."""
        return self._new_checkpointer(check_tenant_id(tenant_id))

    def _new_checkpointer(self, tenant_id: str | None) -> "Checkpointer":
        # Imported here: LangGraph takes most of a second, and a log needs none of it.
        from clew.sessions.checkpointer import Checkpointer
        from clew.sessions.serializer import strict_serializer

        return Checkpointer(self.opened, tenant_id, strict_serializer(self._checkpoint_types))

    async def append(
        self,
        thread_id: str,
        messages: Any,
        *,
        tenant_id: str = "default",
        idempotency_key: str | None = None,
        pinned: bool = False,
        user_id: str | None = None,
    ) -> list[str]:
        """Add one message or several at the end of a thread, all or none; their ids, in order.

        A message is a dict in OpenAI form or a `clew.Message`. With an idempotency key the same append again stores
        nothing more and returns the same ids; other content under the key is a `Conflict`. What is `pinned` never
        leaves the window: neither a summary nor a budget moves it out. `user_id` says whose thread it is, from then on:
        another user's append to it is a `Conflict`.
        """
        thread_id = check_thread_id(thread_id)
        key = None if idempotency_key is None else check_idempotency_key(idempotency_key)
        user = None if user_id is None else check_user_id(user_id)
        check_tenant_id(tenant_id)
        if not isinstance(pinned, bool):
            raise InvalidInput(f"expected True or False, got {type(pinned).__name__}", where="pinned")
        # Counting is slow for big messages and needs no transaction, nor the event loop.
        batch = await asyncio.to_thread(prepare, messages, pinned=pinned)
        if not batch.messages:
            return []
        place = {"tenant_id": tenant_id, "thread_id": thread_id}
        async with (await self.opened()).tenant(tenant_id) as connection:
            if key is not None:
                known = await _claimed_before(connection, {**place, "idempotency_key": key}, batch)
                if known is not None:
                    await _refuse_other_user(connection, place, user)
                    return known
            await _add(connection, place, batch, user)
        return batch.message_ids

    async def get_session_messages(
        self, thread_id: str, limit: int = 50, *, tenant_id: str = "default"
    ) -> list[dict[str, Any]]:
        """The last `limit` messages in order, in OpenAI form and with no key beyond it: ready to be sent.

        For a thread that only a LangGraph graph has written, the `messages` of its latest checkpoint.
        """
        return to_openai(row.message for row in await self.read(thread_id, limit, tenant_id=tenant_id))

    async def read(
        self, thread_id: str, limit: int = 50, *, before: int | None = None, tenant_id: str = "default"
    ) -> list[StoredMessage]:
        """The last `limit` messages in order, or the last before a position, each with its id, tokens and place."""
        place = {
            "tenant_id": check_tenant_id(tenant_id),
            "thread_id": check_thread_id(thread_id),
            "limit": check_count(limit, "limit", most=SESSION_READ_MAX),
            "before": None if before is None else check_count(before, "before", most=2**63 - 1),
        }
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.tail, place)).fetchall()
            graph_only = not rows and before is None and await _has_checkpoints(connection, tenant_id, thread_id)
        if graph_only:
            return (await self._from_graph(tenant_id, thread_id))[-limit:]
        return [_stored(row) for row in reversed(rows)]

    async def _from_graph(self, tenant_id: str, thread_id: str) -> list[StoredMessage]:
        from clew.sessions.graph_messages import latest_messages

        return await latest_messages(self.checkpointer_for(tenant_id), thread_id)

    async def at(self, thread_id: str, positions: Sequence[int], *, tenant_id: str = "default") -> list[StoredMessage]:
        """The log's messages at these positions, in order; positions where there is none are passed over."""
        place = {
            "tenant_id": check_tenant_id(tenant_id),
            "thread_id": check_thread_id(thread_id),
            "positions": [check_count(p, f"positions[{i}]", most=2**63 - 1) for i, p in enumerate(positions)],
        }
        check_count(len(positions), "positions", least=0, most=SESSION_READ_MAX)
        async with (await self.opened()).tenant(tenant_id) as connection:
            return [_stored(row) async for row in await connection.execute(_SQL.at_positions, place)]

    async def get_message(self, message_id: str, *, tenant_id: str = "default") -> StoredMessage:
        """One message of the log by its id; `NotFound` when there is none, or it is another tenant's."""
        place = {"tenant_id": check_tenant_id(tenant_id), "message_id": check_id(message_id, "message_id")}
        async with (await self.opened()).tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.by_id, place)).fetchone()
        if row is None:
            raise NotFound(f"there is no message {place['message_id']}", where="message_id")
        return _stored(row)

    async def search(
        self,
        thread_id: str,
        query: str,
        limit: int = 10,
        *,
        tenant_id: str = "default",
        match: Literal["all", "any"] = "all",
    ) -> list[StoredMessage]:
        """The log's messages that hold every word of the query, newest first; words in quotes must stand together.

        Case does not matter, and part of a word is enough, so that it works in every language. With `match="any"` some
        of the words are enough, and the messages that hold the most of them come first.
        """
        if match not in ("all", "any"):
            raise InvalidInput(f"{ascii(match)[:40]} is unknown", where="match", fix="Use all or any")
        place = {
            "tenant_id": check_tenant_id(tenant_id),
            "thread_id": check_thread_id(thread_id),
            "wanted": _wanted(query),
            "limit": check_count(limit, "limit", most=SESSION_READ_MAX),
        }
        async with (await self.opened()).tenant(tenant_id) as connection:
            found = await connection.execute(_SQL.search if match == "all" else _SQL.search_any, place)
            return [_stored(row) async for row in found]

    async def threads(self, *, tenant_id: str = "default", limit: int = 50, offset: int = 0) -> list[ThreadInfo]:
        """The tenant's threads in the log, the most recently active first."""
        page = {
            "tenant_id": check_tenant_id(tenant_id),
            "limit": check_count(limit, "limit", most=THREADS_READ_MAX),
            "offset": check_count(offset, "offset", least=0, most=OFFSET_MAX),
        }
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.threads, page)).fetchall()
        return [_info(*row) for row in rows]

    async def clear_session(self, thread_id: str, *, tenant_id: str = "default") -> None:
        """Forget a thread: its messages and its checkpoints. `forget_session` does the same and says what went."""
        await self.forget_session(thread_id, tenant_id=tenant_id)

    async def forget_session(
        self, thread_id: str, *, tenant_id: str = "default", also: Mapping[str, Forgets] | None = None
    ) -> Forgotten:
        """Forget a thread's messages and checkpoints, and whatever `also` removes, in one transaction; what went."""
        place = {"tenant_id": check_tenant_id(tenant_id), "thread_id": check_thread_id(thread_id)}
        async with (await self.opened()).tenant(tenant_id) as connection:
            log = await (await connection.execute(_SQL.forget_thread, place)).fetchone()
            stored = {"thread_id": f"{tenant_id}/{thread_id}"}
            saved = await (await connection.execute(_CHECKPOINTS_SQL.forget_thread, stored)).fetchone()
            others = {name: await forget(connection, tenant_id, thread_id) for name, forget in (also or {}).items()}
        messages, tokens = log or (0, 0)
        return Forgotten(thread_id, messages, tokens, checkpoints=saved[0] if saved else 0, also=others)


async def _claimed_before(connection: AsyncConnection[Any], claim: dict[str, Any], batch: Batch) -> list[str] | None:
    """The ids that an earlier append got under this key; None when there was none, and the key is now ours."""
    claim |= {"digest": batch.digest, "message_ids": batch.message_ids}
    if await (await connection.execute(_SQL.claim, claim)).fetchone():
        return None
    row = await (await connection.execute(_SQL.claimed, claim)).fetchone()
    if row is None or row[0] != batch.digest:
        raise Conflict(
            "this key already stands for an append with other content",
            where="idempotency_key",
            fix="Use a new key for new messages",
        )
    return list(row[1])


async def _refuse_other_user(connection: AsyncConnection[Any], place: dict[str, str], user_id: str | None) -> None:
    """The same answer to a repeated append as to a new one."""
    row = await (await connection.execute(_SQL.user_of, place)).fetchone()
    if user_id is not None and row is not None and row[0] not in (None, user_id):
        raise _another_users()


def _another_users() -> Conflict:
    return Conflict(
        "this thread is another user's; nothing was stored", where="user_id", fix="Begin a thread of the user's own"
    )


async def _add(connection: AsyncConnection[Any], place: dict[str, str], batch: Batch, user_id: str | None) -> None:
    size = {"count": len(batch.messages), "total": sum(batch.tokens), "user_id": user_id}
    grown = await (await connection.execute(_SQL.grow, {**place, **size})).fetchone()
    if grown is not None and user_id not in (None, grown[1]):
        raise _another_users()
    columns = {
        "before": grown[0] if grown else 0,
        "message_ids": batch.message_ids,
        "tokens": batch.tokens,
        "words": batch.words,
        "messages": batch.messages,
        "pinned": batch.pinned,
    }
    await connection.execute(_SQL.add, {**place, **columns})


async def _has_checkpoints(connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> bool:
    """Asked first, so that an empty thread costs nobody the import of LangGraph."""
    await connection.execute(_CHECKPOINTS_SQL.enter)
    stored = {"thread_id": f"{tenant_id}/{thread_id}"}
    row = await (await connection.execute(_CHECKPOINTS_SQL.is_there, stored)).fetchone()
    return bool(row and row[0])


def _stored(row: tuple[Any, ...]) -> StoredMessage:
    thread_id, position, message_id, tokens, created_at, text = row
    message = Message.model_validate_json(text)
    return StoredMessage(thread_id, position, message_id, tokens, created_at.astimezone(UTC), message)


def _info(
    thread_id: str, messages: int, tokens: int, begun: datetime, active: datetime, user_id: str | None
) -> ThreadInfo:
    return ThreadInfo(thread_id, messages, tokens, begun.astimezone(UTC), active.astimezone(UTC), user_id)


def _wanted(query: object) -> list[str]:
    text = check_text(query, "query", max_bytes=SEARCH_MAX_BYTES)
    wanted = [folded(quoted or word) for quoted, word in _WORDS.findall(text)]
    if not wanted:
        raise InvalidInput("holds no words", where="query")
    if len(wanted) > SEARCH_MAX_WORDS:
        raise InvalidInput(f"holds {len(wanted)} words; the limit is {SEARCH_MAX_WORDS}", where="query")
    return wanted

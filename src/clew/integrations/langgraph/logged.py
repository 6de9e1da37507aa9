"""A graph's messages in the session log, where they stay whatever becomes of them in the state."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import BaseMessage

from clew.context.compaction import Entry
from clew.integrations.langgraph.held import EDIT, PINNED, Held
from clew.messages import Message, from_langchain
from clew.sessions import SessionStore, StoredMessage

PAGE: Final = 200
LOOK_BACK_MAX: Final = 2_000


async def logged(sessions: SessionStore, held: Held, thread_id: str, tenant_id: str) -> list[Entry]:
    """The originals of the state's messages, in its order, each with its position in the log.

    What the log has not got yet is appended first. A message is known by the id that LangChain gave it; one that was
    changed since it was logged is logged again, and keeps its place.
    """
    there = await _rows(sessions, held, thread_id, tenant_id)
    new = [message for id, message in _neutral(held.messages).items() if not _is_in(message, there.get(id, ()))]
    if new:
        await sessions.append(thread_id, new, tenant_id=tenant_id)
        there = await _rows(sessions, held, thread_id, tenant_id)
    entries = []
    for id in held.messages:
        newest = there[id][-1]
        message = newest.message.model_copy(update={"id": id})
        entries.append(Entry(there[id][0].position, message, newest.tokens))
    return entries


async def _rows(sessions: SessionStore, held: Held, thread_id: str, tenant_id: str) -> dict[str, list[StoredMessage]]:
    """What the log holds of the state's messages, by LangChain's id.

    They are the last ones of the log, with those between them that another branch of the thread wrote: read from the
    end, until the oldest is found or a summary stands for the rest.
    """
    through, wanted = held.view.through, next(iter(held.messages), None)
    rows: list[StoredMessage] = []
    before: int | None = None
    while len(rows) < LOOK_BACK_MAX:
        page = await sessions.read(thread_id, PAGE, before=before, tenant_id=tenant_id)
        fresh = [row for row in page if row.position > through and row.source == "log"]
        rows[:0] = fresh
        if len(fresh) < PAGE or any(row.message.id == wanted for row in fresh):
            break
        before = fresh[0].position
    pinned = await sessions.at(thread_id, held.view.pinned, tenant_id=tenant_id) if held.view.pinned else []
    found: dict[str, list[StoredMessage]] = {}
    for row in [*pinned, *rows]:
        found.setdefault(row.message.id or "", []).append(row)
    return found


def _neutral(messages: Mapping[str, BaseMessage]) -> dict[str, Message]:
    """The messages to log; what is a stub by now was logged when it was not."""
    whole = [message for message in messages.values() if EDIT not in message.additional_kwargs]
    converted = zip(whole, from_langchain(whole), strict=True)
    return {
        message.id or "": made.as_pinned() if message.additional_kwargs.get(PINNED) is True else made
        for message, made in converted
    }


def _is_in(message: Message, rows: Sequence[StoredMessage]) -> bool:
    said = _said(message)
    return any(_said(row.message) == said for row in rows)


def _said(message: Message) -> str:
    """What a message says, whatever was noted beside it: usage and the like may come later."""
    calls = [(call.id, call.name, call.arguments_text) for call in message.tool_calls]
    results = [result.call_id for result in message.tool_results]
    return json.dumps([message.role, message.text, message.pinned, calls, results])

"""A node that keeps a graph's messages few: older ones become a verified summary, and the log keeps them all."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from langchain_core.messages import RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from clew.context.compaction import (
    Policy,
    Refused,
    propose,
    shown,
)
from clew.context.summarising import Complete, Writer, verified_view
from clew.context.views import Views
from clew.errors import InvalidInput
from clew.integrations.langgraph.held import held
from clew.integrations.langgraph.logged import logged
from clew.integrations.langgraph.place import Place, place_of
from clew.logs import logger
from clew.sessions import SessionStore

log: Final = logger("clew.integrations.langgraph")

Node = Callable[[Any, RunnableConfig], Awaitable[dict[str, Any]]]


def compaction_node(
    sessions: SessionStore,
    *,
    policy: Policy | None = None,
    write_summary: Complete | None = None,
    references: bool = False,
    tenant_id: str | None = None,
    messages_key: str = "messages",
) -> Node:
    """A node that logs the state's messages and, past the policy's thresholds, replaces the older ones by a summary.

        graph.add_node("compact", compaction_node(engine.sessions))

    Every message is in the session log before it can leave the state, so that `recall_messages` returns it. A summary
    that fails or loses what it should keep changes nothing. Pinned messages (`pinned(message)`) and calls that wait
    for their results stay. What was compacted is part of the state: an older checkpoint brings its own messages back.

    `policy` is by default what the settings say. `write_summary` is a model, `async (messages) -> text`; without one
    summaries are extracted, offline. Set `references` when the model has `recall_messages`, which
    `IsolatingToolNode(…, recall=…)` gives it: only then does a summary name the messages it is from.
    """
    if not isinstance(sessions, SessionStore):
        raise InvalidInput(f"expected a clew.SessionStore, got {type(sessions).__name__}", where="sessions")
    node = _CompactionNode(sessions, policy or _policy(sessions), write_summary, references)

    async def compact(state: Any, config: RunnableConfig) -> dict[str, Any]:
        place = place_of(config, tenant_id)
        if place.thread_id is None:
            raise InvalidInput("is missing", where="configurable.thread_id", fix="The log needs a thread to write to")
        messages = state[messages_key] if isinstance(state, dict) else getattr(state, messages_key)
        kept = await node.compacted(messages, place)
        return {} if kept is None else {messages_key: [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept]}

    return compact


class _CompactionNode:
    def __init__(self, sessions: SessionStore, policy: Policy, complete: Complete | None, references: bool) -> None:
        self._sessions, self._views = sessions, Views(sessions)
        self._policy, self._complete, self._references = policy, complete, references

    async def compacted(self, messages: Sequence[Any], place: Place) -> list[Any] | None:
        """What the messages become; None when they stay."""
        whole = held(messages)
        entries = await logged(self._sessions, whole, place.thread_id or "", place.tenant_id)
        if not entries:
            return None
        proposal = await asyncio.to_thread(propose, whole.view, entries, self._policy)
        if proposal is None or await self._refused_just_now(place):
            return None
        writer = None if self._complete is None else Writer(self._complete)
        view = await verified_view(whole.view, proposal, entries, self._policy, writer)
        if isinstance(view, Refused):
            await self._refuse(view, place)
            return None
        seen = await asyncio.to_thread(shown, view, entries, references=self._references)
        log.info(
            "compacted", tenant_id=place.tenant_id, thread_id=place.thread_id, before=len(messages), after=len(seen)
        )
        return whole.as_messages(seen, view)

    async def _refused_just_now(self, place: Place) -> bool:
        """Whether the same stretch would only fail again: a model that is asked at every step costs money."""
        current = await self._views.current(place.thread_id or "", tenant_id=place.tenant_id)
        return current is not None and current.refused_lately

    async def _refuse(self, refused: Refused, place: Place) -> None:
        log.warning("compaction_refused", tenant_id=place.tenant_id, thread_id=place.thread_id, code=refused.code)
        current = await self._views.current(place.thread_id or "", tenant_id=place.tenant_id)
        if current is not None:
            await self._views.refuse(current, refused)


def _policy(sessions: SessionStore) -> Policy:
    settings = sessions._database.settings
    return Policy(
        threshold_messages=settings.compact_messages,
        keep_recent=settings.compact_keep_recent,
        threshold_tokens=settings.compact_tokens,
    )

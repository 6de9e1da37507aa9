"""Hearing a message: what it takes back goes, what it gives is kept, each once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from psycopg import AsyncConnection

from clew.context.instructed import line_of, same_words
from clew.context.standing.instruction import Scope, StandingInstruction
from clew.context.standing.rows import (
    ACTIVE_MAX,
    BY_LIMIT,
    INSTRUCTION_MAX_CHARS,
    SCOPES,
    SQL,
    Heard,
    KeptInstruction,
    add,
    kept,
    revoke,
    same_slot,
    there,
)
from clew.logs import logger

log: Final = logger("clew.context")


class Hearing:
    """One message, heard while the tenant's instructions are locked; `given` is all that the message gives."""

    def __init__(
        self, connection: AsyncConnection[Any], tenant_id: str, one: Heard, given: Sequence[StandingInstruction]
    ) -> None:
        self._connection, self._tenant_id, self._one = connection, tenant_id, one
        self._given = given

    async def keep(self) -> None:
        """Take back, then give."""
        one = self._one
        if one.revoked:
            await self._take_back()
        given = None if one.given is None else replace(one.given, text=line_of(one.given.text))
        if given is None or not same_words(given.text):
            return
        if len(given.text) > INSTRUCTION_MAX_CHARS:
            # A part of a rule may say the opposite of the whole.
            log.warning("instruction_too_long", tenant_id=self._tenant_id, message_id=one.message_id)
        elif not await self._said_before(given):
            await self._give(given)

    async def _take_back(self) -> None:
        """What it names goes, but for a wider wish that its own stands before: "in this chat, call me Sam"."""
        spared = [
            (given.slot, wider)
            for given in self._given
            if given.slot is not None
            for wider in SCOPES[SCOPES.index(_holder_of(given.scope, self._one)[0]) + 1 :]
        ]
        named = {
            "instruction_ids": sorted(self._one.revoked),
            "slots": [slot for slot, _ in spared],
            "scopes": [scope for _, scope in spared],
        }
        await self._connection.execute(SQL.take_back, {**self._place, **named})

    @property
    def _place(self) -> dict[str, Any]:
        one = self._one
        return {
            "tenant_id": self._tenant_id,
            "thread_id": one.thread_id,
            "user_id": one.user_id,
            "message_id": one.message_id,
            "by": one.message_id,
            "at": one.at,
        }

    async def _said_before(self, given: StandingInstruction) -> bool:
        rows = await (await self._connection.execute(SQL.said, self._place)).fetchall()
        return same_words(given.text) in {same_words(text) for (text,) in rows}

    async def _give(self, given: StandingInstruction) -> None:
        scope, holder = _holder_of(given.scope, self._one)
        given = replace(given, scope=scope)
        held = await kept(self._connection, SQL.held, {**self._place, "scope": scope, "holder": holder})
        if there(held, given) is not None:
            return
        replaced = same_slot(held, given)
        if any(_is_set(one) for one in replaced):
            # The company's own choice stands; the wish is still good for the one who has it.
            await self._give(replace(given, scope="user"))
            return
        if not replaced and len(held) >= ACTIVE_MAX and not await self._made_room(held):
            log.warning("instructions_full", tenant_id=self._tenant_id, message_id=self._one.message_id)
            return
        await revoke(self._connection, self._tenant_id, replaced, by=self._one.message_id, at=self._one.at)
        place = {"thread_id": self._one.thread_id, "message_id": self._one.message_id}
        await add(self._connection, self._tenant_id, given, holder, **place, at=self._one.at)

    async def _made_room(self, held: Sequence[KeptInstruction]) -> bool:
        """Whether the oldest that words may end has ended."""
        oldest = next((one for one in held if not _is_set(one)), None)
        if oldest is None:
            return False
        await revoke(self._connection, self._tenant_id, [oldest], by=BY_LIMIT, at=self._one.at)
        return True


def _holder_of(scope: Scope, one: Heard) -> tuple[Scope, str]:
    """Whom it holds for. A user whom nobody named is known by the thread alone."""
    if scope == "tenant":
        return scope, ""
    if scope == "user" and one.user_id is not None:
        return scope, one.user_id
    return "thread", one.thread_id


def _is_set(one: KeptInstruction) -> bool:
    """Whether a program set it for the whole tenant: nobody's words may change it for everybody."""
    return one.scope == "tenant" and one.message_id is None

"""Where standing instructions are kept: for a thread, a user or a tenant, until they are taken back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psycopg import AsyncConnection

from clew.context.compaction.instructions import key_words
from clew.context.instructed import line_of, same_words
from clew.context.standing.hearing import Hearing
from clew.context.standing.instruction import Scope, StandingInstruction
from clew.context.standing.recognise import recognise_instruction
from clew.context.standing.rows import (
    ACTIVE_MAX,
    BY_PROGRAM,
    INSTRUCTION_MAX_CHARS,
    SCOPES,
    SQL,
    Heard,
    KeptInstruction,
    add,
    kept,
    lock,
    revoke,
    same_slot,
    there,
)
from clew.errors import InvalidInput
from clew.ids import check_id, check_tenant_id
from clew.limits import check_text
from clew.sessions.rows import check_thread_id, check_user_id
from clew.store.room import Room

__all__ = ["Heard", "KeptInstruction", "StandingInstructions"]


class StandingInstructions(Room):
    """What users want of every answer, kept until they take it back.

        standing = StandingInstructions()            # embedded, or a URL, or an open clew.Database
        await standing.add("Always answer in bullet points", scope="user", user_id="sam", tenant_id="acme")
        await standing.active(tenant_id="acme", thread_id="t-1", user_id="sam")

    What is taken back is marked and kept; no window shows it any more.
    """

    async def active(
        self, *, tenant_id: str = "default", thread_id: str | None = None, user_id: str | None = None
    ) -> list[KeptInstruction]:
        """What holds for a thread: the tenant's instructions, its user's and its own, oldest first.

        Its user is `user_id`, or else the one whom the log names.
        Where two ask for different values of one thing (how to address somebody, the language, the length), the one of
        the narrower scope stands for both.
        """
        check_tenant_id(tenant_id)
        _checked_place(thread_id, user_id)
        async with (await self.opened()).tenant(tenant_id) as connection:
            return await self.seen(connection, tenant_id, thread_id=thread_id, user_id=user_id)

    async def seen(
        self, connection: AsyncConnection[Any], tenant_id: str, *, thread_id: str | None, user_id: str | None
    ) -> list[KeptInstruction]:
        """The same in the caller's transaction, with what it has changed so far."""
        place = {"tenant_id": tenant_id, "thread_id": thread_id, "user_id": user_id}
        return _narrowest(await kept(connection, SQL.seen, place))

    async def told(self, thread_id: str, *, tenant_id: str = "default") -> list[str]:
        """The words of every instruction that was given in a thread, whether it holds or not: see `without_told`."""
        place = {"tenant_id": check_tenant_id(tenant_id), "thread_id": check_thread_id(thread_id)}
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(SQL.told, place)).fetchall()
        return [text for (text,) in rows]

    async def add(
        self,
        text: str,
        *,
        scope: Scope = "tenant",
        thread_id: str | None = None,
        user_id: str | None = None,
        tenant_id: str = "default",
    ) -> KeptInstruction:
        """Keep an instruction that a program gives, whatever it says; the one that is there where it says so already.

        It takes the place of the same holder's for the same thing (address, language, length).
        """
        check_tenant_id(tenant_id)
        _checked_place(thread_id, user_id)
        holder = _named_holder(scope, thread_id, user_id)
        given = _read(text, scope)
        async with (await self.opened()).tenant(tenant_id) as connection:
            await lock(connection, tenant_id)
            held = await kept(connection, SQL.held, {"tenant_id": tenant_id, "scope": scope, "holder": holder})
            if (already := there(held, given)) is not None:
                return already
            replaced = same_slot(held, given)
            if len(held) - len(replaced) >= ACTIVE_MAX:
                raise InvalidInput(
                    f"{ACTIVE_MAX} instructions hold already", where="text", fix="Revoke those that are not needed"
                )
            await revoke(connection, tenant_id, replaced, by=BY_PROGRAM)
            return await add(connection, tenant_id, given, holder, thread_id=thread_id)

    async def revoke(self, instruction_id: str, *, tenant_id: str = "default") -> bool:
        """Take one back: it is marked, and no window shows it any more. False when there is none that holds."""
        row = {"tenant_id": check_tenant_id(tenant_id), "at": None, "by": BY_PROGRAM}
        ids = [check_id(instruction_id, "instruction_id")]
        async with (await self.opened()).tenant(tenant_id) as connection:
            await lock(connection, tenant_id)
            found = await connection.execute(SQL.revoke, {**row, "instruction_ids": ids})
            return found.rowcount > 0

    async def heard(self, connection: AsyncConnection[Any], tenant_id: str, *, said: Sequence[Heard]) -> None:
        """Keep what user messages give and take back, in their order, in the caller's transaction.

        What is heard again adds nothing. Words neither take back nor replace what a program set for the whole tenant.
        """
        wanted = [one for one in said if one.given is not None or one.revoked]
        if not wanted:
            return
        await lock(connection, tenant_id)
        for one in wanted:
            given = [other.given for other in said if other.given is not None and other.message_id == one.message_id]
            await Hearing(connection, tenant_id, one, given).keep()

    async def forget_thread(self, connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> int:
        """Delete what was said in a thread, whatever it holds for; how many went."""
        return await _forget(connection, SQL.forget_said_in, tenant_id, thread_id)

    async def forget_thread_scope(self, connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> int:
        """Delete what holds for a thread alone; how many went."""
        return await _forget(connection, SQL.forget_held_by, tenant_id, thread_id)


def _checked_place(thread_id: str | None, user_id: str | None) -> None:
    if thread_id is not None:
        check_thread_id(thread_id)
    if user_id is not None:
        check_user_id(user_id)


def _named_holder(scope: Scope, thread_id: str | None, user_id: str | None) -> str:
    if scope not in SCOPES:
        raise InvalidInput(f"unknown scope {scope!r}", where="scope", fix=f"Use one of {', '.join(SCOPES)}")
    if scope == "tenant":
        return ""
    holder = thread_id if scope == "thread" else user_id
    if holder is None:
        raise InvalidInput(f"the scope {scope!r} needs one", where=f"{scope}_id", fix="Say whom it holds for")
    return holder


def _read(text: object, scope: Scope) -> StandingInstruction:
    """What the text asks for, as it is recognised in a message; any other text is taken by its words."""
    line = line_of(check_text(text, "text", allow_empty=False))
    if not same_words(line):
        raise InvalidInput("says nothing", where="text")
    if len(line) > INSTRUCTION_MAX_CHARS:
        raise InvalidInput(f"is {len(line):,} characters long; the limit is {INSTRUCTION_MAX_CHARS:,}", where="text")
    read = recognise_instruction(line)
    if read is None:
        return StandingInstruction(line, scope, about=key_words(line))
    return replace(read, text=line, scope=scope)


def _narrowest(instructions: Sequence[KeptInstruction]) -> list[KeptInstruction]:
    """Those that hold where several are for the same thing: of each slot the one of the narrowest scope."""
    narrowest: dict[str | None, KeptInstruction] = {}
    for one in sorted(instructions, key=lambda one: SCOPES.index(one.scope)):
        narrowest.setdefault(one.instruction.slot, one)
    return [one for one in instructions if one.instruction.slot is None or narrowest[one.instruction.slot] is one]


async def _forget(connection: AsyncConnection[Any], statement: Any, tenant_id: str, thread_id: str) -> int:
    place = {"tenant_id": check_tenant_id(tenant_id), "thread_id": check_thread_id(thread_id)}
    return (await connection.execute(statement, place)).rowcount

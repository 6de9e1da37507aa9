"""Standing instructions as they are stored: the rows, and the few things that are done to them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from psycopg import AsyncConnection

from clew.context.instructed import same_words
from clew.context.standing.instruction import Scope, StandingInstruction
from clew.ids import new_id
from clew.store.named_sql import statements

# The narrowest first.
SCOPES: Final[tuple[Scope, ...]] = ("thread", "user", "tenant")
ACTIVE_MAX: Final = 100
INSTRUCTION_MAX_CHARS: Final = 1_000
# Who took one back, where no message did.
BY_PROGRAM: Final = "program"
BY_LIMIT: Final = "limit"

SQL: Final = statements("standing")


@dataclass(frozen=True, slots=True)
class KeptInstruction:
    """A standing instruction in its room: whom it holds for, who said it where, and when it was taken back."""

    instruction_id: str
    instruction: StandingInstruction
    scope: Scope
    holder: str
    """A thread's or a user's id; empty for the whole tenant."""
    thread_id: str | None
    message_id: str | None
    """The message that said so; None for one that a program added."""
    created_at: datetime
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    """The message that took it back, `program`, or `limit` where it had to make room."""

    @property
    def text(self) -> str:
        """The words, on one line."""
        return self.instruction.text


@dataclass(frozen=True, slots=True)
class Heard:
    """What one user message gives and takes back, and where it was said."""

    given: StandingInstruction | None
    revoked: tuple[str, ...]
    thread_id: str
    user_id: str | None
    message_id: str
    at: datetime | None = None


def there(held: Iterable[KeptInstruction], given: StandingInstruction) -> KeptInstruction | None:
    words = same_words(given.text)
    return next((one for one in held if same_words(one.text) == words), None)


def same_slot(held: Iterable[KeptInstruction], given: StandingInstruction) -> list[KeptInstruction]:
    return [one for one in held if given.slot is not None and one.instruction.slot == given.slot]


async def lock(connection: AsyncConnection[Any], tenant_id: str) -> None:
    await connection.execute(SQL.lock, {"tenant_id": tenant_id})


async def kept(connection: AsyncConnection[Any], statement: Any, values: dict[str, Any]) -> list[KeptInstruction]:
    return [_from_row(row) for row in await (await connection.execute(statement, values)).fetchall()]


async def revoke(
    connection: AsyncConnection[Any],
    tenant_id: str,
    instructions: Sequence[KeptInstruction],
    *,
    by: str,
    at: datetime | None = None,
) -> None:
    if instructions:
        ids = sorted(one.instruction_id for one in instructions)
        await connection.execute(SQL.revoke, {"tenant_id": tenant_id, "instruction_ids": ids, "by": by, "at": at})


async def add(
    connection: AsyncConnection[Any],
    tenant_id: str,
    given: StandingInstruction,
    holder: str,
    *,
    thread_id: str | None,
    message_id: str | None = None,
    at: datetime | None = None,
) -> KeptInstruction:
    row = {
        "tenant_id": tenant_id,
        "instruction_id": new_id(),
        "scope": given.scope,
        "holder": holder,
        "text": given.text,
        "slot": given.slot,
        "forbids": given.forbids,
        "about": list(given.about),
        "thread_id": thread_id,
        "message_id": message_id,
        "at": at,
    }
    (stored,) = await kept(connection, SQL.add, row)
    return stored


def _from_row(row: Sequence[Any]) -> KeptInstruction:
    id, scope, holder, text, slot, forbids, about, thread_id, message_id, created_at, revoked_at, revoked_by = row
    return KeptInstruction(
        instruction_id=id,
        instruction=StandingInstruction(text, scope, forbids, slot, tuple(about)),
        scope=scope,
        holder=holder,
        thread_id=thread_id,
        message_id=message_id,
        created_at=created_at.astimezone(UTC),
        revoked_at=None if revoked_at is None else revoked_at.astimezone(UTC),
        revoked_by=revoked_by,
    )

"""Standing instructions on a real PostgreSQL, and what a user's message gives and takes back."""

import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from clew import Database
from clew.context.standing import recognise_instruction, revokes
from clew.context.standing.kept import Heard, StandingInstructions
from clew.ids import new_id

_numbers = itertools.count(1)
AT = datetime(2025, 3, 1, 12, tzinfo=UTC)

Hear = Callable[..., Awaitable[Heard]]


@pytest.fixture
def tenant() -> str:
    return f"standing-{next(_numbers)}"


@pytest.fixture
def other_tenant() -> str:
    return f"standing-{next(_numbers)}"


@pytest.fixture
def standing(database: Database) -> StandingInstructions:
    return StandingInstructions(database)


@pytest.fixture
def hear(standing: StandingInstructions, tenant: str) -> Hear:
    """Hears a user's message, as writing back does: what it takes back, then what it gives."""

    async def hear(text: str, *, thread: str = "t", user: str | None = "sam", **other: Any) -> Heard:
        tenant_id = other.pop("tenant_id", tenant)
        async with (await standing.opened()).tenant(tenant_id) as connection:
            seen = await standing.seen(connection, tenant_id, thread_id=thread, user_id=user)
            ended = {id(one) for one in revokes(text, [one.instruction for one in seen])}
            heard = Heard(
                given=recognise_instruction(text),
                revoked=tuple(one.instruction_id for one in seen if id(one.instruction) in ended),
                thread_id=thread,
                user_id=user,
                message_id=other.pop("message_id", None) or new_id(),
                at=AT,
            )
            assert heard.given or heard.revoked, f"nothing was recognised in {text!r}"
            await standing.heard(connection, tenant_id, said=[heard])
        return heard

    return hear


@pytest.fixture
def texts(standing: StandingInstructions, tenant: str) -> Callable[..., Awaitable[list[str]]]:
    """What holds for a thread of a user."""

    async def texts(thread: str | None = "t", user: str | None = "sam", tenant_id: str = tenant) -> list[str]:
        return [one.text for one in await standing.active(tenant_id=tenant_id, thread_id=thread, user_id=user)]

    return texts


async def rows(database: Database, tenant_id: str) -> list[tuple[Any, ...]]:
    """Everything that was ever kept: text, scope, holder, and who took it back."""
    async with database.tenant(tenant_id) as connection:
        found = await connection.execute(
            "SELECT text, scope, holder, revoked_by FROM clew.standing_instructions ORDER BY seq"
        )
        return await found.fetchall()

"""Thousands of requests through four connections, some forgetful, some failing: none reads another tenant's rows."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest

from clew import Database

from .probes import phrase
from .rows import MAKERS, fill
from .test_the_door import spoil

if TYPE_CHECKING:
    from ..conftest import Scratch

REQUESTS: Final = 4_000
POOL_SIZE: Final = 4
AT_ONCE: Final = 32
TENANTS: Final = [f"tenant-{number}" for number in range(7)]
TABLES: Final = list(MAKERS)
WHOSE: Final = "SELECT {tenant} FROM {table}"


class Mishap(Exception):
    """What one request in twenty raises inside its block."""


async def reads(connection: Any, table: str) -> set[str]:
    return {tenant async for (tenant,) in await connection.execute(phrase(WHOSE, table))}


async def request(database: Database, number: int, seen: Counter[str]) -> None:
    """One request: forgetful, failing, or well-behaved, by its number."""
    tenant_id, table = TENANTS[number % len(TENANTS)], TABLES[number // 20 % len(TABLES)]
    match number % 20:
        case 0:
            assert database._pool is not None
            async with database._pool.connection() as connection:
                found, own = await reads(connection, table), set()
                seen["forgot"] += 1
        case 1:
            found, own = set(), {tenant_id}
            try:
                async with database.tenant(tenant_id) as connection:
                    found = await reads(connection, table)
                    raise Mishap
            except Mishap:
                seen["raised"] += 1
        case _:
            async with database.tenant(tenant_id) as connection:
                found, own = await reads(connection, table), {tenant_id}
            seen["read"] += found == own
    seen["wrong"] += bool(found - own)


async def traffic(database: Database) -> Counter[str]:
    """All the requests, a few dozen at a time, in an order that differs from their numbers and not from run to run."""
    seen: Counter[str] = Counter()
    numbers = list(range(REQUESTS))
    random.Random(4_000).shuffle(numbers)
    queue = iter(numbers)

    async def worker() -> None:
        for number in queue:
            await request(database, number, seen)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return seen


@pytest.fixture
async def busy(scratch: "Scratch") -> AsyncIterator[Database]:
    with psycopg.connect(scratch.admin_url, autocommit=True) as admin:
        fill(admin, TENANTS)
    async with Database(scratch.app_url, pool_size=POOL_SIZE) as database:
        yield database


async def test_four_thousand_requests_through_four_connections_read_no_other_tenants_rows(busy: Database) -> None:
    seen = await traffic(busy)
    assert seen == {"forgot": 200, "raised": 200, "read": 3_600, "wrong": 0}


async def test_the_same_requests_do_read_others_rows_when_the_tenant_is_set_for_the_session(
    monkeypatch: pytest.MonkeyPatch, busy: Database
) -> None:
    spoil(monkeypatch, busy, "SET LOCAL clew.tenant_id", "SET clew.tenant_id")
    seen = await traffic(busy)
    assert seen["wrong"] > 0
    assert seen["forgot"] + seen["raised"] + seen["read"] == REQUESTS

"""An engine on the shared database with a folder for artifacts, and a tenant of each test's own."""

import itertools
from collections.abc import AsyncIterator

import pytest

import clew

_numbers = itertools.count(1)


@pytest.fixture
def tenant() -> str:
    return f"langgraph-{next(_numbers)}"


@pytest.fixture
def other_tenant() -> str:
    return f"langgraph-{next(_numbers)}"


@pytest.fixture
async def engine(database: clew.Database) -> "AsyncIterator[clew.Clew]":
    async with clew.open(database) as engine:
        yield engine


@pytest.fixture
def sessions(database: clew.Database) -> clew.SessionStore:
    return clew.SessionStore(database)

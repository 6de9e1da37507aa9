"""Engines on the shared database, and tenants that no other test uses."""

import itertools
from typing import Any

import pytest

import clew
from clew import Database

_numbers = itertools.count(1)


@pytest.fixture
def tenant() -> str:
    return f"hostile-{next(_numbers)}"


@pytest.fixture
def engine(database: Database) -> clew.Clew:
    return clew.open(database)


@pytest.fixture
def acme(engine: clew.Clew, tenant: str) -> clew.Tenant:
    return engine.tenant(tenant)


def says(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text}


async def ask(thread: clew.Thread, text: str) -> clew.Context:
    """A user's question, and the window in which it is answered."""
    await thread.append(says(text))
    return await thread.compile("Answer the user.", "You help.")


async def shown(thread: clew.Thread, text: str) -> str:
    """The retrieved text for a question."""
    return (await ask(thread, text)).compiled.context

"""Knowledge on the shared embedded server, and tenants that no other test uses."""

import itertools
from datetime import UTC, datetime

import pytest

from clew import Database
from clew.memory.knowledge import KnowledgeBase

_numbers = itertools.count(1)


@pytest.fixture
def knowledge(database: Database) -> KnowledgeBase:
    return KnowledgeBase(database)


@pytest.fixture
def tenant_id() -> str:
    return f"knowledge-{next(_numbers)}"


def day(number: int, month: int = 1) -> datetime:
    """A day of 2026."""
    return datetime(2026, month, number, tzinfo=UTC)

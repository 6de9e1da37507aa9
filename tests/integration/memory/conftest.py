"""Memory on the shared embedded server, and tenants that no other test uses."""

import itertools
from collections.abc import Callable

import pytest

from clew import Database
from clew.memory import LongTermMemory, MemoryEntry

_numbers = itertools.count(1)


@pytest.fixture
def memory(database: Database) -> LongTermMemory:
    return LongTermMemory(database)


@pytest.fixture
def tenant_id() -> str:
    return f"memory-{next(_numbers)}"


@pytest.fixture
def entry(tenant_id: str) -> Callable[..., MemoryEntry]:
    """An entry of this test's tenant."""

    def made(content: str = "Ana drinks tea", **changes) -> MemoryEntry:
        metadata = changes.pop("metadata", {})
        return MemoryEntry(
            **{"tenant_id": tenant_id, "agent_id": "agent", "content": content, "metadata": metadata, **changes}
        )

    return made

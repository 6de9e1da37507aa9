"""An engine whose stores count how often they are asked."""

import itertools
from collections import Counter
from typing import Any

import pytest

import clew
from clew import Database

_numbers = itertools.count(1)


@pytest.fixture
def tenant() -> str:
    return f"selecting-{next(_numbers)}"


@pytest.fixture
def engine(database: Database) -> clew.Clew:
    return clew.open(database)


@pytest.fixture
def acme(engine: clew.Clew, tenant: str) -> clew.Tenant:
    return engine.tenant(tenant)


@pytest.fixture
def searches(engine: clew.Clew, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each store was searched."""
    counted: Counter[str] = Counter()

    def counting(owner: Any, method: str, name: str) -> None:
        real = getattr(owner, method)

        async def asked(*args: Any, **named: Any) -> Any:
            counted[name] += 1
            return await real(*args, **named)

        monkeypatch.setattr(owner, method, asked)

    counting(engine.memory, "candidates", "memory")
    counting(engine.knowledge, "search", "facts")
    counting(engine.knowledge, "neighbours", "neighbours")
    return counted


def says(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


async def window(thread: clew.Thread, task: str = "Answer the user.", **options: Any) -> clew.Context:
    return await thread.compile(task, "You help.", **options)


def block(context: clew.Context) -> str:
    """The retrieved text, where there is any."""
    return context.compiled.context

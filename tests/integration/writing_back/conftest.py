"""Engines on the shared database, and models that fail when they are told to."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import clew
from clew import Database
from clew.errors import Unavailable
from clew.models import StaticEmbedder

_numbers = itertools.count(1)


class Flaky:
    """The static embedder, which can be switched off."""

    def __init__(self) -> None:
        self._static = StaticEmbedder()
        self.name, self.dimensions = self._static.name, self._static.dimensions
        self.works = True

    async def embed(self, texts: Sequence[str], *, purpose: Any = "document") -> Any:
        if not self.works:
            raise Unavailable("the embedding service does not answer")
        return await self._static.embed(texts, purpose=purpose)


@pytest.fixture
def tenant() -> str:
    return f"writing-{next(_numbers)}"


@pytest.fixture
def engine(database: Database) -> clew.Clew:
    return clew.open(database)


@pytest.fixture
def acme(engine: clew.Clew, tenant: str) -> clew.Tenant:
    return engine.tenant(tenant)


def says(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}

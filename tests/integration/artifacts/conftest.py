"""Stores on the shared database, each with an object store of its own."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from clew import Database
from clew.artifacts import ArtifactStore

Objects = Callable[[], list[Path]]


@pytest.fixture
def tenant() -> str:
    return f"acme-{uuid4().hex[:12]}"


@pytest.fixture
def other() -> str:
    return f"globex-{uuid4().hex[:12]}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "artifacts"


@pytest.fixture
def store(database: Database, folder: Path) -> ArtifactStore:
    """A store that waits an hour before it collects, as by default."""
    return ArtifactStore(database, url=str(folder))


@pytest.fixture
def eager(database: Database, folder: Path) -> ArtifactStore:
    """The same objects, and no grace: whatever may be collected is, at once."""
    return ArtifactStore(database, url=str(folder), grace_s=0)


@pytest.fixture
def objects(folder: Path) -> Objects:
    """The files in the object store, beside the mark of the database they belong to."""
    return lambda: sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "databases")

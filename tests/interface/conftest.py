"""Clew as somebody outside sees it: the names of the promised interface, and nothing below them."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import clew
from clew import Database, Settings

Run = Callable[..., "subprocess.CompletedProcess[str]"]

CLEW = Path(sys.executable).with_name("clew")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def texts(messages: list[dict[str, Any]]) -> list[Any]:
    return [message["content"] for message in messages]


def entry(tenant_id: str, content: Any, **fields: Any) -> Any:
    """An entry with every promised field that has no promised default."""
    now = datetime.now(UTC)
    given = {"memory_id": str(uuid4()), "agent_id": "helper", "created_at": now, "updated_at": now, **fields}
    return clew.MemoryEntry(tenant_id=tenant_id, content=content, **given)


@pytest.fixture
def tenant() -> str:
    """A tenant of the test's own."""
    return f"acme-{uuid4().hex[:12]}"


@pytest.fixture
def other() -> str:
    """Another tenant, who must never learn of the first."""
    return f"globex-{uuid4().hex[:12]}"


@pytest.fixture
def thread_id() -> str:
    return f"thread-{uuid4().hex[:12]}"


@pytest.fixture
def environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process is set up as a user's would be: CLEW_DATA_DIR and no database of one's own."""
    for name in [name for name in os.environ if name.startswith("CLEW_")] + ["DATABASE_URL"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLEW_DATA_DIR", str(settings.data_dir))
    return settings.data_dir


@pytest.fixture(scope="session")
async def sessions(database: Database) -> Any:
    store = clew.SessionStore(database)
    await store.setup()
    return store


@pytest.fixture(scope="session")
async def memory(database: Database) -> Any:
    memory = clew.LongTermMemory(database)
    await memory.setup()
    return memory


@pytest.fixture(scope="session")
def manager(sessions: Any, memory: Any) -> Any:
    return clew.ContextManager(sessions, memory, clew.WorkingContextCompiler())


@pytest.fixture(scope="session")
async def engine(database: Database) -> AsyncIterator[Any]:
    async with clew.open(database=database) as engine:
        yield engine


def _environ(data_dir: Path) -> dict[str, str]:
    return {"CLEW_DATA_DIR": str(data_dir), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def run_python(code: str, data_dir: Path) -> "subprocess.CompletedProcess[str]":
    """A program of a user's, in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=_environ(data_dir), capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="session")
def python(server: object, settings: Settings) -> Run:
    return lambda code: run_python(code, settings.data_dir)


@pytest.fixture(scope="session")
def cli(server: object, settings: Settings) -> Run:
    """`clew …` as typed by a user whose output goes to a file."""

    def run(*words: str | bytes, **environ: str) -> "subprocess.CompletedProcess[str]":
        environment = {**_environ(settings.data_dir), **environ}
        command: list[str | bytes | Path] = [CLEW, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)

    return run

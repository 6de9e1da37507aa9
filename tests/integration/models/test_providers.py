"""Providers over HTTP: right answers, wrong answers, failures that pass and failures that stay."""

import time
import traceback
from collections.abc import Callable

import numpy as np
import pytest

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.limits import EMBED_BATCH_TEXTS, EMBED_MAX_ATTEMPTS
from clew.models import Embedder, open_embedder
from clew.models.checked import Checked
from clew.models.providers import LiteLlmSource, PydanticAiSource
from clew.settings import Settings

from .conftest import EmbeddingsServer, fails, hangs, hangs_up, rows, says, vector

SECRET = "sk-very-secret-4711"
SPECS = ["openai:text-embedding-3-small", "litellm:openai/text-embedding-3-small"]


@pytest.fixture(params=SPECS)
def spec(request: pytest.FixtureRequest, server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    return str(request.param)


@pytest.fixture
def embedder(spec: str) -> Embedder:
    return open_embedder(spec, settings=Settings())


async def failure(embedder: Embedder, kind: type[ClewError], texts: list[str] | None = None) -> str:
    with pytest.raises(kind) as caught:
        await embedder.embed(texts or ["a", "b"])
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in str(caught.value)
    assert SECRET not in shown
    return str(caught.value)


async def test_vectors_come_back_for_their_texts_in_batches(embedder: Embedder, server: EmbeddingsServer) -> None:
    server.steps = [rows()]
    texts = [f"{n} texts" for n in range(EMBED_BATCH_TEXTS + 3)]
    got = await embedder.embed(texts)
    assert [len(request["body"]["input"]) for request in server.requests] == [EMBED_BATCH_TEXTS, 3]
    assert server.requests[0]["path"] == "/v1/embeddings"
    assert server.requests[0]["authorization"] == f"Bearer {SECRET}"
    assert server.requests[0]["body"]["model"] == "text-embedding-3-small"
    wanted = np.array([vector(text, 1536) for text in texts])
    assert np.allclose(got, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert got.dtype == np.float32


async def test_shorter_vectors_are_asked_for(spec: str, server: EmbeddingsServer) -> None:
    server.steps = [rows()]
    shorter = open_embedder(f"{spec}#256", settings=Settings())
    assert (await shorter.embed(["a"])).shape == (1, 256)
    assert server.requests[0]["body"]["dimensions"] == 256
    assert shorter.name == f"{spec}#256"


@pytest.mark.parametrize("step", [fails(429), fails(500), fails(503), hangs_up], ids=["429", "500", "503", "hang-up"])
async def test_a_failure_that_passes_is_retried(
    step: Callable[..., None], embedder: Embedder, server: EmbeddingsServer
) -> None:
    server.steps = [step, rows()]
    assert (await embedder.embed(["a"])).shape == (1, 1536)
    assert len(server.requests) == 2


async def test_the_wait_asked_for_is_kept(embedder: Embedder, server: EmbeddingsServer) -> None:
    server.steps = [fails(429, retry_after="1"), rows()]
    start = time.monotonic()
    await embedder.embed(["a"])
    assert time.monotonic() - start >= 1


@pytest.mark.parametrize("status", [429, 500])
async def test_a_failure_that_stays_is_unavailable(status: int, embedder: Embedder, server: EmbeddingsServer) -> None:
    server.steps = [fails(status)]
    text = await failure(embedder, Unavailable)
    assert f"the provider answers {status}; asked {EMBED_MAX_ATTEMPTS} times" in text
    assert len(server.requests) == EMBED_MAX_ATTEMPTS


@pytest.mark.parametrize(
    ("status", "says_"), [(400, "refuses the request"), (401, "key"), (403, "key"), (404, "no such model")]
)
async def test_a_refusal_is_not_retried(status: int, says_: str, embedder: Embedder, server: EmbeddingsServer) -> None:
    server.steps = [fails(status, "Incorrect API key provided")]
    assert says_ in await failure(embedder, InvalidInput)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("step", "says_"),
    [
        (rows(lambda made: made[:-1]), "2 texts with 1 vectors"),
        (rows(lambda made: [*made, made[0]]), "2 texts with 3 vectors"),
        (rows(lambda made: []), ""),
        (rows(lambda made: [row[:-1] for row in made]), "1535 dimensions, not 1536"),
        (rows(lambda made: [made[0], made[1][:-1]]), "one length"),
        (rows(lambda made: [made[0], [float("nan"), *made[1][1:]]]), "NaN"),
        (rows(lambda made: [made[0], [None, *made[1][1:]]]), ""),
        (rows(lambda made: [made[0], [0.0] * 1536]), "zero"),
        (says("{}"), ""),
        (says('{"object": "list", "data": null, "model": "m", "usage": null}'), ""),
        (says("<html>gateway</html>"), ""),
    ],
    ids=["few", "many", "none", "short", "ragged", "nan", "null", "zero", "empty", "no data", "no json"],
)
async def test_a_bad_answer_is_an_error_and_never_a_vector(
    step: Callable[..., None], says_: str, embedder: Embedder, server: EmbeddingsServer
) -> None:
    server.steps = [step]
    assert says_ in await failure(embedder, Unavailable)


async def test_a_server_that_hangs_is_given_up(spec: str, server: EmbeddingsServer) -> None:
    server.steps = [hangs]
    kind, _, model = spec.partition(":")
    source = (
        LiteLlmSource(model, dimensions=1536, timeout_s=0.3)
        if kind == "litellm"
        else PydanticAiSource(spec, model=spec, dimensions=1536, timeout_s=0.3)
    )
    start = time.monotonic()
    text = await failure(Checked(source), Unavailable)
    assert time.monotonic() - start < 1.5
    assert "no answer in 0.3 s" in text or "can't be reached" in text


async def test_a_server_that_is_not_there_is_unavailable(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr("clew.models.retrying._jitter.uniform", lambda low, high: 0.01)
    text = await failure(open_embedder(spec, settings=Settings()), Unavailable)
    # litellm makes a 500 of its own of a connection that fails.
    assert f"asked {EMBED_MAX_ATTEMPTS} times" in text


def test_litellm_without_a_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="Set OPENAI_API_KEY"):
        open_embedder("litellm:openai/text-embedding-3-small", settings=Settings())


async def test_a_server_of_ones_own_needs_no_key(server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.steps = [rows(dimensions=8)]
    own = open_embedder("openai:my-model#8", settings=Settings())
    assert (await own.embed(["a"])).shape == (1, 8)
    assert "dimensions" not in server.requests[0]["body"]

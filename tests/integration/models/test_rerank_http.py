"""Rerankers over HTTP: right answers, wrong answers, failures that pass and failures that stay."""

import json
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.limits import EMBED_MAX_ATTEMPTS
from clew.models.rerank import Reranker, reranked
from clew.models.rerank_catalog import open_reranker
from clew.models.rerank_checked import CheckedReranker
from clew.models.rerank_http import RERANK_ANSWER_MAX_BYTES, RERANK_PROVIDERS, HttpReranker
from clew.settings import Settings

from .conftest import EmbeddingsServer as Server
from .conftest import Handler, Step, fails, hangs, hangs_up, says

SECRET = "key-very-secret-4711"
TEXTS = ["so so", "the very best", "bad"]
SCORES = [0.25, 0.875, 0.125]
Results = list[dict[str, Any]]


def _voyage(body: dict[str, Any], results: Results) -> dict[str, Any]:
    return {"object": "list", "data": results, "model": body["model"], "usage": {"total_tokens": 26}}


def _cohere(body: dict[str, Any], results: Results) -> dict[str, Any]:
    billed = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf", "results": results, "meta": billed}


def _jina(body: dict[str, Any], results: Results) -> dict[str, Any]:
    return {"model": body["model"], "object": "list", "usage": {"total_tokens": 38}, "results": results}


@dataclass(frozen=True)
class Protocol:
    """How one provider is asked and answers."""

    spec: str
    base_path: str
    body: dict[str, Any]
    answer: Callable[[dict[str, Any], Results], dict[str, Any]]

    def scores(self, change: Callable[[Results], Any] = lambda results: results, pad: int = 0) -> Step:
        """The right answer, best first, after `change` has done to its results what it likes."""

        def step(handler: Handler, body: dict[str, Any]) -> None:
            results = [{"index": index, "relevance_score": SCORES[index]} for index in range(len(body["documents"]))]
            results.sort(key=lambda result: -result["relevance_score"])
            handler.answer(json.dumps(self.answer(body, change(results))) + " " * pad)

        return step


PROTOCOLS = [
    Protocol("voyage:rerank-2.5", "/v1", {"truncation": True, "return_documents": False}, _voyage),
    Protocol("cohere:rerank-v3.5", "/v2", {}, _cohere),
    Protocol("jina:jina-reranker-v2-base-multilingual", "/v1", {"return_documents": False}, _jina),
]


@pytest.fixture(params=PROTOCOLS, ids=lambda protocol: protocol.spec.partition(":")[0])
def protocol(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Protocol:
    found: Protocol = request.param
    monkeypatch.setenv(RERANK_PROVIDERS[found.spec.partition(":")[0]].key_variable, SECRET)
    return found


def address(server: Server, protocol: Protocol) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}{protocol.base_path}"


@pytest.fixture
def reranker(protocol: Protocol, server: Server) -> Reranker:
    opened = open_reranker(protocol.spec, settings=Settings(), base_url=address(server, protocol))
    assert opened is not None
    return opened


async def failure(reranker: Reranker, kind: type[ClewError], caplog: pytest.LogCaptureFixture) -> str:
    """The error's text; the search goes on without the reranker, and nothing anywhere shows the key."""
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(kind) as caught:
            await reranker.rerank("what is good?", TEXTS)
        text = str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in text + shown + repr(caught.value.as_dict()) + caplog.text
    assert text.startswith(reranker.name)
    return text


async def test_scores_come_back_for_their_texts(protocol: Protocol, reranker: Reranker, server: Server) -> None:
    server.steps = [protocol.scores()]
    assert await reranker.rerank("what is good?", TEXTS) == SCORES
    [request] = server.requests
    assert request["path"] == f"{protocol.base_path}/rerank"
    assert request["authorization"] == f"Bearer {SECRET}"
    model = protocol.spec.partition(":")[2]
    assert request["body"] == {"model": model, "query": "what is good?", "documents": TEXTS, **protocol.body}
    assert await reranked(reranker, "what is good?", TEXTS, str, 3) == ([TEXTS[1], TEXTS[0], TEXTS[2]], None)


async def test_text_of_any_language_arrives(protocol: Protocol, reranker: Reranker, server: Server) -> None:
    server.steps = [protocol.scores()]
    await reranker.rerank("¿qué? 🎈", ["日本語", 'quote " \\ \u2028'])
    assert server.requests[0]["body"]["documents"] == ["日本語", 'quote " \\']
    assert server.requests[0]["body"]["query"] == "¿qué? 🎈"


@pytest.mark.parametrize("step", [fails(429), fails(500), fails(503), hangs_up], ids=["429", "500", "503", "hang-up"])
async def test_a_failure_that_passes_is_retried(
    step: Step, protocol: Protocol, reranker: Reranker, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.models.retrying._jitter.uniform", lambda low, high: 0.01)
    server.steps = [step, protocol.scores()]
    assert await reranker.rerank("what is good?", TEXTS) == SCORES
    assert len(server.requests) == 2


async def test_the_wait_asked_for_is_kept(protocol: Protocol, reranker: Reranker, server: Server) -> None:
    server.steps = [fails(429, retry_after="0.4"), protocol.scores()]
    start = time.monotonic()
    await reranker.rerank("what is good?", TEXTS)
    assert time.monotonic() - start >= 0.4


@pytest.mark.parametrize("status", [429, 500])
async def test_a_failure_that_stays_is_unavailable(
    status: int, reranker: Reranker, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.steps = [fails(status)]
    text = await failure(reranker, Unavailable, caplog)
    assert f"the provider answers {status}; asked {EMBED_MAX_ATTEMPTS} times" in text
    assert len(server.requests) == EMBED_MAX_ATTEMPTS
    assert await reranked(reranker, "what is good?", TEXTS, str, 3) == (TEXTS, text)


@pytest.mark.parametrize(
    ("status", "says_"),
    [
        *((400, "refuses the request (400). Does it have the model"), (422, "refuses the request"), (301, "refuses")),
        *((401, "refuses the key (401). Check "), (403, "refuses the key"), (402, "paid"), (404, "no such model")),
    ],
)
async def test_a_refusal_is_not_retried(
    status: int, says_: str, reranker: Reranker, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.steps = [fails(status, "Incorrect API key provided")]
    text = await failure(reranker, InvalidInput, caplog)
    assert says_ in text
    assert len(server.requests) == 1
    got, reason = await reranked(reranker, "what is good?", TEXTS, str, 3)
    assert got == TEXTS
    assert reason == text


def _with(place: int, **changes: Any) -> Callable[[Results], Results]:
    return lambda results: [{**one, **changes} if at == place else one for at, one in enumerate(results)]


@pytest.mark.parametrize(
    ("change", "says_"),
    [
        (lambda results: results[:-1], "3 texts with 2 scores"),
        (lambda results: [*results, results[0]], "3 texts with 4 scores"),
        (lambda results: [], "3 texts with 0 scores"),
        (_with(0, index=3), "not one for each text"),
        (_with(0, index=-1), "not one for each text"),
        (_with(0, index=0), "not one for each text"),
        (_with(0, index=True), "not one for each text"),
        (_with(0, index="1"), "not one for each text"),
        (_with(0, index=None), "not one for each text"),
        (_with(1, relevance_score=float("nan")), "NaN"),
        (_with(1, relevance_score=float("inf")), "infinite"),
        (_with(1, relevance_score=None), "not a number"),
        (_with(1, relevance_score="0.5"), "not a number"),
        (lambda results: [{"index": 0}] * 3, "can't be read"),
        (lambda results: None, "can't be read"),
        (lambda results: [1, 2, 3], "can't be read"),
        (lambda results: "abc", "can't be read"),
    ],
)
async def test_a_bad_answer_is_an_error_and_never_an_order(
    change: Callable[[Results], Any],
    says_: str,
    protocol: Protocol,
    reranker: Reranker,
    server: Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.steps = [protocol.scores(change)]
    text = await failure(reranker, Unavailable, caplog)
    assert says_ in text
    assert await reranked(reranker, "what is good?", TEXTS, str, 3) == (TEXTS, text)


@pytest.mark.parametrize("payload", ["", "{}", "[]", "null", "<html>gateway</html>", "[" * 100_000, '{"data": {}}'])
async def test_an_answer_that_is_none_is_unavailable(
    payload: str, reranker: Reranker, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.steps = [says(payload)]
    await failure(reranker, Unavailable, caplog)


async def test_an_answer_that_is_packed_wrongly_is_unavailable(
    reranker: Reranker, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.steps = [lambda handler, body: handler.answer("no gzip", headers={"content-encoding": "gzip"})]
    assert "can't be read" in await failure(reranker, Unavailable, caplog)


async def test_an_answer_without_end_is_not_read_to_its_end(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.steps = [PROTOCOLS[2].scores(pad=RERANK_ANSWER_MAX_BYTES)]
    reranker = open_reranker("jina:mine", settings=Settings(), base_url=server.url)
    assert reranker is not None
    assert "longer than 33,554,432 bytes" in await failure(reranker, Unavailable, caplog)


async def test_a_server_that_hangs_is_given_up(
    protocol: Protocol, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.steps = [hangs]
    kind, _, model = protocol.spec.partition(":")
    source = HttpReranker(
        protocol.spec,
        provider=RERANK_PROVIDERS[kind],
        model=model,
        base_url=address(server, protocol),
        timeout_s=0.2,
    )
    start = time.monotonic()
    assert "no answer in 0.2 s" in await failure(CheckedReranker(source), Unavailable, caplog)
    assert time.monotonic() - start < 1.5


async def test_a_server_that_is_not_there_is_unavailable(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("clew.models.retrying._jitter.uniform", lambda low, high: 0.01)
    reranker = open_reranker(protocol.spec, settings=Settings(), base_url="http://127.0.0.1:9/v1")
    assert reranker is not None
    text = await failure(reranker, Unavailable, caplog)
    assert f"the provider can't be reached; asked {EMBED_MAX_ATTEMPTS} times" in text


async def test_a_server_of_ones_own_needs_no_key_and_may_have_any_model(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JINA_API_KEY", raising=False)
    server.steps = [PROTOCOLS[2].scores()]
    reranker = open_reranker("jina:BAAI/bge-reranker-v2-m3", settings=Settings(), base_url=server.url + "/")
    assert reranker is not None
    assert await reranker.rerank("what is good?", TEXTS) == SCORES
    assert server.requests[0]["path"] == "/v1/rerank"
    assert server.requests[0]["authorization"] is None
    assert server.requests[0]["body"]["model"] == "BAAI/bge-reranker-v2-m3"

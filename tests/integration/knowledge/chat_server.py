"""A model that says what a test wrote down, behind the protocol that real ones speak: OpenAI's chat completions."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def statement(subject: str, predicate: str, value: str, quote: str, **more: Any) -> dict[str, Any]:
    """A statement as a model sends it."""
    return {
        "subject": subject,
        "predicate": predicate,
        "object": value,
        "text": f"{subject} {predicate} {value}.",
        "holds": "one",
        "negated": False,
        "replaces": None,
        "valid_from": None,
        "valid_to": None,
        "confidence": 0.9,
        "quote": quote,
        **more,
    }


class ChatServer(ThreadingHTTPServer):
    """Answers each request with the next step of its script, and the last one for ever.

    A step is a list of statements, a text (a model that talks instead of calling its tool), a status, a number of
    seconds to wait, or `{"arguments": …}`: the raw arguments of the call; or a function that makes one of a prompt.
    """

    request_queue_size = 128  # many connect at once, and none is to be refused

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Any] = [[]]
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self._asked = threading.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def step(self, request: dict[str, Any]) -> Any:
        with self._asked:
            self.requests.append(request)
            self._asked.notify_all()
            step = self.script[min(len(self.requests), len(self.script)) - 1]
        return step(request["messages"][-1]["content"]) if callable(step) else step

    def was_asked(self, times: int, timeout_s: float = 20) -> bool:
        """Whether so many requests came in time."""
        with self._asked:
            return self._asked.wait_for(lambda: len(self.requests) >= times, timeout_s)

    def prompts(self) -> list[str]:
        """What was asked, without the instructions."""
        return [one["messages"][-1]["content"] for one in self.requests]


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        step = self.server.step(request)
        if isinstance(step, int):
            self._send(step, {"error": {"message": "scripted", "type": "server_error"}})
            return
        if isinstance(step, float):
            self.server.released.wait(step)
            step = []
        self._send(200, _completion(request, step))

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, format: str, *args: Any) -> None:
        return


def _completion(request: dict[str, Any], step: Any) -> dict[str, Any]:
    if isinstance(step, str):
        message: dict[str, Any] = {"role": "assistant", "content": step}
    else:
        arguments = step["arguments"] if isinstance(step, dict) else json.dumps({"statements": step})
        called = {"name": request["tools"][0]["function"]["name"], "arguments": arguments}
        call = {"id": "call-1", "type": "function", "function": called}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "scripted-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"],
        "choices": [
            {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop", "message": message}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """A server while it is needed."""
    server = ChatServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()

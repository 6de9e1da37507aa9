"""The shop, served from this folder on a port of its own."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SHOP = Path(__file__).parent / "shop"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the account of the run is what is printed."""


@contextmanager
def served() -> Iterator[str]:
    """The address of the shop, for as long as it is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(SHOP)))
    thread = threading.Thread(target=server.serve_forever, name="shop", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""Enough of S3 to be spoken to over real HTTP: PUT, GET with Range, HEAD, DELETE, LIST, copies, multipart uploads."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class S3(ThreadingHTTPServer):
    """One bucket's objects in memory, what was asked of them, and a way to make it fail."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.asked: list[str] = []
        self.headers_seen: list[str] = []
        self.failing = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: S3

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _handle(self) -> None:
        url = urlsplit(self.path)
        key, query = unquote(url.path).removeprefix("/bucket").lstrip("/"), parse_qs(url.query, keep_blank_values=True)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.command} {key} {self.headers.get('Range') or ''}".strip())
        self.server.headers_seen.append(self.headers.get("Authorization") or "")
        if self.server.failing:
            self._answer(self.server.failing, b"<Error><Code>Refused</Code><Message>no</Message></Error>")
        elif "uploads" in query or "uploadId" in query:
            self._multipart(key, query, body)
        else:
            getattr(self, f"_{self.command.lower()}")(key, query, body)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = _handle

    def _put(self, key: str, query: dict[str, list[str]], body: bytes) -> None:
        source = self.headers.get("x-amz-copy-source")
        data = (
            self.server.objects[unquote(source).removeprefix("/bucket").lstrip("/").removeprefix("bucket/")]
            if source
            else body
        )
        self.server.objects[key] = data
        self._answer(200, b"<CopyObjectResult><ETag>x</ETag></CopyObjectResult>" if source else b"", ETag=_etag(data))

    def _get(self, key: str, query: dict[str, list[str]], body: bytes) -> None:
        if not key:
            self._list(query.get("prefix", [""])[0])
            return
        data = self.server.objects.get(key)
        if data is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        about = {"ETag": _etag(data), "Last_Modified": formatdate(usegmt=True)}
        if found := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or ""):
            start, stop = int(found[1]), min(int(found[2]) + 1, len(data))
            if start >= len(data):
                self._answer(416, b"<Error><Code>InvalidRange</Code></Error>")
                return
            self._answer(206, data[start:stop], Content_Range=f"bytes {start}-{stop - 1}/{len(data)}", **about)
        else:
            self._answer(200, data, Content_Length=str(len(data)), **about)

    _head = _get

    def _delete(self, key: str, query: dict[str, list[str]], body: bytes) -> None:
        self.server.objects.pop(key, None)
        self._answer(204)

    def _list(self, prefix: str) -> None:
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size><ETag>x</ETag>"
            "<LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, data in sorted(self.server.objects.items())
            if key.startswith(prefix)
        )
        self._answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode())

    def _multipart(self, key: str, query: dict[str, list[str]], body: bytes) -> None:
        if "uploads" in query:
            upload = f"u{len(self.server.uploads)}"
            self.server.uploads[upload] = {}
            self._answer(
                200,
                f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>".encode(),
            )
        elif self.command == "PUT":
            self.server.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = body
            self._answer(200, ETag=_etag(body))
        else:
            parts = self.server.uploads.pop(query["uploadId"][0])
            if self.command == "POST":
                self.server.objects[key] = b"".join(parts[number] for number in sorted(parts))
            self._answer(200, b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


@contextmanager
def s3_server() -> Iterator[S3]:
    server = S3()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()

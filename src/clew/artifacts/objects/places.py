"""Which object store a URL means. Whatever is wrong with one is said without repeating it: it may hold a key."""

import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from obstore.exceptions import BaseError
from obstore.store import MemoryStore, from_url

from clew.artifacts.objects.blobs import Blobs, LocalBlobs
from clew.errors import InvalidInput
from clew.settings import ARTIFACT_SCHEMES

# A part of 8 MiB at 70 kB a second; and an outage is told within half a minute rather than after ten retries.
REQUEST_TIMEOUT_S: Final = 120
CONNECT_TIMEOUT_S: Final = 5
RETRIES_MAX: Final = 3
RETRY_TIMEOUT_S: Final = 30

# Whoever writes http:// there means it: a service on the same machine, or in the same cluster.
_ENDPOINT_VARIABLES: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_ENDPOINT")
_memories: dict[str, MemoryStore] = {}
_lock = threading.Lock()


def check_url(url: object) -> str:
    """The URL itself, or the folder, when an object store can be there."""
    if not isinstance(url, str):
        raise InvalidInput(f"expected a URL or a folder, got {type(url).__name__}", where="url")
    try:
        parts = urlsplit(url)
        broken = not url.strip() or "\0" in url or (parts.scheme and parts.scheme not in ARTIFACT_SCHEMES)
        broken = broken or (parts.scheme in ("s3", "gs", "az") and not parts.netloc)
    except ValueError:
        broken = True
    if broken:
        raise InvalidInput(
            "this is not where an object store can be",
            where="url",
            fix="Write a folder, s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or memory://",
        )
    if "@" in parts.netloc:
        raise InvalidInput(
            "holds credentials before the @",
            where="url",
            fix="Put them in the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    return url


def open_blobs(url: str) -> Blobs:
    """The object store at a URL that `check_url` let through."""
    parts = urlsplit(url)
    match parts.scheme:
        case "":
            return LocalBlobs(Path(url).expanduser().absolute())
        case "file":
            return LocalBlobs(Path(unquote(parts.path)).absolute())
        case "memory":
            with _lock:
                return Blobs(_memories.setdefault(parts.netloc, MemoryStore()), f"memory://{parts.netloc}")
    return _remote(f"{parts.scheme}://{parts.netloc}{parts.path}", _options(parts.query))


def _options(query: str) -> dict[str, Any]:
    """The names and values after the `?`. A plus stays one: some keys have a plus in them, and none a space."""
    pairs = (part.partition("=") for part in query.split("&") if part)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def _remote(address: str, options: dict[str, Any]) -> Blobs:
    """S3, GCS or Azure; what the URL's query doesn't say is taken from the environment, as their own tools do."""
    endpoints = (os.environ.get(name, "") for name in _ENDPOINT_VARIABLES)
    plain_http = any(value.startswith("http://") for value in (*options.values(), *endpoints))
    if address.startswith("s3:"):
        # One request an object: not every S3-compatible service has the bulk form.
        options.setdefault("disable_bulk_delete", "true")
    how: dict[str, Any] = {
        "config": options,
        "client_options": {
            "allow_http": plain_http,
            "connect_timeout": timedelta(seconds=CONNECT_TIMEOUT_S),
            "timeout": timedelta(seconds=REQUEST_TIMEOUT_S),
        },
        "retry_config": {"max_retries": RETRIES_MAX, "retry_timeout": timedelta(seconds=RETRY_TIMEOUT_S)},
    }
    try:
        store = from_url(address, **how)
    except (BaseError, ValueError) as error:
        known = "Account must be specified" in str(error)
        raise InvalidInput(
            "the object store's URL lacks the account" if known else "the object store's URL can't be used",
            where="CLEW_ARTIFACTS_URL",
            fix="Add ?account_name=…" if known else "Check the names after the ?, such as endpoint and region",
        ) from None
    return Blobs(store, address)

"""Every limit has a name: those that rooms share live here, with their checks; a room's own are in the room."""

import math
from typing import Any, Final

from clew.errors import InvalidInput

# What a caller may send.
TENANT_ID_MAX_CHARS: Final = 128
TEXT_MAX_BYTES: Final = 16 * 1024 * 1024
JSON_MAX_DEPTH: Final = 64
JSON_INTEGER_MAX_BITS: Final = 1024

# How much one read returns.
JOURNAL_READ_MAX: Final = 1_000

# How long we wait for PostgreSQL.
CONNECT_TIMEOUT_S: Final = 10.0
POOL_WAIT_TIMEOUT_S: Final = 30.0
STATEMENT_TIMEOUT_MS: Final = 60_000
IDLE_TRANSACTION_TIMEOUT_MS: Final = 120_000
MIGRATION_LOCK_TIMEOUT_MS: Final = 120_000

# How long we wait for the embedded server.
SERVER_START_TIMEOUT_S: Final = 90.0
SERVER_STOP_TIMEOUT_S: Final = 30.0
SERVER_MAX_CRASHES_PER_MINUTE: Final = 30

# Embedding.
EMBED_BATCH_TEXTS: Final = 64
EMBED_MAX_ATTEMPTS: Final = 4
EMBED_TIMEOUT_S: Final = 60.0


def check_text(value: object, where: str, *, max_bytes: int = TEXT_MAX_BYTES, allow_empty: bool = True) -> str:
    """The text itself, when PostgreSQL can store it and give it back unchanged."""
    if not isinstance(value, str):
        raise InvalidInput(f"expected text, got {type(value).__name__}", where=where)
    if not value and not allow_empty:
        raise InvalidInput("must not be empty", where=where)
    nul = value.find("\0")
    if nul >= 0:
        raise InvalidInput(
            f"holds a NUL character at position {nul}", where=where, fix="Remove it: PostgreSQL text cannot hold one"
        )
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"holds a lone surrogate at position {error.start}",
            where=where,
            fix="Decode the source with errors='replace', or re-encode it",
        ) from None
    if size > max_bytes:
        raise InvalidInput(f"is {size:,} bytes long; the limit is {max_bytes:,}", where=where)
    return value


def check_count(value: object, where: str, *, least: int = 1, most: int) -> int:
    """The whole number itself, when it is within bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"expected a whole number, got {type(value).__name__}", where=where)
    if not least <= value <= most:
        raise InvalidInput(f"{ascii(value)[:40]} is not a whole number from {least} to {most:,}", where=where)
    return value


def check_json(value: Any, where: str, *, max_bytes: int = TEXT_MAX_BYTES) -> Any:
    """The value itself, when it is plain JSON that PostgreSQL can store and give back unchanged."""
    _check_json(value, where, max_bytes, JSON_MAX_DEPTH)
    return value


def _check_json(value: Any, where: str, max_bytes: int, depth_left: int) -> None:
    if depth_left == 0:
        raise InvalidInput(f"is nested deeper than {JSON_MAX_DEPTH} levels", where=where)
    match value:
        case None | bool():
            return
        case int():
            if value.bit_length() > JSON_INTEGER_MAX_BITS:
                raise InvalidInput("is a number of more than 308 digits", where=where, fix="Send it as text")
        case float():
            if not math.isfinite(value):
                raise InvalidInput(f"{value} is not a JSON number", where=where, fix="Send a finite number, or null")
        case str():
            check_text(value, where, max_bytes=max_bytes)
        case list() | tuple():
            for index, item in enumerate(value):
                _check_json(item, f"{where}[{index}]", max_bytes, depth_left - 1)
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise InvalidInput(f"has the key {key!r}", where=where, fix="JSON keys are text")
                check_text(key, f"{where} key", max_bytes=max_bytes)
                _check_json(item, f"{where}.{key}", max_bytes, depth_left - 1)
        case _:
            raise InvalidInput(f"{type(value).__name__} is not JSON", where=where)

"""Identifiers: ones we make, which sort by the time they were made, and the tenant's, which comes from outside."""

import os
import re
import threading
import time
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from clew.errors import InvalidInput
from clew.limits import TENANT_ID_MAX_CHARS

# What an artifact is called, wherever it is named: short, since every summary carries one.
ARTIFACT_ID: Final = re.compile(r"\bart_[a-z2-7]{16}\b")
_TENANT_ID: Final = re.compile(rf"[A-Za-z0-9._:-]{{1,{TENANT_ID_MAX_CHARS}}}")
_COUNTER_BITS: Final = 12

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """A UUIDv7, later than every one this process made before, as text.

    The 12 bits beside the millisecond count up within it (RFC 9562, method 1), so that ids made in one tight loop keep
    their order; 62 random bits keep processes apart.
    """
    global _last
    with _lock:
        now = (time.time_ns() // 1_000_000) << _COUNTER_BITS
        _last = max(now, _last + 1)
        stamp = _last
    milliseconds, counter = stamp >> _COUNTER_BITS, stamp & 0xFFF
    random_bits = int.from_bytes(os.urandom(8)) & (1 << 62) - 1
    return str(UUID(int=milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | random_bits))


def id_time(identifier: str) -> datetime:
    """When an id of ours was made, to the millisecond."""
    parsed = check_id(identifier, "id")
    return datetime.fromtimestamp((UUID(parsed).int >> 80) / 1000, tz=UTC)


def check_id(value: object, where: str) -> str:
    """The id in its one spelling, when it could be one of ours."""
    if isinstance(value, str):
        try:
            parsed = UUID(value)
        except ValueError:
            pass
        else:
            if parsed.version == 7:
                return str(parsed)
    raise InvalidInput(
        f"{_shown(value)} is not an id", where=where, fix="Ids look like 019a8f6e-3b1c-7d2a-9f00-1234567890ab"
    )


def check_tenant_id(value: object) -> str:
    """The tenant id itself, when it is one."""
    if isinstance(value, str) and _TENANT_ID.fullmatch(value):
        return value
    raise InvalidInput(
        f"{_shown(value)} is not a tenant id",
        where="tenant_id",
        fix=f"Use 1 to {TENANT_ID_MAX_CHARS} letters (a-z, A-Z), digits, or . _ - :",
    )


def _shown(value: object) -> str:
    """A text cut short; of anything else its kind, since printing it is its own code's to do."""
    if not isinstance(value, str):
        return f"of type {type(value).__name__}, it"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}…"

"""JSON that can be written, sent and read again unchanged."""

import json
from typing import Any

from clew.limits import JSON_MAX_DEPTH


def json_text(value: object) -> str:
    """JSON as providers write it: no spaces, characters as themselves."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, or None when there is none that could be sent on."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _sendable(value, JSON_MAX_DEPTH) else None


def writable(value: dict[str, Any]) -> dict[str, Any]:
    """The value itself, when it comes back from JSON as it went in."""
    # What came through a converter is within the limit already; a form recorded around it adds a few levels.
    if not _sendable(value, 2 * JSON_MAX_DEPTH):
        raise ValueError("holds a number that is not finite, a lone surrogate, or too many levels")
    return value


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _sendable(value: object, depth_left: int) -> bool:
    """Whether a parsed value can be written again: an escape like "\\ud800" parses into text that no encoder takes."""
    if depth_left == 0:
        return False
    if isinstance(value, str):
        return not any("\ud800" <= char <= "\udfff" for char in value) if not value.isascii() else True
    if isinstance(value, float):
        return value - value == 0  # false for the infinity that 1e999 parses into
    if isinstance(value, dict):
        return all(_sendable(key, depth_left) and _sendable(item, depth_left - 1) for key, item in value.items())
    return all(_sendable(item, depth_left - 1) for item in value) if isinstance(value, list) else True

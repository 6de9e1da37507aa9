"""A tool's result as bytes that a model can read, and back again exactly as it was, types too.

Text is kept as itself, bytes as themselves, plain JSON as JSON, and everything else as JSON with tags (`tagged.py`).
Nothing is pickled, and reading back never imports or runs what stored data names.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from clew.artifacts.isolation.classes import NotExact
from clew.artifacts.isolation.tagged import from_tagged, to_tagged
from clew.errors import Damaged
from clew.limits import JSON_INTEGER_MAX_BITS

# How deep a result may be nested: reading it back takes a few stack frames a level, on top of the caller's own.
EXACT_MAX_DEPTH: Final = 150
# A container that fits on a line of this many characters is written on one; else one line an item.
LINE_MAX_CHARS: Final = 120

JSON_TYPE: Final = "application/json"
# The media types of no two forms meet: an artifact's id, made from bytes and media type, stands for one result.
TAGGED_TYPE: Final = "application/vnd.clew.result+json"
BYTEARRAY_TYPE: Final = "application/vnd.clew.bytearray"
TEXT_TYPE: Final = "text/plain"
# Text that holds JSON: with a parameter, so that it is never taken for the value that was parsed from it.
JSON_TEXT_TYPE: Final = "application/json; charset=utf-8"
BYTES_TYPE: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Exact:
    """A result as bytes, and how to read them."""

    data: bytes
    media_type: str
    form: str
    """`text`, `surrogates`, `bytes`, `bytearray`, `json` or `tagged`."""


def exactly(result: Any, seems: str | None = None) -> Exact:
    """The result as bytes from which `restored` makes it again; `NotExact` when that can't be promised.

    `seems` is what the result looks like (`text/html`, `image/png`); it is taken where the form has a choice.
    """
    if type(result) is str:
        return _text(result, seems)
    if type(result) is bytes:
        free = seems and not seems.startswith("text/") and "json" not in seems and "clew" not in seems
        return Exact(result, seems if seems and free else BYTES_TYPE, "bytes")
    if type(result) is bytearray:
        return Exact(bytes(result), BYTEARRAY_TYPE, "bytearray")
    try:
        if _is_plain(result, EXACT_MAX_DEPTH):
            return Exact(json_in_lines(result).encode(), JSON_TYPE, "json")
        node = to_tagged(result, EXACT_MAX_DEPTH)
        return Exact(json_in_lines(node).encode(), TAGGED_TYPE, "tagged")
    except RecursionError:
        raise NotExact("it is nested too deep") from None


def restored(data: bytes, form: str) -> Any:
    """The result itself. `Misconfigured` when it needs a class that is not loaded here or no longer fits."""
    match form:
        case "text":
            return data.decode()
        case "surrogates":
            return data.decode("utf-8", "surrogatepass")
        case "bytes":
            return data
        case "bytearray":
            return bytearray(data)
        case "json":
            return json.loads(data)
        case "tagged":
            return from_tagged(json.loads(data))
    raise Damaged(f"a result is kept in a form that this version can't read: {form!a}")


def json_in_lines(value: Any) -> str:
    """JSON that can be read by lines: what fits on a line stands on one, a longer container has a line an item."""
    return "".join(_in_lines(value, 0))


def _in_lines(value: Any, indent: int) -> Iterator[str]:
    compact = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list | dict) or not value or indent + len(compact) <= LINE_MAX_CHARS:
        yield compact
        return
    opening, closing = "[]" if isinstance(value, list) else "{}"
    margin = "\n" + " " * (indent + 1)
    yield opening
    keyed = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for number, (key, item) in enumerate(keyed):
        yield f",{margin}" if number else margin
        if isinstance(value, dict):
            yield f"{json.dumps(key, ensure_ascii=False)}: "
        yield from _in_lines(item, indent + 1)
    yield "\n" + " " * indent + closing


def _text(text: str, seems: str | None) -> Exact:
    media_type = JSON_TEXT_TYPE if seems == JSON_TYPE else TEXT_TYPE
    if seems and seems.startswith("text/"):
        media_type = seems
    try:
        return Exact(text.encode(), media_type, "text")
    except UnicodeEncodeError:
        return Exact(text.encode("utf-8", "surrogatepass"), media_type, "surrogates")


def _is_plain(value: Any, depth_left: int) -> bool:
    """Whether JSON gives the value back as it is. Types are asked for exactly: JSON forgets a subclass."""
    if depth_left == 0:
        raise NotExact(f"it is nested deeper than {EXACT_MAX_DEPTH} levels, or holds itself")
    kind = type(value)
    if value is None or kind is bool:
        return True
    if kind is str:
        return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
    if kind is int:
        return bool(value.bit_length() <= JSON_INTEGER_MAX_BITS)
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return all(_is_plain(item, depth_left - 1) for item in value)
    if kind is dict:
        return all(
            type(key) is str and _is_plain(key, depth_left) and _is_plain(item, depth_left - 1)
            for key, item in value.items()
        )
    return False

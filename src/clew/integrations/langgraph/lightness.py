"""References only: what a graph's state may hold, and a clear refusal of everything that belongs in the store.

A state is written to the database after every step and read by whoever looks at the thread. One screenshot in it is
stored as often as the graph takes steps, and a model that is shown it has no room for anything else.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from clew.errors import InvalidInput
from clew.limits import JSON_MAX_DEPTH, check_json

TEXT_MAX_CHARS: Final = 16_000
MESSAGE_MAX_CHARS: Final = 64_000
# A run this long without a space is no prose, no path and no token of any provider; a picture is a thousand times it.
BASE64_MIN_CHARS: Final = 1_024
_DATA_URI: Final = re.compile(r"data:[\w.+/;=-]{0,128};base64,[A-Za-z0-9+/_=-]{64}")
_RUN: Final = re.compile(rf"[A-Za-z0-9+/_-]{{{BASE64_MIN_CHARS}}}")
# The same broken into lines, as `base64` and mail programs write it.
_LINES: Final = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\r?\n){16}")
_TO_THE_STORE: Final = "Put it into the artifact store and keep the reference: `await engine.artifacts.put(…)`"


# What providers sign and seal, for themselves to read again: base64 of a few thousand characters, and no file.
SEALED: Final = frozenset({"signature", "thought_signature", "encrypted_content"})


def check_light(value: Any, where: str, *, max_chars: int = TEXT_MAX_CHARS) -> Any:
    """The value itself, when it is plain and light: no bytes, no base64, no text of more than `max_chars`.

    Anything else is `InvalidInput` that says where it is and what to do instead.
    """
    _check(value, where, max_chars, JSON_MAX_DEPTH)
    return check_json(value, where)


def _check(value: Any, where: str, max_chars: int, depth_left: int) -> None:
    match value:
        case bytes() | bytearray() | memoryview():
            raise InvalidInput(f"{len(value):,} raw bytes don't belong in a state", where=where, fix=_TO_THE_STORE)
        case str():
            check_light_text(value, where, max_chars=max_chars)
        case Mapping() if depth_left:
            for key, item in value.items():
                check_light_text(str(key), f"{where} key", max_chars=max_chars)
                if key in SEALED and isinstance(item, str) and len(item) <= max_chars:
                    continue
                _check(item, f"{where}.{str(key)[:80]}", max_chars, depth_left - 1)
        case list() | tuple() if depth_left:
            for index, item in enumerate(value):
                _check(item, f"{where}[{index}]", max_chars, depth_left - 1)


def check_light_text(text: str, where: str, *, max_chars: int = TEXT_MAX_CHARS) -> str:
    """The text itself, when it is short and no file in disguise."""
    if _DATA_URI.search(text) or _RUN.search(text) or _LINES.search(text):
        raise InvalidInput(
            f"{len(text):,} characters with base64 in them don't belong in a state", where=where, fix=_TO_THE_STORE
        )
    if len(text) > max_chars:
        raise InvalidInput(
            f"{len(text):,} characters don't belong in a state; the limit is {max_chars:,}",
            where=where,
            fix=_TO_THE_STORE,
        )
    return text

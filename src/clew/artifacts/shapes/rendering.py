"""What a model would have been shown without isolation."""

import json
from typing import Any, Final

from clew.artifacts.shapes.cleaning import said

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)


def rendered(result: Any) -> str:
    """A text as it is, JSON for what JSON can hold, else what the object says of itself; never an error."""
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result, ensure_ascii=False)
    # Not JSON, a value that holds itself, nesting beyond Python's own limit: all of these have a str().
    except (TypeError, ValueError, RecursionError):
        return said(result)


def beginning(result: Any, chars: int) -> str:
    """The rendered result up to about `chars` characters, without rendering more of it than that."""
    if isinstance(result, str):
        return result[:chars]
    if isinstance(result, bytes | bytearray):
        return said(bytes(result[:chars]))[:chars]
    parts: list[str] = []
    length = 0
    try:
        for part in _ENCODER.iterencode(result):
            parts.append(part)
            length += len(part)
            if length >= chars:
                break
    except (TypeError, ValueError, RecursionError):
        return said(result)[:chars]
    return "".join(parts)[:chars]

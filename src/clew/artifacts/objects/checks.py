"""The checks of what names or describes an artifact from outside. None of it ever becomes part of a path."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from clew.errors import InvalidInput
from clew.ids import ARTIFACT_ID
from clew.limits import check_json, check_text

# More than any file system allows: a name is a label, and a long one does no harm.
NAME_MAX_BYTES: Final = 8_192
MEDIA_TYPE_MAX_CHARS: Final = 255
DETAILS_MAX_BYTES: Final = 1024 * 1024
# What `put` holds in memory; more goes through `put_stream`.
PUT_MAX_BYTES: Final = 256 * 1024 * 1024

_ID_CHARS: Final = 16
# RFC 6838's names; then, if there are any, parameters in printable ASCII.
_MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][\w!#$&^.+-]*/[A-Za-z0-9*][\w!#$&^.+-]*(\s*;[ -~]*)?", re.ASCII)


def artifact_id_of(media_type: str, sha256: bytes) -> str:
    """The id of these bytes as this kind of thing: 80 bits, in about ten tokens."""
    digest = hashlib.sha256(f"{media_type}\0{sha256.hex()}".encode()).digest()
    return "art_" + base64.b32encode(digest).decode().lower()[:_ID_CHARS]


def check_artifact_id(value: object, where: str = "artifact_id") -> str:
    """The id itself, when it could be one of ours."""
    if isinstance(value, str) and ARTIFACT_ID.fullmatch(value):
        return value
    shown = f"{value[:40]!a}" if isinstance(value, str) else f"of type {type(value).__name__}, it"
    raise InvalidInput(f"{shown} is not an artifact's id", where=where, fix="Ids look like art_k3v5x2qa7bydm4zp")


def check_media_type(value: object) -> str:
    """The media type itself, when it looks like one."""
    text = check_text(value, "media_type", allow_empty=False)
    if len(text) > MEDIA_TYPE_MAX_CHARS or not _MEDIA_TYPE.fullmatch(text):
        raise InvalidInput(
            f"{text[:40]!a} is not a media type", where="media_type", fix="Write type/subtype, such as image/png"
        )
    return text


def check_name(value: object) -> str | None:
    """The name itself: any text that PostgreSQL can hold."""
    return None if value is None else check_text(value, "name", max_bytes=NAME_MAX_BYTES)


def check_details(value: object) -> dict[str, Any]:
    """The details as a dict, when they are plain JSON of a bearable size."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"expected a mapping, got {type(value).__name__}", where="details")
    details: dict[str, Any] = check_json(dict(value), "details", max_bytes=DETAILS_MAX_BYTES)
    size = len(json.dumps(details))
    if size > DETAILS_MAX_BYTES:
        raise InvalidInput(f"are {size:,} bytes as JSON; the limit is {DETAILS_MAX_BYTES:,}", where="details")
    return details


def check_data(value: object) -> bytes:
    """The bytes to store; a text's are its UTF-8."""
    if isinstance(value, str):
        try:
            data = value.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"holds a lone surrogate at position {error.start}",
                where="data",
                fix="Decode the source with errors='replace', or store its bytes",
            ) from None
    elif isinstance(value, bytes | bytearray | memoryview):
        # A copy where the caller could still change them: what is digested is what is written.
        data = bytes(value)
    else:
        raise InvalidInput(f"expected bytes or text, got {type(value).__name__}", where="data")
    if len(data) > PUT_MAX_BYTES:
        raise InvalidInput(
            f"is {len(data):,} bytes long; the limit is {PUT_MAX_BYTES:,}", where="data", fix="Use put_stream"
        )
    return data

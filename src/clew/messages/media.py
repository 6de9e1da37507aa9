"""Media as data, as a URL or as words: the small conversions that every format needs."""

import base64
import binascii
import re
from typing import Final

from clew.errors import InvalidInput
from clew.messages.message import MediaKind, MediaPart

_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/=_-]*)", re.ASCII)


def split_data_url(url: str) -> tuple[str, str] | None:
    """The media type and the base64 data of a URL that `data_url` would write in the same way; else None."""
    match = _DATA_URL.fullmatch(url)
    return (match[1], match[2]) if match else None


def data_url(part: MediaPart, default_media_type: str) -> str:
    """The part's data as a URL."""
    return f"data:{part.media_type or default_media_type};base64,{part.data}"


def kind_of(media_type: str | None) -> MediaKind:
    """What sort of thing a media type names."""
    match (media_type or "").partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case "text":
            return "document"
    return "document" if media_type == "application/pdf" else "file"


def decoded(data: str, where: str) -> bytes:
    """The bytes behind base64 text, in either alphabet."""
    try:
        return base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("is not valid base64", where=where) from None


def encoded(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode("ascii")


def described(part: MediaPart) -> str:
    """The part in words, for a format that has no place for it: what it was, and where it can be found."""
    name = part.filename or part.url or part.file_id or part.media_type or "no name"
    return f"[{part.kind}: {name}]"

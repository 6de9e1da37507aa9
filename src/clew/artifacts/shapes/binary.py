"""Binary results, as bytes or as base64 text: kind, size, and a picture's width and height."""

import base64
import binascii
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.test_results.pictures import OCTETS, media_type_of_bytes, picture_of

# Shorter texts without spaces are words, ids or digests.
BASE64_CHARS_MIN: Final = 200
# A known beginning proves a picture, so a shorter text will do.
PICTURE_CHARS_MIN: Final = 32
_HEAD_CHARS: Final = 4096
_DATA_URI: Final = re.compile(
    r"data:([\w.+-]{1,64}/[\w.+-]{1,64})?(?:;[\w.+-]{1,64}=[^;,]{0,128}){0,8};base64,", re.IGNORECASE
)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a base64 text says it holds, without its having been decoded."""

    media_type: str
    payload: str

    @property
    def size(self) -> int:
        """The number of bytes, from the length of the text."""
        letters = len(self.payload) - self.payload.count("\n") - self.payload.count("\r")
        return letters * 3 // 4 - self.payload[-2:].count("=")

    def decoded(self) -> bytes | None:
        """The bytes, or None when the text is not whole base64."""
        text = self.payload.translate({10: None, 13: None, 32: None, ord("-"): "+", ord("_"): "/"})
        try:
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            return None


def encoded(text: str) -> Encoded | None:
    """The base64 content of a text, with or without a `data:` prefix; None for every other text."""
    text = text.strip() if len(text) > PICTURE_CHARS_MIN else text
    prefix = _DATA_URI.match(text[:2_000])
    payload = text[prefix.end() :] if prefix else text
    if len(payload) < PICTURE_CHARS_MIN and not prefix:
        return None
    head = payload[:_HEAD_CHARS].replace("\n", "").replace("\r", "")
    tail = payload[-_HEAD_CHARS:].replace("\n", "").replace("\r", "")
    if not _BASE64.fullmatch(head) or not _BASE64.fullmatch(tail):
        return None
    start = Encoded("", head[: len(head) // 4 * 4].rstrip("=")).decoded() or b""
    found = media_type_of_bytes(start)
    if found != OCTETS:
        return Encoded(found, payload)
    if prefix:
        declared = prefix[1] or OCTETS
        # A picture that does not begin like one is none, whatever it is called; SVG is text.
        pretends = declared.startswith("image/") and declared != "image/svg+xml"
        return Encoded(OCTETS if pretends else declared, payload)
    return Encoded(OCTETS, payload) if len(payload) >= BASE64_CHARS_MIN and _mixed(head[:400]) else None


def _mixed(text: str) -> bool:
    """Whether letters of both cases and digits alternate as in encoded bytes, which words and hexadecimal don't."""
    kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" for char in text]
    changes = sum(a != b for a, b in pairwise(kinds))
    return len(set(kinds)) == 3 and changes > 0.35 * len(kinds)


def described(media_type: str, size: int, data: bytes) -> str:
    """`image/png 1280×720, 41.2 kB`."""
    picture = picture_of(data)
    pixels = f" {picture.width}×{picture.height}" if picture else ""
    return f"{media_type}{pixels}, {sized(size)}"


def sized(size: int) -> str:
    """A number of bytes as people write it."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


def sketch_bytes(data: bytes) -> Sketch:
    """Raw bytes: what kind, how many, how large a picture."""
    return Sketch(f"binary: {described(media_type_of_bytes(data), len(data), data)}")


def sketch_encoded(found: Encoded) -> Sketch:
    """Base64 text: the same of what it stands for."""
    data = found.decoded() or b""
    note = "base64" if data else "damaged base64"
    return Sketch(f"{note}: {described(found.media_type, len(data) or found.size, data)}")

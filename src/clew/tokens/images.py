"""What an image costs, by the providers' published rules."""

import base64
import binascii
import math
import struct
from typing import Final, Literal, get_args

from clew.errors import InvalidInput

Format = Literal["openai", "anthropic"]
Size = tuple[int, int]

# OpenAI, vision guide, gpt-4o and gpt-4.1: an image costs a base, and in high detail also each 512-pixel tile of it
# after it was fitted into 2048 x 2048 and then brought down to 768 pixels on its shorter side.
OPENAI_IMAGE_BASE_TOKENS: Final = 85
OPENAI_TILE_TOKENS: Final = 170
OPENAI_TILE_PX: Final = 512
OPENAI_LONG_SIDE_MAX_PX: Final = 2048
OPENAI_SHORT_SIDE_MAX_PX: Final = 768
# Size unknown: the dearest case, 768 x 2048, because a budget must hold.
OPENAI_UNKNOWN_SIZE: Final = (OPENAI_SHORT_SIDE_MAX_PX, OPENAI_LONG_SIDE_MAX_PX)

# Anthropic, vision guide: width x height / 750, after fitting into 1568 pixels and about 1,600 tokens.
ANTHROPIC_PX_PER_TOKEN: Final = 750
ANTHROPIC_LONG_SIDE_MAX_PX: Final = 1568
ANTHROPIC_IMAGE_MAX_TOKENS: Final = 1600

# A picture's size stands near its start; a JPEG may put a thumbnail and a colour profile before it.
HEADER_MAX_BYTES: Final = 256 * 1024
# JPEG markers that carry the size: every "start of frame" but the three that share their numbers with tables.
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def checked_format(format: Format) -> Format:
    """The format itself, or `InvalidInput` that says which there are."""
    if format not in get_args(Format):
        raise InvalidInput(f"unknown format {format!r}", where="format", fix="Use 'openai' or 'anthropic'")
    return format


def count_image(
    width_px: int | None = None, height_px: int | None = None, *, detail: str = "auto", format: Format = "openai"
) -> int:
    """The tokens an image of this size costs; without a size, the most that one image can cost.

    `detail` is OpenAI's: `"low"` costs the base alone; `"auto"` is counted as `"high"`, since the model may choose it.
    """
    size = None
    if width_px is not None and height_px is not None:
        if width_px < 1 or height_px < 1:
            raise InvalidInput(f"{width_px} x {height_px} pixels", where="image", fix="Both must be positive")
        size = (width_px, height_px)
    return _anthropic(size) if checked_format(format) == "anthropic" else _openai(size, detail)


def _openai(size: Size | None, detail: str) -> int:
    if detail == "low":
        return OPENAI_IMAGE_BASE_TOKENS
    width, height = size or OPENAI_UNKNOWN_SIZE
    scale = min(1.0, OPENAI_LONG_SIDE_MAX_PX / max(width, height))
    scale *= min(1.0, OPENAI_SHORT_SIDE_MAX_PX / (min(width, height) * scale))
    # Rounded before dividing, so that 768.0000001 pixels do not become another tile.
    tiles = math.prod(math.ceil(max(1, round(side * scale)) / OPENAI_TILE_PX) for side in (width, height))
    return OPENAI_IMAGE_BASE_TOKENS + OPENAI_TILE_TOKENS * tiles


def _anthropic(size: Size | None) -> int:
    if size is None:
        return ANTHROPIC_IMAGE_MAX_TOKENS
    scale = min(1.0, ANTHROPIC_LONG_SIDE_MAX_PX / max(size))
    return min(ANTHROPIC_IMAGE_MAX_TOKENS, math.ceil(size[0] * size[1] * scale**2 / ANTHROPIC_PX_PER_TOKEN))


def size_of_base64(data: str) -> Size | None:
    """Width and height of a PNG, GIF, JPEG or WebP given as base64, read from its header; None when not to be found."""
    head = data[: HEADER_MAX_BYTES * 4 // 3]
    try:
        return _size(base64.b64decode(head[: len(head) // 4 * 4]))
    except (binascii.Error, ValueError, struct.error):
        return None


def _size(data: bytes) -> Size | None:
    size: Size | None = None
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        size = struct.unpack(">II", data[16:24])
    elif data.startswith((b"GIF87a", b"GIF89a")):
        size = struct.unpack("<HH", data[6:10])
    elif data.startswith(b"\xff\xd8"):
        size = _jpeg_size(data)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        size = _webp_size(data)
    return size if size and min(size) > 0 else None


def _jpeg_size(data: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return (width, height)
        at += 2 + max(2, length)
    return None


def _webp_size(data: bytes) -> Size | None:
    match data[12:16]:
        case b"VP8X":
            return (1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little"))
        case b"VP8L":
            bits = struct.unpack("<I", data[21:25])[0]
            return (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return (width & 0x3FFF, height & 0x3FFF)
    return None

"""Pictures: what kind and how large they are, and a small copy that a person can recognise."""

import io
import struct
from dataclasses import dataclass
from typing import Final

# A thumbnail's longer side.
THUMBNAIL_PX: Final = 256
# Larger pictures are stored but not decoded: a few kB of PNG can unpack to gigabytes.
DECODED_MAX_PX: Final = 50_000_000
_JPEG_QUALITY: Final = 70

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "application/x-elf"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x00asm", "application/wasm"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)
# The readers that may look at what comes from outside: Pillow has many more, and some of them run programs.
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
OCTETS: Final = "application/octet-stream"
# Two bytes are easily met by chance: a BMP must also have its header's length where it belongs.
_BMP_HEADER_BYTES: Final = (12, 40, 52, 56, 64, 108, 124)


# What Pillow's readers raise on damaged pictures, and on huge ones where warnings are errors.
_DAMAGED: Final = (
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    AttributeError,
    struct.error,
    Warning,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """Kind and size of a picture, read from its header."""

    media_type: str
    width: int
    height: int


def media_type_of_bytes(data: bytes) -> str:
    """The media type that the first bytes tell; `application/octet-stream` when they tell none."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypheic"):
        return f"image/{data[8:12].decode()}"
    if data[4:8] == b"ftyp":
        return "video/mp4"
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            if media_type == "image/bmp" and int.from_bytes(data[14:18], "little") not in _BMP_HEADER_BYTES:
                continue
            return media_type
    return OCTETS


def picture_of(data: bytes) -> Picture | None:
    """A picture's kind, width and height; None for bytes that are none or whose header is damaged."""
    media_type = media_type_of_bytes(data)
    if not media_type.startswith("image/"):
        return None
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            return Picture(media_type, *image.size)
    except (*_DAMAGED, Image.DecompressionBombError):
        return None


def thumbnail(data: bytes, side_px: int = THUMBNAIL_PX) -> tuple[bytes, Picture] | None:
    """A JPEG of at most `side_px` on its longer side; None where the picture can't be decoded or is too large to."""
    picture = picture_of(data)
    if picture is None or picture.width * picture.height > DECODED_MAX_PX:
        return None
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            small = image.convert("RGBA") if image.mode in ("P", "LA", "PA") else image.copy()
            small.thumbnail((side_px, side_px))
            flat = Image.new("RGB", small.size, "white")
            flat.paste(small, mask=small.getchannel("A") if small.mode == "RGBA" else None)
    except _DAMAGED:
        return None
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=_JPEG_QUALITY, optimize=True)
    return out.getvalue(), Picture("image/jpeg", *flat.size)

"""Spellings folded into one: what a reader takes for the same letters is the same text."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# Drawn as nothing: zero-width spaces and joiners, direction marks, soft hyphens, tags, variation selectors.
INVISIBLE_RANGES: Final = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
_CHAR_CACHE: Final = 16_384

_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, Greek, Armenian, small capitals and a few more letters that are drawn like Latin ones.
    "авеікмнорстухѕјһԁԛԝӏαβγεηικμνορτυχωօսհցոᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıłøɡⅼ∣’‘ʼ`´“”„«»‐‑‒",
    "abeikmhopctyxsjhdqwlabyenikuvoptuxwouhgnabcdeghijklmnoprstuvwyzilogll'''''\"\"\"\"\"---",
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in plain letters and digits, and where in the original each of its characters comes from."""

    text: str
    origin: tuple[int, ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The same stretch, in the original text."""
        if self.origin is None or start >= end:
            return start, end
        return self.origin[start], self.origin[end - 1] + 1


def folded(text: str) -> Folded:
    """Full-width and decorated letters and every script's digits made plain, invisible characters left out."""
    if text.isascii():
        return Folded(text)
    parts = [_plain(char) for char in text]
    origin = tuple(index for index, part in enumerate(parts) for _ in part)
    return Folded("".join(parts), origin)


def looks(text: str) -> str:
    """How a text looks to a reader, in small letters: without accents, other alphabets' lookalikes made Latin."""
    if text.isascii():
        return text.lower()
    return "".join([_look(char) for char in text])


def is_invisible(char: str) -> bool:
    """Whether nothing is drawn for it."""
    point = ord(char)
    return any(low <= point <= high for low, high in INVISIBLE_RANGES)


@lru_cache(_CHAR_CACHE)
def _plain(char: str) -> str:
    if is_invisible(char):
        return ""
    digit = unicodedata.decimal(char, None)
    return str(digit) if digit is not None else unicodedata.normalize("NFKC", char)


@lru_cache(_CHAR_CACHE)
def _look(char: str) -> str:
    if is_invisible(char):
        return ""
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn").casefold().translate(_LOOKALIKES)

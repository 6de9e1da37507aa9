"""Shortening text to a number of tokens."""

import unicodedata
from typing import Final, Literal

from clew.errors import InvalidInput
from clew.tokens.engine import Engine, engine, mended
from clew.tokens.text import DEFAULT_ENCODING, checked_text

Keep = Literal["start", "end"]

# The first look at a text covers this many characters a token; English takes about four. It doubles until it is enough.
CHARS_PER_TOKEN_GUESS: Final = 6
# A visible character of more code points than this (stacked accents) is cut between two of them.
CLUSTER_MAX_CHARS: Final = 32
# Flags are pairs of letters with nothing between them, so the pairs are counted from the start of the run.
FLAG_RUN_MAX_CHARS: Final = 4096
_JOINER: Final = "\u200d"
# No token of either table is longer, and no character has more bytes, each of which may be a token.
TOKEN_MAX_CHARS: Final = 128
TOKENS_PER_CHAR_MAX: Final = 4


def truncate(text: str, max_tokens: int, encoding: str = DEFAULT_ENCODING, *, keep: Keep = "start") -> str:
    """The longest beginning of the text (with `keep="end"`: the longest end) that counts at most `max_tokens` tokens.

    Counted again, the result never exceeds `max_tokens`: a shortened text can split into more tokens than the same
    stretch had in the whole, so the result itself is counted and shortened until it fits. No character is split: no
    code point, no surrogate pair, and no accent, skin tone or joined emoji is torn from what it belongs to (up to 32
    code points). For these reasons the result may be a few tokens below the limit. Only the kept part and a
    neighbourhood are looked at: 1,000 tokens out of 10 MB cost what they cost out of 10 kB.
    """
    checked_text(text)
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
        raise InvalidInput(f"max_tokens is {max_tokens!r}", where="max_tokens", fix="Use a whole number from 0 up")
    if keep not in ("start", "end"):
        raise InvalidInput(f"keep is {keep!r}", where="keep", fix="Use 'start' or 'end'")
    chosen = engine(encoding)
    window_chars = max_tokens * CHARS_PER_TOKEN_GUESS + CLUSTER_MAX_CHARS
    while True:
        window = _part(text, window_chars, keep)
        packed = chosen.pack(window)
        if len(packed) // 4 > max_tokens:
            if (
                _may_fit(text, window, len(packed) // 4 - max_tokens, max_tokens, keep)
                and chosen.count(text) <= max_tokens
            ):
                return text
            return _shortened(chosen, text, window, packed, max_tokens, keep)
        if len(window) == len(text):
            return text
        window_chars *= 2


def _may_fit(text: str, window: str, over: int, max_tokens: int, keep: Keep) -> bool:
    """Whether the whole text might still fit, though a part of it does not.

    A part that ends inside a word, or inside a long run, can have more tokens at its edge than the text has there. What
    lies before that edge is the same in both, so the text can't fit when more is over than the edge could have cost.
    """
    if len(window) == len(text) or len(text) > max_tokens * TOKEN_MAX_CHARS:
        return False
    return over <= TOKENS_PER_CHAR_MAX * _edge_chars(window, keep)


def _edge_chars(window: str, keep: Keep) -> int:
    """How long the outermost word of a window is, with the white space on both its sides."""
    bare = window.rstrip() if keep == "start" else window.lstrip()
    inner = bare.rsplit(None, 1) if keep == "start" else bare.split(None, 1)
    rest = inner[0 if keep == "start" else 1].strip() if len(inner) == 2 else ""
    return len(window) - len(rest)


def _part(text: str, chars: int, keep: Keep) -> str:
    if chars >= len(text):
        return text
    return text[:chars] if keep == "start" else text[len(text) - chars :]


def _shortened(chosen: Engine, text: str, window: str, packed: bytes, max_tokens: int, keep: Keep) -> str:
    """As many of the window's outer tokens as have a text that fits when counted, tried in ever larger steps down."""
    spare = 0
    while spare < max_tokens:
        kept = max_tokens - spare
        edge = packed[: 4 * kept] if keep == "start" else packed[-4 * kept :]
        chars = _whole_chars(chosen.decode_bytes(chosen.unpack(edge)), keep)
        if not window.isascii():
            chars = _on_cluster(text, _unmended(window, chars, keep), keep)
        part = _part(text, chars, keep)
        if chosen.count(part) <= max_tokens:
            return part
        spare = max(1, 2 * spare)
    return ""


def _whole_chars(data: bytes, keep: Keep) -> int:
    """How many whole characters the bytes hold, leaving out one that the outer end splits."""
    if keep == "end":
        first = next((i for i, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), len(data))
        data = data[first:]
    return len(data.decode("utf-8", "ignore"))


def _unmended(window: str, chars: int, keep: Keep) -> int:
    """The same place in the text as it came: where it holds surrogate pairs, the engine saw one character for two."""
    if len(mended(window)) == len(window):
        return chars
    places = range(len(window)) if keep == "start" else range(len(window) - 1, -1, -1)
    seen = taken = 0
    for place in places:
        second_half = "\udc00" <= window[place] <= "\udfff" and place > 0 and "\ud800" <= window[place - 1] <= "\udbff"
        first_half = "\ud800" <= window[place] <= "\udbff" and "\udc00" <= window[place + 1 : place + 2] <= "\udfff"
        starts_another = not (second_half if keep == "start" else first_half)
        if starts_another and seen == chars:
            break
        seen += starts_another
        taken += 1
    return taken


def _on_cluster(text: str, chars: int, keep: Keep) -> int:
    """A number of characters, not above `chars`, that ends between two visible characters."""
    for fewer in range(min(chars, CLUSTER_MAX_CHARS) + 1):
        place = chars - fewer if keep == "start" else len(text) - (chars - fewer)
        if not _inside_cluster(text, place):
            return chars - fewer
    return chars


def _inside_cluster(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if before == _JOINER or after == _JOINER or _extends(after):
        return True
    return _is_flag_half(before) and _is_flag_half(after) and _flag_halves_before(text, place) % 2 == 1


def _extends(char: str) -> bool:
    """Accents and other marks, variation selectors, skin tones."""
    return "\U0001f3fb" <= char <= "\U0001f3ff" or unicodedata.category(char) in ("Mn", "Me", "Mc")


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves_before(text: str, place: int) -> int:
    run = 0
    while run < min(place, FLAG_RUN_MAX_CHARS) and _is_flag_half(text[place - 1 - run]):
        run += 1
    return run

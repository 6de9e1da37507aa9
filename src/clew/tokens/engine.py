"""One engine per encoding: built from our own verified table at first use, shared by all threads."""

from __future__ import annotations

import threading
from array import array
from typing import TYPE_CHECKING, Final

from clew.errors import InvalidInput
from clew.tokens.runs import PROBE_CHARS, long_runs, stitch
from clew.tokens.table import TABLE_SHA256, packed_table, unpacked_table

if TYPE_CHECKING:
    from splintr import Tokenizer

ENCODINGS: Final = tuple(TABLE_SHA256)
# The engine remembers up to 65,536 pieces whatever their length (200 letters each: 105 MB), so long ones could fill the
# memory. Emptied after this many characters, it never holds more text than that.
CACHE_TURNOVER_CHARS: Final = 16 * 1024 * 1024


class Engine:
    """Text to tokens and back, for one encoding. Tokens are packed: four bytes each, in the machine's own order."""

    def __init__(self, encoding: str) -> None:
        self._tokenizer = _build(encoding)
        self._chars_since_clearing = 0

    def pack(self, text: str) -> bytes:
        """The tokens of the text, packed. Special-token text such as `<|endoftext|>` is text like any other."""
        return b"".join(self._parts(text))

    def count(self, text: str) -> int:
        """The number of tokens; time and memory grow linearly with the text, whatever it holds."""
        return sum(map(len, self._parts(text))) // 4

    def unpack(self, packed: bytes) -> list[int]:
        return array("I", packed).tolist()

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """The bytes behind the tokens; raises ValueError for a number that is no token."""
        return self._tokenizer.decode_bytes(tokens)

    def _parts(self, text: str) -> list[bytes]:
        self._chars_since_clearing += len(text)
        if self._chars_since_clearing > CACHE_TURNOVER_CHARS:
            self._chars_since_clearing = 0
            self._tokenizer.clear_cache()
        try:
            if len(text) < 2 * PROBE_CHARS:
                return [self._tokenizer.encode_flat(text)]
            return self._long(text)
        except UnicodeEncodeError:
            return self._long(mended(text))

    def _long(self, text: str) -> list[bytes]:
        runs = list(long_runs(text))
        parts = stitch(self._tokenizer, text, runs) if runs else None
        return parts if parts is not None else [self._tokenizer.encode_flat(text)]


def mended(text: str) -> str:
    """The text as a provider receives it, by tiktoken's rule: surrogate pairs joined, lone surrogates as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _build(encoding: str) -> Tokenizer:
    # The import maps a 38 MB library, so only those who count pay for it.
    import splintr

    pattern = {"cl100k_base": splintr.CL100K_BASE_PATTERN, "o200k_base": splintr.O200K_BASE_PATTERN}[encoding]
    # No special tokens: whatever a user types is counted as the ordinary text that it is.
    return splintr.Tokenizer.from_bytes(unpacked_table(encoding, packed_table(encoding)), pattern, {})


_engines: dict[str, Engine] = {}
_building = threading.Lock()


def engine(encoding: str) -> Engine:
    """The engine of an encoding, built once: 0.1 s for cl100k_base, 0.2 s for o200k_base."""
    found = _engines.get(encoding) if isinstance(encoding, str) else None
    if found is not None:
        return found
    if encoding not in ENCODINGS:
        raise InvalidInput(f"unknown encoding {encoding!r}", where="encoding", fix=f"Use one of {', '.join(ENCODINGS)}")
    with _building:
        if encoding not in _engines:
            _engines[encoding] = Engine(encoding)
        return _engines[encoding]

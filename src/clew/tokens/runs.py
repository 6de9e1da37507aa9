"""Long runs without a break, and places inside them where the text may be cut without changing its tokens.

A pre-tokeniser cuts text into pieces and each piece is merged on its own. The engine merges a piece in O(n log n), and
a run such as 10 MB of one letter is a single piece: measured, 68 ns a byte at 100 kB, 199 at 10 MB and 600 MB of
memory, where prose takes 10. So such a run is encoded in windows (`stitch`), which is exact for two reasons.

*Inside a run a cut does not move the pieces.* Every class below is one that neither pattern ever divides, so text that
ends inside the run has the same pieces up to there, and text that starts inside it the same pieces from there on. The
neighbours each class demands rule out the exceptions: with o200k_base "中A中" is one piece, but "中A" is two.

*Token sequences join when their neighbours do.* In byte-pair encoding any stretch of an encoding is the encoding of its
own text, and a sequence in which every adjacent pair is the encoding of that pair's text is the encoding of the whole.
A window's last tokens know nothing of what follows, so they are dropped, the next window starts where they started, and
the pair across the seam is encoded once more. If it does not come out as it went in, there is no stitching and the
engine gets the text whole: slower, never wrong.
"""

import re
from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

# Runs are found by looking at every PROBE_CHARS-th place, so any run twice that long is found; shorter ones are cheap.
PROBE_CHARS: Final = 2048
WINDOW_CHARS: Final = 16_384
# The longest token has 128 characters: the dropped ones, and one more for the seam, fit before a run's first cut.
FIRST_CUT_CHARS: Final = 1024
DROPPED_TOKENS: Final = 4
# How far to look for a token that starts on a character: cl100k_base cuts Hangul in the middle many times in a row.
ALIGN_TOKENS: Final = 24
# What follows the last cut must still look like a run, and must not be taken for a word's leading mark.
LAST_CUT_CHARS: Final = 3


class _Class(NamedTuple):
    """Characters that form one piece, and what must not stand next to a run of them."""

    chars: str
    refused_before: str | None = None
    refused_after: str | None = None


_CLASSES: Final = {
    # Latin, Greek, Cyrillic.
    "lower": _Class("a-zß-öø-ÿα-ωа-я"),
    # Behind a letter that is neither upper nor lower case, the piece reaches back over the run.
    "upper": _Class("A-ZÀ-ÖØ-ÞΑ-ΡΣ-ΩА-Я", refused_before=r"[^\x00-\x7f]"),
    # Hebrew, Arabic, Devanagari, Thai, kana, Han, Hangul: an upper-case letter behind may or may not join the piece.
    "caseless": _Class(
        "\u05d0-\u05ea\u0621-\u063a\u0640-\u064a\u0904-\u0939\u0e01-\u0e30"
        "\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fa5\uac00-\ud7a3",
        refused_after=r"[^\x00-\x40\x5b-\x60]",
    ),
    "signs": _Class("\\x00-\\x08\\x0e-\\x1b!-/:-@\\[-`{-\\x7f\u2500-\u259f"),
    # Mixed white space is cut at its last line break, so only unmixed runs are taken.
    "spaces": _Class(" ", refused_before=r"\s", refused_after=r"\s"),
    "tabs": _Class("\\t", refused_before=r"\s", refused_after=r"\s"),
    # Behind a sign, o200k_base takes line breaks and slashes together.
    "breaks": _Class("\\r\\n", refused_before=r"\s", refused_after=r"[\s/]"),
}
_PROBE: Final = re.compile("|".join(f"(?P<{name}>[{c.chars}]{{{PROBE_CHARS}}})" for name, c in _CLASSES.items()))
_RUN: Final = {name: re.compile(f"[{c.chars}]+") for name, c in _CLASSES.items()}
_BEFORE: Final = {name: re.compile(c.refused_before) for name, c in _CLASSES.items() if c.refused_before}
_AFTER: Final = {name: re.compile(c.refused_after) for name, c in _CLASSES.items() if c.refused_after}


class Run(NamedTuple):
    start: int
    end: int


class Codec(Protocol):
    """The two calls that stitching needs of an engine."""

    def encode_flat(self, text: str) -> bytes: ...
    def decode_bytes(self, tokens: list[int]) -> bytes: ...


def long_runs(text: str) -> Iterator[Run]:
    """Every run in which cuts are harmless, left to right; none in ordinary text, where looking costs 0.1 ns a byte."""
    at = 0
    while at + PROBE_CHARS <= len(text):
        probe = _PROBE.match(text, at, at + PROBE_CHARS)
        if probe is None:
            at += PROBE_CHARS
            continue
        name = str(probe.lastgroup)
        found = _RUN[name].match(text, at)
        end = found.end() if found else at
        start = _start_of(text, at, name)
        if not _refused(text, start, end, name):
            yield Run(start, end)
        at = -(-end // PROBE_CHARS) * PROBE_CHARS


def _start_of(text: str, at: int, name: str) -> int:
    """Where the run starts, if that matters: its left neighbour is looked at."""
    if name not in _BEFORE:
        return at
    before = range(at - 1, max(-1, at - PROBE_CHARS - 1), -1)
    return next((place + 1 for place in before if not _RUN[name].match(text, place, place + 1)), 0)


def _refused(text: str, start: int, end: int, name: str) -> bool:
    before, after = _BEFORE.get(name), _AFTER.get(name)
    if before and start > 0 and before.match(text, start - 1):
        return True
    return bool(after and end < len(text) and after.match(text, end))


def stitch(codec: Codec, text: str, runs: list[Run]) -> list[bytes] | None:
    """The packed tokens of the text, in parts, never encoding a long run at once; None where a seam does not hold."""
    parts: list[bytes] = []
    start = 0
    for run in runs:
        for cut in range(run.start + FIRST_CUT_CHARS, run.end - LAST_CUT_CHARS, WINDOW_CHARS):
            packed = codec.encode_flat(text[start:cut])
            if parts and not _joins(codec, parts[-1], packed):
                return None
            dropped = _tail(codec, packed, DROPPED_TOKENS)
            if dropped is None or cut - len(dropped.text) < run.start + FIRST_CUT_CHARS // 4:
                return None
            parts.append(packed[: -4 * dropped.tokens])
            start = cut - len(dropped.text)
    packed = codec.encode_flat(text[start:])
    if parts and not _joins(codec, parts[-1], packed):
        return None
    parts.append(packed)
    return parts


class _Edge(NamedTuple):
    tokens: int
    text: str


def _ids(packed: bytes) -> list[int]:
    return array("I", packed).tolist()


def _tail(codec: Codec, packed: bytes, at_least: int) -> _Edge | None:
    """The last few tokens that together are whole characters."""
    for tokens in range(at_least, at_least + ALIGN_TOKENS):
        edge = _whole(codec, packed[-4 * tokens :], tokens)
        if edge:
            return edge
    return None


def _head(codec: Codec, packed: bytes) -> _Edge | None:
    """The first few tokens that together are whole characters."""
    for tokens in range(1, 1 + ALIGN_TOKENS):
        edge = _whole(codec, packed[: 4 * tokens], tokens)
        if edge:
            return edge
    return None


def _whole(codec: Codec, packed: bytes, tokens: int) -> _Edge | None:
    if len(packed) != 4 * tokens:
        return None
    try:
        return _Edge(tokens, codec.decode_bytes(_ids(packed)).decode())
    except UnicodeDecodeError:
        return None


def _joins(codec: Codec, left: bytes, right: bytes) -> bool:
    """Whether the tokens on both sides of a seam are what their joined text encodes to."""
    before, after = _tail(codec, left, 1), _head(codec, right)
    if before is None or after is None:
        return False
    return codec.encode_flat(before.text + after.text) == left[-4 * before.tokens :] + right[: 4 * after.tokens]

"""Text that would steer the model instead of telling a fact."""

import re
from collections.abc import Iterator
from typing import Final

from clew.memory.gate.folding import folded, looks
from clew.memory.gate.hidden import hides_text
from clew.memory.gate.markers import carries_marks
from clew.memory.gate.orders import AIMED
from clew.memory.gate.phrases import ALWAYS_STEERS, OTHER_LANGUAGES, OVERRIDES
from clew.memory.gate.verdict import Source

_LEET: Final = str.maketrans("013457@$!", "oieastasi")
_MIXED_WORD: Final = re.compile(r"[a-z][0-9@$!]|[0-9@$!][a-z]")
_SPELLED_OUT: Final = re.compile(r"(?<!\w)(?:[a-z][ .\-_*]){4,}[a-z](?!\w)")
_GAPS: Final = re.compile(r"(?<=[a-z])[ .\-_*](?=[a-z](?![a-z]))")
_LINES: Final = re.compile(r"\n[ \n]+")
_SPACES: Final = re.compile(r"[ \t\u00a0]{2,}")


def steers(text: str, source: Source) -> bool:
    """Whether a text tries to give the model orders, whoever says it; a tool or an agent may give it none at all."""
    if hides_text(text):
        return True
    seen = looks(text)
    if carries_marks(seen):
        return True
    line = _LINES.sub("\n", _SPACES.sub(" ", seen))
    if any(pattern.search(line) for pattern in ALWAYS_STEERS):
        return True
    if source != "user" and any(pattern.search(line) for pattern in AIMED):
        return True
    if any(OVERRIDES.search(respelled) for respelled in _respelled(line)):
        return True
    return not text.isascii() and OTHER_LANGUAGES.search(folded(text).text.casefold()) is not None


def _respelled(line: str) -> Iterator[str]:
    """The same with digits for letters undone, and with words that were spelled out letter by letter put together."""
    if _MIXED_WORD.search(line):
        yield line.translate(_LEET)
    if _SPELLED_OUT.search(line):
        # Two spaces part the words where letters are parted by one; with all of them gone the words run together.
        yield "".join(line.split())
        yield _GAPS.sub("", line)

"""Names of people, places and things, found conservatively: a word that is also said in small letters is no name."""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_][\w’'-]*")
# Capitals inside a word belong to it, as in NumPy.
_CAPITALISED: Final = re.compile(r"\b[A-Z][a-zà-ÿ]+(?:[A-Z][A-Za-zà-ÿ]*)?(?:[’'-][A-Z]?[a-zà-ÿ]+)*(?![\w])")
_RUN: Final = re.compile(rf"{_CAPITALISED.pattern}(?: {_CAPITALISED.pattern})*")
# A label ("Flight Number:", "**Total Cost**:") names a field and not a thing.
_LABEL_AFTER: Final = re.compile(r"\**\s*:")
_BEFORE: Final = re.compile(r"[a-zà-ÿ0-9][,;]? $")
_NEVER: Final = frozenset(
    """
    i i'm i’m i've i’ve i'd i'll the a an this that these those it he she we you they my your our their his her its
    please thanks thank yes no ok okay hello hi hey sure great sorry here there then now so and or but if when while
    what which who how why where monday tuesday wednesday thursday friday saturday sunday january february march april
    may june july august september october november december am pm let let's let’s error note option true false none
    null not do don't can could would should will also after before once since
    """.split()  # noqa: SIM905
)
NAME_MAX_CHARS: Final = 60


def names(text: str) -> list[tuple[int, str]]:
    """Where each name starts, and the name: two capitalised words or more, or one in the middle of a sentence."""
    small = {word for word in _WORD.findall(text) if word[0].islower()}
    found: list[tuple[int, str]] = []
    for run in _RUN.finditer(text):
        if _LABEL_AFTER.match(text, run.end()):
            continue
        for start, words in _stretches(run, small):
            name = " ".join(words)
            inside = _BEFORE.search(text[max(0, start - 3) : start]) is not None
            if (len(words) > 1 or inside) and len(name) <= NAME_MAX_CHARS:
                found.append((start, name))
    return found


def _stretches(run: re.Match[str], small: set[str]) -> list[tuple[int, list[str]]]:
    """The parts of a run of capitalised words that hold no ordinary word."""
    stretches: list[tuple[int, list[str]]] = []
    at, open_ = run.start(), False
    for word in run[0].split(" "):
        ordinary = word.lower() in small or word.lower() in _NEVER
        if not ordinary and open_:
            stretches[-1][1].append(word)
        elif not ordinary:
            stretches.append((at, [word]))
        open_ = not ordinary
        at += len(word) + 1
    return stretches

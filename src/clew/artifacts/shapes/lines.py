"""Which lines of a text tell the most: errors, paths, ids, numbers, definitions, the first and the last."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.artifacts.shapes.cleaning import one_line
from clew.artifacts.shapes.fitting import Sketch
from clew.tokens import count

# How much a line's length counts against it.
COST_POWER: Final = 0.6
# Of a line this much is shown: the rest is a reference away.
LINE_CHARS: Final = 140
CANDIDATES_MAX: Final = 400
REPEATED: Final = 0.5
REPEATED_SHARE: Final = 0.8

ERROR: Final = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|fail(?:ed|ure|ures|s)?|fatal|panic(?:ked)?|denied|refused|critical|abort(?:ed)?"
    r"|cannot|can't|unable|invalid|missing|timed? ?out|segfault|not (?:found|applied|allowed)|no such|undefined"
    r"|exit(?:ed)? (?:code|status)|e\d{3,4})\b"
)
WARNING: Final = re.compile(r"(?i)\bwarn(?:ing)?\b|\bdeprecat")
PATH: Final = re.compile(r"(?:[\w.-]{0,80}/){1,12}[\w.-]{1,80}|\b[\w-]{1,60}\.(?:[a-z]{1,4}|json|html|yaml|toml)\b")
_CODED: Final = re.compile(r"\b(?=\w{0,40}\d)(?=\w{0,40}[A-Za-z_])\w{3,48}\b|\w{1,32}\{[^{}\n]{1,64}\}|\$\d[\d,.]*\w?")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*\s?(?:%|ms|s|kB|MB|GB|px|lines?|files?|passed|failed)\b|\b\d{2,}\b")
DEFINITION: Final = re.compile(
    r"^\W*(?:\d+\W+)?(?:export |public |private |static |async )*"
    r"(?:def|class|function|fn|func|struct|interface|impl|enum|module|type)\s+\w"
)
_ADVICE: Final = re.compile(r"(?i)^\W*(?:please|note that|do not|you (?:may|can|should|must|need|either)|see also)\b")
_RULE: Final = re.compile(r"([=*~#_-])\1{5,}")
_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"\w+")
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that may be shown, with how much it tells."""

    text: str
    worth: float


def told(text: str, bonus: float = 0.0) -> Line:
    """A line with what its own words are worth, and what its place or its shape adds."""
    shown = one_line(_RULE.sub(" ", text), LINE_CHARS)
    found = 0.5 + bonus
    found += 1.5 if ERROR.search(shown) else 0.6 if WARNING.search(shown) else 0.0
    found += 0.7 if PATH.search(shown) else 0.0
    found += 0.5 if _CODED.search(shown) else 0.2 if _NUMBER.search(shown) else 0.0
    found += 0.7 if DEFINITION.search(shown) else 0.0
    if _ADVICE.search(shown):
        found *= 0.3
    if not _LETTERS.search(shown):
        found = 0.15 if _DIGIT.search(shown) else 0.0
    return Line(shown, found)


def ranked_lines(texts: Sequence[str], bonus: float = 0.0) -> list[Line]:
    """All lines of a text in their order; first and last count more, since results begin and end with purpose."""
    last = len(texts) - 1
    kept = range(len(texts)) if last < CANDIDATES_MAX else _telling(texts)
    return [told(texts[at], bonus + (0.6 if at in (0, last) else 0.0)) for at in kept]


def _telling(texts: Sequence[str]) -> list[int]:
    """Of very many lines those that could be chosen: errors first, then both ends."""
    half = CANDIDATES_MAX // 4
    wrong = [at for at, text in enumerate(texts) if ERROR.search(text[:LINE_CHARS])][: 2 * half]
    return sorted({*wrong, *range(half), *range(len(texts) - half, len(texts))})


def _news(texts: Sequence[str]) -> list[float]:
    """By how much a line is worth less for saying what lines before it have said: with hardly a new word, half."""
    seen: set[str] = set()
    shares = []
    for text in texts:
        words = _WORD.findall(text)
        known = sum(word in seen for word in words)
        shares.append(REPEATED if words and known >= REPEATED_SHARE * len(words) else 1.0)
        seen.update(words)
    return shares


def sketch_lines(lead: str, lines: Iterable[Line], joint: str = " | ") -> Sketch:
    """The lead, then as many of the most telling lines as fit, in their order; a repeated line is said once."""
    once = {line.text: line for line in reversed(list(lines)) if line.text and line.worth > 0}
    kept = list(reversed(once.values()))
    costs = [count(line.text) + 1 for line in kept]
    news = _news([line.text for line in kept])
    ranked = sorted(range(len(kept)), key=lambda at: (-kept[at].worth * news[at] / costs[at] ** COST_POWER, at))

    def draw(chosen: Sequence[int]) -> str:
        return joint.join(kept[at].text for at in sorted(ranked[rank] for rank in chosen))

    return Sketch(lead, len(ranked), draw)

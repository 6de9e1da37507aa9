"""What a short text states, read for comparison: what it is about, the values it gives, and whether it says that
something changed. Words only, no model; equal texts read equal."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from clew.memory.analysis import STOP_WORDS, first_person, words
from clew.memory.statement_words import (
    ADDING,
    ADDS,
    CHANGED,
    CHAT,
    CLOCK_UNITS,
    COPULAS,
    COUNTS,
    DAYS,
    DENIES,
    DETERMINERS,
    EXCLUSIVE,
    LEADS,
    NEGATIONS,
    OWNED,
    POINTING,
    PREPOSITIONS,
    PRONOUNS,
    PROPERTIES,
    SWITCHES,
    VERBS,
    stem_of,
)

# A longer text is a document, and states more than one thing.
STATEMENT_MAX_CHARS: Final = 300
SENTENCES_MAX: Final = 3
STATEMENTS_KEPT: Final = 4_096

_TOKEN: Final = re.compile(r"[$€£]?\d[\w.,:/-]*\w%?|[$€£]?\d%?|[^\W\d_][\w'’.@-]*[^\W_]|[^\W\d_]|[?!.;:,]")
_SENTENCE: Final = re.compile(r"(?<=[!?])\s+|(?<=[a-z\d]\.)\s+(?=[A-Z“\"])")
_CLOCK: Final = re.compile(r"\d{1,2}:\d\d(?:am|pm)?|\d{1,2}(?:[:.]\d\d)?(?:am|pm)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_PERIOD: Final = re.compile(r"q[1-4]|h[12]|fy\d\d(?:\d\d)?|\d{4}-\d\d(?:-\d\d)?")
_CODE: Final = re.compile(r"_|\D\d|\w[.@]\w")
_NUMBER: Final = re.compile(r"[$€£]?\d")


@dataclass(frozen=True, slots=True)
class Statement:
    """A text, read. `about` are the stems before its verb (of “Ana is the CEO” those behind it), `stems` all of them.

    `dates`, `figures` (with their units) and `names` are values; `states` are words of which only one can be true at
    a time, each with its group. `frame` are the stems beside values, `rest` what
    a thing is said to be, where nothing else is said of it, `denied` what it says is no more.
    `common` are stems written small somewhere: no names. `properties` are the groups of
    words that it has for a property of somebody.
    """

    about: frozenset[str]
    stems: frozenset[str]
    frame: frozenset[str]
    rest: frozenset[str]
    owned: bool
    denied: frozenset[str]
    common: frozenset[str]
    properties: frozenset[int]
    dates: frozenset[str]
    figures: frozenset[tuple[str, str]]
    names: frozenset[str]
    states: frozenset[tuple[int, str]]
    negated: bool
    adds: bool
    changes: bool
    adding_verb: bool
    asks: bool
    first_person: bool


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    low: str
    first: bool
    stem: str | None


@lru_cache(STATEMENTS_KEPT)
def read_statements(text: str) -> tuple[Statement, ...]:
    """What a text states, sentence by sentence; nothing when it is too long, or talks more than it states."""
    if len(text) > STATEMENT_MAX_CHARS:
        return ()
    sentences = [one for one in _SENTENCE.split(text.replace("’", "'")) if words(one)]
    if len(sentences) > SENTENCES_MAX:
        return ()
    return tuple(one for one in map(_statement, sentences) if one.stems and not one.asks)


def _statement(text: str) -> Statement:
    tokens = _tokens(text)
    about, told, is_copula = _about(tokens)
    dates, figures, used = _quantities(tokens)
    said = [token for token in tokens if token.stem is not None]
    stems = frozenset(token.stem for token in said if token.stem is not None)
    lows = [token.low for token in tokens]
    return Statement(
        about=about,
        stems=stems,
        frame=frozenset(t.stem for n, t in enumerate(tokens) if t.stem is not None and _frames(t, n in used)),
        rest=stems - about if is_copula else frozenset(),
        owned=OWNED.search(text) is not None,
        denied=frozenset(w for m in DENIES.finditer(text) for one in words(m["what"]) if (w := stem_of(one))),
        common=frozenset(token.stem for token in said if token.stem is not None and _is_common(token)),
        properties=frozenset(group for group, words_of in enumerate(PROPERTIES) if not words_of.isdisjoint(stems)),
        dates=dates,
        figures=figures,
        names=told | {t.stem for n, t in enumerate(tokens) if t.stem and n not in used and _names(t)},
        states=_states(stems, lows),
        negated=any(low in NEGATIONS or low.endswith("n't") for low in lows) or "stop" in stems,
        adds=ADDS.search(text) is not None,
        changes=CHANGED.search(text) is not None,
        adding_verb=not ADDING.isdisjoint(lows),
        asks="?" in text,
        first_person=first_person(words(text)),
    )


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    first = True
    for piece in _TOKEN.findall(text):
        if piece in "?!.;:,":
            first = first or piece in "?!."
            found.append(_Token(piece, piece, False, None))
            continue
        low = piece.lower()
        bare = low.removesuffix("'s")
        pointing = bare in POINTING or bare in COUNTS
        said = bare if pointing or bare[0] in "$€£" else stem_of(bare)
        chat = said in CHAT and (first or not piece[0].isupper())
        found.append(_Token(piece, low, first, None if chat else said))
        first = False
    return found


def _about(tokens: list[_Token]) -> tuple[frozenset[str], frozenset[str], bool]:
    """What stands before the verb, and whether that only says what it is.

    Of “Ana is the CEO” it is what stands behind it, and Ana is what is told of that.
    """
    verb = next((n for n, token in enumerate(tokens) if n and _is_verb(tokens, n)), None)
    if verb is None:
        # Of “box 17 of tea” the number is a part of what it is about, of “box of 17 kg” it is not.
        said = [token for token in tokens if token.stem is not None]
        numbers = [token for n, token in enumerate(tokens) if _NUMBER.match(token.low) and not _unit(tokens, n)]
        return _stems_of([*said[:1], *numbers]), frozenset(), False
    before, behind = _last_clause(tokens[:verb]), tokens[verb + 1 :]
    copula = tokens[verb].low in COPULAS
    if copula and behind and behind[0].low in ("the", "my", "our"):
        return _stems_of(behind), _stems_of(before), False
    return _stems_of(before), frozenset(), copula


def _last_clause(tokens: list[_Token]) -> list[_Token]:
    """What follows the last mark, but “in 2022,” belongs to what follows it."""
    marks = [n for n, token in enumerate(tokens) if token.low in (";", ":", ",")]
    if not marks or (tokens[marks[-1]].low == "," and tokens[0].low in LEADS):
        return tokens
    return tokens[marks[-1] + 1 :]


def _stems_of(tokens: list[_Token]) -> frozenset[str]:
    return frozenset(token.stem for token in tokens if token.stem is not None)


def _is_verb(tokens: list[_Token], n: int) -> bool:
    """Whether a word is the verb: one that is known, or one in the form and the place of one."""
    low, before = tokens[n].low, tokens[n - 1]
    if before.low in DETERMINERS or before.low.endswith("'s"):
        return False
    if low in VERBS or (before.low in PRONOUNS and tokens[n].stem is not None):
        return True
    if not low.isalpha() or tokens[n].text[0].isupper():
        return False
    after = tokens[n + 1].low if n + 1 < len(tokens) else ""
    inflected = low.endswith("s") and not low.endswith("ss")
    return low.endswith("ed") or (inflected and (before.text[0].isupper() or after in PREPOSITIONS))


def _quantities(tokens: list[_Token]) -> tuple[frozenset[str], frozenset[tuple[str, str]], set[int]]:
    """Dates with the numbers beside them, figures with their units, and which tokens they took."""
    dates: set[str] = set()
    figures: set[tuple[str, str]] = set()
    used: set[int] = set()
    for n, token in enumerate(tokens):
        after = tokens[n + 1].low if n + 1 < len(tokens) else ""
        if _is_day(tokens, n):
            near = [m for m in (n - 1, n + 1) if 0 <= m < len(tokens) and tokens[m].low[0].isdigit()]
            dates.add(" ".join([token.low.rstrip("s"), *(tokens[m].low.rstrip("stndrh") for m in near)]))
            used |= {n, *near}
        elif _is_time(token.low, after):
            dates.add(token.low)
            used.add(n)
    for n, token in enumerate(tokens):
        if n not in used and (_NUMBER.match(token.low) or token.low in COUNTS):
            figures.add((token.low.lstrip("$€£").rstrip("%"), _unit(tokens, n)))
            used.add(n)
    return frozenset(dates), frozenset(figures), used


def _is_time(low: str, after: str) -> bool:
    if after in CLOCK_UNITS and _NUMBER.match(low):
        return True
    return any(form.fullmatch(low) for form in (_CLOCK, _YEAR, _PERIOD))


def _is_day(tokens: list[_Token], n: int) -> bool:
    token = tokens[n]
    if token.low == "may":
        return token.text == "May" and n > 0 and not _is_subject_before(tokens[n - 1])
    return token.low in DAYS


def _is_subject_before(token: _Token) -> bool:
    """Whether a word stands where the subject of the verb `may` would."""
    return token.low in ("i", "you", "we", "they", "he", "she", "it")


def _unit(tokens: list[_Token], n: int) -> str:
    if tokens[n].low[0] in "$€£":
        return "money"
    if tokens[n].low.endswith("%"):
        return "percent"
    after = tokens[n + 1] if n + 1 < len(tokens) else None
    if after is None or after.stem is None or not after.low.isalpha() or after.low in STOP_WORDS:
        return ""
    return "money" if after.low in ("euros", "euro", "dollars", "dollar", "pounds") else after.stem


def _names(token: _Token) -> bool:
    """Whether a word is a name by its form; the first of a sentence has a capital in any case."""
    return _CODE.search(token.text) is not None or (
        not token.first and token.text[:1].isupper() and token.low not in STOP_WORDS
    )


def _is_common(token: _Token) -> bool:
    """Whether a word is no name by its form: written small, or an abbreviation."""
    return not token.text[0].isupper() or (len(token.text) > 1 and token.text.isupper())


def _frames(token: _Token, value: bool) -> bool:
    """Whether a word is neither a value nor one that tells of a change: what an update has in common with the old."""
    return token.stem is not None and not value and not _names(token) and CHANGED.fullmatch(token.low) is None


def _states(stems: frozenset[str], lows: list[str]) -> frozenset[tuple[int, str]]:
    found = {(group, word) for group, words_of in enumerate(EXCLUSIVE) for word in stems & words_of}
    for group, pair in enumerate(SWITCHES, len(EXCLUSIVE)):
        # `on` is a switch only right behind a verb and before no object: “is on”, “turned off”.
        found |= {
            (group, low)
            for n, low in enumerate(lows)
            if low in pair and n and lows[n - 1] in ("is", "are", "turned", "switched", "was")
        }
    return frozenset(found)

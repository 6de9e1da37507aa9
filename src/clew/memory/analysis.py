"""What a text says to the search: its words, their stems, the people, months and times it names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

# Longer entries are read this far: their first 64 KiB decide how they are found, their whole content comes back.
READ_MAX_CHARS: Final = 65_536
# PostgreSQL's index rows must fit a page, and nobody searches for longer words.
TERM_MAX_CHARS: Final = 40
STEM_CACHE_WORDS: Final = 65_536

# Chinese, Japanese and Thai write no spaces: a run of such letters is read as pairs that overlap.
_UNSPACED: Final = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)*")
_UNSPACED_RUN: Final = re.compile(f"[{_UNSPACED}]+")

_STOP_WORDS: Final = """
a about above after again against all also am an and any are aren't as at be because been before being below between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each else ever few for
from further get gets getting go goes going gonna got had hadn't has hasn't have haven't having he he'd he'll he's her
here here's hers herself hey hi him himself his how how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its
itself just let let's like lot lots many may me might more most much must my myself no nor not now of off oh ok okay on
once one only or other ought our ours ourselves out over own really same shall she she'd she'll she's should shouldn't
so some such sure than that that'd that's the their theirs them themselves then there there's these they they'd they'll
they're they've thing things this those though through to too u under until up upon us very was wasn't we we'd we'll
we're we've well were weren't what what's when when's where where's which while who who's whom whose why why's will with
won't would wouldn't yeah yes yet you you'd you'll you're you've your yours yourself yourselves
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())

_MONTH_LIST: Final = "january february march april may june july august september october november december"
_MONTHS: Final = tuple(_MONTH_LIST.split())
_MONTH_OF: Final = {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NAME: Final = "|".join([*_MONTHS, "sept", *(name[:3] for name in _MONTHS if name != "may")])
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH_YEAR: Final = re.compile(
    rf"\b(?:(?P<day>{_DAY})\s+(?:of\s+)?)?(?P<month>{_MONTH_NAME})\b\.?(?:\s+(?P<later>{_DAY})\b)?"
    rf"(?:\s*,?\s*(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
# These are other words too: they are months beside a number, or after a word that leads to a time.
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "dec", "jan", "sep"})
_LEADS_LIST: Final = "in during since of until last this next by early late mid around between and"
_LEADS_TO_TIME: Final = frozenset(_LEADS_LIST.split())
_ISO_MONTH: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?:-\d\d)?\b")
_LONE_YEAR: Final = re.compile(r"\b(?:in|of|during|since|year)\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)

_ASKS_WHEN: Final = re.compile(
    r"\b(?:when|what\s+(?:date|day|month|year|time)|which\s+(?:date|day|month|year)|how\s+(?:long|recently|often)|"
    r"how\s+many\s+(?:days|weeks|months|years))\b",
    re.IGNORECASE,
)
_COUNT: Final = r"(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|few|couple(?:\s+of)?|several)"
_SPAN: Final = r"(?:minute|hour|day|night|week|weekend|month|year|decade)s?"
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIME: Final = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|recently|lately|ago|nowadays|"
    rf"(?:last|next|this|past|previous|coming|every)\s+(?:{_COUNT}\s+)?(?:{_SPAN}|{_WEEKDAY}|{_MONTH_NAME}|"
    rf"spring|summer|autumn|fall|winter|morning|afternoon|evening)|{_COUNT}\s+{_SPAN}|{_WEEKDAY}|"
    rf"(?:since|for|until|in)\s+(?:{_MONTH_NAME})|(?:19|20)\d\d|{_DAY}\s+(?:of\s+)?(?:{_MONTH_NAME})|"
    rf"(?:january|february|april|june|july|august|september|october|november|december)|"
    rf"(?:the\s+other\s+day)|birthday|anniversary)\b",
)
_FIRST_PERSON_LIST: Final = "i i'm i've i'd i'll my me mine myself we we're we've we'd we'll our ours us"
_FIRST_PERSON: Final = frozenset(_FIRST_PERSON_LIST.split())


@dataclass(frozen=True, slots=True)
class MonthYear:
    """A month, a year, or both, that a question names."""

    month: int | None
    year: int | None

    def holds(self, year: int, month: int) -> bool:
        """Whether a date lies in it."""
        return self.month in (None, month) and self.year in (None, year)


def words(text: str) -> list[str]:
    """The words of the beginning of a text, in order, in lower case with plain apostrophes."""
    found = _WORD.findall(text[:READ_MAX_CHARS].lower().replace("’", "'"))
    if _UNSPACED_RUN.search(text[:READ_MAX_CHARS]):
        return [part for word in found for part in _pairs(word)]
    return found


def stem(word: str) -> str | None:
    """What a word is indexed as; None for a stop word. `runs`, `running` and `run's` are one."""
    return _stem(word)


def content_stems(text_words: Iterable[str]) -> list[str]:
    """The stems of the words that say something."""
    return [found for word in text_words if (found := _stem(word)) is not None]


def asks_when(query: str) -> bool:
    """Whether a question asks for a time."""
    return _ASKS_WHEN.search(query) is not None


def tells_time(text: str) -> bool:
    """Whether a text says when something was."""
    return _TIME.search(text[:READ_MAX_CHARS].lower()) is not None


def first_person(text_words: Iterable[str]) -> bool:
    """Whether the one who speaks speaks of themselves."""
    return not _FIRST_PERSON.isdisjoint(text_words)


def months(query: str) -> list[MonthYear]:
    """The months and years a question names. `May` counts with a day or a year, or after `in` and its like."""
    found: list[MonthYear] = []
    for match in _MONTH_YEAR.finditer(query):
        name = match["month"].lower()
        if name not in _AMBIGUOUS or _is_month(query, match):
            found.append(MonthYear(_MONTH_OF[name[:3]], int(match["year"]) if match["year"] else None))
    for match in _ISO_MONTH.finditer(query):
        found.append(MonthYear(int(match["month"]), int(match["year"])))
    if not found:
        found = [MonthYear(None, int(match["year"])) for match in _LONE_YEAR.finditer(query)]
    return list(dict.fromkeys(found))


def _is_month(query: str, match: re.Match[str]) -> bool:
    if match["year"] or match["day"] or match["later"]:
        return True
    before = query[: match.start()].lower().split()
    return bool(before) and before[-1] in _LEADS_TO_TIME


def _pairs(word: str) -> list[str]:
    if len(word) < 3 or not _UNSPACED_RUN.fullmatch(word):
        return [word]
    return [word[start : start + 2] for start in range(len(word) - 1)]


@lru_cache(STEM_CACHE_WORDS)
def _stem(word: str) -> str | None:
    if word in STOP_WORDS:
        return None
    bare = word.removesuffix("'s").replace("'", "")[:TERM_MAX_CHARS]
    if bare in STOP_WORDS:
        return None
    return str(_stemmer().stemWord(bare))[:TERM_MAX_CHARS]


@cache
def _stemmer() -> Any:
    import Stemmer  # type: ignore[import-not-found]

    made = Stemmer.Stemmer("english")
    # Our own cache is in front of it; its own is not safe to share between threads.
    made.maxCacheSize = 0
    return made

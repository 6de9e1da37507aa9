"""A sentence as what it says: its words by stem, its figures by value, its negations, without the words around them."""

import re
from dataclasses import dataclass, field
from typing import Final

from clew.memory.analysis import stem, words
from clew.memory.gate.folding import folded

_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]{0,2}(?:\s{1,4}|(?<=[。！？]))|\n+|[;；]\s")
_RECORDS: Final = (
    r"(?:records?|notes?|memor(?:y|ies)|documents?|files?|data|knowledge base|context|information|history|sources?"
    r"|reports?"
    r"|(?:earlier |previous |our )?conversations?|(?:retrieved|stored|saved) \w{1,12}|what (?:i|we) (?:have|know)"
    r"|system)"
)
_EARLIER: Final = r"(?:earlier|before|above|previously|already|once more|again|last time|in our records)"
_LEAD: Final = re.compile(
    rf"\W*(?:(?:as|like)(?: (?:i|we|you|was|were|has been))? ?(?:{_EARLIER} )?(?:have |had )?(?:noted|mentioned"
    rf"|stated|discussed|said"
    rf"|recorded|recalled|established|shown|told)(?: me)?(?: {_EARLIER})?"
    rf"|(?:according to|based on|per|from|as per|in)(?: (?:our|the|my|your|its|these|those|existing|past|stored"
    rf"|internal)){{0,3}} {_RECORDS}"
    rf"|(?:our|the|my|your|existing|stored)? ?{_RECORDS} (?:show|say|indicate|suggest|state|tell|confirm|mention"
    rf"|note)s?(?: us| me)?(?: that)?"
    rf"|(?:i|we) (?:recall|remember|know|see|found|noted|have on record|have it|also recall)(?: {_EARLIER})?(?: that)?"
    rf"|(?:you|the user|they|the customer) (?:{_EARLIER} )?(?:said|told me|told us|mentioned|noted"
    rf"|stated)(?: {_EARLIER})?(?: that)?"
    rf"|(?:it (?:was|is|has been)|it's) (?:{_EARLIER} )?(?:noted|known|recorded|stated|mentioned)(?: {_EARLIER})? that"
    rf"|(?:recalled|memory|fact|note|reminder|recap|retrieved|known fact|record|reference|quote|to recap"
    rf"|just to confirm|for reference"
    rf"|to confirm|again|remember)(?= ?[:,-])|(?:remember|note|recall) that|\[?\d{{1,2}}[.)\]])[\s:,–—-]*",
    re.IGNORECASE,
)
_TRAIL: Final = re.compile(
    rf"[\s,(–—-]*(?:as (?:\w{{1,8}} ){{0,3}}(?:noted|mentioned|stated|discussed|said|recorded)(?: {_EARLIER})?"
    rf"|(?:according to|per|based on) (?:our |the |my |your ){{0,2}}{_RECORDS}|\(?(?:source|ref"
    rf"|see)[:. ][^()\n]{{1,80}}\)?"
    rf"|(?:\[[\w ]{{1,20}}\])+)[\s).!,\"'”]*$",
    re.IGNORECASE,
)
_TRAIL_REACH_CHARS: Final = 160
_LEADS_MAX: Final = 3

_FIGURE: Final = re.compile(
    r"(?P<currency>[$€£¥]|\b(?:usd|eur|gbp)\s)?\s?(?P<sign>(?<![\w)])-)?(?<![^\W_])(?P<number>\d[\d,]*(?:\.\d+)?)"
    r"(?:\s?(?P<scale>thousand|million|billion|trillion|percent|per cent|mn|bn|[kmb]\b|%))?(?:\s?(?P<after>dollars"
    r"|euros|pounds|usd|eur|gbp)\b)?",
    re.IGNORECASE,
)
_SCALES: Final = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "b": 9, "bn": 9, "billion": 9, "trillion": 12}
_CURRENCIES: Final = {
    "$": "usd", "usd": "usd", "dollars": "usd", "€": "eur", "eur": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp",
    "pounds": "gbp", "¥": "jpy",
}  # fmt: skip
CURRENCY_CODES: Final = frozenset(_CURRENCIES.values())

_NOT_LIST: Final = """
not no never none neither nor cannot without nobody nothing nowhere hardly false untrue wrong
"""
_NOT: Final = frozenset(_NOT_LIST.split())
_HEDGES_LIST: Final = """
may might could would should if unless maybe perhaps probably possibly likely expected plan plans planned allegedly
will shall former formerly ex used previously longer almost nearly about roughly only except until
"""
_HEDGES: Final = frozenset(_HEDGES_LIST.split())
_TENSES: Final = {"is": "now", "are": "now", "am": "now", "has": "now", "was": "then", "were": "then", "had": "then"}
_PASSED_OVER_LIST: Final = """
a an the of in at on for to with as that which and be been being is are am was were has have had do does did this its
it's it there currently presently also still actually indeed really now well just so then noted mentioned said stated
reported recorded recalled earlier please stood stands amounted amounts totalled totaled came comes
"""
_PASSED_OVER: Final = frozenset(_PASSED_OVER_LIST.split())


@dataclass(frozen=True, slots=True)
class Saying:
    """What one sentence says: its tokens in order, what turns its meaning round, and whether it was or is so."""

    tokens: tuple[str, ...]
    turns: frozenset[str] = frozenset()
    tenses: frozenset[str] = frozenset()
    bag: frozenset[str] = field(default_factory=frozenset)


def sayings(text: str) -> list[Saying]:
    """The sentences of a text that say something."""
    plain = folded(text).text.replace("’", "'")
    read = (_read(_unframed(part)) for part in _SENTENCE_END.split(plain) if part and part.strip())
    return [saying for saying in read if saying.tokens]


def _unframed(sentence: str) -> str:
    """Without "according to our records," before it and ", as noted earlier" behind it."""
    at = 0
    for _ in range(_LEADS_MAX):
        match = _LEAD.match(sentence, at)
        if match is None or match.end() == at:
            break
        at = match.end()
    tail = max(at, len(sentence) - _TRAIL_REACH_CHARS)
    return sentence[at:tail] + _TRAIL.sub("", sentence[tail:])


def _read(sentence: str) -> Saying:
    tokens: list[str] = []
    turns: set[str] = set()
    tenses: set[str] = set()
    at = 0
    for match in _FIGURE.finditer(sentence):
        _read_words(sentence[at : match.start()], tokens, turns, tenses)
        tokens.extend(_figure(match))
        at = match.end()
    _read_words(sentence[at:], tokens, turns, tenses)
    return Saying(tuple(tokens), frozenset(turns), frozenset(tenses), frozenset(tokens))


def _read_words(stretch: str, tokens: list[str], turns: set[str], tenses: set[str]) -> None:
    for word in words(stretch):
        if word in _TENSES:
            tenses.add(_TENSES[word])
        if word in _NOT or word.endswith("n't"):
            turns.add("not")
        elif word in _HEDGES:
            turns.add(word)
        elif word not in _PASSED_OVER:
            tokens.append(stem(word) or word)


def _figure(match: re.Match[str]) -> list[str]:
    """A figure by its value: `$5.2M`, `5.2 million dollars` and `USD 5,200,000` are one."""
    scale = (match["scale"] or "").lower()
    digits = match["number"].replace(",", "")
    whole, _, fraction = digits.partition(".")
    places = _SCALES.get(scale, 0)
    value = (whole + fraction[:places].ljust(places, "0")).lstrip("0") or "0"
    rest = fraction[places:].rstrip("0")
    unit = "%" if scale in {"%", "percent", "per cent"} else ""
    currency = _CURRENCIES.get((match["currency"] or match["after"] or "").strip().lower())
    figure = f"{'-' if match['sign'] else ''}{value}{'.' + rest if rest else ''}{unit}"
    return [currency, figure] if currency else [figure]

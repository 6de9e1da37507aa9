"""Noun phrases in one spelling: “the revenue for Q3”, “Q3's revenue” and “our Q3 revenue” are one."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from clew.memory.analysis import stem
from clew.memory.knowledge.extract.lexicon import COMPANY_ENDINGS, DETERMINERS, LINKS
from clew.memory.knowledge.extract.times import is_period

KEY_MAX_CHARS: Final = 160
_SAME: Final = [
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\b(?:e-?mail)(?:\s+address)?\b", "email"),
        (r"\b(?:tele|mobile |cell )?phone(?:\s+number)?\b", "phone"),
        (r"\bfirst quarter\b", "q1"),
        (r"\bsecond quarter\b", "q2"),
        (r"\bthird quarter\b", "q3"),
        (r"\bfourth quarter\b", "q4"),
        (r"\bfirst half\b", "h1"),
        (r"\bsecond half\b", "h2"),
        (r"\bfavourite\b", "favorite"),
        (r"\bcolour\b", "color"),
        (r"\bsales revenues?\b", "revenue"),
        (r"\brevenues\b", "revenue"),
        (r"\b(?:chief executive officer|chief executive)\b", "ceo"),
        (r"\bchief financial officer\b", "cfo"),
        (r"\bchief technology officer\b", "cto"),
        (r"\b(?:figure|number|amount|value) (?:for|of)\s+(?:the\s+)?(?=\S)", ""),
        (r"\bdue date\b", "deadline"),
        (r"\b(?:expiration|expiry)\b", "end"),
        (r"\b(departure|arrival|start|end|renewal)\s+(?:date|time)\b", r"\1"),
        (r"\bnumber of (?:employees|staff|people employed)\b", "headcount"),
        (r"\bnumber of (?:inhabitants|residents)\b", "population"),
        (r"\s+figures?$", ""),
    )
]
_TITLED: Final = re.compile(r"^(?:(?:Dr|Mr|Mrs|Ms|Prof|Professor|Sir)\.?\s+)+(?=[A-Z]\S*\s+[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+(?:[.@&/+:-][^\W_]+)*")
# Says that it is the one that holds, and nothing of which it is.
_CURRENT: Final = r"(?:current|updated|correct|corrected|actual|present|exact)"
_POSSESSIVE: Final = re.compile(r"^(?P<owner>.+?)(?:['’]s|(?<=s)['’])\s+(?P<attribute>.+)$")
_OF: Final = re.compile(r"^(?P<attribute>.+?)\s+(?P<link>of|for)\s+(?P<owner>.+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """What stands before a verb: the whole, and where somebody's attribute is meant, whose and which.

    It is `particular` unless it is a bare noun, which may mean the thing in general.
    """

    text: str
    owner: str | None
    attribute: str | None
    head: str
    particular: bool = True

    @property
    def key(self) -> str:
        """Its one spelling."""
        return phrase_key(self.text)


def read_phrase(text: str) -> Phrase:
    """The phrase, split into owner and attribute where it has them."""
    # What is set between commas or in brackets tells more of it, and not which it is.
    bare = strip_determiner(re.sub(r"\s*\([^)]*\)|,[^,]*,$", "", text).strip(" ,")) or strip_determiner(text)
    bare = re.sub(rf"^{_CURRENT}\s+(?=\S)", "", bare, flags=re.IGNORECASE)
    bare = re.sub(rf"(['’]s)\s+(?:new|{_CURRENT})\s+(?=\S)", r"\1 ", bare, flags=re.IGNORECASE)
    owner, attribute = _split(bare)
    if owner is not None and is_period(owner):
        owner, attribute = None, None
    particular = owner is not None or bare != text.strip() or " " in bare
    return Phrase(bare, owner, attribute, head_of(attribute or bare), particular)


def phrase_key(text: str) -> str:
    """A phrase in its one spelling: what it is about last, all that narrows it down before, in alphabetical order."""
    narrowed, head = _parts(text)
    return clipped(" ".join([*sorted(narrowed), head]).strip())


def value_key(text: str) -> str:
    """A value's words in order, without articles, titles and endings."""
    said = [word for word in _words(_TITLED.sub("", strip_determiner(text))) if word not in DETERMINERS]
    # The grade A is no article.
    return clipped(" ".join(_stemmed(word) for word in said)) or text.strip().lower()


def head_of(text: str) -> str:
    """The noun that a phrase is about, in lower case."""
    return _parts(text, stemmed=False)[1]


def strip_determiner(text: str) -> str:
    """The phrase without its leading article; `my` and `his` say whose it is and stay."""
    return re.sub(r"^(?:the|a|an|our|this|that|these|those)\s+", "", text.strip(), flags=re.IGNORECASE).strip()


def clipped(key: str) -> str:
    """A key that an index row can hold: a longer one ends in its digest."""
    if len(key) <= KEY_MAX_CHARS:
        return key
    return f"{key[: KEY_MAX_CHARS - 17]} {hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _split(bare: str) -> tuple[str | None, str | None]:
    possessive = _POSSESSIVE.match(bare)
    if possessive:
        # The last one counts: Ana's sister's number is the sister's.
        owner, attribute = possessive["owner"], possessive["attribute"]
        while further := _POSSESSIVE.match(attribute):
            owner, attribute = f"{owner}'s {further['owner']}", further["attribute"]
        return owner, attribute
    of = _OF.match(bare)
    # A common noun or an abbreviation: the CEO of Acme, but not the Bank of America.
    if of and (of["attribute"].split()[-1][:1].islower() or of["attribute"].split()[-1].isupper()):
        return strip_determiner(of["owner"]), of["attribute"]
    return None, None


def _parts(text: str, *, stemmed: bool = True) -> tuple[list[str], str]:
    for pattern, put in _SAME:
        text = pattern.sub(put, text)
    said = _words(re.sub(r"['’]s\b|(?<=s)['’](?=\s|$)", "", text))
    first: list[str] = []
    for word in said:
        if word in LINKS and first:
            break
        if word not in DETERMINERS and word not in LINKS:
            first.append(word)
    rest = [word for word in said if word not in DETERMINERS and word not in LINKS]
    if len(rest) > 1 and rest[-1] in COMPANY_ENDINGS:
        rest = rest[:-1]
    if len(first) > 1 and first[-1] in COMPANY_ENDINGS:
        first = first[:-1]
    if not first:
        return [], ""
    rest.remove(first[-1])
    kept = [word for word in rest if word not in COMPANY_ENDINGS or len(rest) < 2]
    return ([_stemmed(word) for word in kept], _stemmed(first[-1])) if stemmed else (kept, first[-1])


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _stemmed(word: str) -> str:
    return (stem(word) or word) if word.isalpha() else word

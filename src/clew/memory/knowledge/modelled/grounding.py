"""Whether a source says what a model read in it: every quote is in it, every number and every name.

A check can't tell that a statement is right, but what is nowhere in the source never becomes a fact.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clew.memory.analysis import content_stems, words
from clew.memory.knowledge.extract import Passage, phrase_key
from clew.memory.knowledge.extract.claim import SUBJECT_MAX_WORDS
from clew.memory.knowledge.extract.context import USER
from clew.memory.knowledge.extract.lexicon import NOBODY
from clew.memory.knowledge.extract.sentences import is_question, is_unsure, sentences, without_lead_in
from clew.memory.knowledge.modelled.statements import ReadStatement

PREDICATE_MAX_WORDS: Final = 6
PART_MAX_CHARS: Final = 300

_SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12,
    "tn": 1e12, "trillion": 1e12,
}  # fmt: skip
_NUMBER: Final = re.compile(rf"(\d[\d,]*(?:\.\d+)?)(?:\s?-?({'|'.join(_SCALES)})(?![a-z]))?", re.IGNORECASE)
_NUMBER_WORDS: Final = {
    "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0, "eight": 8.0, "nine": 9.0,
    "ten": 10.0, "eleven": 11.0, "twelve": 12.0,
}  # fmt: skip
# What a figure is of, where that is a sign: a model that takes euros for dollars has made the figure up.
_SIGNS: Final = (
    re.compile(r"[$]|\b(?:usd|dollars?|bucks)\b", re.IGNORECASE),
    re.compile(r"€|\b(?:eur|euros?)\b", re.IGNORECASE),
    re.compile(r"£|\b(?:gbp|pounds?|quid)\b", re.IGNORECASE),
    re.compile(r"¥|\b(?:jpy|yen|cny|rmb|yuan)\b", re.IGNORECASE),
    re.compile(r"₹|\b(?:inr|rupees?)\b", re.IGNORECASE),
    re.compile(r"%|\b(?:percent|per cent|pct)\b", re.IGNORECASE),
)
_POINTS_BACK: Final = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|this|that|these|those|there|here|both"
    r"|the (?:company|firm|startup|business|organi[sz]ation|vendor|supplier|agency|team|former|latter|same))\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|provided that|assuming|in case|suppose|supposing|imagine|whether)\b", re.IGNORECASE
)
_DENIES: Final = re.compile(
    r"\b(?:not?|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|stop(?:s|ped)?|quit|cease[sd]?|left|leaves"
    r"|resigned|retired|stepped down|fired|removed|ended|ends|former(?:ly)?|false|wrong|incorrect|untrue|mistaken"
    r"|cancell?ed|dropped|divorced|discontinued|closed|lost|sold|gave up)\b",
    re.IGNORECASE,
)
_SAME_MARKS: Final = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-", "\u00ad": None}
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands: what was said at once, and the sentences of it that the quote touches."""

    passage: Passage
    sentences: tuple[str, ...]


class Source:
    """What was read, as the checks look at it."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._read = [(one, folded(one.text), [(s, folded(s)) for s in sentences(one.text)]) for one in passages]
        named = " ".join(f"{one.speaker or ''} {one.role or ''}" for one in passages)
        self._stems = stems(" ".join([USER, named]))
        for one in passages:
            self._stems |= stems(one.text)

    def place(self, quote: str) -> Place | None:
        """Where a quote stands; None when it stands nowhere."""
        whole = folded(quote)
        for passage, text, said in self._read:
            # A model may quote the name of who speaks along, as it was shown.
            wanted = whole.removeprefix(folded(f"{passage.speaker or passage.role}:")).strip()
            if stems(wanted) and _within(wanted, text):
                found = [s for s, s_folded in said if _within(wanted, s_folded) or s_folded in wanted]
                return Place(passage, tuple(found))
        return None

    def fault(self, read: ReadStatement) -> str | None:
        """What is wrong with a statement; None when the source bears it out."""
        if (place := self.place(read.quote)) is None:
            return "quote not in the source"
        if place.sentences and all(is_question(one) for one in place.sentences):
            return "a question"
        if any(_is_condition(one) for one in place.sentences) or is_unsure(read.quote):
            return "not told as a fact"
        return _shape_fault(read) or _number_fault(read) or self._word_fault(read)

    def knows(self, text: str, beside: str = "") -> bool:
        """Whether every word that says something is in the source, or in the text beside it."""
        return stems(text) <= self._stems | stems(beside)

    def _word_fault(self, read: ReadStatement) -> str | None:
        quoted = stems(read.quote)
        value = _without_figures(stems(read.object))
        points_back = _POINTS_BACK.search(read.quote) is not None
        if not stems(read.subject) <= self._stems or not value <= (self._stems if points_back else quoted):
            return "words not in the source"
        if read.negated and not denies(read.quote):
            return "denies what the quote does not"
        return None


def folded(text: str) -> str:
    """A text as quotes are compared: without regard to case, spacing and the kind of its marks."""
    plain = unicodedata.normalize("NFKC", text).translate(_SAME_MARKS).casefold()
    return " ".join(plain.split()).strip(" \"'…")


def stems(text: str) -> set[str]:
    """The words of a text that say something."""
    return set(content_stems(words(text)))


def denies(text: str) -> bool:
    """Whether a text has a word by which something is said not to be so, or no longer."""
    return _DENIES.search(text) is not None


def numbers(text: str) -> set[float]:
    """The numbers of a text, whole: 5.2M is 5,200,000."""
    found = {
        float(number.replace(",", "") or 0) * _SCALES.get(scale.lower(), 1.0) for number, scale in _NUMBER.findall(text)
    }
    return {round(one, 6) for one in found} | {_NUMBER_WORDS[one] for one in words(text) if one in _NUMBER_WORDS}


def _within(wanted: str, text: str) -> bool:
    """Whether a text has these words: not as part of longer ones, so that 5 is not in 1,500.

    Only letters and digits of ASCII are looked at beside them: Chinese and Thai write no spaces.
    """
    if wanted not in text:
        return False
    before = r"(?<![a-z0-9])(?<!\d[.,])" if wanted[0].isascii() else ""
    after = r"(?![a-z0-9])(?![.,]\d)" if wanted[-1].isascii() else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", text) is not None


def _is_condition(sentence: str) -> bool:
    """Whether a sentence tells what would be, or what somebody guesses, of all that is in it."""
    opening = " ".join(without_lead_in(sentence)[0].split()[:3])
    return is_unsure(opening) or _CONDITION.search(sentence) is not None


def _shape_fault(read: ReadStatement) -> str | None:
    subject, predicate, value = read.subject.strip(), read.predicate.strip(), read.object.strip()
    says_what = words(predicate.replace("_", " ")) and (stems(value) or numbers(value))
    if not phrase_key(subject) or not says_what:
        return "incomplete"
    if not "".join(f"{subject}{predicate}{value}{read.text}{read.replaces or ''}".split()).isprintable():
        return "characters that nobody can read"
    if subject.lower() in NOBODY:
        return "a subject without a name"
    long = max(len(subject), len(value)) > PART_MAX_CHARS or len(predicate) > PART_MAX_CHARS // 4
    if long or len(subject.split()) > SUBJECT_MAX_WORDS or len(predicate.split()) > PREDICATE_MAX_WORDS:
        return "too long"
    return None


def _number_fault(read: ReadStatement) -> str | None:
    quoted = numbers(read.quote)
    told = numbers(read.object) | numbers(read.predicate) | numbers(read.replaces or "")
    if not told <= quoted or not numbers(read.text) <= quoted | numbers(read.subject):
        return "number not in the quote"
    signs = [sign for sign in _SIGNS if sign.search(f"{read.object} {read.text}")]
    return None if all(sign.search(read.quote) for sign in signs) else "number not in the quote"


def _without_figures(found: set[str]) -> set[str]:
    """The words that are not compared as numbers: a model may write 5 for five, and 5 million for 5M."""
    return {one for one in found if one not in _FIGURE_STEMS and not any(letter.isdigit() for letter in one)}


_FIGURE_STEMS: Final = stems(
    " ".join([*_NUMBER_WORDS, *_SCALES, "millions billions percent per cent pct dollars usd euros eur pounds gbp yen"])
)

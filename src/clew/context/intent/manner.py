"""How to speak, asked for or complained of: "keep it short", "in English please", "you talk too much"."""

import re
from typing import Final

from clew.context.speech.sentence import Sentence
from clew.context.standing.recognise import LANGUAGE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LANGUAGES: Final = frozenset(re.findall(r"[a-z]+", LANGUAGE))
_MANNER: Final = _LANGUAGES | _set(
    "short shorter shortly brief briefer briefly concise concisely succinct long longer lengthy simple simpler simply"
    " plain plainly friendly friendlier formal informal casual polite politely nice nicer kind kinder specific clear"
    " clearer clearly detailed detail slow slower slowly fast faster louder quieter direct precise exact verbose wordy"
    " chatty technical vague serious professional personal depth deeper harder sentence sentences line lines"
    " paragraph words point"
)
_SPEAKING: Final = _set(
    "be being keep use speak talk answer answering reply respond give explain put say try stay sound slow go"
    " think get switch continue"
)
_MORE: Final = _set("a bit little much way more less fewer too so in not no that is was it this the")
_AROUND: Final = (
    _MANNER
    | _SPEAKING
    | _MORE
    | _set(
        "an to into me i am my you your are were with us please can could would will yes answers replies response"
        " responses tone language languages words word terms term style voice english things everything like as if for"
        " down up time next just and or rather instead only always one two three let we do change answer version"
        " explanation"
    )
)
_TOGETHER: Final = (("let", "us"), ("can", "we"), ("could", "we"), ("shall", "we"))
_ASKED_POLITELY: Final = _set("can could would will")


def is_of_manner(sentence: Sentence) -> bool:
    """Whether every word is about how to speak, and none about what."""
    words = sentence.plain_words
    if not all(word in _AROUND for word in words):
        return False
    if words[:1] in (("you",), ("your",)):
        return {"too", "not", "so"} & set(words) != set() and not sentence.asks
    if words[:2] in _TOGETHER:
        return not _LANGUAGES.isdisjoint(words)
    if words[0] in _ASKED_POLITELY:
        return words[1:2] in (("you",), ("we",)) and _is_named(words)
    return not sentence.asks and words[0] in _SPEAKING | _MORE | _MANNER and _is_named(words)


def _is_named(words: tuple[str, ...]) -> bool:
    told = " ".join(words)
    return any(word in _MANNER for word in words) or told.endswith("slow down") or " yes or no" in told

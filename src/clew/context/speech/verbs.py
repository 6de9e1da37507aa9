"""Where the verb of a sentence is, whether it is English, and which words only open it."""

import re
from typing import Final

from clew.context.speech.lexicon import (
    ACTIONS,
    AUXILIARIES,
    DETERMINERS,
    ENGLISH,
    FILLERS,
    FOREIGN,
    NOUN_OR_VERB,
    OPENS_A_PHRASE,
    PREPOSITIONS,
    PRONOUNS,
    VERBS,
)
from clew.context.speech.sentence import Sentence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What may stand between a subject and its verb.
_BETWEEN: Final = _set(
    "also always usually never often still now currently only mostly both all"
    " already generally normally typically rarely sometimes regularly recently just"
)
_NO_PAST: Final = frozenset(
    ("hundred", "indeed", "speed", "need", "feed", "seed", "weed", "breed", "shed", "sled", "naked", "sacred", "wicked")
)
_QUOTES: Final = re.compile(r"\"[^\"]{1,400}\"|“[^”]{1,400}”")
_PERIODS: Final = _set(
    "week month year quarter night time summer spring winter fall autumn"
    " weekend monday tuesday wednesday thursday friday saturday sunday"
)
# "Containerise", "factorize": whatever ends so makes something, but for these.
_NO_MAKING: Final = _set(
    "exercise otherwise enterprise expertise promise premise surprise franchise merchandise paradise"
)
_AGAIN: Final = ("re", "un", "de", "pre", "dis", "over", "auto")
_SPEAKERS: Final = frozenset(("i", "we", "they", "you", "he", "she"))


def unfilled(sentence: Sentence) -> Sentence:
    """The sentence without the words that open it and say nothing: "so", "okay", "please"."""
    count = 0
    words = sentence.plain_words
    while count < len(words) and words[count] in FILLERS:
        count += 1
    return sentence.without_first(count) if count else sentence


def without_quotes(sentence: Sentence) -> Sentence:
    """The sentence without the words it quotes, where it has others."""
    if '"' not in sentence.said and "“" not in sentence.said:
        return sentence
    quoted = [found.span() for found in _QUOTES.finditer(sentence.said)]
    kept = tuple(word for word in sentence.words if not any(start <= word.start < end for start, end in quoted))
    return Sentence(sentence.said, kept) if kept and kept[0].start == sentence.words[0].start else sentence


def is_english(sentence: Sentence) -> bool:
    """Whether the words are more likely English than another language."""
    words = sentence.plain_words
    english = sum(word in ENGLISH for word in words) + any(is_verb(word) for word in words[1:])
    foreign = sum(word in FOREIGN and word not in ENGLISH for word in words)
    ascii_letters = sum(char.isascii() for char in sentence.said if char.isalpha())
    letters = sum(char.isalpha() for char in sentence.said)
    return english > foreign and ascii_letters * 10 >= letters * 7


def verb_at(sentence: Sentence) -> int | None:
    """Which word is the first finite verb, where there is one after a subject."""
    words = sentence.plain_words
    noun = None
    for at in range(1, len(words)):
        if (words[at] == "may" and _is_month(words, at)) or (
            words[at] == "last" and _PERIODS.issuperset(words[at + 1 : at + 2] or ("",))
        ):
            continue
        if words[at - 1] in DETERMINERS or words[at - 1] in PREPOSITIONS:
            continue
        if words[at] in AUXILIARIES or (at == 1 and words[0] in _SPEAKERS and _may_be_verb(words[1])):
            return at
        if is_verb(words[at]) and _can_have_subject(words, at):
            if words[at] not in NOUN_OR_VERB or words[at - 1] in PRONOUNS:
                return at
            noun = noun or at  # "the bank's rate is 4": a verb only where no other follows
    return noun


def _is_month(words: tuple[str, ...], at: int) -> bool:
    """ "3 May", "May 12": the month, and no verb."""
    return any(word[0].isdigit() for word in words[at - 1 : at + 2])


def is_action(word: str) -> bool:
    """Whether the word is something to be done, or to be done again or undone: "reroute", "unassign"."""
    if word in ACTIONS:
        return True
    if len(word) > 6 and word.endswith(("ise", "ize", "ify")) and word not in _NO_MAKING:
        return True
    return any(word.startswith(prefix) and word[len(prefix) :].lstrip("-") in ACTIONS for prefix in _AGAIN)


def is_verb(word: str) -> bool:
    """Whether the word is a form of a verb we know, or has the ending of a past one."""
    if word in VERBS or word in ACTIONS:
        return True
    for ending, put_back in (("ies", "y"), ("ied", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ed", ""), ("ed", "e")):
        stem = word.removesuffix(ending) + put_back
        if word.endswith(ending) and (stem in VERBS or stem in ACTIONS):
            return True
    return word.endswith("ed") and len(word) > 3 and word not in _NO_PAST


def _may_be_verb(word: str) -> bool:
    """After "I" or "we" any word of its own is a verb."""
    return word.isalpha() and word not in ENGLISH and word not in OPENS_A_PHRASE and word not in DETERMINERS


def _can_have_subject(words: tuple[str, ...], at: int) -> bool:
    """A plain form needs a plural or a pronoun before it; what ends in -s or -ed, or is irregular, takes any noun."""
    before = words[at - 1]
    if words[at] in ("needed", "required", "divided", "multiplied", "used", "wanted", "recommended"):
        return words[0] in DETERMINERS or words[0] in PRONOUNS  # "ingredients needed for a cake" names them
    if words[at] in NOUN_OR_VERB:
        noun = int(words[0] in DETERMINERS)  # "customers in Spain pay 21%"
        several = at > noun + 2 and words[noun].endswith("s") and words[noun + 1] in PREPOSITIONS
        return before in PRONOUNS or before.endswith("s") or before in _BETWEEN or several
    return True

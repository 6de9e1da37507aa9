"""Requests: imperatives, and the polite forms of them."""

import re
from typing import Final, Literal

from clew.context.speech.lexicon import (
    ACTIONS,
    AUXILIARIES,
    DETERMINERS,
    ENGLISH,
    FOREIGN,
    MODALS,
    NOUN_OR_VERB,
    OPENS_A_PHRASE,
    PASTS,
    PREPOSITIONS,
    PRONOUNS,
    TELLING,
    WH,
)
from clew.context.speech.sentence import Sentence
from clew.context.speech.verbs import is_action, is_english, is_verb, unfilled, verb_at

Asked = Literal["telling", "request", "question"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_REQUEST_TOO: Final = re.compile(
    r"[,;:–-]\s*(?:so |and |but |then )*(?:please|pls|plz|kindly)\s+\w+|\b(?:so|and|but|,) (?:can|could|would"
    r"|will) you\b"
    r"|(?:\b(?:and|so|but)|,) (?:i |we )?(?:really |also |just )?(?:need|want|require|would like) (?!to be\b)\w+"
    r"|(?:\b(?:and|so|then|now)|,) (?:please |just )*(?:find|tell|show|send|get|give|add|order|make|help|let(?= \w+"
    r" know)"
    r"|contact|remove|put|create|place|schedule|call|set|remind|pay|delete|update|cancel|buy|book|check|take|fix"
    r"|do) "
    r"(?:me|us|my|our|the|a|an|it|them|him|her|some|more|that|this|someone|moms?|dishes|\w+ing)\b",
    re.IGNORECASE,
)
_WANTS_MADE: Final = re.compile(
    r"^would (?:really )?(?:love|like|appreciate) (?:an?|the|some|another|to)\b|^(?:can|could|may) (?:i|we)"
    r" (?:please )?(?:get|have)"
    r" (?:an?|the|some|another) (?:\w+ )?(?:list|summary|table|draft|overview|quote|copy|recipe|translation"
    r"|breakdown|example)\b"
)
_AT_THE_END: Final = re.compile(
    r"(?:[,:–-]|\b(?:so|and|but))\s+(?:can|could|would|will) (?:you|u)(?: (?:please|pls|kindly|also|just|maybe|help"
    r" me))*"
    r" (\w+)\b"
    r"(?!.*,)",
    re.IGNORECASE,
)
_OBJECT_AHEAD: Final = _set("me us it for to up off out more new and if whether everything into using that him them")
# "Would you recommend Bali" asks what the other thinks of it.
_JUDGING: Final = _set("recommend say call consider choose buy pick advise trust prefer")
# What nobody else can do for one: wishing it is a plan.
_FOR_ONESELF: Final = _set("become live study marry retire lose gain stay resign emigrate graduate own earn")
_TRIES: Final = (("have", "a"), ("see", "if"), ("see", "whether"))
_POINTED_AT: Final = (("it",), ("them",), ("him",), ("this",), ("that",), ("me",), ("us",))
_INFORMING: Final = _set("inform advise brief enlighten update")
_SOMEBODY: Final = _set("i we you he she they")
_OBJECTS: Final = _set("the my our your a an this these those all every me us him her them it")
_POLITE: Final = re.compile(
    r"^(?:(?:do|would|could|can|may|might) (?:you|u|i|we)|you (?:can|could|should|must|need to|have to)|(?:i"
    r"|we) (?:need|want|would like|expect|require) (?:for )?you to"
    r"|i (?:really |just |also |still |do )?(?:want|wish|have|got|like) to|(?:i|we) (?:really |just |also |still "
    r"|do )?(?:would (?:like|love)|need) to"
    r"|(?:i|we) (?:am|are) (?:looking|trying|hoping|wanting|needing) to"
    r"|let us(?! (?:assume|say|suppose|imagine|pretend)\b)|let me(?! (?:think|check with|ask my|get back|look into"
    r" it|verify|confirm|double-check)\b)|go ahead and|be sure to|make sure to|make sure"
    r"|remember to|do not forget to|try to|feel free to"
    r"|it is time to|time to|is it possible to|is there a way to|would it be possible to|how about you|why do not you"
    r"|it would (?:really )?(?:be|help)(?: (?:so|very|really|great|nice|good|lovely|helpful|wonderful|awesome|cool"
    r"|me|us))* if"
    r" (?:you|someone) (?:could|would|can)|i would (?:really )?(?:appreciate|love|like|be grateful)(?: it)? if you"
    r" (?:could|would)"
    r"|if you could)"
    r"(?: (?:please|kindly|mind|also|just|be able to|be so kind as to|be so kind to|be so kind|possibly|maybe|go"
    r" ahead and|help me to"
    r"|help me|help us|help|quickly|now|to|then|really|still))*"
)
_OWN: Final = re.compile(r"(?:can|could|may|might|do|would) (?:i|we)\b|do you\b")
_FAR_OFF: Final = re.compile(r"^we want\b|\b(?:someday|one day|some day|eventually|in the long run)\b")
_DESIRE: Final = re.compile(
    r"^(?:i|we) (?:really |just |also |still |do )*(?:would (?:really )?(?:like|love|prefer)|want|need|require"
    r"|am looking for|are looking for"
    r"|could use|am after|wish for|am in need of|will have|will take)\b"
    r"|^(?:really )?(?:need|want|looking for|searching for) (?:an?|some|the|my|more|help|to (?!know|find out"
    r"|understand|learn|hear|see)|\d)"
)
_INFORMATION: Final = re.compile(
    r"(?: (?:some|any|more|the|a bit of|further|your|an?))* (?:info|information|details|clarification|clarity"
    r"|explanation"
    r"|documentation|facts|status|opening hours|answer)\b"
)
# A label ("change of plans: …"), and what is only supposed.
_NO_IMPERATIVE: Final = re.compile(
    r"\w+ of\b|(?:let us )?(?:assume|say|suppose|imagine|pretend)\b"
    r"|let me (?:think|check with|ask my|get back|look into it|verify|confirm|double-check)\b"
)
# "Search result: …" says where something comes from.
_LABEL: Final = re.compile(r"\w+ (?:results?|response|output|findings?|update|readings?|status):", re.IGNORECASE)
# "Correct, it is 40k" agrees; "correct it" asks.
_AGREES: Final = re.compile(r"(?:correct|right|clear|complete|close|fine|done|sure)\s*[,.!:;–-]", re.IGNORECASE)
_SPOKEN_WORK: Final = re.compile(
    r"^(?:tell|give|show|read|sing)(?: me| us| him| her| them)? (?:a|an|another|some"
    r"|your best)(?: \w+){0,2} (?:joke|jokes|story|stories|poem|riddle|song|tale|bedtime|picture|image|photo|chart"
    r"|graph|diagram)"
    r"|^remind (?:me|us|him|her|them|\w+) (?:to|in|at|on|tomorrow|every|each|that i)\b|^show (?:up|off)\b"
    r"|^name (?:the|this|my|our|it)\b"
    r"|^(?:tell|show) (?!me\b|us\b|the\b|my\b|all\b)\w+ "
    r"|^(?:tell|show|remind) (?:the|my|our|his|her|their|all|every)(?: \w+){1,3}? (?:that|to|how|about|i|we"
    r"|it|he|she|they)\b"
)


def asked_politely(bare: Sentence) -> Asked | None:
    """What "could you", "I want to" or "let's" ask for; None for a sentence that doesn't start so."""
    polite = None if _FAR_OFF.search(bare.plain) else _POLITE.match(bare.plain)
    return None if polite is None else _asked_for(bare, polite.end())


def asked_without_asking(sentence: Sentence, bare: Sentence) -> Asked | None:
    """A request by other means than the imperative: a wish, or a statement that ends in what to do about it."""
    if _is_pleaded(sentence, bare) or _named_politely(bare) or _REQUEST_TOO.search(bare.said):
        return "request"
    if (desire := _DESIRE.match(bare.plain)) is not None and not _FAR_OFF.search(bare.plain):
        wanted = bare.plain[desire.end() :].split()
        if wanted[:1] == ["to"] and _FOR_ONESELF.intersection(wanted[1:2]):
            return None
        return "telling" if _INFORMATION.match(bare.plain[desire.end() :]) else "request"
    return _after_condition(bare)


def requests_at_the_end(bare: Sentence) -> bool:
    """Whether it ends in what to do about it: "the invoice is wrong, can you fix it?"."""
    if _WANTS_MADE.match(bare.plain):
        return True
    found = _AT_THE_END.search(bare.said)
    return found is not None and is_action(found[1].lower()) and found[1].lower() not in TELLING


def _asked_for(bare: Sentence, end: int) -> Asked | None:
    """What comes after "could you" or "I want to": something to do, or something to be told."""
    rest = bare.without_first(bare.word_at(end) if end < len(bare.plain) else len(bare.words))
    words = rest.plain_words
    if not words:
        return None
    opener = bare.plain
    own = _OWN.match(opener) is not None
    if own or opener.startswith(("you can", "you could", "you should", "you must", "you need", "you have")):
        return "question" if own else None
    if words[0] in ("know", "find", "learn", "understand", "see", "hear", "ask") and not (
        words[0] == "find" and words[1:2] != ("out",)
    ):
        return "question"
    if opener.startswith("would you") and words[0] in _JUDGING:
        return "question"
    if words[0] == "with" and opener.split(" with ", 1)[0].endswith(("help", "help me", "help us")):
        return "request"
    return imperative(rest) or _gerund_request(opener, words)


def _gerund_request(opener: str, words: tuple[str, ...]) -> Asked | None:
    """ "Would you mind checking", and wishes whose verb we do not know."""
    if "mind" in opener.split()[:4] and words[0].endswith("ing"):
        return "request"
    if words[0].endswith("ing") or words[0] in AUXILIARIES or words[0] in PRONOUNS or words[0] in DETERMINERS:
        return None
    if re.match(r"(?:i|we) (?:am|are) (?:trying|hoping)", opener):
        return None  # their own doing, unless it is something that we can do
    if words[0] in _FOR_ONESELF:
        return None
    wishes = ("i ", "we ", "let us", "go ahead", "make sure", "remember to", "try")
    return "request" if opener.startswith(wishes) else None


def imperative(bare: Sentence) -> Asked | None:
    """`request` or `telling` for a sentence that opens with the verb of what is wanted."""
    words = bare.plain_words
    first = words[0]
    if _NO_IMPERATIVE.match(bare.plain) or _AGREES.match(bare.said) or bare.said[0] in '"“' or _LABEL.match(bare.said):
        return "request" if first == "assume" and _then_acts(words) else None
    if not is_action(first) and first not in TELLING:
        return "request" if _acts_on(bare) or words[:2] in _TRIES or words[:2] == ("do", "not") else None
    if _is_subject(words) or (first in NOUN_OR_VERB and len(words) == 2 and words[1][0].isdigit()):
        return None  # "port 5433" names it
    if first in _INFORMING and words[1:2] in (("me",), ("us",)):
        return "telling"
    if first in TELLING:
        return "request" if _SPOKEN_WORK.match(bare.plain) or _then_acts(words) else "telling"
    return "telling" if words[:3] == ("let", "me", "know") else "request"


def _acts_on(bare: Sentence) -> bool:
    """Whether an unknown word opens the sentence like a verb does: with its object after it, and no other verb."""
    words = bare.plain_words
    first = words[0]
    if len(words) < 3 or words[1] not in _OBJECTS or not first.isalpha() or first.endswith(("s", "ing", "ly", "est")):
        return False
    known = (
        first in ENGLISH
        or first in PASTS
        or first.endswith("ed")
        or first in PREPOSITIONS
        or first in OPENS_A_PHRASE
        or first in FOREIGN
    )
    return not known and is_english(bare) and verb_at(bare) is None


def _then_acts(words: tuple[str, ...]) -> bool:
    """ "Explain it and then fix it"."""
    return any(
        one in ("and", "then") and two in ACTIONS and (two not in NOUN_OR_VERB or three in _OBJECTS)
        for one, two, three in zip(words, words[1:], (*words[2:], ""), strict=False)
    )


def _is_subject(words: tuple[str, ...]) -> bool:
    """Whether a word that is also a verb stands here as the noun of which something is said: "order 4471 is late"."""
    if words[0] not in NOUN_OR_VERB:
        return False
    for at, word in enumerate(words[1:6], start=1):
        if word in DETERMINERS or word in WH or word in _OBJECT_AHEAD or word in _SOMEBODY:
            return False
        if word in AUXILIARIES and word not in MODALS:
            return True
        if at > 1 and is_verb(word) and word not in NOUN_OR_VERB and any(char.isdigit() for char in words[1]):
            return words[at - 1] not in PREPOSITIONS and words[at - 1] != "as"
        if at == 1 and word.endswith("s") and is_verb(word) and word not in ACTIONS:
            return True
    return False


def _is_pleaded(sentence: Sentence, bare: Sentence) -> bool:
    """ "Please" and a word that opens no statement: a verb, whether we know it or not."""
    opening = sentence.plain_words[: len(sentence.words) - len(bare.words)]
    first = bare.plain_words[0]
    named = first in PRONOUNS or first in DETERMINERS or first in ("note", "remember", "thanks", "thank", "find")
    return "please" in opening and not named and len(bare.words) > 1


def _named_politely(bare: Sentence) -> bool:
    """ "Another one please": what is wanted, and no verb."""
    return len(bare.words) > 2 and bare.plain.endswith(" please") and verb_at(bare) is None and is_english(bare)


def _after_condition(bare: Sentence) -> Asked | None:
    """ "If it rains, cancel the trip" and "on my list, remove eggs" request."""
    comma = bare.said.find(",")
    if comma < 0:
        return None
    count = sum(word.end <= comma for word in bare.words)
    rest = unfilled(bare.without_first(count))
    if not rest.words:
        return None
    if bare.plain_words[0] in ("if", "when", "once", "after", "before", "as", "since", "because"):
        return imperative(rest)
    if is_action(rest.plain_words[0]) and rest.plain_words[1:2] in _POINTED_AT:
        return imperative(rest)  # "my card was stolen, block it"
    topic = Sentence(bare.said[:comma], bare.words[:count])
    if rest.plain_words[0] in NOUN_OR_VERB or len(rest.words) < 2 or verb_at(topic) is not None:
        return None
    return imperative(rest)

"""Sentences about nothing but the talk itself: all their words are those in which two people speak of what they say."""

from typing import Final

from clew.context.speech.lexicon import AUXILIARIES, WH
from clew.context.speech.sentence import Sentence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_BOTH: Final = _set("you your yourself we our")
# What a talk is made of.
_PIECES: Final = _set(
    "conversation conversations chat chats discussion message messages suggestion suggestions question questions"
    " answer answers reply replies"
    " response responses topic topics subject point points"
)
# What was done in it: who says so of himself speaks of the talk, too.
_DONE: Final = _set("said asked asking told meant mentioned wrote typed sent explained answered repeated")
_SAYING: Final = _set("say ask mean tell write")
_WANTED: Final = _set("wanted expected needed")
# Not "tell": "tell me where I am" asks for something else.
_SPOKEN: Final = (
    _PIECES
    | _DONE
    | _set(
        "say saying telling ask mean meaning talk discuss suggested talked talking chatted chatting recording discussed"
        " discussing writing answering"
        " repeat repeating rephrase reword recap misunderstood misunderstand understand understood misread"
        " misheard listening covered"
        " remember recall forget forgot ignore ignoring contradict contradicts contradicting contradicted"
    )
)
# What is done with a talk, or a piece of it.
_ORDERED: Final = _set(
    "start begin restart repeat stop drop change switch end clear delete erase reset close ignore forget"
    " disregard quote"
    " summarize summarise recap skip finish leave continue pause"
)
_AROUND: Final = (
    _BOTH
    | _SPOKEN
    | _ORDERED
    | _WANTED
    | (AUXILIARIES - {"need"})
    | WH
    | _set(
        "i me my us it that this these those the a an not no to about of in by with on at so far and or but if for"
        " again earlier before above below just now already really exactly actually please still yet ever never always"
        " first last previous next second third final new once more one part thing things word words way minute"
        " moment ago simply differently different simpler clearer shorter other else anything something everything"
        " here there long many much until too back up over out go let see read follow get gave give given able past"
        " getting hear heard sum keep keeps kept been being only all right wrong correct correctly properly same today"
        " beginning sorry sure think want trying like than rather instead from both each tell confusing confused"
        " unclear address missed skipped record explain show clarify try time times stopped two three"
    )
)
# "My question was different", "that's another question".
_POINTED_AT: Final = _set("my different other previous")
_LET_ME: Final = (("let", "me", "ask"), ("let", "me", "repeat"), ("let", "me", "rephrase"))


def is_between_us(sentence: Sentence) -> bool:
    """Whether the sentence names nothing outside of the talk: "did you read what I sent you", "that's what I said"."""
    words = sentence.plain_words
    if not words or not all(word in _AROUND for word in words):
        return False
    held = set(words)
    if words[0] in _ORDERED and held & (_SPOKEN | _BOTH):
        return True
    if (held & _BOTH or words[:2] == ("let", "us")) and ("again" in held or held & _SPOKEN):
        return True
    return _is_of_mine(held) or words[:3] in _LET_ME or bool(held & _PIECES and held & _POINTED_AT)


def _is_of_mine(held: set[str]) -> bool:
    """ "That's what I said", "I didn't ask that", "not the answer I wanted"; not "I can't answer that"."""
    if "i" not in held:
        return False
    return bool(held & _DONE or ("did" in held and held & _SAYING) or (held & _WANTED and held & _PIECES))

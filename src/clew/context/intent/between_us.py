"""Sentences about nothing but the talk itself: all their words are those in which two people speak of what they say."""

import re
from typing import Final

from clew.context.speech.lexicon import AUXILIARIES, WH
from clew.context.speech.sentence import Sentence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SPEAKERS: Final = _set("i me my you your we us our")
_OTHER: Final = _set("you your we our")
# What was done in this talk: who says it of himself speaks of the talk, too.
_DONE: Final = _set("said asked asking told meant mentioned wrote typed sent explained answered repeated")
# What is done in a talk, and what it is made of. Not "tell": "tell me where I am" asks for something else.
_SPOKEN: Final = _DONE | _set(
    "say saying telling ask asking mean meaning talked talking chatted chatting chat discussed discussing writing"
    " conversation conversations chats discussion message messages question questions answer answers answering reply replies response"
    " responses repeat repeating rephrase reword recap misunderstood misunderstand misread misheard listening covered"
    " remember recall forget forgot ignore ignoring topic subject"
)
_A_WHILE: Final = re.compile(r"\ba (?:minute|moment|second|while|bit|little|few)\b ?")
_AGAIN: Final = (("let", "me", "ask"), ("let", "me", "repeat"), ("let", "me", "rephrase"))
# Without "a" and "an": who wants a message, an answer or a question written has it made.
_AROUND: Final = (
    _SPEAKERS
    | _SPOKEN
    | (AUXILIARIES - {"need"})
    | WH
    | _set(
        "it that this these those the not no to about of in by with on at so far and or if again earlier before above"
        " below just now already really exactly actually please still yet ever never always first last previous next"
        " second third once more one part thing things word words point way moment minute ago simply differently"
        " different simpler clearer shorter other else anything something everything here there long many much until"
        " too back up over out go let see read follow understand understood get getting hear heard explain clarify"
        " summarize summarise sum write keep keeps kept stop change switch been being only all right wrong correct"
        " correctly properly same today start beginning end sorry sure back think want wanted try trying like than"
        " rather instead from both each tell"
    )
)


def is_between_us(sentence: Sentence) -> bool:
    """Whether the sentence names nothing outside of the talk: "did you read what I sent you", "that's what I said"."""
    words = tuple(_A_WHILE.sub("", sentence.plain).split())
    if not words or not all(word in _AROUND for word in words):
        return False
    if any(word in _OTHER for word in words):
        return any(word in _SPOKEN for word in words)
    return ("i" in words and any(word in _DONE for word in words)) or words[:3] in _AGAIN

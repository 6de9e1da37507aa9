"""What was said without its subject ("It was $4.8M.", "$4.8M"), put back under the question that it answers."""

import re
from collections.abc import Sequence
from typing import Final

from clew.context.assertions.referring import capital, points_back, said_as, topic_asked
from clew.context.assertions.values import values
from clew.context.compaction.instructions import key_words
from clew.context.speech import Sentence, Turn, sentences
from clew.context.speech.verbs import verb_at

_FRAME: Final = re.compile(
    r"^(?:according to|as per|per|based on|from) (?:the|my|our|your|this|that) [\w' -]{1,40}?,? (?=it\b|that\b|they\b)",
    re.IGNORECASE,
)
# Words that agree, or name what is agreed with, and say nothing of their own.
_AGREEING_WORDS: Final = """
    yes yeah yep right correct true exact exactly precisely accurate fine good great indeed sure confirm confirmed
    figure number date value amount price name answer one ones all same total sum it that this what you said say have
    absolutely definitely totally still agreed agree perfect spot
"""
_AGREEING: Final = frozenset(stem for word in _AGREEING_WORDS.split() for stem in key_words(word))

_ACKNOWLEDGING_WORDS: Final = "see got get okay noted understood thanks so i gotcha cool"
_ACKNOWLEDGING: Final = frozenset(stem for word in _ACKNOWLEDGING_WORDS.split() for stem in key_words(word))


def grounded(text: str, history: Sequence[Turn]) -> str:
    """The statement with its subject: the one it has, or what was asked after before it was made."""
    bare = _FRAME.sub("", text)
    statement = said_as(bare)
    lacks = verb_at(statement) is None
    if not statement.words or not (lacks or points_back(statement)):
        return text
    topic = topic_asked([turn for turn in history if turn.role == "user"])
    if topic is None:
        return text
    if lacks:
        return capital(f"{topic} is {bare.strip(' .')}")
    rest = statement.without_first(1)
    return capital(f"{topic} {rest.said}")


def says_otherwise(rest: Sentence, history: Sequence[Turn]) -> bool:
    """Whether words after a yes bring in something that the assistant did not say: "Yes, on Wednesday." """
    last = next((turn for turn in reversed(history) if turn.role == "assistant"), None)
    own = set(key_words(rest.plain)) - _AGREEING
    if last is None or not (new := own - set(key_words(last.text))):
        return False
    # "Yes, that's the address" names what it was, and has no value of its own.
    return "but" in rest.plain_words or any(new & set(key_words(value.text)) for value in values(f"- {rest.said}"))


def repeats_the_assistant(claim: Sentence, history: Sequence[Turn]) -> bool:
    """Whether all that a claim says was just stated by the assistant, in one sentence of its own."""
    own = set(key_words(claim.plain)) - _ACKNOWLEDGING
    last = next((turn for turn in reversed(history) if turn.role == "assistant"), None)
    if last is None or not own:
        return False
    return any(not one.asks and own <= set(key_words(one.plain)) for one in sentences(last.text))

"""The mood of a sentence: whether it asks, requests, or says something."""

import re
from typing import Final, Literal

from clew.context.speech.lexicon import AUXILIARIES, PASTS
from clew.context.speech.questions import is_question, wonders
from clew.context.speech.requests import asked_politely, asked_without_asking, imperative, requests_at_the_end
from clew.context.speech.sentence import Sentence
from clew.context.speech.verbs import unfilled, verb_at, without_quotes

Mood = Literal["question", "telling", "request", "statement", "fragment"]
"""`telling` is a question in the form of a request: "tell me when it opens"."""


# "Translate 'where is it?'": somebody else's question.
_ASKS_IN_QUOTES: Final = re.compile(r"\w\W*[\"“][^\"“”]*\?[\"”]\W*$")


def mood_of(sentence: Sentence) -> Mood:
    """What the sentence does, from its form alone. A sentence that also asks is a question, whatever else it says."""
    bare = without_quotes(unfilled(sentence))
    if not bare.words:
        return "question" if sentence.asks else "fragment"
    if not sentence.asks and wonders(bare):
        return "question"
    if requests_at_the_end(bare):
        return "request"
    if (asked := asked_politely(bare)) is not None:
        return asked
    asks = sentence.asks and not _ASKS_IN_QUOTES.search(sentence.said)
    if not asks and bare.plain_words[0] not in AUXILIARIES and imperative(bare) == "request":
        return "request"  # "work out how much we need"
    if asks or is_question(bare):
        return "question"
    if (asked := imperative(bare) or asked_without_asking(sentence, bare)) is not None:
        return asked
    told = verb_at(bare) is not None or (bare.plain_words[0] in PASTS and len(bare.words) > 2)
    return "statement" if told else "fragment"

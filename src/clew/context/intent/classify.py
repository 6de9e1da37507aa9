"""`classify_intent`: what a message wants, from its words and the turn before it."""

import re
from collections.abc import Sequence
from typing import Final

from clew.context.intent.intent import Intent
from clew.context.intent.phatic import after_pleasantries, is_phatic, is_wordless
from clew.context.intent.talk import is_about_the_talk
from clew.context.speech import Turn, mood_of, sentences, turn_at, turns_at
from clew.context.speech.sentence import Sentence
from clew.context.speech.verbs import is_english, unfilled
from clew.context.standing.recognise import instruction_of
from clew.context.standing.revoking import sounds_like_taking_back

_YES_NO: Final = re.compile(
    r"^(?:(?:yes|yeah|yep|yup|sure|no|nope|nah|please|okay|absolutely|definitely|of course|go ahead|go for it"
    r"|do it|do that|do so"
    r"|that would be great|sounds good|thanks|thank you|why not|certainly|by all means|let us do it|right|correct"
    r"|exactly|confirmed|true|indeed|that is (?:right|correct|true|it)|it is|the first one|the second one|both"
    r"|neither|either)(?: and| then)?(?: |$))+$"
)
_CHOOSES: Final = re.compile(
    r"^(?:(?:yes|yeah|yep|sure|okay|please|let us take|i (?:will|would) take|i prefer|go with|take) )*(?:the|option)"
    r" (?:first|second|third|last|other|former|latter|cheaper|cheapest|earlier|later|\w{1,5})(?: (?:one|option"
    r"|\w+))?(?: please)?$"
)
_AGREES: Final = re.compile(
    r"^(?!(?:thanks|thank you|and| )+$)(?:(?:yes|yep|yup|yeah|right|correct|exactly|confirmed|true|indeed"
    r"|that is (?:right|correct|true)|thanks|thank you) ?)+$"
)
_ONLY_THANKS: Final = re.compile(r"^(?:(?:thanks|thank you) ?)+$")
_OFFER: Final = re.compile(
    r"\b(?:shall|should|can|may|could) (?:i|we)\b|\b(?:would|do) you (?:like|want|prefer|need)\b|\bwant me to\b"
    r"|\blet me know if\b|\bready to\b|\bproceed\b"
)


def classify_intent(message: object, history: object = ()) -> Intent:
    """`"greeting"`, `"meta"`, `"factual"` or `"task"`, with how sure that is and why; no model is asked.

    `message` is a text, an OpenAI-form dict or a `clew.Message`, `history` the turns before it, newest last. A message
    that does several things counts as the one that needs most: "thanks, and what about Q4?" is factual. What can't be
    told, another language among it, is factual, since a look-up in vain costs less than an answer without one.
    """
    return intent_of(turn_at(message), turns_at(history))


def intent_of(turn: Turn, history: Sequence[Turn] = ()) -> Intent:
    """The intent of a turn that was read before."""
    if turn.role == "tool":
        return Intent("factual", 0.9, "a tool's result")
    if is_wordless(turn.text):
        return Intent("greeting", 0.9, "no words") if turn.text.strip() else Intent("factual", 0.3, "nothing said")
    said = [one for one in sentences(turn.text) if one.words or one.asks]
    if not said:
        return Intent("factual", 0.3, "nothing but code or marks")
    wanted = [after_pleasantries(one) for one in said if not is_phatic(one)]
    if not wanted:
        return _answered(said, history) or Intent("greeting", 0.95, "greets, thanks, takes leave or acknowledges")
    if (answer := _answered(wanted, history)) is not None:
        return answer
    return max((_sentence_intent(one) for one in wanted), key=_need)


def _need(intent: Intent) -> tuple[int, float]:
    return (("greeting", "meta", "factual", "task").index(intent.kind), intent.confidence)


def _answered(said: Sequence[Sentence], history: Sequence[Turn]) -> Intent | None:
    """A bare yes or no means what was asked."""
    before = next((turn.text for turn in reversed(history) if turn.role == "assistant"), "")
    asked = [one for one in sentences(before) if one.asks]
    if len(said) == 1 and asked and _OFFER.search(asked[-1].plain) and _CHOOSES.match(said[0].plain):
        return Intent("task", 0.9, "takes up what was offered")
    if len(said) > 2 or not all(_YES_NO.match(one.plain) for one in said):
        return None
    if all(_ONLY_THANKS.match(one.plain) for one in said):
        return None
    if asked and _OFFER.search(asked[-1].plain):
        return Intent("task", 0.9, "takes up what was offered")
    if asked or (before and all(_AGREES.match(one.plain) for one in said)):
        return Intent("factual", 0.8, "answers what was asked")
    if all(is_phatic(one) for one in said):
        return None
    return Intent("task", 0.5, "a yes or no, and nothing known of what was asked")


def _sentence_intent(sentence: Sentence) -> Intent:
    bare = unfilled(sentence)
    if is_about_the_talk(sentence) or is_about_the_talk(bare):
        return Intent("meta", 0.9, "about the assistant or the conversation")
    if instruction_of(sentence) is not None or sounds_like_taking_back(sentence):
        return Intent("meta", 0.85, "how to answer from now on")
    mood = mood_of(sentence)
    if mood == "request":
        return Intent("task", 0.9, "asks for something to be done")
    if mood in ("question", "telling"):
        return Intent("factual", 0.9, "asks to be told something")
    if mood == "statement":
        return Intent("factual", 0.8, "says something")
    return Intent("factual", 0.6 if is_english(bare) else 0.5, "no form that is known")

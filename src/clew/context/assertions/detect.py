"""`detect_assertion`: what a message states as true, for keeping; None for everything else that people say."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from clew.context.assertions.assertion import Assertion, SourceType
from clew.context.assertions.beside import doubted, is_worth_keeping, passes
from clew.context.assertions.claims import claim_in, is_specific, makes_a_request
from clew.context.assertions.conflicts import found_by_tool, sources_disagree
from clew.context.assertions.cues import Contrast, confirms_inside, contrast, corrects_inside, listed, opened
from clew.context.assertions.grounding import grounded, repeats_the_assistant, says_otherwise
from clew.context.assertions.labels import labelled
from clew.context.assertions.referring import (
    answered,
    antecedents,
    asked_before,
    capital,
    confirmed_by_yes,
    from_assistant,
    offered_before,
    points_back,
    resolved,
    said_as,
    subject_of,
)
from clew.context.assertions.values import put_in, values
from clew.context.compaction.instructions import key_words
from clew.context.intent.phatic import is_phatic
from clew.context.speech import Sentence, Turn, mood_of, sentences, turn_at, turns_at
from clew.context.speech.lexicon import DETERMINERS
from clew.context.speech.verbs import is_english

ANSWER_MAX_WORDS: Final = 8
STATEMENT_MAX_CHARS: Final = 800
# Nobody states so much in one message; more is a document, and ingested as one.
STATED_MAX: Final = 12
ECHO_SHARE: Final = 0.9

_ORDER: Final[tuple[SourceType, ...]] = ("correction", "contradiction", "confirmation", "new_info")
_YOU_SAID: Final = re.compile(
    r"^you(?: have)? (?:said|told me|wrote|listed|mentioned|stated|had|have|claimed)\b.*? but (?:actually |really "
    r"|in fact )?(?=\w+)|^i (?:said|wrote|typed|put)(?: \S+){1,6}? but (?:i meant |actually )?(?=\w+)"
)
# "The warehouse is in Brno. You wrote Bratislava.": what is said beside it puts that right.
_DISPUTES: Final = re.compile(
    r"^(?:but )?you (?:wrote|said|had|put|listed|told me|have it as|noted)\b(?! that (?:we|i) )"
)
_SHOULD_BE: Final = re.compile(r"\bshould (?:be|read|say)\b", re.IGNORECASE)
_AGREES: Final = re.compile(r" (?:is|was|are|were)(?: all| still| indeed)? (?:right|correct|true|accurate)$")
# "Yes I am", "yes it does".
_IT_IS: Final = re.compile(
    r"^(?:i|we|it|he|she|they|that|this|there) (?:am|do|is|are|does|did|was|were|have|has|can)(?: indeed| still)?$"
)
# "The company", "this is Marta": they may point back, and say enough where nothing was said before.
_STANDS_ALONE: Final = re.compile(r"^(?:he|she|the|this is)\b")
_ONLY_YES: Final = re.compile(
    r"^(?:(?:yes|yep|yeah|yup|correct|right|exactly|true|confirmed|indeed|it is|that is it|i do|i am|we do|it does"
    r"|we are) ?)+$"
)


def detect_assertion(message: object, history: object = ()) -> Assertion | None:
    """What the message states as true, in words that stand on their own; None when it states nothing to keep.

    `message` is a text, an OpenAI-form dict or a `clew.Message`, `history` the turns before it, newest last. Questions,
    thanks, opinions, guesses, plans, suppositions, requests and talk about the conversation state nothing; nor do the
    assistant's own words, said by it or repeated to it. A tool's result counts only where it contradicts what was said.
    """
    return assertion_of(turn_at(message), turns_at(history))


def assertion_of(turn: Turn, history: Sequence[Turn] = ()) -> Assertion | None:
    """The assertion of a turn that was read before."""
    if turn.role == "tool":
        return found_by_tool(turn.text, history)
    if turn.role != "user":
        return None
    said = [one for whole in sentences(turn.text) for one in listed(whole) if one.words]
    moods = {mood_of(one) for one in said}
    asks, requests = bool(moods & {"question", "telling"}), "request" in moods
    disputed = any(_DISPUTES.match(one.plain) for one in said)
    found: list[Assertion] = []
    correcting = confirming = False
    for one in said[: STATED_MAX * 2]:
        read = _read(one, history, correcting=correcting, confirming=confirming)
        correcting, confirming = read.correcting, read.confirming
        stated = read.stated
        if stated is None or (asks and stated.source_type == "correction" and doubted(said)):
            continue
        if stated.source_type == "new_info":
            if not _outlives(one, said, asks=asks, requests=requests):
                continue
            stated = replace(stated, source_type="correction") if disputed else stated
        found.append(stated)
    return _together(found[:STATED_MAX])


def _outlives(one: Sentence, said: Sequence[Sentence], *, asks: bool, requests: bool) -> bool:
    """Whether a new fact stays of use when what was asked beside it is answered or done."""
    if asks:
        return mood_of(one) == "statement" and is_worth_keeping(one) and not doubted(said)
    if makes_a_request(one):
        return is_worth_keeping(one)
    return not requests or ((is_specific(one) and not passes(one)) or is_worth_keeping(one))


@dataclass(frozen=True, slots=True)
class _Read:
    """What one sentence states, and what it announces of the next: "That's wrong. It was 14%." """

    stated: Assertion | None = None
    correcting: bool = False
    confirming: bool = False


def _read(one: Sentence, history: Sequence[Turn], *, correcting: bool, confirming: bool) -> _Read:
    if len(one.said) > STATEMENT_MAX_CHARS:
        return _Read()
    if sources_disagree(one):
        return _Read(Assertion("contradiction", _content(one.said), subject_of(one)))
    start = opened(one)
    corrects, confirms = start.corrects or correcting, start.confirms or confirming
    rest = start.rest
    if (found := _YOU_SAID.match(rest.plain)) is not None:
        corrects, rest = True, rest.without_first(len(found[0].split()))
    if not rest.words or (start.confirms and _IT_IS.match(rest.plain)):
        stated = _confirmed(history) if start.confirms and not one.asks else None
        return _Read(stated, correcting=start.corrects, confirming=False)
    if one.asks:
        return _Read()
    return _Read(_stated(rest, history, corrects=corrects, confirms=confirms and not corrects))


def _stated(rest: Sentence, history: Sequence[Turn], *, corrects: bool, confirms: bool) -> Assertion | None:
    asks = mood_of(rest) in ("question", "telling")
    against = contrast(rest) if (is_english(rest) or corrects) and not asks else None
    corrects = corrects or corrects_inside(rest)
    kept = rest if against is None else said_as(_SHOULD_BE.sub("is", against.said))
    claim = claim_in(kept)
    if claim is None:
        put_right = None if against is None else _put_right(against, history)
        return put_right or labelled(rest) or _short(kept, history, corrects=corrects, confirms=confirms)
    confirms = (confirms or confirms_inside(claim)) and not corrects
    if confirms and says_otherwise(claim, history):
        corrects, confirms = True, False
    if not confirms and not corrects and (_is_echo(claim, history) or repeats_the_assistant(claim, history)):
        return None
    confirms = confirms or (not corrects and points_back(claim) and _AGREES.search(claim.plain) is not None)
    if confirms and (_AGREES.search(claim.plain) or points_back(claim)) and (known := _confirmed(history)) is not None:
        return known
    made = resolved(claim, history, corrects=corrects)
    if made is None and corrects and (values(f"- {claim.said}") or len(key_words(claim.plain)) > 1):
        made = (claim.said, None)
    if made is None and _STANDS_ALONE.match(claim.plain) and is_specific(claim):
        made = (claim.said, None)
    if made is None:
        return _confirmed(history) if confirms else None
    content, old = grounded(made[0], history), made[1]
    corrects = corrects or (old is not None and not confirms)
    kind: SourceType = "correction" if corrects else "confirmation" if confirms else "new_info"
    replaces = against.denied if against is not None else old if corrects else None
    return Assertion(kind, _content(content), subject_of(said_as(content)), replaces)


def _put_right(against: Contrast, history: Sequence[Turn]) -> Assertion | None:
    """ "I meant teaspoons, not tablespoons": the statement that held what is denied, with the other in its place."""
    new, old = against.said.strip(" .!"), against.denied.strip(" .!")
    if not new or not old or len(new.split()) > ANSWER_MAX_WORDS:
        return None
    for before in antecedents(history):
        found = re.search(rf"(?:\b{re.escape(new.split()[0])} )?\b{re.escape(old)}\b", before.said, re.IGNORECASE)
        if found is not None:
            said = from_assistant(before.said[: found.start()] + new + before.said[found.end() :].rstrip(" ."))
            return Assertion("correction", _content(said), subject_of(before), old)
    return None


def _short(rest: Sentence, history: Sequence[Turn], *, corrects: bool, confirms: bool) -> Assertion | None:
    """A few words that only mean something after what was said: "14%", "20mg a day", "Boston"."""
    if len(rest.words) > ANSWER_MAX_WORDS or mood_of(rest) not in ("fragment", "statement") or is_phatic(rest):
        return None
    if rest.plain_words[0] in ("i", "we", "maybe", "not", "whatever", "any", "none", "you") or not history:
        return None
    if confirms and not says_otherwise(rest, history):
        return None if "please" in rest.plain_words else _confirmed(history)
    if corrects or confirms:
        return _value_corrected(rest, history)
    asked = asked_before(history)
    if asked is None or mood_of(rest) != "fragment" or mood_of(asked) != "question" or _ONLY_YES.match(rest.plain):
        return None
    content = answered(asked, rest.said.strip(" .!"))
    return Assertion("new_info", _content(content), subject_of(said_as(content)))


def _value_corrected(rest: Sentence, history: Sequence[Turn]) -> Assertion | None:
    for turn in reversed(history):
        for before in reversed(sentences(turn.text)):
            if not before.asks and (made := put_in(before.said.rstrip(" ."), rest.said)) is not None:
                content = grounded(from_assistant(made[0]) if turn.role == "assistant" else made[0], history)
                return Assertion("correction", _content(content), subject_of(said_as(content)), made[1])
    return None


def _confirmed(history: Sequence[Turn]) -> Assertion | None:
    if offered_before(history):
        return None
    content = confirmed_by_yes(history)
    content = None if content is None else grounded(content, history)
    return None if content is None else Assertion("confirmation", _content(content), subject_of(said_as(content)))


def _is_echo(claim: Sentence, history: Sequence[Turn]) -> bool:
    """Whether the assistant has said the same: nearly every word, in one sentence of its own."""
    words = set(claim.plain_words) - DETERMINERS
    turned = {{"i": "you", "am": "are"}.get(word, word) for word in words}
    for turn in history:
        if turn.role == "assistant":
            for one in (said for said in sentences(turn.text) if not said.asks):
                theirs = set(one.plain_words)
                shared = max(len(words & theirs), len(turned & theirs))
                if shared >= len(words) * ECHO_SHARE:
                    return True
    return False


def _together(found: Sequence[Assertion]) -> Assertion | None:
    """One assertion for the message: of its strongest type, with everything that was stated in it."""
    if not found:
        return None
    first = min(found, key=lambda one: _ORDER.index(one.source_type))
    contents = dict.fromkeys(one.content for one in found)
    return replace(first, content=" ".join(contents))


def _content(text: str) -> str:
    tidy = capital(re.sub(r"\b(?:actually|in fact),? ", "", text.strip(" ,;–-"), flags=re.IGNORECASE))
    return tidy if tidy.endswith((".", "!")) else f"{tidy.rstrip(' .')}."

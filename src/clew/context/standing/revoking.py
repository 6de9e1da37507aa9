"""Taking a standing instruction back, in words: "you can use names again", "forget what I said about bullet points"."""

import re
from collections.abc import Iterable
from typing import Final

from clew.context.compaction.instructions import key_words
from clew.context.speech import Sentence, sentences, turn_at
from clew.context.standing.instruction import StandingInstruction
from clew.context.standing.recognise import LANGUAGE, instruction_of
from clew.errors import InvalidInput

_ALL: Final = re.compile(
    r"\b(?:forget|drop|clear|ignore|cancel|remove|reset|delete|disregard|lift)(?: about)? (?:all|every one of"
    r"|every|any)(?: of)?(?: (?:my|the|your|our|those|these|previous|earlier|standing|special"
    r"|custom))* (?:instructions?|rules?|preferences|requests?|settings)\b"
    r"|\b(?:go back to|use) (?:your )?(?:normal|default|usual)(?: (?:settings|behaviou?r|style|self|mode))?$"
    r"|\breset (?:your|my|all) (?:instructions|preferences|rules|settings)\b"
)
# What takes back; with the topic in the rest of the sentence, or a bare pronoun for the last that was given.
_TAKES_BACK: Final = re.compile(
    r"\b(?:forget|ignore|disregard|drop|cancel|scrap|undo|lift|never mind|remove|withdraw|take back)\b"
    r"|\bno longer (?:need|have|want|necessary|required|applies)\b"
    r"|\bdo not (?:need|have) to\b|\bneed not\b|\bno need (?:to|for)\b|\bnot necessary\b|\b(?:any ?more"
    r"|any longer)\b|\bstop\b|\bquit\b|\bno more\b|\benough with\b|\bno (?:more )?need\b|\bgo back to\b"
    r"|\bdo not bother\b"
)
_ALLOWS: Final = re.compile(
    r"\byou (?:can|may|could|are (?:free|allowed|welcome) to|are okay to|have my permission to)\b|\b(?:it is"
    r"|that is|is|are) (?:okay|fine|all right|allowed|permitted|good|welcome)(?: (?:now|again))?(?: (?:to|if"
    r"|for you to)\b|$| with me| by me| from now)|\bfeel free to\b|\bgo ahead and\b|\bi do not mind\b|\b(?:use"
    r"|using|mention|say|show|add|include|write|give)\b.* again\b|\b(?:resume|restore|bring back|start)\b"
)
_POINTS_BACK: Final = re.compile(
    r"^(?:(?:please|okay|and|now|actually|you|can|may|could|just|should|hey|so) )*(?:stop|quit|forget|drop|undo"
    r"|ignore|cancel|scrap|disregard|lift|do not|no need to|do not need to|do not have to|you)"
    r"(?: (?:keep|doing|do|saying|about|following|with|to|any more|anymore|now|need|have))* (?:doing |do )?(?:that"
    r"|this|it|so|that rule|this rule|that instruction|the rule|the instruction|the last (?:rule|instruction|one)"
    r"|my last (?:instruction|request|rule)|what i (?:just )?said(?: before| earlier)?)(?: (?:any ?more|now|please"
    r"|again|rule|instruction|from now on|any longer|thing))*$"
)
# "Forget it" ends a topic; only "that rule" or "doing that" is about how to answer.
_ENDS_A_TOPIC: Final = re.compile(
    r"^(?:(?:please|okay|oh|just|no) )*(?:forget|ignore|cancel|drop|undo|scrap|stop|disregard"
    r"|never mind)(?: about)?(?: it| that| this)?(?: please| now)*$"
)
_ASKED_POLITELY: Final = re.compile(r"^(?:please )?(?:can|could|will|would) you\b.*\b(?:again|any ?more|stop)\b")
_OTHER_LANGUAGE: Final = re.compile(
    rf"\b(?:back to|speak|talk|switch to|use|in) {LANGUAGE}\b.*\bagain\b|\b(?:go|switch"
    rf"|change)(?: back)? to {LANGUAGE}\b"
)
# Words that any instruction may hold: sharing them is sharing nothing.
_GENERAL_WORDS: Final = """
    use answer reply respond response mention say write give keep make show call speak talk stop start again
    anymore any more now rule instruction thing forget about said told what back can may allowed okay fine free go
    need have want let put add include time way every each everything anything from future on forward please word
    words longer drop ignore cancel earlier before request prefer like feel normal bring resume address refer
    style
"""
_GENERAL: Final = frozenset(stem for word in _GENERAL_WORDS.split() for stem in key_words(word))


def revokes(message: object, instructions: Iterable[StandingInstruction]) -> list[StandingInstruction]:
    """Those of the instructions (oldest first) that the message takes back, in their order.

    One is taken back by a word that does ("forget", "you can … again", "no more …") about the same thing, by its
    opposite, by a new one in its place ("call me Alex"), or, where the message only points ("stop doing that"), as the
    last that was given.
    """
    turn = turn_at(message)
    known = _known(instructions)
    if turn.role != "user" or not known:
        return []
    taken = {id(one) for sentence in sentences(turn.text) for one in _taken_back(sentence, known)}
    return [one for one in known if id(one) in taken]


def _known(instructions: object) -> list[StandingInstruction]:
    if isinstance(instructions, str | bytes) or not isinstance(instructions, Iterable):
        raise InvalidInput(f"expected a list, got {type(instructions).__name__}", where="instructions")
    known = list(instructions)
    for at, one in enumerate(known):
        if not isinstance(one, StandingInstruction):
            raise InvalidInput(f"expected a StandingInstruction, got {type(one).__name__}", where=f"instructions[{at}]")
    return known


def _taken_back(sentence: Sentence, known: list[StandingInstruction]) -> list[StandingInstruction]:
    plain = sentence.plain
    if not plain or (sentence.asks and not _ASKED_POLITELY.match(plain)):
        return []
    if _ALL.search(plain):
        return known
    if _ENDS_A_TOPIC.match(plain):
        return []
    if _POINTS_BACK.match(plain):
        return known[-1:]
    topics = set(key_words(plain)) - _GENERAL
    new = instruction_of(sentence)
    if _OTHER_LANGUAGE.search(plain):
        return [one for one in known if one.slot == "language" and not topics & set(one.about)]
    return [one for one in known if _replaces(new, one) or _undoes(plain, topics, new, one)]


def _replaces(new: StandingInstruction | None, old: StandingInstruction) -> bool:
    return new is not None and new.slot is not None and new.slot == old.slot and new.about != old.about


def _undoes(plain: str, topics: set[str], new: StandingInstruction | None, old: StandingInstruction) -> bool:
    shared = topics & (set(old.about) - _GENERAL)
    if not shared:
        return False
    if old.forbids:
        return _ALLOWS.search(plain) is not None or _forgets(plain) or (new is not None and not new.forbids)
    return _TAKES_BACK.search(plain) is not None or (new is not None and new.forbids)


def _forgets(plain: str) -> bool:
    """For a prohibition, "stop" and "no more" say it again; only forgetting it takes it back."""
    return (
        re.search(
            r"\b(?:take back|forget|ignore|disregard|scrap|undo|lift|never mind|drop|cancel|withdraw|no longer)\b",
            plain,
        )
        is not None
    )

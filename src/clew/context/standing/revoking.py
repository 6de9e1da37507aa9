"""Taking a standing instruction back, in words: "you can use names again", "forget what I said about bullet points"."""

import re
from collections.abc import Iterable
from typing import Final

from clew.context.compaction.instructions import key_words
from clew.context.speech import Sentence, sentences, turn_at
from clew.context.standing.instruction import Slot, StandingInstruction
from clew.context.standing.recognise import FORMS, LANGUAGE, instruction_of
from clew.errors import InvalidInput

_ALL: Final = re.compile(
    r"\b(?:forget|drop|clear|ignore|cancel|remove|reset|delete|disregard|lift)(?: about)? (?:all|every one of"
    r"|every|any)(?: of)?(?: (?:my|the|your|our|those|these|previous|earlier|standing|special"
    r"|custom))* (?:instructions?|rules?|preferences|requests?|settings)\b"
    r"|\b(?:back to|use) (?:your )?(?:normal|default|usual)(?: (?:settings|behaviou?r|style|self|mode"
    r"|way of answering))?(?: please| again| now)*$"
    r"|\breset (?:your|my|all) (?:instructions|preferences|rules|settings)\b"
)
# What takes back; with the topic in the rest of the sentence, or a bare pronoun for the last that was given.
_TAKES_BACK: Final = re.compile(
    r"\binstead of\b|\b(?:forget|ignore|disregard|drop(?! me\b)|cancel|scrap|undo|lift|never mind|remove|withdraw"
    r"|take back)\b"
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
# Which kind of instruction is undone, where only its kind is named.
_BACK_TO_A_KIND: Final = re.compile(
    r"\bback to (?:the |your )?(?:normal|default|usual|regular|standard|previous|old|full|original) (\w+)|"
    r"\b(?:no|lift the|drop the|forget the) (?:more )?(?:word |length )?(limit)\b|\b(?:any|whatever) (length"
    r"|language)\b"
)
_KINDS: Final[dict[str, Slot]] = {
    "length": "length", "limit": "length", "answers": "length", "replies": "length", "responses": "length",
    "language": "language", "name": "address",
}  # fmt: skip
_ANSWERING: Final = (
    r"(?:(?:answer|reply|respond|speak|talk|write)(?:ing)?(?: to me)? (?:in|with|as|like)|(?:call|address)(?:ing)? me"
    rf"|(?:use|using|mention|mentioning|include|including|add|adding|show|showing|cite|citing|avoid|avoiding|give"
    rf"|giving)"
    rf"(?: me)?(?: (?:any|the|my|more|all|those))* {FORMS}|be(?:ing)? (?:so |too |that )?(?:brief|short|formal"
    rf"|informal|casual|direct|blunt|concise|terse"
    r"|polite|verbose|detailed)|(?:keep|keeping|make|making) (?:it|them|things|(?:your |the )?(?:answers|replies"
    r"|responses))"
    r"|apologi[sz](?:e|ing)|mention(?:ing)?)"
)
# How taking back sounds, whatever was given before.
_SOUNDS: Final = re.compile(
    rf"^(?:(?:please|okay|and|now|actually|hey|so|from now on|but) )*(?:"
    rf"(?:you (?:can|may|could|are (?:free|allowed|welcome) to)|feel free to|it is (?:okay|fine|all right)(?: now)? to)"
    rf"(?: now| also| stop)* {_ANSWERING}\b.*(?:again|now|any ?more|from now on|after all)?$"
    rf"|(?:you (?:do not|no longer) (?:need|have) to|no need to|you need not|you (?:can|may) stop) {_ANSWERING}\b"
    rf"|(?:no need for|you (?:do not|no longer) need|you (?:can|may) (?:drop|skip|forget|leave out))"
    rf" (?:the |any |all the |those )?{FORMS}\b"
    rf"|(?:forget|drop|ignore|scrap|cancel|undo|lift|disregard|never mind)(?: about)? (?:(?:all )?(?:the|my|that"
    rf"|your|those"
    rf"|these) (?:\w+ ){{0,5}}(?:thing|rules?|instructions?|restrictions?|preferences?|limit)"
    rf"|(?:what|everything|all) i (?:said|told you) about .+|(?:the |my )?{FORMS})(?: please| now)*$"
    rf"|(?:(?:go|switch|change|let us go|can (?:you|we) go) )?back to (?:the |your |my )?(?:normal|default|usual"
    rf"|regular"
    rf"|standard|full|{LANGUAGE})(?: (?:length|style|tone|format|language|answers|replies|settings|mode|way of \w+))?"
    rf"(?: please| again| now)*$"
    rf"|{FORMS} (?:is|are) (?:fine|okay|allowed|welcome|all right)(?: with me)?(?: again| now| from now on)+$"
    rf"|i (?:have )?changed my mind (?:about|on) (?:the |using )*{FORMS}|i take back what i said\b)"
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


def sounds_like_taking_back(sentence: Sentence) -> bool:
    """Whether a sentence takes back how to answer, told by its words alone."""
    return not sentence.asks and _SOUNDS.match(sentence.plain) is not None


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
    if (kind := _BACK_TO_A_KIND.search(plain)) is not None:
        slot = _KINDS.get(next(filter(None, kind.groups())))
        return [one for one in known if slot is not None and one.slot == slot]
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
            r"\b(?:take back|forget|ignore|disregard|scrap|undo|lift|never mind|drop(?! me\b)|cancel|withdraw|no"
            r" longer)\b",
            plain,
        )
        is not None
    )

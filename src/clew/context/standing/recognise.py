"""Which sentences ask for something of every answer, and not of this one alone."""

import re
from dataclasses import replace
from typing import Final

from clew.context.compaction.instructions import key_words
from clew.context.speech import Sentence, sentences, turn_at
from clew.context.speech.lexicon import FILLERS
from clew.context.speech.quoting import own_words
from clew.context.speech.requests import imperative
from clew.context.speech.sentence import sentence as read_sentence
from clew.context.speech.verbs import unfilled
from clew.context.standing.instruction import Scope, Slot, StandingInstruction
from clew.context.standing.seeming import is_told, releases
from clew.context.standing.wording import put_plainly

INSTRUCTION_MAX_WORDS: Final = 60
# So many clauses are looked at for an instruction of their own.
PARTS_MAX: Final = 6

_VERBS: Final = (
    r"(?:use|mention|include|say|call|address|refer|ask|apologi[sz]e|repeat|explain|add|write|answer|reply|respond"
    r"|give|show"
    r"|sign|start|end|begin|quote|assume|translate|format|share|disclose|reveal|tell|suggest|recommend|put|make|send"
    r"|contact|speak|talk|keep|be|cite|list|check|confirm|convert|display|present|provide|round|spell|stick"
    r"|remember|sum|summari[sz]e|state"
    r"|return|prefix|name|avoid|double-check|run|follow|think|let|help|do|get|go|act|treat|consider|greet|remind"
    r"|offer|mark|wrap|comment|output|print|report|book|order|schedule|prefer|choose|pick|leave|stop)"
)
_LASTING: Final = re.compile(
    r"\b(?:from now on|from here on(?: out| in)?|from this point(?: on| forward)?|going forward|moving forward"
    r"|henceforth|in (?:the )?future|from today(?: on)?|starting (?:now|today)|as of (?:now|today)"
    r"|at all times|under no circumstances|(?:every|each|any) time (?:you|i|we)|whenever (?:you|i|we)"
    r"|for the rest of (?:this|our|the)"
    r"|in (?:all|every|each of|each|any of)(?: of)?(?: your| the| my| our)? (?:answers?|replies|reply|responses?"
    r"|messages?|emails?|reports?|summaries)|in every (?:answer|reply|response|message)"
    r"|for (?:all|every) (?:future )?(?:answers?|repl(?:y|ies)|responses?)|until (?:i|we) (?:say|tell you)"
    r"|(?:everything|anything|all) i (?:say|tell you|write|send|share|ask)|unless i (?:ask|say|tell|request)|by"
    r" default|as a rule|as a default|(?:in|during|throughout|within|for) (?:this|our) (?:chat|conversation|thread"
    r"|session))\b"
)
_ALWAYS: Final = re.compile(
    r"(?:^|\b(?:and|but|also|please|you|you should|you must|you need to|should|must|to|then|that you|just) )"
    r"(?:always|never|do not ever|never ever|only ever) (?!an?\b|the\b|been\b|had\b|there\b|here\b|mind\b|again\b"
    r"|was\b|were\b|is\b|on\b|in\b)\w+"
    r"|^do not .* ever$|\b(?:must|should|may|can) (?:always|never) be \w+|\b(?:is|are) (?:always|never) to be\b"
)
_ADDRESS: Final = re.compile(
    r"^(?:(?:and|also|you|can|may|could|should|just|instead|but|then|yes|no|hi|hello|i|would|like|want|you|to"
    r"|prefer|it|if|please|my|friends|everyone|from now on) )*"
    r"(?:(?:do not |never |stop )?(?:call|calling|address|addressing) me|refer(?:ring)? to me)(?: (?:as|by"
    r"|by the name|by my))? (?!at |on |when |back\b|tomorrow|later|if |in |an? |again\b|once|after|before"
    r"|something|now$|today|for |to |about)(\S.*)$"
    r"|\b(?:but|and|so|just) (?:please )?call me (?!at |on |when |back\b|tomorrow|later|if |in |an? |again\b|once"
    r"|after|before|something|now$|today|for |to |about)(\S.*)$"
    r"|^(?:i (?:would )?(?:like|prefer|want) to be (?:called|addressed as)|i go by|address me (?:as"
    r"|by))(?: the name)? (\S.*)$"
)
_ANSWERS: Final = (
    r"(?:answers|replies|responses|explanations|summaries|sentences|paragraphs|your (?:answer|reply|response)"
    r"|(?:your|the) (?:tone|writing|style|language|messages))"
)
FORMS: Final = (
    r"(?:bullet(?:s| ?-?points?| lists?)?|tables?|markdown|prose|emojis?|emoji|emoticons|exclamation (?:marks"
    r"|points)|jargon|acronyms|abbreviations|slang|headings|headers|lists|capitals|all caps|latex|hashtags"
    r"|profanity|swear words"
    r"|metric(?: units)?|imperial(?: units)?|celsius|fahrenheit|kilomet(?:er|re)s|miles|british (?:spelling"
    r"|english)|american (?:spelling|english)|uk english|us english|24-hour (?:time|format|clock)|iso dates"
    r"|names?|(?:the |our |my )?client(?:'s)?(?: name| names)?(?: by name)?|real names|first names?|last names?"
    r"|euros|dollars|pounds|usd|eur|gbp|plain (?:english|text|language)|simple (?:language|words|english)"
    r"|full sentences|complete sentences|code comments|type hints|disclaimers|filler|small talk|passive voice"
    r"|formal (?:language|tone)|informal (?:language|tone)|lowercase|a formal tone|a friendly tone|first person"
    r"|em dashes|apologies|pleasantries|sources|citations|footnotes|honorifics|pronouns|they/them)"
)
_FORM_RULE: Final = re.compile(
    rf"^(?:(?:and|also|but|you|to|need|should|must|just|only|i want|would like|i|like|want|please) )*(?:(?:do not"
    rf"|never|stop|quit|avoid|no more|no|please no|cut(?: out)?|drop|skip|without|less|fewer)(?: (?:use|using"
    rf"|include|including|add|adding|write|writing|with|put|putting|mention|mentioning|show|showing|say|saying|give"
    rf"|giving|me|any|the|all|those|so many|too many|in|out))*"
    rf"|(?!.*\bnames?\b)(?:use|write in|stick to|prefer|i prefer|give me|include|add|put|show|answer with|answer in"
    rf"|reply with|reply in|respond in|respond with|format as|display))(?: (?:only|more|the|some|your|all"
    rf"|everything|any|amounts|prices|numbers|dates|temperatures|distances|code|it|in|as|with"
    rf"|of))* (?:\w+ )?{FORMS}\b"
)
_ANSWER_RULE: Final = re.compile(
    rf"^(?:(?:and|also|but|i|we|would|like|want|need|please|all|my|you to|to|try to|have) )*(?:keep|make|prefer"
    rf"|like|write|give|limit|want|need|shorten|format|phrase|have|end|start|begin|sign)(?: (?:me|all|of|your|the"
    rf"|my|our|every|each|any|them|only|just|more|short|shorter|brief|concise|long|longer|detailed|simple"
    rf"|to the point|direct|formal|informal|honest|plain))* (?:{_ANSWERS})\b"
    r"|^(?:no|fewer|less)(?: more| such)? (?:long|short|longer|shorter|wordy|one-word|vague|lengthy) (?:answers"
    r"|replies|responses"
    r"|explanations)\b|\b(?:every|each|per) (?:answer|reply|response|message)\b|^only (?:answer|reply|respond)\b"
    r"|\b(?:be|stay|remain"
    r"|sound|act) (?:\w+ )?\w+ in (?:all )?(?:of )?your (?:answers|replies|responses|messages)\b|^(?:(?:your|all"
    r"|the|my) )*(?:answers|replies|responses|messages) (?:should|must|need to|have to)(?: always| never"
    r"| not)? be\b"
)
LANGUAGE: Final = (
    r"(?:english|spanish|french|german|italian|portuguese|dutch|polish|russian|chinese|mandarin|japanese|korean"
    r"|arabic|hindi|turkish|swedish|norwegian|danish|finnish|greek|czech|hebrew|swahili|ukrainian|vietnamese|thai)"
)
_LANGUAGE: Final = re.compile(
    r"\b(?:answer|reply|respond|speak|talk|write|communicate|converse)(?:ing)?(?: to| with)?(?: me"
    r"| us)?(?: back)?(?: only| just| always)? in (?:only |just )?"
    rf"({LANGUAGE})\b"
)
_LENGTH: Final = re.compile(
    r"\b(?:short|shorter|brief|briefer|concise|long|longer|detailed|succinct|to the point|one sentence"
    r"|\d+ (?:words|sentences|lines|characters)|one paragraph|one line)\b"
)
_BEHAVIOUR: Final = re.compile(
    rf"^(?:(?:and|also|but|you|to|please|can|could|just) )*(?:stop|quit)(?: \w+ing)(?! that$| this$| it$| so$"
    rf"| now$)\b(?: \w+)* (?:me|my|your|you|emojis?|names?|jargon|sorry|{FORMS})\b"
    r"|^(?:(?:and|also|but|please) )*(?:stop|quit) (?:apologi[sz]ing|rambling|hedging|asking|repeating yourself"
    r"|lecturing|moralizing|swearing|summari[sz]ing)\b"
    r"|^refer to (?:the|our|my|this) \w+(?: \w+)? as\b|^my pronouns are\b"
    r"|^(?:(?:and|also|but|please) )*do not (?:call|address|refer to) me\b|^(?:(?:and|also|but"
    r"|please) )*do not (?:ever )?(?:apologi[sz]e|lecture|repeat yourself|sugarcoat|hedge|mention my|use my"
    r"|ask me (?!why|how|that)\w+|tell anyone|mention (?:the|our) \w+ by name)\b"
)
_WANTED: Final = re.compile(
    r"(?:(?:please|and|to|i want|i need|i would like|you to|you should|you must|you will|you need to|you are to|just"
    r"|only"
    r"|we|let us|always|never|do not|i expect you to|make sure to|be sure to|can you|could you|would you|will you) )*"
    rf"{_VERBS}\b"
)
_WANTED_LATER: Final = re.compile(
    rf"\b(?:you|do not|always|never|please|answers?|replies|amounts?) (?:\w+ )?{_VERBS}\b"
    r"|^you are (?:an?|my|the|our)\b|\b(?:i prefer|i want (?:you|all|your|every)|i would like (?:you|all|your)"
    r"|should be|must be|only|no) "
)
_ASKS: Final = re.compile(
    r"^(?:do|does|did|is|are|was|were|why|how|what|when|who|where|which|have|has|should|would(?! you mind)) (?:you|i"
    r"|we|it|they|the"
    r"|he|she|this|that|my|your)\b"
)
_THREAD: Final = re.compile(
    r"\b(?:(?:for|in|during) (?:this|the rest of this|the rest of the|the rest of our|our) (?:conversation|chat"
    r"|thread|session|discussion)|for (?:now|today|the moment|the time being)|this (?:conversation|chat|session"
    r"|thread)|today|right now)\b"
)
_TENANT: Final = re.compile(
    r"\b(?:(?:for|with|to|by) (?:everyone|everybody|all (?:users|customers|clients|employees|staff|of us)|anyone"
    r"|the (?:whole|entire) (?:team|company|organi[sz]ation)|our (?:team|company|organi[sz]ation))|company-wide"
    r"|team-wide|across the (?:team|company|organi[sz]ation)|no matter who|regardless of who|company policy"
    r"|our policy|house style)\b"
)
# "When you quote prices, …", "every email you write must …": what holds each time that it comes up.
_EACH_TIME: Final = re.compile(
    r"^(?:(?:whenever|every time|each time|any time|anytime)\b"
    r"|when (?:you (?:answer|reply|respond|write|quote|give|show|list|mention|cite|explain|refer|address|talk|speak"
    r"|summari[sz]e|recommend|suggest)|i (?:ask|paste|share|give|mention|say|write|upload|send))\b)"
)
_EACH_ONE: Final = re.compile(
    r"^(?:every|each|all|any)(?: the)?(?: \w+){1,3}? (?:that )?you (?:write|draft|send|give|make|create|produce"
    r"|generate|show"
    r"|suggest|recommend)\b.* (?:should|must|needs? to|has to|have to)\b"
)
# How to be with the user: "talk to me like an expert", "don't be so verbose".
_MANNER: Final = re.compile(
    r"^(?:(?:and|also|please|you) )*(?:(?:talk|speak|write|respond|reply|answer)(?: to)?(?: me)? (?:like|as if|as"
    r" though|as an?)\b"
    r"|explain (?:things|everything) (?:like|as if|as though)\b"
    r"|(?:do not be|stop being|be)(?: so| too| that| more| less| a bit| a little)+ (?:\w+ )?(?:verbose|wordy|formal"
    r"|informal"
    r"|brief|concise|polite|chatty|technical|casual|direct|blunt|honest|precise|friendly|strict|cheerful|sarcastic"
    r"|pushy"
    r"|repetitive|vague|specific|detailed|enthusiastic)$"
    r"|(?:do not )?(?:use|be) (?:\S+ ){1,6}with me\b|i only (?:want|need) (?:answers|replies|responses|sources)\b"
    r"|(?:sign|sign off|start|end|begin|close|open|finish) (?:every|each|all) (?:email|letter|report|summary|post)s?\b)"
)
_AT_HAND: Final = re.compile(
    r"\b(?:in|for|to|of|from|on|into|with) (?:this|that|these|those|(?:the|my|our)(?: \w+)?) (?:report|paragraph"
    r"|email|tweet"
    r"|section|document|doc|slides?|summary|post|text|code|function|essay|article|letter|draft|deck|chapter|one"
    r"|sentence"
    r"|table|file|page|case|email|message|presentation|readme)s?\b|\bthis time\b"
)
_FORBIDS: Final = re.compile(r"\b(?:never|not|stop|quit|avoid|no|without|under no circumstances|skip)\b")
_AND: Final = re.compile(
    r",?\s+(?:and|but|also|then)\s+(?:also\s+)?|,\s+(?=(?:don't|do not|never|always|no|please)\b)", re.IGNORECASE
)
_OPENERS: Final = (FILLERS | {"also", "and", "but", "yes", "thanks", "remember"}) - {"no"}


def recognise_instruction(message: object) -> StandingInstruction | None:
    """The first standing instruction of a message; None when it holds none, or isn't the user's.

    `message` is a text, an OpenAI-form dict or a `clew.Message`.
    """
    return next(iter(recognise_instructions(message)), None)


def recognise_instructions(message: object) -> list[StandingInstruction]:
    """Every standing instruction of a message, in order; none when it isn't the user's, or only quoted in it."""
    turn = turn_at(message)
    if turn.role != "user":
        return []
    return [given for one in sentences(own_words(turn.text)) for given in instructions_of(one)]


def instructions_of(sentence: Sentence) -> list[StandingInstruction]:
    """The standing instructions of a sentence: of its parts, where each of them is one, or of the whole."""
    cuts = list(_AND.finditer(sentence.said))[:PARTS_MAX]
    if cuts and releases(_opened(sentence).plain):
        return instructions_of(read_sentence(sentence.said[cuts[0].end() :]))
    whole = instruction_of(sentence)
    if whole is None:
        return []
    for cut in cuts:
        first = instruction_of(read_sentence(sentence.said[: cut.start()]))
        rest = instructions_of(read_sentence(sentence.said[cut.end() :])) if first is not None else []
        if first is not None and rest:
            scoped = [one if one.scope != "user" else replace(one, scope=first.scope) for one in rest]
            return [first, *scoped]
    return [whole]


def instruction_of(sentence: Sentence) -> StandingInstruction | None:
    """The standing instruction that a sentence gives; None for a question, a story, or a request for this one time."""
    bare = _opened(sentence)
    plain = bare.plain
    if not plain or (
        sentence.asks and not plain.startswith(("can you", "could you", "would you", "will you", "can we", "could we"))
    ):
        return None
    if len(bare.words) > INSTRUCTION_MAX_WORDS or is_told(plain) or releases(plain) or _is_asked(bare, plain):
        return None
    wanted = put_plainly(plain)
    if not _is_standing(plain, wanted) and not _governs(bare, plain):
        return None
    return StandingInstruction(
        text=bare.said.rstrip(" .!?"),
        scope=_scope(plain),
        forbids=_FORBIDS.search(wanted) is not None,
        slot=_slot(" ".join(_LASTING.sub(" ", wanted).split())),
        about=key_words(wanted),
    )


def _is_standing(plain: str, wanted: str) -> bool:
    """Whether it holds for good: by a word that says so, or by what it is about, unless that is one thing at hand."""
    if _LASTING.search(plain):
        return _asks_something(wanted)
    if _ALWAYS.search(wanted) or _MANNER.search(wanted):
        return True
    if _AT_HAND.search(wanted):
        return False
    patterns = (_ADDRESS, _FORM_RULE, _ANSWER_RULE, _LANGUAGE, _BEHAVIOUR)
    return any(pattern.search(wanted) for pattern in patterns)


def _is_asked(bare: Sentence, plain: str) -> bool:
    return _ASKS.match(plain) is not None and not _governs(bare, plain)


def _governs(bare: Sentence, plain: str) -> bool:
    """Whether a sentence says what to do each time that something comes up."""
    if _EACH_ONE.match(plain):
        return True
    _, comma, wanted = bare.said.partition(",")
    if not comma or not _EACH_TIME.match(plain):
        return False
    rest = unfilled(read_sentence(wanted))
    return bool(rest.words) and (imperative(rest) is not None or _WANTED.match(rest.plain) is not None)


def _asks_something(plain: str) -> bool:
    """Whether a lasting marker goes with a request: "in future" alone may be said of anything."""
    rest = " ".join(_LASTING.sub(" ", plain).split())
    if plain.startswith("whenever you") or _WANTED.match(rest):
        return True
    return any(pattern.search(rest) for pattern in (_WANTED_LATER, _ADDRESS, _LANGUAGE))


def _opened(sentence: Sentence) -> Sentence:
    count = 0
    for word in sentence.plain_words:
        if word not in _OPENERS:
            break
        count += 1
    return sentence.without_first(count) if count else sentence


def _scope(plain: str) -> Scope:
    if _THREAD.search(plain):
        return "thread"
    return "tenant" if _TENANT.search(plain) else "user"


def _slot(plain: str) -> Slot | None:
    if _ADDRESS.search(plain) and not re.search(r"\b(?:not|never|stop)\b", plain):
        return "address"
    if _LANGUAGE.search(plain):
        return "language"
    of_answers = re.search(_ANSWERS, plain) or re.match(r"(?:be|stay|keep (?:it|things))\b", plain)
    return "length" if _LENGTH.search(plain) and of_answers else None

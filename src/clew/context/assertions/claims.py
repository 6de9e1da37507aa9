"""Which statements claim that something is so: not opinions, guesses, plans, wishes, suppositions or talk."""

import re
from typing import Final

from clew.context.assertions.opinions import is_opinion
from clew.context.intent.phatic import is_phatic
from clew.context.intent.talk import is_about_the_talk
from clew.context.speech import Sentence, mood_of
from clew.context.speech.lexicon import AUXILIARIES, EVALUATIVE, PASTS
from clew.context.speech.questions import asks_which
from clew.context.speech.verbs import is_english, verb_at
from clew.context.standing.recognise import instruction_of
from clew.context.standing.revoking import sounds_like_taking_back

CLAIM_MIN_WORDS: Final = 3
CLAIM_MAX_WORDS: Final = 80


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_UNSURE: Final = _any_of(
    r"\b(?:i|we)(?: \w+)? (?:think|thought|guess|believe|suppose|assume|assumed|doubt|suspect|bet|figure|reckon"
    r"|heard|hear|imagine|fear|feel like|feel that|hoped|wonder|wondered)\b",
    r"\b(?:maybe|perhaps|probably|possibly|might|apparently|supposedly|allegedly|presumably|likely|unlikely"
    r"|hopefully|rumou?r|rumou?red|not sure|unsure|not certain|as far as i know|roughly speaking|kind of|sort of"
    r"|who knows|i am (?:pretty|fairly|quite|almost) sure|if i remember)\b",
    r"\b(?:seems?|seemed|appears?|appeared)(?: to| like| that)?\b|(?<!\d )(?<!th )\bmay (?:be|have|not|also|need"
    r"|want|go|come|get"
    r"|take|cause|change|include|well)\b|\bcould(?: \w+)? (?:be|have|mean)\b|\bmust have\b|\bcan not be (?:right"
    r"|true)\b",
    r"\bin my (?:opinion|view|experience)\b|\b(?:personally|basically|frankly|obviously)\b|\bto be honest\b"
    r"|\bhonestly\b|\bif you ask me\b",
)
_PLANNED: Final = _any_of(
    r"\b(?:will|shall|going to|about to|gonna)\b(?! and testament)|\b(?:plan|plans|planning|intend|intends"
    r"|intending|hope|hopes|aim|aims|aiming|expect|expects|expecting|try|trying|tries|want|wants|wanted"
    r"|wish|wishes|need|needs|ought|mean|looking|dreaming|tempted|prepared|hesitant) (?:to|on|for|of|about)\b",
    r"^(?:(?:so|well|and|but) )?(?:i|we) (?:really |do |just |so |also )?(?:hope|wish|pray|bet|guess|suppose|doubt"
    r"|wonder)\b|^(?:i|we) (?:am|are) (?:\w+ )?planning\b|^my (?:question|point|request|query) (?:is|was|here|would)\b",
    r"\bhoping\b|\b(?:decided|deciding) (?:to|on)\b|\b(?:am|are|is) off to\b|\b(?:goal|plan|aim|intention|idea|dream"
    r"|ambition|target|resolution|wish) (?:is|was|for \w+ is) to\b"
    r"|^(?:i|we) (?:am|are) (?:\w+ )?\w+ing\b.*\b(?:next (?:week|month|year|quarter|\w+day)|tomorrow|tonight|soon"
    r"|this (?:weekend|summer|winter|spring|autumn))\b|\bin the market for\b|\b(?:next|this coming) (?:week|month"
    r"|year|quarter|summer|winter|spring|fall"
    r"|autumn)\b.* (?:am|are|is) \w+ing\b|\b(?:thinking|think) (?:of|about|whether|\w+ing)\b|\b(?:considering"
    r"|contemplating|debating)\b|\b(?:i|we|you"
    r"|they|he|she|someone) (?:no longer )?(?:should|have to|has to|had better|need|want|must|would like|could use"
    r"|got to)\b|\blet (?:us|me)\b|\b(?:not|no longer) (?:\w+ )?(?:need|want|needed|wanted|necessary|required)\b"
    r"|\bmust be (?:told|done|sent|made|reported|frozen|changed)\b|\bneeds? (?:a|an|my|your|the|some|new|help"
    r"|\w+ed)\b|\blooking forward\b|\bsomeday\b|\bone day\b|\bshould (?!be \S*\d|read \S*\d)\w+",
)
# "The device won't turn on" is no plan of the device's.
_REFUSES: Final = re.compile(
    r"(?<!\bi )(?<!\bwe )\bwill not (?=(?:turn|start|work|open|load|boot|charge|connect|respond|close|print|sync"
    r"|install|run|stop|let|accept|play|update|save|fit|go)\b)"
)
# A claim may hold "how" or "why"; so few do that none is worth a question taken for one.
_MAY_ASK: Final = re.compile(
    r"(?<!this is )(?<!that is )(?<!which is )\b(?:what|how|why|whose|whether)\b|\b(?:in|on|at|for|of|from|by|is"
    r"|are|was|has|have|around|about) which\b"
)
_INVERTED: Final = re.compile(
    r",\s*(?:and |so |but )?(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|am)\b", re.IGNORECASE
)
_ASKS_OF: Final = re.compile(_INVERTED.pattern + r"(?: not)? (?:i|you|we|he|she|it|they|there)\b", re.IGNORECASE)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|assuming|assume|hypothetically|what if|would|could|wish|pretend"
    r"|in case|were to|let us say|say that|in theory|theoretically|otherwise|as if|as though|even if"
    r"|in (?:the|a) (?:best|worst|ideal) (?:case|scenario)|\d or (?:\w+ )?\S*\d\S*$"
    r"|in a (?:scenario|world|case|situation) where|hypothetical|for the sake of argument|provided that)\b"
    r"|^(?:had|were|should) (?:i|we|you|he|she|it|they|the|my|our)\b|^say (?!yes|no|hi|hello)"
)
_FELT: Final = re.compile(
    r"^(?:i|we) (?:\w+ )?(?:love|like|loved|liked|hate|hated|enjoy|enjoyed|adore|dislike|disliked|can not stand"
    r"|miss|feel|felt|appreciate|care|mind|agree|disagree|admire|regret|find|can not believe|can not wait|envy"
    r"|trust|enjoying|loving|feeling|desire|am (?:\w+ )?(?:interested|seeking|searching|exploring|requesting"
    r"|reporting|in the mood|needing|wanting|inquiring|having (?:trouble|problems|issues|difficulty)|ready"
    r"|desperate|calling|writing|reaching|trying|looking|here)|am not a fan|am a (?:big |huge )?fan"
    r"|am (?:\w+ )?into|have (?:an?|some|another|one) (?:small |big |quick |little |few )?(?:problem|issue"
    r"|question|complaint|trouble|doubt|concern|request|idea|favou?r|questions|problems|issues))\b"
)
_UNKNOWN: Final = re.compile(
    r"\bnot (?:\w+ )?(?:sure|confident|certain|able to|aware)\b|\bunable to (?:say|tell|answer|remember|recall)\b"
    r"|\b(?:i"
    r"|we) (?:\w+ )?(?:do|can|am|have) not (?:\w+ )?(?:answer|tell|say|decide|make up|have (?:(?:an?|the|any|that)"
    r" (?:answer|idea|clue|opinion|preference|information|info|number|details)|enough))\b|\b(?:have|has|had) no"
    r" (?:\w+ )?(?:idea|answer|clue|knowledge|information|opinion)\b"
    r"|\bdrawing a blank\b|\bthe answer is\b|\b(?:i|we) (?:say|vote|forget)\b|\bam torn\b"
    r"|\b(?:i|we) (?:\w+ )?(?:do|did|can|could|have)(?: really)? not (?:really )?(?:know|remember|recall"
    r"|understand|care|mind|think|see|have (?:a|any) (?:clue|idea)|get|believe|agree|wait|want|need|like|decided?"
    r"|feel|find|a clue|any idea|figure)\b|\bno (?:idea|clue)\b|\bbeats me\b|\bit depends\b"
)
_SPOKEN: Final = re.compile(
    r"\b(?:you|u) (?:\w+ )?(?:said|told|mentioned|wrote|claimed|stated|say|mean|meant|suggested|asked|recommended"
    r"|listed|explained|gave|promised)\b|\b(?:i|we) (?:just |already |have |had )*(?:said|asked|told you|meant"
    r"|was saying|mentioned|was asking)\b|\bas i (?:said|mentioned)\b|\b(?:is|are) your\b|\baccording to you\b"
    r"|\b(?:calling|call"
    r"|rename|name|named) you\b|\byour (?:new )?(?:name|nickname)\b|\bdo it$"
)
_EMPTY: Final = re.compile(
    r"^(?:it|this|that|everything|nothing|something|things|there|here)(?: (?:is|are|was|were|does|did|has|have"
    r"|had))?(?: not)?(?: (?:it|that|this|so|what|the (?:thing|problem|issue|point|case|question|one)|all|enough"
    r"|a (?:problem|question|joke|lie|shame|pity)|no (?:problem|rush|hurry|way|need)|why|how|work|works|worked"
    r"|help|helped|matter|matters|happened|happens|over|up to you|me|you|us))*$"
    r"|^(?:the|that|this|your|my) (?:statement|answer|claim|sentence)(?: \w+){0,4} (?:is|was)(?: not)? (?:true|false"
    r"|yes"
    r"|no|right|wrong|correct|incorrect)$"
)
_QUOTED: Final = re.compile(r"^[\"“”'«].*[\"“”'»][.!?]?$", re.DOTALL)
_YOURS: Final = re.compile(r"^(?:you|your|yours|yourself)\b")
_ASKED_TOO: Final = re.compile(
    r"[,;:–-]?\s+(?:so |and |but |then )?(?:please|pls|plz|can you|could you|would you|will you|kindly)\s+\w+.*$",
    re.IGNORECASE | re.DOTALL,
)

_JUDGED_TOO: Final = re.compile(
    r",\s+(?:but|though|although|and|which)\s+(?:i|we)\s+(?:\w+\s+)?(?:think|feel|believe|find)\b[^\d,]*?\b(?:too \w+|"
    + "|".join(sorted(EVALUATIVE))
    + r")[.!]*$",
    re.IGNORECASE,
)


def claim_in(sentence: Sentence) -> Sentence | None:
    """The sentence as far as it claims something; None when it claims nothing that should be kept."""
    if not sentence.words or sentence.asks or _QUOTED.match(sentence.said):
        return None
    said = _without_request(sentence)
    if not CLAIM_MIN_WORDS <= len(said.words) <= CLAIM_MAX_WORDS:
        return None
    if not is_english(said) or mood_of(said) != "statement" or is_phatic(said):
        return None
    if is_about_the_talk(said) or instruction_of(said) is not None or _YOURS.match(said.plain):
        return None
    if sounds_like_taking_back(said):
        return None
    return said if _is_stated(said) and not is_opinion(said) else None


def _is_stated(said: Sentence) -> bool:
    first = said.plain_words[0]
    if first in AUXILIARIES or (first in ("when", "where") and "," not in said.said):
        return False
    if _MAY_ASK.search(said.plain) or _inverted(said) or asks_which(said):
        return False
    plain = _REFUSES.sub("does not ", said.plain)
    unkept = (_UNSURE, _PLANNED, _SUPPOSED, _UNKNOWN, _SPOKEN)
    if any(pattern.search(plain) for pattern in unkept) or _EMPTY.match(plain) or _FELT.match(plain):
        return False
    at = 0 if said.plain_words[0] in PASTS else verb_at(said)
    return at is not None and len(said.words) > at + 1


def _inverted(said: Sentence) -> bool:
    """Whether a verb after a comma asks ("…, is it"), and isn't that of a subject named twice: "Our CEO, Ida, was"."""
    if _INVERTED.search(said.said) is None:
        return False
    count = sum(word.end <= said.said.find(",") for word in said.words)
    named = verb_at(Sentence(said.said, said.words[:count])) is None
    return not named or said.said.count(",") < 2 or _ASKS_OF.search(said.said) is not None


def is_specific(sentence: Sentence) -> bool:
    """Whether it names a number or a name: what stays of use when the question beside it is answered."""
    if any(char.isdigit() for char in sentence.said):
        return True
    inner = sentence.said[1:]
    return re.search(r"(?<=[a-z,] )[A-Z][\w-]+", inner) is not None


def makes_a_request(sentence: Sentence) -> bool:
    """Whether a statement goes on to a request: "…, please fix the report"."""
    return _without_request(sentence) is not sentence


def _without_request(sentence: Sentence) -> Sentence:
    """The claim in front of "…, please fix the report" and of "…, but I think that's too early"."""
    found = _ASKED_TOO.search(sentence.said) or _JUDGED_TOO.search(sentence.said)
    if found is None or found.start() == 0:
        return sentence
    count = sum(word.end <= found.start() for word in sentence.words)
    return Sentence(sentence.said[: found.start()], sentence.words[:count])

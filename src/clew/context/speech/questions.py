"""Questions, with or without their mark."""

import re
from typing import Final

from clew.context.speech.lexicon import AUXILIARIES, DETERMINERS, PREPOSITIONS, PRONOUNS, WH
from clew.context.speech.sentence import Sentence
from clew.context.speech.verbs import is_verb

_SUBJECTS: Final = (
    r"(?:i|you|we|it|they|he|she|there|this|that|the|my|your|our|his|her|their|these|those|anyone|somebody)"
)
_BE_DO: Final = (
    r"(?:is|are|was|were|am|do|does|did|can|could|will|would|shall|should|has|have|had|may|might|must|ought)"
)
# "My parcel is late where is it", "…, should I go": a question later in the sentence, without its mark.
_ASKED_LATER: Final = re.compile(
    rf"\b(?:what|where|when|why|how|who|which)(?: \w+){{0,2}} {_BE_DO}(?: not)? {_SUBJECTS}\b"
    rf"|\b(?:or|and|but|so) {_BE_DO}(?: not)? (?:i|you|we|it|they|he|she|there)\b(?! (?:not )?(?:and|or)\b)"
    r"|(?<!problem)(?<!issue)(?<!thing)(?<!point)(?<!reason)(?<!fact)(?<!\bas)(?<!\bthan) "
    r"(?:is|are|was|were|can|could|should|will|would|am)(?: not)? (?:i|we|they|he|she|there|you|it|anyone"
    r"|anybody)\b(?! (?:s|and"
    r"|or)\b)"
    r"|(?<!\bso)(?<!\bneither) (?:do|does|did)(?: not)? (?:i|we|they|he|she|you|there)\b|\bany (?:ideas?|chance"
    r"|clues?|thoughts|news|updates?"
    r"|tips?|suggestions?|advice|recommendations?|luck|word on|hints?|pointers)\b"
    r"|\b(?:or not|or no|(?<!is )(?<!was )(?<!are )(?<!'s )(?<!looks )(?<!sounds )(?<!seems )(?<!all )(?<!always"
    r" )(?:right|correct)|is it|is it not|is not it|are they"
    r"|does it|eh|huh|yeah|no)$(?<=\w{2})"
    rf"|\b{_BE_DO} not (?:it|he|she|they|we|you|i|there)$"
    r"|(?:is|are|was|were|does|do|did|costs?|means?|said|for|in|at|to|from|by) (?:what|who|where|when|how|how much"
    r"|how many)"
    r"(?: exactly| again| now| then| right now| like)?$"
    r"|^(?:\w+ )?(?:i|we|you|they|there) (?:have|got|is|are|was|were) any\b|\bwhich (?:type|kind|sort) of\b"
    r"|\bdoes (?:the|my|our|your) \w+ (?:cover|include|work|have|need|support|cost|take|allow|mean|apply|count"
    r"|accept)\b"
    r"|\b(?:does|did) (?!not\b)(?:\w+ ){1,3}(?:have|need|cost|take|mean|want|get|eat|weigh|contain|use|last|do|say|go)$"
    r"|\bhow (?:many|much|long|often|far|old|big|tall)\b|\b(?:is|are|was|were|has|have|contains|gives|in|on|at|for"
    r"|of) (?:what|which)\b|(?<!like )\b(?:when|how|where|why|what|now what)(?: exactly| again| now| then"
    r"| right now)?$"
)
_COURTESY_AFTER: Final = re.compile(r"(?: (?:thanks|thank you|please|cheers))+$")
_TAGS: Final = re.compile(
    r"[,–-]\s*(?:right|correct|yes|no|yeah|eh|huh|isn't it|aren't they|or not)\W*$", re.IGNORECASE
)
_LATER_AFTER_COMMA: Final = re.compile(
    r"[,:–-]\s*(?:and |so |but )?(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|what|where"
    r"|when|why"
    r"|how|who|which)(?:n't|'s| not)? (?!i (?:mean|know|think|said|guess|believe)\b)(?:i|you|we|it|they|he|she"
    r"|there|this|that|the|my|your)\b",
    re.IGNORECASE,
)
# A question in the form of a statement.
_WONDERING: Final = re.compile(
    r"\b(?:i (?:was |am |keep )?(?:just )?(?:wonder|wondering|curious|asking)"
    r"|(?:i (?:would|want|need|have|must|got|wish)(?: \w+)? to|i (?:want|need)|let us) (?:know|find out|see if"
    r"|hear about|check if|understand)"
    r"|(?:i am|we are) (?:trying to (?:find out|figure out|understand|see if)|not sure (?:if|whether|how|what|when"
    r"|where|why|which))"
    r"|(?:i|we) (?:do not|can not|am not|did not)(?: \w+)? (?:know|remember|recall|understand|see|figure out|find|tell)"
    r" (?:if|whether|how|what|when|where|why|which|who)"
    r"|^not (?:sure|certain)|(?:you )?(?:know|remember|recall) (?:if|whether|how|what|when|where|why|which|who))\b"
)
_WH_WITHIN: Final = re.compile(
    r"(?:in|at|to|for|by|on|from|under|with|of|since|until|till) (?:which|what|whom|how|when|where)\b"
)
_ASKING: Final = frozenset(("what", "whats", "what's", "how", "hows", "how's", "why", "who's", "where's"))
_GOT_ANY: Final = (("got", "any"), ("seen", "any"), ("heard", "any"), ("have", "any"))
_BEFORE_A_VERB: Final = frozenset(("also", "now", "still", "then", "never", "always", "not"))
_NAMING_TOO: Final = frozenset(("who", "where", "when"))
_WH_STATEMENT: Final = re.compile(
    r"^(?:what|how|who|where|when|which) (?:i|we|they|he|she|it|you) (?:mean|meant|said|need|want|like)\b"
    r"|^(?:what|such) an? \w+|^how (?:nice|lovely|cool|sweet|funny|sad|awful|rude|kind|interesting)\b"
    r"|^(?:whatever|whenever|wherever|however)\b"
)
_SUBORDINATE: Final = re.compile(
    rf"^(?:when|while|once|after|before|since|because|as)(?! {_BE_DO}\b)|^where (?!to\b).*,"
)
_BINARY: Final = re.compile(
    r"^(?:is|are|was|were|am|do|does|did|can|could|will|would|shall|should|has|have|had|may|might|must)(?: not)? "
)


def is_question(bare: Sentence) -> bool:
    """Whether a sentence without a question mark asks: by its first word, or by a clause later in it."""
    plain = _COURTESY_AFTER.sub("", bare.plain) or bare.plain
    first = bare.plain_words[0]
    if first in WH and not _WH_STATEMENT.match(plain) and not _SUBORDINATE.match(plain):
        return True
    if first == "any" or bare.plain_words[:2] in _GOT_ANY or _WH_WITHIN.match(plain):
        return True
    if _BINARY.match(plain) and _inverted(bare.plain_words):
        return True
    return bool(_ASKED_LATER.search(plain) or _TAGS.search(bare.said) or _asks_after_comma(bare))


def _asks_after_comma(bare: Sentence) -> bool:
    """ "The server is down again, who is on call": a question for its last clause. "Kenji, who is on call" names."""
    if _LATER_AFTER_COMMA.search(bare.said):
        return True
    before, comma, last = bare.said.rpartition(",")
    words = last.lower().split()
    if not comma or len(words) < 2 or words[0] not in _ASKING | _NAMING_TOO | {"which"}:
        return False
    if words[0] in ("what", "which"):
        return words[1] in AUXILIARIES if words[0] == "what" else asks_which(bare)
    if words[0] in _ASKING:
        return True
    named = [] if bare.said.isupper() else before.split()[-1:]
    return (words[1] in AUXILIARIES or is_verb(words[1])) and not (named and named[0][0].isupper())


def asks_which(sentence: Sentence) -> bool:
    """Whether "which" asks for one of several ("which bus goes"), and doesn't go on about what was named."""
    words = sentence.plain_words
    return any(word == "which" and _asks_which(words, at) for at, word in enumerate(words))


def _asks_which(words: tuple[str, ...], at: int) -> bool:
    after, beyond = (*words[at + 1 : at + 3], "", "")[:2]
    if after.endswith("s") and (beyond in DETERMINERS or beyond in PREPOSITIONS or "0" <= beyond[:1] <= "9"):
        return False  # "which contradicts the report"
    goes_on = after in AUXILIARIES or after in PRONOUNS or after in DETERMINERS or after in PREPOSITIONS
    return not (goes_on or is_verb(after) or after.endswith("ly") or after in _BEFORE_A_VERB)


def _inverted(words: tuple[str, ...]) -> bool:
    """Whether an auxiliary that opens the sentence stands before its subject, and isn't a command ("do it", "have a
    seat") or a name."""
    rest = words[1:] if len(words) < 2 or words[1] != "not" else words[2:]
    if not rest:
        return False
    if words[0] == "do":
        return rest[0] in ("i", "you", "we", "they", "these", "those", "people", "all", "any") or (
            rest[0] in ("the", "my", "our", "your") and any(is_verb(word) for word in rest[2:])
        )
    if words[0] == "have":
        return rest[0] in ("i", "you", "we", "they", "any", "there")
    if words[0] in ("need", "must", "may", "might"):
        return rest[0] in PRONOUNS or rest[0] in DETERMINERS
    return True


def wonders(bare: Sentence) -> bool:
    """Whether a statement asks all the same: "I was wondering if you ship to Norway"."""
    return _WONDERING.search(bare.plain) is not None

"""Facts told beside a question or a request: "Our Q3 revenue was $5.2M. How does that compare with Q2?"

What stands in the same message as a question is kept only where it stays of use when the question is answered, and
where the question doesn't ask whether it is so.
"""

import re
from collections.abc import Sequence
from typing import Final

from clew.context.assertions.values import values
from clew.context.speech import Sentence, mood_of
from clew.context.speech.verbs import unfilled, verb_at

# A question after it that takes the statement back, asks for its confirmation, or asks why it should be so.
_DOUBTS: Final = re.compile(
    r"^(?:or\b|why\b|how come\b|really$|right$|correct$|true$|no$|yes$|sure$|(?:is|was|are|were|does|do|did|has"
    r"|have|can|could)(?: not)?"
    r" (?:that|this|it|those|they|these|i)\b.*\b(?:right|correct|true|accurate|so|case|valid|apply|hold|up to date"
    r"|wrong"
    r"|mistaken|still|possible|normal|okay|confirm|sure)\b|am i (?:right|wrong|correct|mistaken)"
    r"|(?:can|could|would) (?:you|someone|anyone) (?:please )?(?:confirm|verify|(?:double-)?check(?= (?:it|that|this|if"
    r"|whether|with|for)\b|$))"
    r"|did i (?:get|understand|read|hear|remember))"
    r"|^(?:is|was|are|were|does|do|did) (?:that|this|it|they) (?:not)?$"
)
_HEARSAY: Final = re.compile(
    r"\b(?:i|we) (?:was|were|have been|am|got) told\b|\b(?:i|we) (?:read|saw|found|noticed|see) (?:that|somewhere"
    r"|online)"
    r"|\b(?:they|people|some|somebody|someone|everyone|he|she|it|the \w+|my \w+) (?:\w+ )?(?:says?|said|claims?|claimed"
    r"|told (?:me|us))\b"
)
_OF_THE_SPEAKER: Final = re.compile(
    r"^(?:i|we|(?:my|our) (?:\w+ ){1,3}?(?:and (?:i|me|my \w+) )?)(?: ?(?:also|currently|both|all|only|still"
    r"|mostly))* ?"
    r"(?:(?:am|are|is|was) (?:not )?(?:an?|allergic|intolerant|vegan|vegans|vegetarians?|diabetic|pregnant|married"
    r"|divorced|single|retired|self-employed|freelance|from|based|born|left-handed|colou?rblind|called|named|deaf|blind"
    r"|celiac|coeliac|asthmatic|kosher|halal|muslim|jewish|hindu|buddhist)\b"
    r"|(?:have|has|own|owns|had) (?!a (?:question|problem|issue|request|doubt|meeting|call|look|feeling|hard|lot)|to\b"
    r"|been\b|no idea|not\b|some (?:questions|problems|issues|trouble)|trouble|issues|problems|questions)\w+"
    r"|(?:live|lives|work|works|study|studies|use|uses|speak|speaks|teach|teaches|drive|drives|take|takes"
    r"|do not (?:eat|drink|drive|have|own|use|speak)|does not (?:eat|drink|drive|have|own|use|speak)|play|plays|run"
    r"|runs|manage|manages|lead|report|reports)\b)"
)
_OWN: Final = (("i",), ("we",), ("my",), ("our",))
# What passes: it is of no use once it is over.
_PASSING: Final = re.compile(
    r"\b(?:is|are|am|was|were|been|keeps?)(?: \w+)? (?!spring\b)\w{3,}ing\b|\b(?:late|delayed|broken|down|stuck|missing"
    r"|gone|lost|wrong|empty|overdue|not working|crash(?:es|ed|ing)?|fail(?:s|ed|ing)?|error|stopped|does not work"
    r"|has not (?:arrived|come|shipped)|still not)\b"
)


def passes(said: Sentence) -> bool:
    """Whether what is said is of no use once it is over: a fault, a delay, what somebody is just doing."""
    return _PASSING.search(said.plain) is not None


def is_doubted(question: Sentence) -> bool:
    """Whether a question asks if what was just said is so."""
    return _DOUBTS.search(unfilled(question).plain) is not None


def is_worth_keeping(said: Sentence) -> bool:
    """Whether the speaker tells a value, a name, or what they have or are: of themselves or of what is theirs.

    Of anything else it is more often what the question takes for granted: "The voucher was for 20. Why is it gone?"
    """
    bare = unfilled(said)
    if bare.plain_words[:1] not in _OWN or _HEARSAY.search(bare.plain) or _PASSING.search(bare.plain):
        return False
    return _OF_THE_SPEAKER.match(bare.plain) is not None or _names_a_value(bare)


def doubted(sentences: Sequence[Sentence]) -> bool:
    """Whether any question of a message doubts what else is said in it."""
    return any(is_doubted(one) for one in sentences if mood_of(one) == "question")


def _names_a_value(said: Sentence) -> bool:
    """Whether what is said of the subject holds a number, a date or a name."""
    at = verb_at(said)
    if at is None:
        return False
    predicate = said.said[said.words[at].end :]
    return bool(values(f"- {predicate.lower() if said.said.isupper() else predicate}"))

"""Words that say what a statement does to what was said before: it corrects, confirms, or is only news."""

import re
from dataclasses import dataclass
from typing import Final

from clew.context.speech.lexicon import AUXILIARIES
from clew.context.speech.sentence import Sentence
from clew.context.speech.sentence import sentence as read_sentence


def _starts(*patterns: str) -> re.Pattern[str]:
    return re.compile("(?:" + "|".join(patterns) + r")(?= |$)")


_WRONG: Final = (
    r"(?:wrong|incorrect|mistaken|inaccurate|false|outdated|out of date|not (?:quite |entirely )?(?:right|correct|true"
    r"|accurate))"
)
_THAT: Final = (
    r"(?:that|this|it|which|those|these|(?:that|the|this|your) (?:figure|number|date|amount|value|answer|information"
    r"|name|address|total|spelling|one)(?: you (?:gave|have|had|said|mentioned))?)"
)
_CORRECTS: Final = _starts(
    r"(?:no|nope|nah)(?= (?:it|i|we|he|she|they|the|that|this|my|our|his|her|their|actually|you|not|there|its|in"
    r"|on|at|wrong|incorrect|sorry|these|those|q[1-4]|\d|[$€£])|$)",
    r"wrong|incorrect|not (?:quite|exactly|really|true|right|correct)|correction|actually|typo|no no|scratch that"
    r"|strike that|in fact|as a matter of fact|almost|not quite|close but|nearly",
    r"(?:i (?:actually |really )?meant(?: to say| to write| to type)?|what i meant (?:is|was)"
    r"|let me correct (?:that|myself|you)|i (?:made an? (?:mistake|error|typo|slip)(?: earlier| before| there|"
    r" above)?|misspoke|mistyped|was wrong)|my (?:mistake"
    r"|bad))(?: that)?",
    rf"{_THAT} (?:is|was|are|were|seems|looks) {_WRONG}|you (?:are|were) (?:wrong|mistaken)",
    r"you(?: have)?(?: have| got| had)* the wrong \w+(?: \w+)?$",
    r"you(?: have)? (?:have |got |had )+(?:it|that|this|my \w+|the \w+|our \w+) wrong|to correct (?:that|you|myself)",
    r"change of plans?|contrary to (?:what )?(?:the|my|our|your) (?:\w+ ){1,3}?(?:says|said|states|claims)",
    r"(?:small |one |quick |a )*correction(?: to (?:that|my (?:last|previous|earlier|first) (?:message|point|answer)"
    r"|what i (?:said|wrote)|the above))?",
)
_CONFIRMS: Final = _starts(
    r"(?:yes|yep|yeah|yup|affirmative|indeed|confirmed|exactly|absolutely|definitely|precisely|that is it)",
    rf"(?:yes )?{_THAT} (?:is|was|are|were|looks|sounds)(?: indeed| all| absolutely| definitely| exactly"
    rf"| still)? (?:right|correct|true|accurate|confirmed|the case)",
    rf"{_THAT} (?:is|was|are) (?:the|my|our) (?:right|correct) \w+(?= yes$|$)",
    r"what you (?:said|wrote|have|told me)(?: (?:about|on|for|regarding)(?: \w+){1,5}?)? (?:is|was) (?:right|correct"
    r"|true)$",
    r"you are (?:right|correct|absolutely right)(?: that| about that)?|you got (?:it|that) right",
    r"i (?:can |hereby |do |would like to )*confirm(?: that| it)?|(?:just )?(?:confirming|to confirm)(?: that)?",
    r"i (?:have |just |also )*(?:double-checked|double checked|checked|verified|rechecked)(?: it| that| this"
    r"| with \w+)?(?: and| that)+",
)
# With a comma after them these agree; without one they may be a verb or an adjective.
_AGREES: Final = re.compile(r"^(?:correct|right|true|sure|of course|okay|good|agreed)\s*(?:[,.!:;–-]|$)", re.IGNORECASE)
# "The weight you have is wrong: …", "you've mixed it up, …": a clause of its own that says so, before what is right.
_SAYS_WRONG: Final = re.compile(
    r"^(?:you(?:'ve| have|'d| had)?(?: got| have| had)* (?:the|my|our) wrong [\w ]{1,30}?"
    r"|i (?:gave|told|sent)(?: you)? (?:the|a) wrong [\w ]{1,30}?"
    r"|you(?:'ve| have)? (?:mixed|messed|muddled) (?:it|that|this|them|things|something|\w+ \w+)(?: up)?"
    r"|(?:the|that|this|your|my|our|its|their|what) [\w' ]{1,50}? (?:is|was|are|were|looks)"
    r" (?:wrong|incorrect|mistaken|inaccurate|outdated|out of date|not (?:right|correct|true"
    r"|accurate))(?: (?:about|on|regarding) [\w' ]{1,30}?)?)\s*(?:[,:;–-]|[.!]*$)",
    re.IGNORECASE,
)
_NEWS: Final = _starts(
    r"(?:just )?a(?: quick)? heads[ -]up|heads-up",
    r"by the way|for your information|for the record|for context|just so you know|so you know|heads up"
    r"|as a heads up|quick update|update|in case it helps|one more thing",
    r"(?:please )?(?:note|remember|keep in mind|bear in mind|be aware|be advised|take note)(?: that)?(?! to )",
    r"just (?:to let you know|letting you know)(?: that)?|(?:i )?(?:just )?(?:want(?:ed)?"
    r"|would like) to (?:let you know|mention|add|tell you|inform you|say)(?: that)?",
    r"(?:it )?turns out(?: that)?|i forgot to (?:mention|say|tell you)(?: that)?|let me (?:tell you|add)(?: that)?"
    r"|the thing is(?: that)?",
    r"(?:so|and|but|well|okay|also|hi|hello|hey|oh|ah|thanks(?! to\b)|thank you|please|sorry|oops|whoops|wait"
    r"|hm+|u[hm]+|er"
    r"|great"
    r"|cool|perfect|good morning|hi there|hello there|additionally|plus|now|anyway|first|second|unfortunately"
    r"|luckily|sadly|thankfully|good news|bad news|i mean|alas)",
)
# "Two corrections: the launch is on June 10, and the budget is $2.5M".
_CORRECTIONS: Final = re.compile(
    r"^(?:(?:two|three|four|some|a few|a couple of|several) )?corrections:\s+", re.IGNORECASE
)
_NEXT: Final = re.compile(r",? and (?=(?:the|our|my|his|her|their|its)\b)", re.IGNORECASE)
_LATER_CONFIRMS: Final = re.compile(r"\bindeed\b|\bcan confirm\b")
_NOT_CONTRAST: Final = AUXILIARIES | {
    "to",
    "or",
    "why",
    "if",
    "still",
    "do",
    "and",
    "but",
    "definitely",
    "certainly",
    "also",
    "really",
    "probably",
    "just",
    "has",
    "is",
    "simply",
    "currently",
}
_CONTRAST: Final = re.compile(
    r"(\S+) (?:and |but )?not (?!only\b|just\b|yet\b|sure\b|much\b|all\b|too\b|very\b|so\b|because\b|at all\b"
    r"|that\b(?= i)|any)(?:to |on |in |at |the |a |an |from |by |with |for )*(\S.*)$"
)
# "She was born in 1961, you wrote 1916".
_YOU_HAD: Final = re.compile(
    r"^(.+?)(?:,| and not what| but| -) you (?:wrote|said|had|put|listed|have) (\S+(?: \S+){0,3}?)[.!]*$", re.IGNORECASE
)
_BUT: Final = re.compile(r"\bnot (.+?) but (?:rather )?(.+)$")
_IS_NOT_IT_IS: Final = re.compile(
    r"^(.+?) (is|was|are|were) not (.+?) (?:but |rather |actually )*(?:it|he|she|they|that|its) (?:(is|was|are"
    r"|were) )?(?:actually |really )?(?<!that )(\S.*)$"
)
_UPDATED: Final = re.compile(
    r"\b(?:is|are|was|were|been|got|be|has|have|had)(?: \w+)? (?:changed|moved|renamed|updated|switched|corrected"
    r"|rescheduled"
    r"|postponed|extended|pushed|raised|lowered|increased|reduced|revised|replaced|reassigned"
    r"|amended)\b(?=.* (?:to|by|with|from|until)\b)"
    r"|\b(?:changed|moved|went|switched|rose|fell|dropped|grew|increased|decreased|shifted)\b.* from .+ to \S"
    r"|\b(?:changed|moved|shifted|slipped|rose|fell|dropped|grew|went up|went down) to (?:the |about )?(?:\S*\d"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)\w*\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"
    r"|\bused to (?:be|have|live|work|use)\b.*\bnow\b|\bnow\b.*\bused to\b"
    r"|\bno longer\b|\bnot\b.*\b(?:any ?more|any longer)\b|\binstead of\b|\brather than\b|\b(?:is|are|am"
    r"|was) actually\b|\bactually\b"
    r"|\b(?:is|are|am) now\b|\b(?:is|are) (?:called|named|based|located|run|owned|led|managed|known)\b.* now$"
    r"|\b(?:is|are|am|has|have)\b.*\d\S*(?: \w+){0,2} now\b|\b(?:it|that|this|they|he|she) (?:is|are) .* now$"
    r"|\bshould (?:be|read|say)\b.*\d|\bthe (?:correct|right|actual|real) \w+(?: \w+){0,3} (?:is|was)\b"
    r"|^contrary to\b|^change of plans?\b|\bi (?:typed|wrote|said) \S+(?: by mistake| earlier)?$|\bby mistake$"
)


def listed(sentence: Sentence) -> list[Sentence]:
    """The corrections that a sentence lists, each as one; any other sentence as it is."""
    if (found := _CORRECTIONS.match(sentence.said)) is None:
        return [sentence]
    return [read_sentence(f"Correction: {part}") for part in _NEXT.split(sentence.said[found.end() :])]


@dataclass(frozen=True, slots=True)
class Opened:
    """A sentence without the cues it opens with, and what they said."""

    rest: Sentence
    corrects: bool = False
    confirms: bool = False


def opened(sentence: Sentence) -> Opened:
    """The sentence after "no, actually", "yes, exactly", "by the way": whatever it claims."""
    corrects = confirms = False
    rest = sentence
    while rest.words:
        if agrees := _AGREES.match(rest.said):
            confirms, count = True, len(agrees[0].split())
        elif (wrong := _SAYS_WRONG.match(rest.said)) is not None:
            corrects, count = True, sum(word.end <= wrong.end() for word in rest.words)
        elif (found := _CORRECTS.match(rest.plain)) is not None:
            corrects, count = True, _count(found)
        elif (found := _CONFIRMS.match(rest.plain)) is not None:
            confirms, count = True, _count(found)
        elif (found := _NEWS.match(rest.plain)) is not None:
            count = _count(found)
        else:
            break
        rest = rest.without_first(count)
    return Opened(rest, corrects, confirms and not corrects)


def _count(found: re.Match[str]) -> int:
    return len(found[0].split())


def corrects_inside(sentence: Sentence) -> bool:
    """Whether the sentence itself sets a new value against an old one."""
    return _UPDATED.search(sentence.plain) is not None or contrast(sentence) is not None


def confirms_inside(sentence: Sentence) -> bool:
    """Whether the sentence itself says that it agrees with what was said."""
    return _LATER_CONFIRMS.search(sentence.plain) is not None


@dataclass(frozen=True, slots=True)
class Contrast:
    """A statement without the value it denies, and that value."""

    said: str
    denied: str


def contrast(sentence: Sentence) -> Contrast | None:
    """ "X is A, not B", "X is not B but A", "not B, X is A", "A instead of B": the statement with A, and B."""
    plain = sentence.plain
    if (found := _IS_NOT_IT_IS.match(plain)) is not None:
        subject = sentence.between(0, sentence.word_at(found.end(1))).removesuffix("n't")
        value = sentence.said[sentence.words[sentence.word_at(found.start(5))].start :]
        denied = sentence.between(sentence.word_at(found.start(3)), sentence.word_at(found.end(3)))
        return Contrast(f"{subject} {found[2]} {value}", denied)
    if (found := _BUT.search(plain)) is not None:
        first, last = sentence.word_at(found.start()), sentence.word_at(found.start(2))
        denied = sentence.between(sentence.word_at(found.start(1)), sentence.word_at(found.end(1)))
        return Contrast(f"{sentence.between(0, first)} {sentence.said[sentence.words[last].start :]}".strip(), denied)
    if (found := re.search(r" (?:instead of|rather than) (\S.*)$", plain)) is not None:
        return _ended(sentence, found.start() + 1, found.start(1))
    if (found := _YOU_HAD.match(sentence.said)) is not None:
        return Contrast(found[1], found[2])
    if (found := re.match(r"not (?!sure|certain|whether|if)(.+)$", plain)) is not None and "," in sentence.said:
        denied, _, said = sentence.said.partition(",")
        return Contrast(said.strip(), denied.removeprefix("not ").removeprefix("Not ").strip())
    for found in _CONTRAST.finditer(plain):
        to_do = " not to " in f"{found[0]} " and " to " not in plain[: found.start()] + found[1]
        in_may = found[1] == "may" and plain[: found.start()].rstrip()[-1:].isdigit()
        if (found[1] not in _NOT_CONTRAST or in_may) and not to_do and len(found[2].split()) <= 12:
            return _ended(sentence, found.end(1) + 1, found.start(2))
    return None


def _ended(sentence: Sentence, cut: int, denied: int) -> Contrast:
    at, old = sentence.word_at(cut), sentence.word_at(denied)
    value = re.split(
        r"\s+(?:as|like|that|which|anymore)\s+|[,.;!]\s|[.;!]$", sentence.said[sentence.words[old].start :]
    )[0]
    return Contrast(
        sentence.said[: sentence.words[at].start].rstrip(" ,–-;").removesuffix(" but").removesuffix(" and"), value
    )

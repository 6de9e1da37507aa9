"""What "it", "that figure" and a bare "yes" refer to, taken from the turns before."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from clew.context.assertions.values import put_in
from clew.context.speech import Sentence, Turn, mood_of, sentences
from clew.context.speech.sentence import sentence as read_sentence
from clew.context.speech.verbs import unfilled, verb_at

SUBJECT_MAX_WORDS: Final = 10
STATEMENT_MAX_WORDS: Final = 120

_POINTS: Final = re.compile(
    r"^(?:(?:that|this|the) (?:figure|number|date|amount|value|price|rate"
    r"|total|name|one|person|thing|company|(?:correct|right|real|actual|new) (?:figure|number|value|date|one"
    r"|amount|name|answer|spelling))|it|this|that|these|those|he|she|they)(?= (?:is|are|was|were|has|have|had|will"
    r"|\w+s\b|\w+ed\b|\w+))"
)
_PERSON: Final = re.compile(r"^(?:he|she|they)\b")
_HOLDS_IT: Final = re.compile(r"\b(?:it|that|them|this)\b")
_SWAPS: Final = {
    "your": "my", "you": "I", "yours": "mine", "you're": "I'm", "you've": "I've", "yourself": "myself", "i": "you",
    "my": "your", "me": "you", "i'm": "you're", "i've": "you've",
}  # fmt: skip
_ASSISTANT_FRAME: Final = re.compile(
    r"^(?:so|okay|ok|great|sure|thanks|thank you|got it|i see|just to confirm|to confirm|then|and|well|right|yes"
    r"|no|as far as i know|according to (?:my|our) (?:records|notes)|"
    r"(?:i|we) have (?:it )?(?:noted |down )?that|i understand(?: that)?|i (?:see|noted|believe|think)(?: that)?"
    r"|it (?:looks|seems) like|my records (?:show|say)(?: that)?)[\s,:]+",
    re.IGNORECASE,
)
_FRAME_END: Final = re.compile(
    r",?\s*(?:if i (?:remember|recall) (?:correctly|right)|as far as i know|i believe|i think|(?:is that )?(?:right"
    r"|correct)|is that (?:so|correct|right))\W*$",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"^(?:is (?:that|this|it) (?:right|correct|so|accurate|true|still \w+)|right|correct|does that (?:sound"
    r"|look) right|am i right|is it|can you confirm(?: that| this)?)$"
)
_OFFER: Final = re.compile(
    r"^(?:shall|should|can|may|could|will|would) (?:i|we)\b|^(?:would|do) you (?:like|want|prefer|need|mind"
    r"|wish)\b|\bwant me to\b|^(?:can|could|will|would) you\b|^(?:is there )?(?:anything|something) (?:else|i)"
    r"|^how (?:can|may) i\b|^what (?:can|would|should|do) (?:i|you)\b"
)
_ASKED_AFTER: Final = re.compile(
    r"\b(?:what|who|where|when|how much|which)(?:'s| is| are| was| were) (?!it\b|that\b|this\b)(.+?)[?.! ]*$",
    re.IGNORECASE,
)
_HAVE_AS: Final = re.compile(r"^(?:I|We) have (.+?) (?:as|for) your (.+?)[.?!]?$", re.IGNORECASE)


def points_back(claim: Sentence) -> bool:
    """Whether the subject is a pronoun, or "that figure"."""
    return _POINTS.match(claim.plain) is not None


def antecedents(history: Sequence[Turn]) -> Iterator[Sentence]:
    """The statements of the turns before, nearest first: what a pronoun may refer to."""
    for turn in reversed(history):
        if turn.role in ("assistant", "user", "tool"):
            for one in reversed(sentences(turn.text)):
                if 0 < len(one.words) <= STATEMENT_MAX_WORDS and not one.asks and mood_of(one) == "statement":
                    yield one


def asked_before(history: Sequence[Turn]) -> Sentence | None:
    """The question that the last turn ended with, where the assistant asked one that isn't an offer."""
    if not history or history[-1].role != "assistant":
        return None
    asked = [one for one in sentences(history[-1].text) if one.asks]
    last = asked[-1] if asked else None
    return None if last is None or _OFFER.search(unfilled(last).plain) else last


def offered_before(history: Sequence[Turn]) -> bool:
    """Whether the last turn ended with an offer, so that a yes accepts and confirms nothing."""
    if not history or history[-1].role != "assistant":
        return False
    asked = [one for one in sentences(history[-1].text) if one.asks]
    return bool(asked) and _OFFER.search(unfilled(asked[-1]).plain) is not None


def confirmed_by_yes(history: Sequence[Turn]) -> str | None:
    """What a bare yes to the last turn says is so, in the user's voice; None where it says nothing."""
    if not history or history[-1].role != "assistant" or offered_before(history):
        return None
    for one in reversed(sentences(history[-1].text)):
        if _TAG.match(unfilled(one).plain):
            continue
        if one.asks:
            return declared(one)
        if one.words and mood_of(one) == "statement":
            return from_assistant(one.said)
    return None


def from_assistant(said: str) -> str:
    """The assistant's statement as the user would make it."""
    bare = _FRAME_END.sub("", said.strip().rstrip("?.! "))
    before = None
    while before != bare:
        before, bare = bare, _ASSISTANT_FRAME.sub("", bare)
    if (found := _HAVE_AS.match(bare)) is not None:
        return f"My {found[2]} is {found[1]}"
    return capital(swapped(bare))


def swapped(text: str) -> str:
    """ "Your flight" as "my flight": the same words from the other speaker."""
    turned = re.sub(r"[A-Za-z']+", lambda found: _SWAPS.get(found[0].lower(), found[0]), text)
    turned = re.sub(r"\bI are\b", "I am", turned)
    return re.sub(r"\bI were\b", "I was", turned)


def declared(question: Sentence) -> str | None:
    """ "Is your order number 5518?" as "My order number is 5518"; None for a question that yes does not answer."""
    bare = unfilled(question)
    said = _FRAME_END.sub("", bare.said.rstrip("?!. "))
    words = said.split()
    if len(words) < 3:
        return None
    first = words[0].lower()
    if first in ("what", "who", "where", "when", "why", "how", "which", "whose"):
        return None
    if first in ("do", "does", "did"):
        return capital(swapped(" ".join(words[1:])))
    if first in ("is", "are", "was", "were", "am", "has", "have", "had"):
        split = _predicate_at(words)
        verb = {"are": "am", "were": "was"}.get(first, first) if words[1].lower() == "you" else first
        return capital(f"{swapped(' '.join(words[1:split]))} {verb} {swapped(' '.join(words[split:]))}")
    return from_assistant(said) if mood_of(bare) in ("statement", "question") else None


def _predicate_at(words: list[str]) -> int:
    """Where the predicate of an inverted question starts: at a number, a name, a preposition, a participle."""
    if words[1].lower() in ("you", "i", "we", "they", "he", "she", "it", "this", "that", "there"):
        return 2
    for at in range(2, len(words)):
        word = words[at]
        low = word.lower()
        if (
            word[0].isdigit()
            or word[0] in "$€£"
            or word[0].isupper()
            or low in ("a", "an", "in", "on", "at", "from", "still", "the", "not", "for")
        ):
            return at
        if low.endswith(("ed", "ing")):
            return at
    return len(words) - 1


def answered(question: Sentence, answer: str) -> str:
    """A question and the short answer to it, as one statement."""
    bare = unfilled(question)
    said = bare.said.rstrip("?!. ")
    if (denied := re.match(r"(?:no|nope|nah)\b[\s,]+(.+)$", answer, re.IGNORECASE)) is not None:
        words = said.split()
        if words[0].lower() in ("is", "are", "was", "were") and (split := _predicate_at(words)) > 1:
            return capital(f"{swapped(' '.join(words[1:split]))} {words[0].lower()} {denied[1]}")
    found = re.match(r"(?:what|which|who|where|when)(?:'s| is| are| was| were) (.+)$", said, re.IGNORECASE)
    if found is not None:
        verb = "was" if re.search(r"\b(?:was|were)\b", said.split(found[1])[0], re.IGNORECASE) else "is"
        return capital(f"{swapped(found[1])} {verb} {answer}")
    return f"{capital(swapped(said))}: {answer}"


def resolved(claim: Sentence, history: Sequence[Turn], *, corrects: bool) -> tuple[str, str | None] | None:
    """The claim on its own, and what it replaces; None when it points at something that can't be found."""
    points = _POINTS.match(claim.plain)
    if points is None:
        if corrects and _HOLDS_IT.search(claim.plain) and (known := _value_taken(claim, history)) is not None:
            return known
        fuller = _fuller(claim, history) if corrects else None
        return fuller or (claim.said, None)
    if _PERSON.match(claim.plain) is None and (known := _value_taken(claim, history)) is not None:
        return known
    for before in antecedents(history):
        if (subject := subject_of(before)) and not _POINTS.match(f"{subject.lower()} is"):
            verb = claim.words[len(points[0].split()) :]
            return capital(f"{_own(subject, history)} {_verb(claim, len(points[0].split()), verb[0].start)}"), None
    if (topic := topic_asked(history)) is not None:
        rest = claim.words[len(points[0].split()) :]
        return capital(f"{topic} {_verb(claim, len(points[0].split()), rest[0].start)}"), None
    return None


def _fuller(claim: Sentence, history: Sequence[Turn]) -> tuple[str, str | None] | None:
    """ "Q4 was $6.3M" after "Q3 revenue was $4.8M, and Q4 revenue was $6.1M": under the whole of the subject."""
    short = set((subject_of(claim) or "").lower().split())
    for turn in reversed(history):
        for before in reversed(sentences(turn.text)):
            for clause in re.split(r"[,;]? (?:and|but|while) |; ", before.said.rstrip(" .")):
                whole = set((subject_of(read_sentence(clause)) or "").lower().split())
                if short and short < whole and (made := put_in(clause, claim.said)) is not None:
                    return capital(made[0]), made[1]
    return None


def _verb(claim: Sentence, at: int, start: int) -> str:
    """The rest of the claim from its verb on, with a contracted verb written out: "it's 5" is "is 5"."""
    if at and claim.words[at].start == claim.words[at - 1].start:
        rest = claim.said[claim.words[at].end :]
        return f"{claim.words[at].plain}{rest}"
    return claim.said[start:]


def _own(subject: str, history: Sequence[Turn]) -> str:
    return swapped(subject) if history and history[-1].role == "assistant" else subject


def _value_taken(claim: Sentence, history: Sequence[Turn]) -> tuple[str, str | None] | None:
    for turn in reversed(history):
        for before in reversed(sentences(turn.text)):
            if before.asks or not 0 < len(before.words) <= STATEMENT_MAX_WORDS:
                continue
            clause = re.split(r",? (?:so|which|because|but) ", before.said)[0].rstrip(" .")
            if (made := put_in(clause, claim.said)) is not None:
                text, old = made
                return (from_assistant(text) if turn.role == "assistant" else text), old
    return None


def topic_asked(history: Sequence[Turn]) -> str | None:
    """What the last question in the turns was after."""
    for turn in reversed(history):
        for one in reversed(sentences(turn.text)):
            found = _ASKED_AFTER.search(one.said)
            if found is not None:
                return swapped(found[1]) if turn.role == "assistant" else found[1]
    return None


def subject_of(statement: Sentence) -> str | None:
    """What a statement is about: the words before its verb."""
    bare = unfilled(statement)
    at = verb_at(bare)
    if at is None or at > SUBJECT_MAX_WORDS:
        return None
    while at > 1 and bare.plain_words[at - 1] in (
        "not",
        "also",
        "still",
        "actually",
        "always",
        "never",
        "just",
        "now",
        "no",
        "longer",
        "currently",
        "usually",
    ):
        at -= 1
    if bare.words[at].start == bare.words[at - 1].start:
        return re.split(r"['’]", bare.between(0, at))[0]
    return bare.between(0, at).strip(" ,") or None


def capital(text: str) -> str:
    """The text with a capital first letter, and its spare space gone."""
    tidy = " ".join(text.split())
    return tidy[:1].upper() + tidy[1:]


def said_as(text: str) -> Sentence:
    """A text that we put together, read like one that was said."""
    return read_sentence(text)

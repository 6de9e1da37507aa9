"""Sentences, and the clauses in them."""

import re
from collections.abc import Iterator
from typing import Final

SENTENCE_MAX_CHARS: Final = 1_000
SENTENCES_MAX: Final = 20_000

_ABBREVIATED: Final = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Inc|Corp|Ltd|Co|No|vs|approx|e\.g|i\.e|etc|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept"
    r"|Oct|Nov|Dec|U\.S|a\.m|p\.m|[A-Z])\.$"
)
# After an abbreviation that may end a sentence as well: a word that begins one, and no name.
_TITLE: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|St|No|vs|approx|e\.g|i\.e)\.$")
_BEGINS: Final = re.compile(
    r"\s+(?:The|It|Its|He|She|His|Her|They|Their|We|Our|You|Your|I|My|This|That|These|Those|There|In|On|At|A|An|But|And"
    r"|However|Then|Also|Now|Yesterday|Today|Last|As|Since|For|If|When|No|Not)\b(?!\.)"
)
_END: Final = re.compile(r"[.!?]+[\"”')\]]*(?=\s|$)|\n+\s*|;\s+")
_BULLET: Final = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)]|#+)\s+")
_LEAD_IN: Final = re.compile(
    r"^(?:(?P<correct>actually|correction|in fact|update|sorry|no|oops|my mistake|scratch that)"
    r"|(?:please )?note(?: that)?|fyi|by the way|btw|also|and|but|so|well|ok|okay|yes|yeah|hi|hello|hey|thanks"
    r"|thank you|just to (?:confirm|clarify)|to (?:clarify|confirm|be clear)|for the record|remember(?: that)?"
    r"|today we learned that|it turns out(?: that)?|turns out(?: that)?|(?:please )?be aware that"
    r"|as you know|(?:i|we) can confirm that"
    r"|unfortunately|fortunately|finally|additionally|in addition|moreover|furthermore|however|meanwhile|originally)"
    r"(?:\s*[:,–—-]\s*|\s+(?=\S))",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"^(?:if|unless|suppose|supposing|imagine|assume|assuming|what if|let's|let us|maybe|perhaps|hopefully"
    r"|in case|when|could|would|should|can|shall|please)\b|\b(?:might|may be|may have|could|would|should|ought to"
    r"|hypothetically|probably|possibly|supposedly"
    r"|i (?:think|guess|believe|hope|wonder|wish|want)|i'm not sure|not sure (?:if|whether)|rumou?red)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, without bullets; a line is one even when it ends with nothing."""
    start = 0
    count = 0
    for end in _END.finditer(text):
        piece = text[start : end.end()]
        if end[0].startswith(".") and _abbreviated(text, start, end.start() + 1):
            continue
        start = end.end()
        if cleaned := _cleaned(piece):
            yield cleaned
            count += 1
            if count >= SENTENCES_MAX:
                break
    if count < SENTENCES_MAX and (cleaned := _cleaned(text[start:])):
        yield cleaned


def without_lead_in(sentence: str) -> tuple[str, bool]:
    """The sentence without what only leads to it, and whether that announced a correction."""
    corrects = False
    while match := _LEAD_IN.match(sentence):
        rest = sentence[match.end() :]
        if not rest.strip() or len(rest.split()) < 2:
            break
        corrects = corrects or match["correct"] is not None
        sentence = rest.strip()
    return sentence, corrects


def is_unsure(sentence: str) -> bool:
    """Whether it is a condition, a wish or a guess: worth finding, and no reason to close anything."""
    return _UNSURE.search(sentence) is not None


def is_question(sentence: str) -> bool:
    """Whether it asks."""
    return sentence.rstrip("\"”')").endswith("?")


def _abbreviated(text: str, start: int, stop: int) -> bool:
    """Whether the dot before `stop` ends an abbreviation and no sentence."""
    said = text[max(start, stop - 40) : stop]
    if not _ABBREVIATED.search(said):
        return False
    return bool(_TITLE.search(said)) or not _BEGINS.match(text, stop)


def _cleaned(piece: str) -> str:
    return re.sub(r"\s+", " ", _BULLET.sub("", piece)).strip().strip(";").strip()[:SENTENCE_MAX_CHARS]

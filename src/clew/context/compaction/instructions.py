"""Explicit instructions of the user, and whether a summary keeps them in substance."""

import re
from collections.abc import Sequence
from typing import Final

from clew.context.compaction.sentences import Sentence

# The words around the trigger that carry the instruction; a longer sentence is cut to them.
CLAUSE_MAX_WORDS: Final = 30
_WORDS_BEFORE: Final = 10
# The share of its key words that a line must have to be the same instruction in other words.
KEY_WORDS_SHARE: Final = 0.6
KEY_WORDS_MAX: Final = 14
# How far around a trigger it shows whether something is asked for: a bound, so that the search stays linear.
_LOOK_CHARS: Final = 60

_TRIGGER: Final = re.compile(
    r"\b(?:never|always|do not|don[’']t|must(?: not|n[’']t)?|from now on|under no circumstances|at all times)\b",
    re.IGNORECASE,
)
_NEGATIVE: Final = re.compile(
    r"\b(?:never|not|no|don[’']t|mustn[’']t|cannot|can[’']t|won[’']t|without|avoid|forbidden|refuse|stop|only|except)\b",
    re.IGNORECASE,
)
# "I never received it", "they don't have it": told, not asked. "You never…" asks.
_TOLD: Final = re.compile(
    r"\b(?:i|we|they|he|she|it|this|that|which|who|there|these|those|one|i[’']ve|we[’']ve|they[’']ve|have|has|had|was|were"
    r"|is|are|will|would|why|if|when|because|since)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
# "Don't worry" and "don't know" ask for nothing that holds later.
_IDLE: Final = re.compile(
    r"^\s*(?:worry|know|think|have|remember|recall|want|need|see|care|mind|believe|understand|get|like|bother|forget)\b",
    re.IGNORECASE,
)
# "Must have been an error" concludes.
_CONCLUDES: Final = re.compile(r"^\s*(?:have\b|be (?:a|an|some\w*)\b)", re.IGNORECASE)
# A list item is one sentence to us and may hold several.
_PARTS: Final = re.compile(r"(?<=[.!?;])\s+")
_WORD: Final = re.compile(r"[^\W_][\w’'./-]*")
_STOP: Final = frozenset(
    """
    a an the this that these those it its is are be been was were to of in on at for from with by as and or but if so i
    you we they he she my your our their me us them do does did not no never always don't don’t must mustn't mustn’t
    please can could will would should shall may might have has had any all some there here then than too very just also
    only ever now when what which who whom whose how why where circumstances under times make sure
    """.split()  # noqa: SIM905
)


def instruction_in(sentence: Sentence) -> str | None:
    """The clause of the user's sentence that says what must always or never be done; None when there is none."""
    if sentence.role != "user" or not sentence.is_prose:
        return None
    return instruction_clause(sentence.text)


def instruction_clause(text: str) -> str | None:
    """The instruction in a text, cut to the words around it where its sentence is long."""
    for part in _PARTS.split(text):
        for found in _TRIGGER.finditer(part):
            before = part[max(0, found.start() - _LOOK_CHARS) : found.start()]
            if _asks(found[0].lower(), before, part[found.end() : found.end() + _LOOK_CHARS]):
                return _clause(part, found.start())
    return None


def keeps_instruction(instruction: str, lines: Sequence[str]) -> bool:
    """Whether one of the lines says the same: most of the key words, and a no where the instruction has one."""
    keys = key_words(instruction)
    needed = max(1, round(len(keys) * KEY_WORDS_SHARE)) if keys else 0
    negative = _NEGATIVE.search(instruction) is not None
    for line in lines:
        if negative and _NEGATIVE.search(line) is None:
            continue
        folded = _stems(line)
        if sum(key in folded for key in keys) >= needed:
            return True
    return False


def key_words(text: str) -> tuple[str, ...]:
    """The words that carry the meaning, each once, as stems."""
    found = (_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP)
    return tuple(dict.fromkeys(found))[:KEY_WORDS_MAX]


def _asks(trigger: str, before: str, after: str) -> bool:
    if trigger.startswith("do"):
        # Only the imperative: at the start of its clause.
        starts = re.search(r"(?:^|[.;:,!?(–—-]\s*|\b(?:please|and|but|so|then|you|also)\s+)$", before, re.IGNORECASE)
        return starts is not None and not _IDLE.match(after)
    if trigger.startswith("must"):
        return not _CONCLUDES.match(after)
    return not _TOLD.search(before) and not (trigger == "never" and _IDLE.match(after))


def _clause(text: str, at: int) -> str:
    words = [(found.start(), found.end()) for found in re.finditer(r"\S+", text)]
    if len(words) <= CLAUSE_MAX_WORDS:
        return text
    place = next(index for index, (_, end) in enumerate(words) if end > at)
    first = max(0, min(place - _WORDS_BEFORE, len(words) - CLAUSE_MAX_WORDS))
    last = min(len(words), first + CLAUSE_MAX_WORDS)
    return text[words[first][0] : words[last - 1][1]]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()))


def _stem(word: str) -> str:
    """Enough to take one spelling of a word for another: no plural, no -ing, no -ed."""
    bare = word.strip("’'./-")
    for ending in ("ing", "ed", "es", "s"):
        if bare.endswith(ending) and len(bare) - len(ending) >= 3:
            bare = bare[: -len(ending)]
            break
    return bare.removesuffix("e") if len(bare) > 3 else bare

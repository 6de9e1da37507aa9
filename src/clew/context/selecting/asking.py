"""What to look up, in words that stand on their own: from the task and the last three messages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.intent.classify import intent_of
from clew.context.speech import Turn, sentences
from clew.context.speech.verbs import unfilled, verb_at
from clew.memory.analysis import content_stems, words
from clew.tokens import truncate

RECENT_MESSAGES: Final = 3
QUERY_MAX_TOKENS: Final = 256
# A message with so many words of its own says what it is about; one that points back or goes on needs three more.
ENOUGH_STEMS: Final = 2

# A task made of nothing but these says that the user is to be answered, and not with what.
_GENERIC_WORDS: Final = """
    answer reply respond response assist help continue proceed handle address follow serve support talk chat write give
    user users customer client person human message messages question questions query request conversation turn latest
    last next current new recent incoming above following one best way possible appropriate properly politely briefly
    helpfully kindly concisely correctly accurately assistant agent please say task their his her what they need known
    use using based context information
"""
_GENERIC: Final = frozenset(content_stems(_GENERIC_WORDS.split()))
_POINTS_BACK: Final = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|him|his|she|her|hers|there|then|one|ones|same|such|former"
    r"|latter|both|neither|either|so)\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"^\W*(?:and|or|but|also|what about|how about|what of|same for|then|so|plus|versus|vs|compared to)\b", re.IGNORECASE
)
_MINE: Final = re.compile(r"\b(?:my|mine|me|i|i'm|i've)\b", re.IGNORECASE)
_LEADS: Final = re.compile(
    r"^\W*(?:and|or|but|also|so|then|what about|how about|what of|same for|ok|okay)?\W*"
    r"(?:(?:in|for|at|by|on|of|with|from|during|as of|the|about)\b\W*)*",
    re.IGNORECASE,
)
# Values of the same kind take each other's place: "and in Q4?" after a question about Q3.
_KINDS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b[Qq][1-4]\b",
        r"\b(?:first|second|third|fourth|last|next|this|previous) (?:quarter|half|year|month|week)\b",
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b",
        r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
        r"\b(?:19|20)\d\d\b",
        r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)*",
    )
)
_WHOLE_NAME: Final = re.compile(r"\b[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)+")
_LONE_NAME: Final = re.compile(r"[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)*")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked up; empty when there is nothing. `carried` when words of earlier messages had to be added."""

    text: str
    carried: bool = False
    speaker: str | None = None
    """Who "my" stands for, where the question says so."""

    @property
    def stems(self) -> tuple[str, ...]:
        """The words that say what it is about, each once."""
        return tuple(dict.fromkeys(content_stems(words(self.text))))

    @property
    def searched(self) -> str:
        """The question as stores are asked: with the name of the one who says "my"."""
        return f"{self.text} ({self.speaker})" if self.speaker else self.text


def is_specific(description: str) -> bool:
    """Whether a task says more than that the user is to be answered."""
    return any(stem not in _GENERIC for stem in content_stems(words(description)))


def asked(description: str, recent: Sequence[Turn], *, looks_up_message: bool, speaker: str | None = None) -> Asked:
    """The question to memory: the task where it says something, and the user's latest words where they want something.

    `recent` are the messages before now, oldest first; the last of them that the user said is the latest.
    """
    said = list(recent)[-RECENT_MESSAGES:]
    at = next((n for n in range(len(said) - 1, -1, -1) if said[n].role == "user"), None)
    latest = said[at].text if at is not None and looks_up_message else ""
    carried = False
    if at is not None and latest:
        latest, carried = _whole(latest, said[:at])
    parts = (truncate(description, QUERY_MAX_TOKENS) if is_specific(description) else "", latest)
    mine = _MINE.search(latest) is not None
    return Asked("\n".join(part for part in parts if part.strip()), carried, speaker if mine else None)


def _whole(latest: str, before: Sequence[Turn]) -> tuple[str, bool]:
    """The user's words, with what they leave out taken from the messages before."""
    latest = _wanting(truncate(latest, QUERY_MAX_TOKENS).strip())
    previous = next((turn.text for turn in reversed(before) if turn.role == "user"), "")
    if not before or not _needs_more(latest):
        return latest, False
    if previous and (swapped := _swapped(latest, previous)) is not None:
        return swapped, True
    added = [_last_sentence(previous)] if previous else []
    if _POINTS_BACK.search(latest):
        added += _names(next((turn.text for turn in reversed(before) if turn.role == "assistant"), ""))
    extra = " ".join(part for part in added if part)
    return (f"{latest} {truncate(extra, QUERY_MAX_TOKENS)}", True) if extra else (latest, False)


def _wanting(latest: str) -> str:
    """The message without the sentences that want nothing looked up: thanks, greetings, how to answer."""
    said = [one for one in sentences(latest) if one.words]
    kept = [one.said for one in said if intent_of(Turn("user", one.said)).needs_lookup] if len(said) > 1 else []
    return " ".join(kept) if kept else latest


def _needs_more(latest: str) -> bool:
    own = len(set(content_stems(words(latest))))
    leans = _GOES_ON.match(latest) is not None or _POINTS_BACK.search(latest) is not None or _has_no_verb(latest)
    return own < ENOUGH_STEMS + (3 if leans else 0)


def _has_no_verb(latest: str) -> bool:
    """Whether it is a few words that only go on with what was said: "side effects?"."""
    said = [one for one in sentences(latest) if one.words]
    return len(said) == 1 and verb_at(unfilled(said[0])) is None


def _swapped(latest: str, previous: str) -> str | None:
    """The previous question about another quarter, year or name: what remains of the message is just that value."""
    bare = _LEADS.sub("", latest, count=1).strip(" ?.!")
    asked_before = _last_sentence(previous)
    for kind in _KINDS:
        named = _LONE_NAME if kind is _KINDS[-1] else kind
        if bare and named.fullmatch(bare) and len(kind.findall(asked_before)) == 1:
            return kind.sub(lambda _: bare, asked_before, count=1)
    return None


def _last_sentence(text: str) -> str:
    """What a message came to: its last question, or else its last sentence."""
    said = [one for one in sentences(text) if one.words]
    if not said:
        return text.strip()
    return next((one.said for one in reversed(said) if one.asks), said[-1].said)


def _names(text: str) -> list[str]:
    """Names in the answer that "it" or "they" may stand for, and which a search can find."""
    found = [*_WHOLE_NAME.findall(text[:2_000]), *_KINDS[-1].findall(text[:2_000])]
    return list(dict.fromkeys(found))[:4]

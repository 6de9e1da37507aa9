"""The verbs that are known, what each says about its subject, and whether it can say so of one thing only."""

import re
from dataclasses import dataclass
from typing import Final

from clew.memory.analysis import stem
from clew.memory.knowledge.extract.lexicon import (
    ADDING_VERBS,
    ALONE_VERBS,
    DETERMINERS,
    NOUN_FOLLOWS,
    PLURAL_PRONOUNS,
    listed,
)

GUESSED_SUBJECT_MAX_WORDS: Final = 3

_IRREGULAR: Final = {
    "bought": "buy", "built": "build", "ate": "eat", "drank": "drink", "drove": "drive", "flew": "fly", "gave": "give",
    "got": "get", "has": "have", "had": "have", "held": "hold", "kept": "keep", "knew": "know", "led": "lead",
    "left": "leave", "lost": "lose", "made": "make", "met": "meet", "paid": "pay", "ran": "run", "said": "say",
    "saw": "see", "sent": "send", "sold": "sell", "spent": "spend", "spoke": "speak", "spoken": "speak",
    "taught": "teach", "took": "take", "taken": "take", "understood": "understand", "won": "win", "wore": "wear",
    "wrote": "write", "written": "write", "chose": "choose", "found": "find", "grew": "grow", "brought": "bring",
    "became": "become", "began": "begin", "known": "know", "driven": "drive", "given": "give", "seen": "see",
    "sung": "sing", "drawn": "draw", "eaten": "eat", "chosen": "choose", "flown": "fly", "worn": "wear",
    "shown": "show", "broken": "break", "grown": "grow", "drew": "draw", "sang": "sing", "thought": "think",
}  # fmt: skip
# Verbs that say the same of the same things.
_SAME: Final = {"acquire": "buy", "purchase": "buy", "construct": "build"}
_BEING: Final = listed("is was has had will does did")
# Past forms that never follow `was … by`.
_ONLY_PAST: Final = listed(
    "ate drank drove flew gave knew ran saw spoke took wore wrote chose grew became began drew sang"
)
_ENDED: Final = re.compile(r"[a-z]{2,}(?:[^sui\W\d]s|[^e\W\d]ed)")
_ENDED_IN_ANY: Final = re.compile(r"[a-z]{2,}(?:[^sui\W\d]s|ed|ing)")
_PREPOSITIONS: Final = "in|on|at|for|with|to|from|as|by|into|about|of|against|under|over"


def _forms(base: str) -> list[str]:
    if base.endswith("e"):
        return [f"{base}s", f"{base}d", f"{base[:-1]}ing"]
    if base.endswith("y") and base[-2] not in "aeiou":
        return [f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base}ing"]
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return [f"{base}es", f"{base}ed", f"{base}ing"]
    doubled = [f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"] if re.search(r"[^aeiou][aeiou][bdglmnprt]$", base) else []
    return [f"{base}s", f"{base}ed", f"{base}ing", *doubled]


_LEMMA: Final[dict[str, str]] = {
    form: base for base in sorted(ADDING_VERBS | ALONE_VERBS) for form in _forms(base)
} | _IRREGULAR


@dataclass(frozen=True, slots=True)
class Split:
    """A clause at its verb. `lemma` is the verb's one form, with the preposition that belongs to it."""

    subject: str
    said: str
    lemma: str
    object: str


def lemma(verb: str) -> str:
    """A verb's one form."""
    lower = verb.lower()
    base = _LEMMA.get(lower) or (lower if lower in ADDING_VERBS else stem(lower) or lower)
    return _SAME.get(base, base)


def known_base(verb: str) -> bool:
    """Whether a word is the base form of a verb that is known."""
    return verb.lower() in ADDING_VERBS


def is_participle(verb: str) -> bool:
    """Whether a word can stand in “was … by somebody”."""
    lower = verb.lower()
    return lower in _LEMMA and not lower.endswith(("s", "ing")) and lower not in _ONLY_PAST


def is_finite(verb: str) -> bool:
    """Whether a word begins what somebody does or did: “works”, “joined”, “is”."""
    lower = verb.lower()
    return lower in _BEING or (lower in _LEMMA and not lower.endswith("ing"))


def third_person(base: str) -> str:
    """What one does: “drives”, “has”."""
    return "has" if base == "have" else _forms(base)[0]


def split_at_verb(clause: str, *, any_form: bool = False) -> Split | None:
    """The clause at its first verb; None when no word of it is one. After `does not` a verb has its base form."""
    words = clause.split()
    for n in range(1, len(words)):
        bare = words[n].lower().strip(",")
        before = words[n - 1].lower()
        if (
            before in NOUN_FOLLOWS
            # With a capital it is a part of a name: Wexley Partners.
            or words[n][:1].isupper()
            or before.endswith(("'s", "’s", ","))
            or (bare not in _LEMMA and bare not in ADDING_VERBS)
        ):
            continue
        plural = before in PLURAL_PRONOUNS or (before.endswith("s") and not before.endswith("ss"))
        if bare in _LEMMA or any_form or plural:
            return _at(words, n)
    return _guessed(words, any_form=any_form)


def alone(clause: str, *, any_form: bool = False) -> Split | None:
    """A clause whose verb has no object: “Sam smokes”, “the elevator works”."""
    who, _, verb = clause.rpartition(" ")
    base = lemma(verb)
    known = base in ALONE_VERBS and (any_form or verb.lower() != base) and verb[:1].islower()
    subject = who[:1].isupper() or who.split(" ")[0].lower() in DETERMINERS or who == "user"
    return (
        Split(who, "does", "do", verb) if known and subject and len(who.split()) <= GUESSED_SUBJECT_MAX_WORDS else None
    )


def _guessed(words: list[str], *, any_form: bool) -> Split | None:
    """A verb nobody listed, by its ending, right behind a short subject: “Henrik chairs the committee”."""
    for n in range(1, min(len(words) - 1, GUESSED_SUBJECT_MAX_WORDS + 1)):
        word, before = words[n], words[n - 1]
        ending = _ENDED.fullmatch(word) if not any_form else _ENDED_IN_ANY.fullmatch(word)
        subject = words[0][:1].isupper() or words[0].lower() in DETERMINERS or words[0] == "user"
        if not ending or not subject or before.lower() in NOUN_FOLLOWS or before.endswith((",", "'s", "’s")):
            continue
        plural = before.endswith("s") and not before[:1].isupper()
        if not plural and not re.fullmatch(_PREPOSITIONS, before.lower()):
            return _at(words, n)
    return None


def _at(words: list[str], n: int) -> Split | None:
    base, end = lemma(words[n]), n + 1
    said = words[n]
    if end < len(words) and re.fullmatch(_PREPOSITIONS, words[end].lower()):
        base, said, end = f"{base} {words[end].lower()}", f"{said} {words[end]}", end + 1
    rest = " ".join(words[end:]).strip()
    if not rest:
        return None
    return Split(" ".join(words[:n]).strip(" ,"), said, base, rest)

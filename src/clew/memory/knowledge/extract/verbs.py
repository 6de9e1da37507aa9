"""The verbs that are known, what each says about its subject, and whether it can say so of one thing only."""

import re
from dataclasses import dataclass
from typing import Final

from clew.memory.analysis import stem
from clew.memory.knowledge.extract.lexicon import ADDING_VERBS, NOUN_FOLLOWS, PLURAL_PRONOUNS

_IRREGULAR: Final = {
    "bought": "buy", "built": "build", "ate": "eat", "drank": "drink", "drove": "drive", "flew": "fly", "gave": "give",
    "got": "get", "has": "have", "had": "have", "held": "hold", "kept": "keep", "knew": "know", "led": "lead",
    "left": "leave", "lost": "lose", "made": "make", "met": "meet", "paid": "pay", "ran": "run", "said": "say",
    "saw": "see", "sent": "send", "sold": "sell", "spent": "spend", "spoke": "speak", "spoken": "speak",
    "taught": "teach", "took": "take", "taken": "take", "understood": "understand", "won": "win", "wore": "wear",
    "wrote": "write", "written": "write", "chose": "choose", "found": "find", "grew": "grow", "brought": "bring",
    "became": "become", "began": "begin", "known": "know", "driven": "drive", "given": "give", "seen": "see",
}  # fmt: skip
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


_LEMMA: Final[dict[str, str]] = {form: base for base in sorted(ADDING_VERBS) for form in _forms(base)} | _IRREGULAR


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
    return _LEMMA.get(lower) or (lower if lower in ADDING_VERBS else stem(lower) or lower)


def split_at_verb(clause: str, *, any_form: bool = False) -> Split | None:
    """The clause at its first verb; None when no word of it is one. After `does not` a verb has its base form."""
    words = clause.split()
    for n in range(1, len(words)):
        bare = words[n].lower().strip(",")
        before = words[n - 1].lower()
        if (
            before in NOUN_FOLLOWS
            or before.endswith(("'s", "’s", ","))
            or (bare not in _LEMMA and bare not in ADDING_VERBS)
        ):
            continue
        plural = before in PLURAL_PRONOUNS or (before.endswith("s") and not before.endswith("ss"))
        if bare in _LEMMA or any_form or plural:
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

"""Clauses turned the plain way round: passives, “there are”, auxiliaries, and “X is the price of Y”."""

import re
from typing import Final

from clew.memory.knowledge.extract.lexicon import ATTRIBUTES, UNIQUE_PEOPLE
from clew.memory.knowledge.extract.patterns import BE
from clew.memory.knowledge.extract.values import is_state
from clew.memory.knowledge.extract.verbs import is_participle, known_base, lemma, third_person

_THERE: Final = re.compile(
    r"^there\s+(?:is|are|were|was)\s+(?P<what>(?:\d[\d.,]*|\w+)\s+[\w -]+?)\s+(?:in|at|on)\s+"
    r"(?P<where>(?:the\s+|our\s+)?\S.*)$",
    re.IGNORECASE,
)
_PASSIVE: Final = re.compile(
    rf"^(?P<what>[^,]+?)\s+{BE}\s+(?P<verb>\w+)\s+by\s+(?P<who>(?!\d|the end|then\b)[^,]+)$", re.IGNORECASE
)
_AUXILIARY: Final = re.compile(
    r"^(?P<who>.+?)\s+(?P<aux>has|have|is|are|was|were|can|will)\s+(?:got\s+(?=married))?(?P<verb>[a-z]+)\s+(?P<rest>\S.*)$"
)
_BECOME: Final = re.compile(
    r"^(?P<who>.+?)\s+(?:has|have|got|has got|have got|went|turned)\s+(?P<state>[a-z]+(?:[ -][a-z]+)?)$"
)
_HAS_GOT: Final = re.compile(r"^(?P<who>.+?)\s+(?:has|have)\s+got\s+(?P<what>.+)$")
_INVERTED: Final = re.compile(
    rf"^(?P<value>(?!the\b|our\b|my\b|this\b|that\b|it\b|there\b).+?)\s+(?P<be>{BE})\s+"
    r"(?P<phrase>(?:the\s+)?(?P<attribute>[a-z][\w -]*?)\s+of\s+.+"
    r"|[\w. -]+?(?:['’]s|(?<=s)['’])\s+(?P<owned>[a-z][\w -]*))$",
    re.IGNORECASE,
)
# Of what is going on now the simple form says the same; of other verbs it would not.
_GOING_ON: Final = frozenset(
    {"live", "work", "stay", "reside", "play", "cover", "use", "run", "lead", "manage", "study"}
)
# What will happen at a time that is told: the time is the fact, and it is told now.
_PLANNED: Final = frozenset(
    {
        "depart",
        "leave",
        "arrive",
        "start",
        "begin",
        "end",
        "finish",
        "expire",
        "renew",
        "launch",
        "open",
        "close",
        "ship",
    }
)


def straight(clause: str) -> str:
    """The clause as a plain sentence has it: who, verb, what. Whatever is none of these stays as it is."""
    for turn in (_there, _become, _got, _passive, _simple, _inverted):
        turned = turn(clause)
        if turned is not None:
            return turned
    return clause


def _there(clause: str) -> str | None:
    match = _THERE.match(clause)
    return f"{match['where']} has {match['what']}" if match else None


def _become(clause: str) -> str | None:
    """“Has reopened”, “got married”: it is so now."""
    match = _BECOME.match(clause)
    return f"{match['who']} is {match['state']}" if match and is_state(match["state"]) else None


def _got(clause: str) -> str | None:
    match = _HAS_GOT.match(clause)
    return f"{match['who']} has {match['what']}" if match else None


def _passive(clause: str) -> str | None:
    match = _PASSIVE.match(clause)
    if match is None or not is_participle(match["verb"]) or re.search(r"\bnot\b", clause):
        return None
    return f"{match['who']} {match['verb']} {match['what']}"


def _simple(clause: str) -> str | None:
    """“Has acquired”, “is living in”, “can speak”, “will depart”."""
    match = _AUXILIARY.match(clause)
    if match is None:
        return None
    aux, verb, base = match["aux"], match["verb"], lemma(match["verb"])
    if aux in ("has", "have"):
        said = verb if is_participle(verb) and verb not in ("had", "lived", "worked") else None
    elif aux in ("can", "will"):
        said = third_person(verb) if verb in _PLANNED or (aux == "can" and known_base(verb)) else None
    else:
        said = third_person(base) if verb.endswith("ing") and base in _GOING_ON and aux in ("is", "are") else None
    return f"{match['who']} {said} {match['rest']}" if said else None


def _inverted(clause: str) -> str | None:
    match = _INVERTED.match(clause)
    if match is None or re.search(r",|\bnot\b", clause):
        return None
    head = (match["attribute"] or match["owned"]).split()[-1].lower()
    if (head not in ATTRIBUTES and head not in UNIQUE_PEOPLE) or _is_attribute(match["value"]):
        return None
    return f"{match['phrase']} {match['be']} {match['value']}"


def _is_attribute(text: str) -> bool:
    """Whether what stands first is itself an attribute: “Ana's manager is Bob's manager”."""
    return bool(re.search(r"['’]s\s|\sof\s", text)) or text.split()[-1].lower() in ATTRIBUTES

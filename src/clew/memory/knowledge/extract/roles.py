"""Who holds a role of which there is one: the CEO of Acme, the project's lead, whoever chairs the committee."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.claim import Claim, attributed
from clew.memory.knowledge.extract.patterns import BE, OFFICES, ROLES
from clew.memory.knowledge.extract.phrases import read_phrase
from clew.memory.knowledge.extract.rewriting import denials
from clew.memory.knowledge.extract.values import read_value

# What somebody is who does so, by the verb; each thing has one of them.
_LEADING: Final = {
    "lead": "lead", "led": "lead", "head": "head", "chair": "chair", "coach": "coach", "captain": "captain",
    "manag": "manager", "supervis": "supervisor", "represent": "representative",
}  # fmt: skip
_LEADS: Final = re.compile(
    r"^(?P<who>[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3})\s+(?P<verb>lead|head|chair|captain|manage|supervise|coache?)s\s+"
    r"(?P<what>(?:the|our)\s+[\w'’-]+(?: [\w'’-]+){0,4})$"
)
_LED_BY: Final = re.compile(
    r"^(?P<what>.+?)\s+(?:is|are|is being|has been|will be)\s+(?P<verb>led|headed|chaired|captained|managed|supervised"
    r"|coached|represented)\s+by\s+(?P<who>[A-Z][\w.'’-]*(?: [A-Z&][\w.'’-]*){0,3})$"
)
_PRAISE: Final = re.compile(r"\b(?:\w+est|most|only|first|last|next|former|assistant|deputy|one)\b", re.IGNORECASE)


def role(clause: str, reference: datetime) -> list[Claim]:
    """“Ana is the CEO of Acme” tells Acme's CEO, of whom there is one."""
    match = re.match(
        rf"^(?P<object>[A-Z0-9][\w.'’ -]*?)\s+(?:{BE}|was (?:appointed|named|elected|made)|took over as)\s+"
        rf"(?:(?P<the>the)\s+)?(?P<role>{ROLES}|[a-z][\w -]*?)\s+(?:of|at|for)\s+(?P<owner>.+)$",
        clause,
    ) or re.match(
        rf"^(?P<object>[A-Z][\w. -]*?)\s+{BE}\s+(?P<the>)(?P<owner>[A-Z][\w. ]*?)['’]s\s+(?P<role>{ROLES})$", clause
    )
    if match is None:
        return _role_of_ours(clause, reference)
    if match["the"] is None and not re.fullmatch(ROLES, match["role"]):
        return []
    owner, denied = denials(match["owner"])
    if len(match["role"].split()) > 4 or match["role"].split()[0] in ("a", "an", "one", "not"):
        return []
    value = read_value(match["object"], reference)
    claim = attributed(read_phrase(f"{match['role']} of {owner}"), value, denied)
    return [replace(claim, single=True)]


def _role_of_ours(clause: str, reference: datetime) -> list[Claim]:
    """“Dana is our CFO”, “Kim is the HR director”, where whose need not be said."""
    match = re.match(
        rf"^(?P<object>[A-Z][\w. -]*?)\s+(?:{BE}|was (?:appointed|named|elected|made)|took over as)\s+(?:the|our)\s+"
        rf"(?:new\s+)?(?P<role>(?:[\w-]+ ){{0,2}}(?:{ROLES}|{OFFICES}))$",
        clause,
    )
    if match is None or _PRAISE.search(match["role"]):
        return []
    value = read_value(match["object"], reference)
    return [replace(attributed(read_phrase(match["role"]), value, []), single=True)]


def leading(clause: str, reference: datetime) -> list[Claim]:
    """“Anders leads the project”, and “the project is led by Anders”: who does so is one at a time."""
    match = _LEADS.match(clause) or _LED_BY.match(clause)
    if match is None:
        return []
    noun = _LEADING[re.sub(r"(?<=[^l])ed$|e$", "", match["verb"])]
    value = read_value(match["who"], reference)
    return [replace(attributed(read_phrase(f"{noun} of {match['what']}"), value, []), single=True)]

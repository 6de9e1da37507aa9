"""A clause made plain: negations, corrections and fillers taken out of it, and said beside it."""

import re
from dataclasses import dataclass
from typing import Final

from clew.memory.knowledge.extract.lexicon import ATTRIBUTES
from clew.memory.knowledge.extract.patterns import ROLES
from clew.memory.knowledge.extract.times import DATE
from clew.memory.knowledge.extract.verbs import third_person

_ATTRIBUTION: Final = re.compile(
    r"\s*[,(–—-]*\s*\b(?:(?:as|like|which)\s+(?:was\s+|is\s+|were\s+)?(?:previously |originally |earlier |initially )?"
    r"(?:stated|reported|written|said|listed|given|shown|mentioned|noted|claimed|indicated|announced|in the)\b.*"
    r"|according to .*|as per .*|per the .*|based on .*)$",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(
    r"\s*,\s*(?:(?:according to|as per|per|as (?:stated|reported|noted|announced) (?:in|by|on))\s+[^,]+"
    r"|as (?:reported|stated|noted|announced|planned|expected|agreed|usual)),\s*",
    re.IGNORECASE,
)
# Where something was read, before what it says.
_SOURCE_FIRST: Final = re.compile(
    r"^(?:(?:according to|as per|per|based on|as (?:stated|reported|noted|announced|mentioned|written|shown)"
    r" (?:in|by|on))\s+[^,]+"
    r"|(?:in|on|from|at) (?:(?:the|our|their|his|her|this|that|last \w+)\s+)?(?:[\w-]+ ){0,3}"
    r"(?:report|audit|memo|contract|document|deck|e-?mail|mail|letter|minutes|slides?|presentation|summary|survey|study"
    r"|article|paper|filing|meeting|call|interview|table|appendix|section|chapter|page|paragraph)(?: [\w.]+)?)"
    r",\s+(?=\S+ \S)",
    re.IGNORECASE,
)
# For whom or where something holds, before what does.
_SCOPE_FIRST: Final = re.compile(
    r"^(?P<scope>(?:for|among|within|in) (?!\d|case\b)[^,\d]{2,60}),\s+(?P<rest>\S+ .+)$", re.IGNORECASE
)
_COMPARED: Final = re.compile(
    r"\s*,?\s*\(?\b(?:(?:up|down)\s+(?:from\b|(?:by\s+)?[$€£\d])|compared (?:to|with)\b|versus\b|vs\b\.?).*$",
    re.IGNORECASE,
)
_HEARSAY: Final = re.compile(
    r"^(?:[\w.’' ]{1,60}?\s)?(?:said|says|reported|reports|announced|announces|confirmed|confirms|stated|states"
    r"|mentioned|told (?:me|us)|learned|noted)\s+that\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_LABELLED: Final = re.compile(r"^(?P<label>[A-Z][\w'’-]*(?: [\w'’-]+){0,4})\s*:\s+(?P<value>\S(?:.{0,80}\S)?)$")
_ADDS: Final = re.compile(r",?\s*\b(?:also|too|as well|additionally|in addition|besides)\b", re.IGNORECASE)
_FILLER: Final = re.compile(
    r",?\s*\b(?:actually|currently|officially|presently|really|already|recently|right now|now|still|in fact|at present"
    r"|these days|nowadays|just|instead(?! of)|at the moment|again|severely|extremely|fluently)\b(?=[\s,.]|$),?",
    re.IGNORECASE,
)
_TRAILING_NOT: Final = re.compile(r"\s+(?:anymore|any more|any longer|at all)$", re.IGNORECASE)
_DO_NOT: Final = re.compile(r"^(.+?)\s+(?:does|do|did)(?:n['’]t|\s+not)\s+([a-z]+)(.*)$", re.IGNORECASE)
_NEGATIONS: Final = (
    # Each with what stands for it when the negation is taken out.
    (re.compile(r"^(?:it is|it's|it was) not (?:true|correct|the case) that (.+)$", re.IGNORECASE), r"\1"),
    (re.compile(r"^(.+?)\s+(is|are|was|were|has|have)\s+no longer\s+(.+)$", re.IGNORECASE), r"\1 \2 \3"),
    (re.compile(r"^(.+?)\s+no longer\s+(.+)$", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"^(.+?)\s+(is|are|was|were)(?:n['’]t|\s+not|\s+never)\s+(.+)$", re.IGNORECASE), r"\1 \2 \3"),
    (re.compile(r"^(.+?)\s+(?:has |have |had )?(?:never|not)\s+(.+)$", re.IGNORECASE), r"\1 \2"),
    (
        re.compile(
            r"^(.+?)\s+(?:has |have |had )?(?:stopped|quit|ceased|given up|gave up)\s+(\w+ing\b.*)$", re.IGNORECASE
        ),
        r"\1 \2",
    ),
    (
        re.compile(
            r"^(.+?)\s+(?:has |have )?(?:stepped down|resigned|retired|departed|was (?:fired|removed|ousted|replaced))"
            r" as (?:the )?(.+)$",
            re.IGNORECASE,
        ),
        r"\1 is the \2",
    ),
    (
        re.compile(
            r"^([A-Z][\w. ]+?)\s+(?:has |have )?(?:left|quit|departed|(?:resigned|retired) from"
            r"|was (?:fired|dismissed|laid off) (?:from|by))\s+((?-i:[A-Z]).+)$",
            re.IGNORECASE,
        ),
        r"\1 works at \2",
    ),
    (
        re.compile(r"^(.+?)\s+(?:has |have )?(?:dropped|ended|removed|discontinued) support for (.+)$", re.IGNORECASE),
        r"\1 supports \2",
    ),
    (
        re.compile(
            r"^(.+?)\s+(?:has |have )?(?:sold|given away|gave away|got rid of)\s+(?:his|her|its|their|our|my)\s+(.+)$",
            re.IGNORECASE,
        ),
        r"\1 owns \2",
    ),
    (re.compile(r"^(.+?)\s+(?:has |have )?divorced ((?-i:[A-Z]).+)$", re.IGNORECASE), r"\1 is married to \2"),
    (
        re.compile(r"^(.+?)\s+(?:has |have )?moved (?:out of|away from) ((?-i:[A-Z])[^,]+)$", re.IGNORECASE),
        r"\1 lives in \2",
    ),
)
_NOT_BUT: Final = re.compile(
    r"^(?P<subject>.+?)\s+(?P<verb>is|are|was|were)(?:n['’]t|\s+not|\s+no longer)\s+(?P<old>.+?)"
    r"(?:,?\s+but(?:\s+rather)?|[,;]\s*(?:it|they|he|she)"
    r"(?:['’]s|\s+is|\s+was|\s+are|\s+were))\s+(?P<new>.+)$",
    re.IGNORECASE,
)
# Who came in somebody's place: the role has another holder.
_REPLACED: Final = re.compile(
    r"^(?P<new>[A-Z][\w.'’ -]*?)\s+(?:has |have )?(?:replaced|replaces|succeeded|succeeds|took over from)\s+"
    r"(?P<old>[A-Z][\w.'’ -]*?)\s+as\s+(?:the\s+)?(?P<role>.+)$"
)
_PUT_IN: Final = re.compile(
    r"^(?P<owner>.+?)\s+(?:has |have )?(?:appointed|named|elected|promoted)\s+"
    r"(?P<new>[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3}?)\s+(?:as |to )?(?:its |the |their |our )?(?:new )?"
    rf"(?P<role>{ROLES})(?P<rest>\s.+)?$"
)
_SWAPPED: Final = re.compile(
    r"^(?P<who>.+?)\s+(?:has |have )?(?:replaced|swapped)\s+(?P<old>[A-Z][^,]*?)\s+(?:with|for|by)\s+"
    r"(?P<new>[A-Z][^,]*)$"
)
_REPLACED_BY: Final = re.compile(
    r"^(?P<old>[A-Z][\w.'’ -]*?)\s+(?:was|has been|is being)\s+(?:replaced|succeeded)\s+"
    r"(?:by\s+(?P<new>[A-Z][\w.'’ -]*?)\s+as\s+(?:the\s+)?(?P<role>.+)"
    r"|as\s+(?:the\s+)?(?P<post>.+?)\s+by\s+(?P<by>.+))$"
)
_DENIED: Final = re.compile(
    r"^(?P<new>.+?)\s*[,(–—]?\s*\b(?:and\s+)?(?:not|rather than|instead of|as opposed to|replacing|no longer)\s+"
    r"(?P<old>[^,()]+)\)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Plain:
    """A clause as it can be parsed, and what it said beside that."""

    text: str
    negated: bool = False
    adds: bool = False
    hearsay: bool = False


def plain(clause: str) -> Plain:
    """The clause without fillers, attributions and negation."""
    text = clause.strip().rstrip(".!").strip()
    said = _HEARSAY.match(text)
    if said:
        text = said["rest"]
    text = _SOURCE_FIRST.sub("", _ASIDE.sub(" ", text))
    text = _SCOPE_FIRST.sub(_scope_last, text)
    text = _LABELLED.sub(r"The \g<label> is \g<value>", text) if _labels(text) else text
    text = _COMPARED.sub("", _ATTRIBUTION.sub("", text)) or text
    adds = _ADDS.search(text) is not None
    text = _FILLER.sub(_comma_kept, _ADDS.sub("", text)).strip(" ,")
    text = _replaced(text)
    contrast = _NOT_BUT.match(text)
    if contrast:
        text = f"{contrast['subject']} {contrast['verb']} {contrast['new']}, not {contrast['old']}"
        return Plain(text, adds=adds, hearsay=said is not None)
    if (_DENIED.match(text) and ", not" in text) or re.search(r"\b(?:instead of|rather than)\b", text):
        return Plain(text, adds=adds, hearsay=said is not None)
    return _denegated(text, adds, hearsay=said is not None)


def _scope_last(match: re.Match[str]) -> str:
    """“The fee is $5 for members”, where “for members, the fee is $5” was said. A time stays where it is."""
    if re.search(DATE, match["scope"], re.IGNORECASE):
        return match[0]
    return f"{match['rest']} {match['scope'][:1].lower()}{match['scope'][1:]}"


def _replaced(text: str) -> str:
    """“Ben replaced Ana as the lead” tells who the lead is, and is no longer."""
    match = _REPLACED.match(text)
    if match:
        return f"The {match['role']} is {match['new']}, not {match['old']}"
    match = _PUT_IN.match(text)
    if match:
        of = "" if match["owner"].lower() in ("we", "they", "user") else f" of {match['owner']}"
        return f"The {match['role']}{of} is {match['new']}{match['rest'] or ''}"
    match = _SWAPPED.match(text)
    if match:
        return f"{match['who']} switched from {match['old']} to {match['new']}"
    match = _REPLACED_BY.match(text)
    return (
        f"The {match['role'] or match['post']} is {match['new'] or match['by']}, not {match['old']}" if match else text
    )


def _labels(text: str) -> bool:
    """Whether a line is a label and its value: “Marketing budget: $40,000”."""
    match = _LABELLED.match(text)
    return match is not None and (
        match["label"].split()[-1].lower() in ATTRIBUTES or match["value"][0] in "$€£0123456789"
    )


def _comma_kept(filler: re.Match[str]) -> str:
    """What is left of a filler: the comma behind it may be another part's."""
    return "," if filler[0].endswith(",") and not filler[0].startswith(",") else ""


def denials(value: str) -> tuple[str, list[str]]:
    """A value, and the values that the same words deny: “A, not B”."""
    denied: list[str] = []
    while match := _DENIED.match(value):
        denied.append(match["old"].strip(" ,"))
        value = match["new"].strip(" ,(")
    return value, denied


def _denegated(text: str, adds: bool, *, hearsay: bool) -> Plain:
    bare = _TRAILING_NOT.sub("", text)
    done = _DO_NOT.match(bare)
    if done:
        # What is not done is certainly a verb.
        return Plain(f"{done[1]} {third_person(done[2])}{done[3]}", negated=True, adds=adds, hearsay=hearsay)
    for pattern, put in _NEGATIONS:
        if pattern.match(bare):
            return Plain(pattern.sub(put, bare), negated=True, adds=adds, hearsay=hearsay)
    return Plain(text, adds=adds, hearsay=hearsay)

"""What an agent says when it has kept something, or has not: a sentence, and never a question."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from clew.memory.knowledge.extract.verbs import lemma
from clew.memory.knowledge.fact import EpisodeResult, Fact

NAMED_MAX: Final = 2
VALUE_MAX_CHARS: Final = 60
TEXT_MAX_CHARS: Final = 110
USER: Final = "user"

_DECLINED: Final = {
    "junk": "There was nothing in that to keep.",
    "secret": "I'm not keeping that: it looks like a password or a key.",
    "personal_data": "I'm not keeping that: it holds personal data.",
    "recalled": "I'm not keeping that again: it comes from what I had already.",
    "instruction": "I'm not keeping that as a fact: it reads like an instruction.",
    "duplicate": "I had that already.",
    "unreadable": "I'm not keeping that: I can't make it out.",
}
_TO_YOU: Final = (
    (re.compile(r"(?<!\w )\buser['’]s\b|\b(?:my|our)\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:mine|ours)\b", re.IGNORECASE), "yours"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "yourself"),
    (re.compile(r"\b(?:user|I|we)\s+(?:is|am|are)\b|\b(?:I['’]m|we['’]re)(?!\w)", re.IGNORECASE), "you are"),
    (re.compile(r"\b(?:user|I|we)\s+was\b", re.IGNORECASE), "you were"),
    (re.compile(r"\b(?:user|I|we)\s+has\b|\b(?:I['’]ve|we['’]ve)(?!\w)", re.IGNORECASE), "you have"),
    (re.compile(r"\b(?:user|I|we)\s+doesn['’]t\b", re.IGNORECASE), "you don't"),
    # “Type I” and “World War I” are nobody; US is a country.
    (re.compile(r"(?<!\w )\b[Uu]ser\b|(?:^|(?<=[,;:] )|(?<=\b[a-z]{2} )|(?<=\b[a-z]{4} ))I\b(?!['’.])"), "you"),
    (re.compile(r"\b[Ww]e\b|\bme\b|\bus\b"), "you"),
)
_VERB_OF_YOU: Final = {"is": "are", "was": "were", "has": "have"}
_TIMELY: Final = re.compile(r"\b(?:in|at|on|to|for|from|with|of|by|as|about)$")
_SMALL: Final = re.compile(r"^(?:The|An?|This|That|These|Those|It|There|All|Some|His|Her|Their|Its|You|Your)\b")
_ASKING: Final = re.compile(r"\?+(?=[\"'”’)]*(?:\s|$))")


def confirmation(result: EpisodeResult) -> str:
    """What was kept and replaced, as the agent would say it: “Got it, Q3 revenue is $5.2M now; I had $4.8M.”"""
    closed = {fact.fact_id: fact for fact in result.invalidated}
    new = [fact for fact in result.facts if _is_new(fact, result)]
    told = [fact for fact in new if not fact.superseded] or new
    if not told:
        return _nothing_new(result)
    said = _ordered([_said(fact, _before(fact, result.invalidated), len(told)) for fact in told])
    opening = "Got it" if closed else "Noted"
    return _sentence(opening, said)


def declined(reason: str) -> str:
    """What the agent says of something it does not keep, by the gate's reason."""
    return _DECLINED.get(reason, "I'm not keeping that.")


def _is_new(fact: Fact, result: EpisodeResult) -> bool:
    """Whether nobody else has said so. Told by its sources: two machines' clocks need not agree."""
    return all(source.undone or source.episode_id == result.episode.episode_id for source in fact.sources)


def _nothing_new(result: EpisodeResult) -> str:
    if result.invalidated:
        gone = _spoken(result.invalidated[0].text)
        more = len(result.invalidated) - 1
        return f"Got it, this no longer holds: {gone}{f', and {more} more' if more else ''}."
    return "I had that already." if result.facts else "There was nothing in that to keep."


def _before(fact: Fact, invalidated: Sequence[Fact]) -> Fact | None:
    """What was held instead: the same thing's other value."""
    if fact.negated or fact.subject is None:
        return None
    about = [one for one in invalidated if _same(one.subject, fact.subject) and one.object and not one.negated]
    return next((one for one in about if _same(one.predicate, fact.predicate)), about[0] if len(about) == 1 else None)


def _same(one: str | None, other: str | None) -> bool:
    return (one or "").casefold() == (other or "").casefold()


def _said(fact: Fact, before: Fact | None, among: int) -> tuple[str, bool]:
    """A fact in words, and whether it changed something."""
    if before is not None:
        had = _cut(_to_you(before.object or ""), VALUE_MAX_CHARS)
        later = fact.valid_at is not None and fact.valid_at > datetime.now(UTC)
        when = f" from {fact.valid_at:%Y-%m-%d} on" if later else " now"
        held = f"until then it is {had}" if later else f"I had {had}"
        return f"{_composed(fact)}{when}{',' if among > 1 else ';'} {held}", True
    plain = fact.negated or fact.subject is None or len(fact.text) <= TEXT_MAX_CHARS
    return (_spoken(fact.text) if plain else _composed(fact)), False


def _ordered(said: Sequence[tuple[str, bool]]) -> list[str]:
    """What changed comes first; each thing once."""
    return list(dict.fromkeys(text for text, _ in sorted(said, key=lambda one: not one[1])))


def _sentence(opening: str, said: Sequence[str]) -> str:
    named = list(said[:NAMED_MAX])
    more = len(said) - len(named)
    if more:
        named.append(f"and {more} more")
    joint = ", " if opening == "Got it" and len(said) == 1 else ": "
    return f"{opening}{joint}{'; '.join(named)}."


def _composed(fact: Fact) -> str:
    """A triple as a clause."""
    value = _cut(_to_you(fact.object or ""), VALUE_MAX_CHARS)
    verb = _verb(fact)
    if verb is None:
        return f"{_whose(fact)} {_cut(fact.predicate or '', VALUE_MAX_CHARS)} is {value}"
    who = _who(fact)
    if who == "you":
        first, *rest = verb.split()
        verb = " ".join([_VERB_OF_YOU.get(first) or lemma(first), *rest])
    elif verb == "is" and re.search(rf"{re.escape(fact.subject or '')}\s+(?:are|were)\b", fact.text, re.IGNORECASE):
        verb = "are"
    return f"{who} {verb} {value}"


def _verb(fact: Fact) -> str | None:
    """The predicate, where it is a verb; None where it names what is given a value."""
    predicate = fact.predicate or ""
    first = predicate.split()[0].lower() if predicate.split() else ""
    follows = f"{fact.subject} {predicate}".casefold() in fact.text.casefold()
    inflected = first in ("is", "are", "was", "were", "has", "have") or (
        first.endswith(("s", "ed", "ing")) and lemma(first) != first and _TIMELY.search(predicate) is not None
    )
    past = first.endswith("ed") and " " not in predicate
    return predicate if follows or inflected or past else None


def _who(fact: Fact) -> str:
    """The subject as it was told, with its article."""
    subject = fact.subject or ""
    if subject.casefold() in (USER, "i", "we"):
        return "you"
    match = re.search(rf"\b(the|our|my|this|his|her|their|its)\s+{re.escape(subject)}", fact.text, re.IGNORECASE)
    named = f"{match[1].lower()} {subject}" if match else subject
    return _cut(_to_you(named), VALUE_MAX_CHARS)


def _whose(fact: Fact) -> str:
    who = _who(fact)
    return "your" if who == "you" else f"{who}'" if who.endswith("s") else f"{who}'s"


def _spoken(text: str) -> str:
    """Somebody's sentence as a part of ours."""
    flat = _ASKING.sub("", " ".join(text.split()))
    small = _SMALL.sub(lambda word: word[0].lower(), _to_you(flat.rstrip(" .!;,")))
    return _cut(small, TEXT_MAX_CHARS)


def _to_you(text: str) -> str:
    """What the user says of themselves, said to them."""
    for pattern, put in _TO_YOU:
        text = pattern.sub(put, text)
    return text


def _cut(text: str, most: int) -> str:
    """A long text ends where it was cut, visibly."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return f"{flat[:most].rsplit(' ', 1)[0].rstrip(' ,;:.') if ' ' in flat[:most] else flat[:most]}…"

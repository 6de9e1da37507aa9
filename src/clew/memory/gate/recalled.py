"""What was recalled and comes round again: a text that says nothing beyond what the model was shown."""

from collections.abc import Iterable, Sequence
from typing import Final

from clew.memory.gate.folding import folded
from clew.memory.gate.saying import CURRENCY_CODES, Saying, sayings

RECALLED_MAX_CHARS: Final = 20_000
# One word may have moved on its own ("in Q3, revenue was …"). Two that did have changed places, and may have changed
# roles: "Ana reports to Bo" is not "Bo reports to Ana".
_LONE_WORDS_MAX: Final = 1
# A word that occurs more often than this in one sentence is looked at in its first places only; so are the sentences
# that share a content's rarest word.
_PLACES_MAX: Final = 8
_CANDIDATES_MAX: Final = 64
_PROBE_CHARS_MIN: Final = 2


def says_nothing_new(content: str, recalled: Sequence[str]) -> bool:
    """Whether every sentence of a content is in the recalled texts: the same words in the same or another order of
    clauses, with no new word, name, number or negation."""
    if not recalled:
        return False
    if content in recalled:
        return True
    told = dict.fromkeys(sayings(content))
    if not told:
        return False
    probes = [_probe(one) for one in told]
    shown = (text[:RECALLED_MAX_CHARS] for text in recalled if isinstance(text, str))
    known = dict.fromkeys(said for text in shown if _may_hold(text, probes) for said in sayings(text))
    if told.keys() <= known.keys():
        return True
    places = _by_token(known)
    return all(one in known or any(_covers(said, one) for said in _likely(one, places)) for one in told)


def _probe(told: Saying) -> str:
    """The beginning of its longest word, which a text that covers it must contain: looked for before a text is read,
    which takes a hundred times as long. Endings are left off because the words are stems."""
    longest = max(
        (token for token in told.tokens if token.isascii() and token.isalpha() and token not in CURRENCY_CODES),
        key=len,
        default="",
    )
    return longest[: max(_PROBE_CHARS_MIN, len(longest) - 2)]


def _may_hold(text: str, probes: list[str]) -> bool:
    plain = text.lower() if text.isascii() else folded(text).text.lower()
    return any(probe in plain for probe in probes)


def _by_token(known: Iterable[Saying]) -> dict[str, list[Saying]]:
    places: dict[str, list[Saying]] = {}
    for said in known:
        for token in said.bag:
            places.setdefault(token, []).append(said)
    return places


def _likely(told: Saying, places: dict[str, list[Saying]]) -> list[Saying]:
    """The sentences with its rarest word: a sentence that covers it has them all."""
    return min((places.get(token, []) for token in told.bag), key=len)[:_CANDIDATES_MAX]


def _covers(known: Saying, told: Saying) -> bool:
    if not told.bag <= known.bag or known.turns != told.turns or not _same_tense(known, told):
        return False
    stretches = _stretches(known.tokens, told.tokens)
    if len(stretches) == 1:
        return True
    if told.bag == known.bag:
        return len(told.tokens) > 2 and sum(len(stretch) == 1 for stretch in stretches) <= _LONE_WORDS_MAX
    # It leaves something out: a value behind the break may have been another one's ("Ana is in Oslo, Bo in Leeds").
    return all(len(stretch) > 1 and not stretch[0][0].isdigit() for stretch in stretches[1:])


def _same_tense(known: Saying, told: Saying) -> bool:
    return known.tenses == told.tenses or not known.tenses or not told.tenses


def _stretches(known: tuple[str, ...], told: tuple[str, ...]) -> list[tuple[str, ...]]:
    """`told`, cut into the longest stretches that occur in `known`."""
    places: dict[str, list[int]] = {}
    for at, token in enumerate(known):
        places.setdefault(token, []).append(at)
    found: list[tuple[str, ...]] = []
    at = 0
    while at < len(told):
        length = max(_shared(known, start, told, at) for start in places[told[at]][:_PLACES_MAX])
        found.append(told[at : at + length])
        at += length
    return found


def _shared(known: tuple[str, ...], start: int, told: tuple[str, ...], at: int) -> int:
    length = 0
    while start + length < len(known) and at + length < len(told) and known[start + length] == told[at + length]:
        length += 1
    return length

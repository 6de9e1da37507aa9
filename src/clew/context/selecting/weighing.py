"""Candidates of several stores in one order. Each store's own order stays; stores are weighed against each other."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from clew.context.selecting.found import Found

# A store's score says how its candidates compare with each other, and the best of a poor lot is still the best. So a
# store counts by how much of the question its best few cover, and the weakest keeps this much.
WEAKEST: Final = 0.4
BEST_FEW: Final = 5


def weighed(found: Iterable[Found], stems: Sequence[str]) -> list[Found]:
    """All candidates, best first, each once, as the first store has it; ties break on what they are."""
    once: dict[tuple[str, str], Found] = {}
    for one in found:
        once.setdefault(one.key, one)
    weight = _weights(list(once.values()), stems)
    by_store: dict[str, list[Found]] = {}
    for one in once.values():
        by_store.setdefault(one.store, []).append(one)
    strength = {store: _strength(several, weight) for store, several in by_store.items()}
    best = max(strength.values(), default=0.0)
    fair = {store: WEAKEST + (1 - WEAKEST) * (own / best if best else 1.0) for store, own in strength.items()}
    scored = [one.scored(one.score * fair[one.store]) for one in once.values()]
    return sorted(scored, key=lambda one: (-one.score, one.key))


def covered(stems: frozenset[str], weight: Mapping[str, float]) -> float:
    """How much of the question a text has words for, rare words counting most: 0…1."""
    whole = sum(weight.values())
    return sum(value for stem, value in weight.items() if stem in stems) / whole if whole else 0.0


def _weights(found: Sequence[Found], stems: Sequence[str]) -> dict[str, float]:
    texts = [one.stems() for one in found]
    having = Counter(stem for text in texts for stem in text if stem in set(stems))
    return {stem: math.log1p((len(texts) - having[stem] + 0.5) / (having[stem] + 0.5)) for stem in stems}


def _strength(several: Sequence[Found], weight: Mapping[str, float]) -> float:
    few = sorted(several, key=lambda one: -one.score)[:BEST_FEW]
    return max(covered(one.stems(), weight) for one in few)

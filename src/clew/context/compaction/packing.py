"""Details in as few tokens as they take: what no sentence of a summary has said."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from clew.context.compaction.haystack import Haystack, folded
from clew.context.compaction.probes import Probe
from clew.context.compaction.summary import Line
from clew.tokens import count

SEPARATOR_TOKENS: Final = 1
# "[12]; " behind the details of one message.
PLACE_TOKENS: Final = 4
HEADING_TOKENS: Final = 3


class Packing:
    """The details that are still to be said, and what that costs in the room there is.

    Each is shown with its message while all of them fit so; in a thread of one-line messages the places alone would
    cost more than what they point to.
    """

    def __init__(self, wanted: Sequence[tuple[Probe, int]], room: int) -> None:
        self._wanted = dict(wanted)
        self._cost = {probe: count(f" {probe.text}") + SEPARATOR_TOKENS for probe in self._wanted}
        self._covered: set[Probe] = set()
        places = PLACE_TOKENS * len(set(self._wanted.values()))
        bare = HEADING_TOKENS + sum(self._cost.values()) if self._wanted else 0
        self._placed = bare + places <= room
        self.tokens = bare + places if self._placed else bare
        """What packing everything would cost, about."""

    def refund(self, probes: Collection[Probe]) -> int:
        """What need not be packed when these are said elsewhere."""
        return sum(self._cost[probe] for probe in probes if probe in self._cost and probe not in self._covered)

    def cover(self, probes: Iterable[Probe]) -> None:
        """These are said elsewhere."""
        self._covered.update(probes)

    def lines(self, words: str, room: int) -> tuple[Line, ...]:
        """The details that the words lack, oldest first, so many of the newest as fit."""
        spoken = Haystack(words)
        lacking = [one for one in self._wanted.items() if not spoken.has(one[0].kind, one[0].text)]
        left = _longest(lacking)
        kept: list[Line] = []
        places: set[int] = set()
        room -= HEADING_TOKENS
        for probe, place in reversed(left):
            room -= self._cost[probe] + (PLACE_TOKENS if self._placed and place not in places else 0)
            if room < 0:
                break
            places.add(place)
            kept.append(Line(probe.text, (place,) if self._placed and place else ()))
        kept.reverse()
        return tuple(sorted(kept, key=lambda line: line.positions))


def _longest(left: Sequence[tuple[Probe, int]]) -> list[tuple[Probe, int]]:
    """Without those that stand inside another: a file's name in its path, an amount in the same amount with a unit."""
    once = {folded(probe.text): (probe, place) for probe, place in left}
    together = Haystack("\n".join(once))
    return [one for text, one in once.items() if together.times(text) < 2]

"""What a thread was last about, so that a follow-up on it looks nothing up again.

Ids and numbers only, never a text: what is shown is read anew every time, so what was forgotten is not shown.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.selecting.found import Found
from clew.context.selecting.selection import SHOWN
from clew.memory.analysis import content_stems

TOPICS_MAX: Final = 10_000
# This share of a follow-up's words must be the topic's own; the rest may be words of what was found.
OWN_SHARE: Final = 0.5

# Words of follow-ups that ask for more of the same, and name nothing that could be found.
_MORE_WORDS: Final = """
    tell more detail details explain elaborate figure number value amount final sure certain exact exactly again mean
    high low big small much many say said repeat clarify correct right accurate true real reason source know think sound
    possible okay look compare bad good happen come
"""
_ADD_NOTHING: Final = frozenset(content_stems(_MORE_WORDS.split()))


@dataclass(frozen=True, slots=True)
class Kept:
    """One candidate of a topic: where to read it again, and its score."""

    kind: str
    id: str
    score: float
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """What was asked and found, and the state of the stores at that time."""

    own: frozenset[int]
    around: frozenset[int]
    kept: tuple[Kept, ...]
    sources: tuple[tuple[str, int], ...]
    hidden_through: int
    snapshot: str
    """The transactions that were seen: what any other writes is new."""

    def holds(self, stems: Sequence[str], hidden_through: int) -> bool:
        """Whether a question is about the same, with the same part of the thread out of sight."""
        asked = _numbers(stem for stem in stems if stem not in _ADD_NOTHING)
        if not asked or hidden_through != self.hidden_through:
            return False
        own = len(asked & self.own)
        return asked <= self.own | self.around and own >= len(asked) * OWN_SHARE


class Topics:
    """The last topic of each thread, as many as fit; the ones not asked about for longest go first."""

    def __init__(self, most: int = TOPICS_MAX) -> None:
        self._most = most
        self._topics: OrderedDict[tuple[str, str], Topic] = OrderedDict()

    def get(self, tenant_id: str, thread_id: str) -> Topic | None:
        """What the thread was last about."""
        return self._topics.get((tenant_id, thread_id))

    def keep(self, tenant_id: str, thread_id: str, topic: Topic) -> None:
        """From now on the thread is about this."""
        self._topics[tenant_id, thread_id] = topic
        self._topics.move_to_end((tenant_id, thread_id))
        while len(self._topics) > self._most:
            self._topics.popitem(last=False)

    def remembers(self, tenant_id: str) -> int:
        """How many of a tenant's threads have a topic here."""
        return sum(key[0] == tenant_id for key in self._topics)

    def forget_tenant(self, tenant_id: str) -> None:
        """Nothing is known of a tenant's threads any more."""
        for key in [key for key in self._topics if key[0] == tenant_id]:
            del self._topics[key]


def topic_of(
    stems: Sequence[str], found: Sequence[Found], sources: dict[str, int], hidden_through: int, snapshot: str
) -> Topic:
    """A topic from what was asked, and what was found of it."""
    around = _numbers(stem for one in found[:SHOWN] for stem in one.stems())
    kept = tuple(Kept(one.memory.kind, one.memory.memory_id, one.score, one.position) for one in found)
    return Topic(_numbers(stems), around, kept, tuple(sources.items()), hidden_through, snapshot)


def _numbers(stems: Iterable[str]) -> frozenset[int]:
    """Words as numbers from which nobody can read them back."""
    return frozenset(hash(stem) for stem in stems)

"""Entries as the ranker reads them, kept from one search to the next."""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from clew.memory.analysis import first_person, stem, tells_time, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.models import StaticEmbedder

# About 50 MB of words with their vectors, and half as much of vectors of whole entries.
LEXICON_MAX_WORDS: Final = 50_000
READINGS_MAX: Final = 20_000
READINGS_MAX_WORDS: Final = 4_000_000

_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]*")
STOPPED: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the ranker needs of one entry. `thread` is None for an entry that stands alone."""

    seq: int
    agent_id: str
    thread: str | None
    place: float
    speaker: str | None
    speaker_key: str | None
    month: tuple[int, int] | None
    words: "NDArray[np.int32]"
    distinct: int
    first_person: bool
    tells_time: bool
    asks: bool
    asked_share: float
    vector: "NDArray[np.float32] | None"
    static: "NDArray[np.float32] | None"


class Lexicon:
    """A number for each word met, and by that number its stem's number and its vector."""

    def __init__(self, static: "StaticEmbedder") -> None:
        self._static = static
        self._lock = threading.Lock()
        self._word_ids: dict[str, int] = {}
        self._stem_ids: dict[str, int] = {}
        self._stems = np.empty(1024, np.int32)
        self._vectors = np.zeros((1024, static.dimensions), np.float32)

    def __len__(self) -> int:
        return len(self._word_ids)

    @property
    def stems(self) -> "NDArray[np.int32]":
        """Each word's stem; `STOPPED` for a stop word."""
        return self._stems

    @property
    def vectors(self) -> "NDArray[np.float32]":
        """Each word's unit vector; zero for a stop word, which says nothing."""
        return self._vectors

    def numbers(self, text_words: Sequence[str]) -> "NDArray[np.int32]":
        """The words' numbers, in order; new words are learnt."""
        with self._lock:
            self._learn(text_words)
            known = self._word_ids
            return np.fromiter((known[word] for word in text_words), np.int32, len(text_words))

    def learn(self, text_words: Iterable[str]) -> None:
        """Give numbers to the words that have none yet."""
        with self._lock:
            self._learn(text_words)

    def stem_number(self, found: str) -> int:
        """A stem's number, or one that no word has."""
        return self._stem_ids.get(found, STOPPED - 1)

    def _learn(self, text_words: Iterable[str]) -> None:
        if fresh := [word for word in dict.fromkeys(text_words) if word not in self._word_ids]:
            self._add(fresh)

    def _add(self, fresh: list[str]) -> None:
        start, end = len(self._word_ids), len(self._word_ids) + len(fresh)
        if end > len(self._stems):
            size = max(end, 2 * len(self._stems))
            # New arrays, never resized ones: a search in another thread goes on with those it has.
            self._stems = np.concatenate([self._stems[:start], np.empty(size - start, np.int32)])
            self._vectors = np.concatenate(
                [self._vectors[:start], np.zeros((size - start, self._vectors.shape[1]), np.float32)]
            )
        stems = [stem(word) for word in fresh]
        said = [row for row, found in enumerate(stems) if found is not None]
        if said:
            rows = self._static.word_vectors([fresh[row] for row in said])
            self._vectors[[start + row for row in said]] = rows
        for row, (word, found) in enumerate(zip(fresh, stems, strict=True), start):
            self._stems[row] = STOPPED if found is None else self._stem_ids.setdefault(found, len(self._stem_ids))
            self._word_ids[word] = row


class Reader:
    """Readings by entry and revision, the ones used last. They hold nothing that another revision would change."""

    def __init__(self, static: "StaticEmbedder") -> None:
        self.static = static
        self.lexicon = Lexicon(static)
        self._kept: OrderedDict[tuple[str, str, int, int], Reading] = OrderedDict()
        self._kept_words = 0
        # Searches read in threads.
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        """Whether the lexicon has grown past its limit: a new reader starts with an empty one."""
        return len(self.lexicon) > LEXICON_MAX_WORDS

    def remembers(self, tenant_id: str) -> int:
        """Of how many of a tenant's entries there are readings."""
        with self._lock:
            return sum(key[0] == tenant_id for key in self._kept)

    def kept(self, tenant_id: str, space: str, revisions: dict[int, int]) -> dict[int, Reading]:
        """The readings there are, by entry."""
        found = {}
        with self._lock:
            for seq, revision in revisions.items():
                key = (tenant_id, space, seq, revision)
                if (reading := self._kept.get(key)) is not None:
                    self._kept.move_to_end(key)
                    found[seq] = reading
        return found

    def read(self, tenant_id: str, space: str, rows: Iterable[Sequence[Any]]) -> dict[int, Reading]:
        """Readings of rows that the statement `texts` gave, kept for the next search."""
        rows = list(rows)
        vectors = [_half(row[-1]) for row in rows]
        statics = vectors if space == self.static.name else self._static_vectors([row[-2] for row in rows])
        texts = [words(row[-2]) for row in rows]
        # All at once: a call of the model for each entry took 170 µs an entry, three times all the rest.
        self.lexicon.learn(word for text in texts for word in text)
        found: dict[tuple[str, str, int, int], Reading] = {}
        for row, text, vector, static in zip(rows, texts, vectors, statics, strict=True):
            found[tenant_id, space, row[0], row[1]] = self._reading(row, text, vector, static)
        self._keep(found)
        return {reading.seq: reading for reading in found.values()}

    def _keep(self, found: "dict[tuple[str, str, int, int], Reading]") -> None:
        with self._lock:
            for key, reading in found.items():
                if key not in self._kept:
                    self._kept_words += len(reading.words)
                self._kept[key] = reading
            while len(self._kept) > READINGS_MAX or self._kept_words > READINGS_MAX_WORDS:
                _, oldest = self._kept.popitem(last=False)
                self._kept_words -= len(oldest.words)

    def _static_vectors(self, contents: list[str]) -> "list[NDArray[np.float32] | None]":
        return list(self.static.word_vectors(contents)) if contents else []

    def _reading(
        self,
        row: Sequence[Any],
        text_words: list[str],
        vector: "NDArray[np.float32] | None",
        static: "NDArray[np.float32] | None",
    ) -> Reading:
        seq, _, agent_id, thread, place, speaker, speaker_key, occurred_at, content, _ = row
        numbers = self.lexicon.numbers(text_words)
        stems = self.lexicon.stems[numbers]
        when: datetime | None = occurred_at.astimezone(UTC) if occurred_at else None
        return Reading(
            seq=seq,
            agent_id=agent_id,
            thread=thread,
            place=place,
            speaker=speaker,
            speaker_key=speaker_key,
            month=(when.year, when.month) if when else None,
            words=numbers,
            distinct=len({*stems.tolist()} - {STOPPED}),
            first_person=first_person(text_words),
            tells_time=tells_time(content),
            asks="?" in content,
            asked_share=_asked_share(content) if "?" in content else 0.0,
            vector=vector,
            static=static,
        )


def _half(sent: bytes | None) -> "NDArray[np.float32] | None":
    """A halfvec as PostgreSQL sends it: two bytes of dimension, two unused, then the numbers, high byte first."""
    return None if sent is None else np.frombuffer(sent, ">f2", offset=4).astype(np.float32)


def _asked_share(content: str) -> float:
    """How much of a text is questions, by its characters."""
    sentences = _SENTENCE.findall(content)
    return sum(len(one) for one in sentences if "?" in one) / max(sum(map(len, sentences)), 1)

"""Entries laid out as one array of words, thread after thread, so that an entry's surroundings are a slice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clew.memory.reading import STOPPED, Lexicon, Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """For each row the words from `low` up to `high`."""

    low: "Ints"
    high: "Ints"


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Rows in order. A run is rows that follow each other in one thread; a group is all the rows of one thread."""

    rows: Sequence[Reading]
    run: "Ints"
    group: "Ints"
    words: "NDArray[np.int32]"
    stems: "NDArray[np.int32]"
    start: "Ints"
    end: "Ints"
    run_start: "Ints"
    run_end: "Ints"
    content_before: "Ints"

    @property
    def own(self) -> Window:
        """Each row's own words."""
        return Window(self.start, self.end)

    def widened(self, size_words: int) -> Window:
        """Each row with words of its neighbours in the run, half from each side, until it has `size_words`.

        Short turns borrow much, long messages nothing: what a turn says is often half said by the one before.
        """
        need = np.maximum(0, size_words - (self.end - self.start))
        before, after = self.start - self.run_start, self.run_end - self.end
        left = np.minimum(need // 2, before)
        right = np.minimum(need - need // 2, after)
        # What one side lacks the other may give.
        return Window(
            self.start - np.minimum(before, need - right),
            self.end + np.minimum(after, need - left),
        )

    def lengths(self, window: Window) -> "Floats":
        """How many words that say something each window holds."""
        return (self.content_before[window.high] - self.content_before[window.low]).astype(np.float64)

    def counts(self, stem_number: int, window: Window) -> "Floats":
        """How often a stem is in each window."""
        before = np.concatenate([[0], np.cumsum(self.stems == stem_number)])
        counted: Floats = (before[window.high] - before[window.low]).astype(np.float64)
        return counted

    def blended(self, vectors: "NDArray[np.float32]", window: Window) -> "NDArray[np.float32]":
        """A unit vector for each window: the rows' vectors, each by the number of its words inside."""
        size = (self.end - self.start).astype(np.float32)
        before = np.zeros((len(size) + 1, vectors.shape[1]), np.float32)
        np.cumsum(vectors * size[:, None], axis=0, out=before[1:])
        first = np.searchsorted(self.end, window.low, side="right")
        last = np.searchsorted(self.start, window.high, side="left")
        first, last = np.minimum(first, len(size) - 1), np.maximum(last, first)
        total = before[last] - before[first]
        # The rows at the two ends may lie only partly inside.
        total -= vectors[first] * np.clip(window.low - self.start[first], 0, size[first])[:, None]
        final = np.maximum(last - 1, 0)
        total -= vectors[final] * np.clip(self.end[final] - window.high, 0, size[final])[:, None]
        norm = np.linalg.norm(total, axis=1, keepdims=True)
        return np.where(norm > 1e-6, total / np.maximum(norm, 1e-6), vectors)


def lay_out(rows: Sequence[Reading], follows: "Sequence[bool] | None", lexicon: Lexicon) -> Stream:
    """The rows as a stream. They come in the order of their threads; `follows` says of each whether it comes right
    after the row before it, where some rows of a thread are missing."""
    run, group = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    threads: dict[tuple[str, str], int] = {}
    for n, row in enumerate(rows):
        before = rows[n - 1] if n else None
        same = before is not None and row.thread is not None
        same = same and before is not None and (before.thread, before.agent_id) == (row.thread, row.agent_id)
        run[n] = run[n - 1] if same and (follows is None or follows[n]) else (run[n - 1] + 1 if n else 0)
        key = (row.agent_id, row.thread) if row.thread is not None else ("", f"\0{n}")
        group[n] = threads.setdefault(key, len(threads))
    lengths = np.fromiter((len(row.words) for row in rows), np.int64, len(rows))
    end = np.cumsum(lengths)
    start = end - lengths
    words = np.concatenate([row.words for row in rows]) if rows else np.empty(0, np.int32)
    stems = lexicon.stems[words]
    first_of_run = np.concatenate([[True], run[1:] != run[:-1]])
    starts, ends = start[first_of_run], end[np.concatenate([first_of_run[1:], [True]])]
    content = np.concatenate([[0], np.cumsum(stems != STOPPED)])
    return Stream(rows, run, group, words, stems, start, end, starts[run], ends[run], content)

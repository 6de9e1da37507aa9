"""The ranker: one sum of terms with fixed weights. Frozen data in, scores out; equal inputs give equal scores.

Each term is scaled to 0…1 over the candidates of the question, so that a weak term can't drown a strong one: fusing
ranks instead falls below BM25 alone when one side is weak. docs/decisions/0007-memory-search.md has the figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from clew.memory.analysis import stem
from clew.memory.question import Question
from clew.memory.reading import STOPPED, Lexicon
from clew.memory.stream import Stream, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# How far an entry is widened with words of its neighbours: for words, and for meaning.
WORDS_WINDOW: Final = 160
MEANING_WINDOW: Final = 60
# A word of a neighbour counts this much of an own word.
NEIGHBOUR_SHARE: Final = 0.7
# Longer entries match anything somewhere: from this many distinct words on, the match of single words is divided.
LONG_ENTRY_WORDS: Final = 30
LONG_ENTRY_SLOPE: Final = 60
SHORT_ENTRY_WORDS: Final = 30
K1: Final = 1.2
# Differences below this are not blown up to the whole scale: of entries that say nearly the same, none is the best by
# far. On conversations the spread is several times as large.
LEAST_SPREAD: Final = 0.25
# How many multiplications one product may take before BLAS would share it out among threads.
PRODUCT_MAX_CELLS: Final = 200_000
USER_ROLES: Final = frozenset({"user", "human"})

WEIGHTS: Final[Mapping[str, float]] = {
    "words": 1.3,  # BM25 of the widened entry
    "pairs": 0.6,  # BM25 of neighbouring words
    "meaning": 2.0,  # cosine of the widened entry
    "own_meaning": 0.5,  # cosine of the entry alone
    "word_meaning": 1.4,  # each word of the question to its nearest word
    "thread_words": 0.45,  # BM25 of the whole thread
    "thread_meaning": 0.4,  # the thread's best match of words
    "speaker": 1.0,  # said by the one whom the question is about
    "date": 2.0,  # in the month that the question names
    "time": 0.9,  # tells a time, when a time is asked for
    "first_person": 0.3,  # speaks of oneself
    "answer": 0.5,  # follows a question that matches
    "asking": -0.4,  # is itself a question
    "length": 0.25,  # long enough to say something
}
# With another model than the static one, its vectors take most of the weight of meaning.
OTHER_SPACE_WEIGHTS: Final[Mapping[str, float]] = {
    **WEIGHTS,
    "meaning": 0.4,
    "own_meaning": 0.0,
    "space_meaning": 2.4,
    "own_space_meaning": 0.4,
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the whole tenant: how many entries there are, and how many hold each term of the question."""

    entries: int
    frequency: Mapping[str, int]

    def weight(self, term: str) -> float:
        """The inverse document frequency as Lucene has it."""
        having = self.frequency.get(term, 0)
        return float(np.log1p((max(self.entries, having) - having + 0.5) / (having + 0.5)))


@dataclass(frozen=True, slots=True, eq=False)
class QueryVectors:
    """The question in the static space, and in the tenant's when that is another one."""

    static: "NDArray[np.float32]"
    space: "NDArray[np.float32] | None"


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """For each row its score, 0…1, and the terms that made it."""

    total: "Floats"
    terms: "Mapping[str, Floats]"


def score(
    question: Question,
    stream: Stream,
    chosen: "NDArray[np.bool_]",
    statistics: Statistics,
    vectors: QueryVectors,
    lexicon: Lexicon,
) -> Scores:
    """Every row's score. Terms are scaled over the `chosen` rows; the others are there as their neighbours."""
    weights = WEIGHTS if vectors.space is None else OTHER_SPACE_WEIGHTS
    terms = _terms(question, stream, chosen, statistics, vectors, lexicon)
    raw = sum((weight * terms[name] for name, weight in weights.items()), np.zeros(len(stream.rows)))
    lowest = sum(weight for weight in weights.values() if weight < 0)
    # What no entry has, such as the month when none is asked for, is no entry's fault.
    possible = [name for name, values in terms.items() if values[chosen].max(initial=0.0) > 0]
    highest = sum(max(weights[name], 0.0) for name in possible)
    return Scores(np.clip((raw - lowest) / max(highest - lowest, 1e-9), 1e-6, 1.0), terms)


def _terms(
    question: Question,
    stream: Stream,
    chosen: "NDArray[np.bool_]",
    statistics: Statistics,
    vectors: QueryVectors,
    lexicon: Lexicon,
) -> "dict[str, Floats]":
    def scaled(values: "Floats") -> "Floats":
        return min_max(values, chosen)

    wide, near = stream.widened(WORDS_WINDOW), stream.widened(MEANING_WINDOW)
    weights = np.array([statistics.weight(term) for term in question.stems])
    numbers = [lexicon.stem_number(term) for term in question.stems]
    counted = np.array([stream.counts(number, wide) for number in numbers]).reshape(len(numbers), len(stream.rows))
    alone, widened = word_matches(question, stream, near, statistics, lexicon)
    user_speaks = any(row.speaker_key in USER_ROLES for row in stream.rows)
    terms = {
        "words": scaled(bm25(counted, stream.lengths(wide), weights, b=1.0)),
        "pairs": scaled(_pair_scores(question, stream, statistics, lexicon)),
        "word_meaning": scaled(widened),
        "thread_words": scaled(_thread_scores(stream, numbers, user_speaks)),
        "thread_meaning": scaled(_best_of_group(stream, widened)),
        "speaker": _spoken(question, stream, user_speaks),
        "date": np.array([_dated(question, row.month) for row in stream.rows], np.float64),
        "time": np.array([question.asks_when and row.tells_time for row in stream.rows], np.float64),
        "first_person": np.array([row.first_person for row in stream.rows], np.float64),
        "answer": _answers(stream, scaled(alone)),
        "asking": np.array([row.asked_share for row in stream.rows]),
        "length": np.minimum(stream.end - stream.start, SHORT_ENTRY_WORDS) / SHORT_ENTRY_WORDS,
    }
    static = _matrix([row.static for row in stream.rows], len(vectors.static))
    terms["meaning"] = scaled(_along(stream.blended(static, near), vectors.static))
    terms["own_meaning"] = scaled(_along(static, vectors.static))
    if vectors.space is not None:
        held = _matrix([row.vector for row in stream.rows], len(vectors.space))
        terms["space_meaning"] = scaled(_along(stream.blended(held, near), vectors.space))
        terms["own_space_meaning"] = scaled(_along(held, vectors.space))
    return terms


def min_max(values: "Floats", chosen: "NDArray[np.bool_]", least_spread: float = LEAST_SPREAD) -> "Floats":
    """The values scaled to 0…1 over the chosen rows; values that are nearly alike stay so."""
    if not chosen.any():
        return np.zeros_like(values)
    low, high = values[chosen].min(), values[chosen].max()
    scaled: Floats = np.clip((values - low) / max(float(high - low), least_spread), 0, 1)
    return scaled


def bm25(counts: "Floats", lengths: "Floats", weights: "Floats", *, b: float) -> "Floats":
    """BM25 of each column: `counts` has a row for each term."""
    relative = lengths / max(float(lengths.mean()), 1e-9) if len(lengths) else lengths
    parts = weights[:, None] * counts * (K1 + 1) / (counts + K1 * (1 - b + b * relative) + 1e-12)
    total: Floats = parts.sum(axis=0)
    return total


def word_matches(
    question: Question, stream: Stream, near: Window, statistics: Statistics, lexicon: Lexicon
) -> "tuple[Floats, Floats]":
    """How near each row has a word to each word of the question: its own words only, and with its neighbours'."""
    nothing = np.zeros(len(stream.rows))
    topic = question.topic
    if not topic or not len(stream.words):
        return nothing, nothing
    stems = [stem(word) or "" for word in topic]
    shares = np.array([statistics.weight(found) for found in stems])
    shares /= shares.sum()
    # A count and a look-up table find the distinct words in a fifth of the time that sorting takes.
    seen = np.flatnonzero(np.bincount(stream.words))
    place = np.empty(int(seen[-1]) + 1, np.int64)
    place[seen] = np.arange(len(seen))
    numbers = lexicon.numbers(topic)  # first: new words give the lexicon new arrays
    asked = lexicon.vectors[numbers]
    near_by = _products(asked, lexicon.vectors[seen])
    said = lexicon.stems[seen]
    for row, found in enumerate(stems):
        near_by[row, said == lexicon.stem_number(found)] = 1.0
    background = float(shares @ near_by[:, said != STOPPED].mean(axis=1)) if (said != STOPPED).any() else 0.0
    near_by[:, said == STOPPED] = 0.0
    # A column of zeros at the end, so that a window may end there.
    flat = np.concatenate([near_by[:, place[stream.words]], np.zeros((len(topic), 1), np.float32)], axis=1)
    own, wide = _best_in(flat, stream.own), _best_in(flat, near)
    divisor = 1 + np.maximum(0, np.array([row.distinct for row in stream.rows]) - LONG_ENTRY_WORDS) / LONG_ENTRY_SLOPE
    alone = (shares @ own - background) / divisor
    return alone, (shares @ np.maximum(own, NEIGHBOUR_SHARE * wide) - background) / divisor


def _along(rows: "NDArray[np.float32]", direction: "NDArray[np.float32]") -> "Floats":
    """Each row's product with one vector; einsum, like `_products`, asks no threads."""
    along: Floats = np.einsum("nd,d->n", rows, direction).astype(np.float64)
    return along


def _products(asked: "NDArray[np.float32]", rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """`asked @ rows.T`, a piece at a time: below the size at which BLAS wakes threads, which wait on a busy machine."""
    found = np.empty((len(asked), len(rows)), np.float32)
    step = max(1, PRODUCT_MAX_CELLS // max(asked.size, 1))
    for start in range(0, len(rows), step):
        np.matmul(asked, rows[start : start + step].T, out=found[:, start : start + step])
    return found


def _best_in(flat: "NDArray[np.float32]", window: Window) -> "Floats":
    """The largest value of each row of `flat` within each window."""
    # reduceat reduces between neighbours in its list of places: each window's own pair, and between two windows.
    places = np.stack([window.low, window.high], axis=1).ravel()
    best = np.maximum.reduceat(flat, places, axis=1)[:, ::2]
    return np.where(window.high > window.low, np.maximum(best, 0), 0).astype(np.float64)


def _pair_scores(question: Question, stream: Stream, statistics: Statistics, lexicon: Lexicon) -> "Floats":
    """BM25 over neighbouring stems, in either order, of each row's own words."""
    said = stream.stems != STOPPED
    stems, row_of = stream.stems[said], np.repeat(np.arange(len(stream.rows)), stream.end - stream.start)[said]
    lengths = np.maximum(np.bincount(row_of, minlength=len(stream.rows)) - 1, 0).astype(np.float64)
    counts, weights = [], []
    for first, second in sorted(question.pairs):
        one, other = lexicon.stem_number(first), lexicon.stem_number(second)
        meet = (row_of[1:] == row_of[:-1]) & (
            ((stems[:-1] == one) & (stems[1:] == other)) | ((stems[:-1] == other) & (stems[1:] == one))
        )
        count = np.bincount(row_of[1:][meet], minlength=len(stream.rows)).astype(np.float64)
        counts.append(count)
        weights.append(Statistics(statistics.entries, {"pair": int((count > 0).sum())}).weight("pair"))
    if not counts:
        return np.zeros(len(stream.rows))
    return bm25(np.array(counts), lengths, np.array(weights), b=0.9)


def _thread_scores(stream: Stream, numbers: Sequence[int], user_speaks: bool) -> "Floats":
    """BM25 of the thread that each row is in; of the user's part of it, where there is a user."""
    counted = np.array([not user_speaks or row.speaker_key in USER_ROLES for row in stream.rows], np.float64)
    groups = int(stream.group.max()) + 1 if len(stream.rows) else 0
    lengths = np.bincount(stream.group, stream.lengths(stream.own) * counted, groups).astype(np.float64)
    counts = np.array(
        [np.bincount(stream.group, stream.counts(number, stream.own) * counted, groups) for number in numbers]
    ).reshape(len(numbers), groups)
    having = (counts > 0).sum(axis=1)
    weights = np.log1p((groups - having + 0.5) / (having + 0.5))
    scores: Floats = bm25(counts, lengths, weights, b=0.75)[stream.group]
    return scores


def _best_of_group(stream: Stream, values: "Floats") -> "Floats":
    best = np.full(int(stream.group.max()) + 1 if len(values) else 0, -np.inf)
    np.maximum.at(best, stream.group, values)
    found: Floats = best[stream.group]
    return found


def _spoken(question: Question, stream: Stream, user_speaks: bool) -> "Floats":
    about = question.about
    if about is not None:
        return np.array([row.speaker_key == about for row in stream.rows], np.float64)
    if user_speaks and not question.named:
        return np.array([row.speaker_key in USER_ROLES for row in stream.rows], np.float64)
    return np.zeros(len(stream.rows))


def _dated(question: Question, month: tuple[int, int] | None) -> bool:
    return month is not None and any(asked.holds(*month) for asked in question.months)


def _answers(stream: Stream, matches: "Floats") -> "Floats":
    """How well the question just before, by somebody else, matches: an answer need not repeat its words."""
    found = np.zeros(len(stream.rows))
    for n, (before, row) in enumerate(pairwise(stream.rows), 1):
        if before.asks and stream.run[n] == stream.run[n - 1] and before.speaker != row.speaker:
            found[n] = matches[n - 1]
    return found


def _matrix(vectors: "Sequence[NDArray[np.float32] | None]", dimensions: int) -> "NDArray[np.float32]":
    """The vectors as rows; an entry that has none in this space is near nothing."""
    none = np.zeros(dimensions, np.float32)
    return (
        np.stack([none if one is None else one for one in vectors])
        if vectors
        else np.empty((0, dimensions), np.float32)
    )

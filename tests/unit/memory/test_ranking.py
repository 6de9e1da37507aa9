"""The ranker over rows made by hand."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.memory.analysis import content_stems, words
from clew.memory.question import Question
from clew.memory.ranking import OTHER_SPACE_WEIGHTS, WEIGHTS, QueryVectors, Statistics, min_max, score
from clew.memory.reading import Reader
from clew.memory.stream import lay_out
from clew.models import StaticEmbedder

STATIC = StaticEmbedder()


def row(seq, content, *, thread=None, place=0, speaker=None, when=None):
    vector = bytes(4) + STATIC.word_vectors([content])[0].astype(">f2").tobytes()
    return (seq, 1, "agent", thread, float(place), speaker, speaker and speaker.lower(), when, content, vector)


def ranked(query, rows, *, space=None):
    reader = Reader(STATIC)
    readings = list(reader.read("t", STATIC.name if space is None else "other", rows).values())
    stream = lay_out(readings, None, reader.lexicon)
    frequency: dict[str, int] = {}
    for one in rows:
        for term in set(content_stems(words(one[8]))):
            frequency[term] = frequency.get(term, 0) + 1
    question = Question.read(query).naming({one[6] for one in rows if one[6]})
    vectors = QueryVectors(STATIC.word_vectors([question.without_names])[0], space)
    chosen = np.ones(len(rows), bool)
    scores = score(question, stream, chosen, Statistics(len(rows), frequency), vectors, reader.lexicon)
    return scores, [rows[n][0] for n in np.argsort(-scores.total, kind="stable")]


TALK = [
    row(0, "Hey Ana! How was the trip?", thread="1", place=0, speaker="Bob"),
    row(1, "Great, we saw whales near the coast", thread="1", place=1, speaker="Ana"),
    row(2, "My sister bakes bread every Sunday", thread="1", place=2, speaker="Bob"),
    row(3, "What is your favourite painter?", thread="2", place=0, speaker="Bob"),
    row(4, "Vermeer, without a doubt", thread="2", place=1, speaker="Ana"),
    row(5, "Mine bakes cakes", thread="2", place=2, speaker="Ana"),
]


def test_words_in_common_win():
    assert ranked("Who saw whales?", TALK)[1][0] == 1


def test_an_answer_is_found_by_the_question_before_it():
    assert ranked("What is Ana's favourite painter?", TALK)[1][0] == 4


def test_the_one_whom_the_question_is_about_comes_first():
    assert ranked("What does Ana's sister bake?", TALK)[1][0] in (2, 5)
    scores, _ = ranked("What does Bob bake?", TALK)
    assert scores.terms["speaker"].tolist() == [1, 0, 1, 1, 0, 0]


def test_the_month_that_the_question_names_counts():
    rows = [row(n, "We went to the fair", thread=str(n), when=datetime(2023, n + 1, 5, tzinfo=UTC)) for n in range(6)]
    assert ranked("What happened in April 2023 at the fair?", rows)[1][0] == 3


def test_plain_facts_without_metadata_are_ranked():
    rows = [
        row(n, text) for n, text in enumerate(["Ana drinks tea", "The office is in Oslo", "Invoices are due in May"])
    ]
    assert ranked("where is the office?", rows)[1][0] == 1
    assert ranked("what does Ana drink", rows)[1][0] == 0


def test_another_space_takes_part():
    other = np.ones(256, np.float32) / 16
    scores, _ = ranked("whales", TALK, space=other)
    assert set(scores.terms) == set(OTHER_SPACE_WEIGHTS)
    assert set(ranked("whales", TALK)[0].terms) == set(WEIGHTS)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=60), st.sampled_from([None, "1", "2"])), min_size=1, max_size=12),
    st.text(min_size=1, max_size=60),
)
def test_any_rows_and_any_question_have_finite_scores_in_order_of_nothing_but_their_content(texts, query):
    rows = [row(n, text, thread=thread, place=n) for n, (text, thread) in enumerate(texts)]
    rows.sort(key=lambda one: (one[3] is None, one[3] or ""))
    first, again = ranked(query, rows)[0].total, ranked(query, rows)[0].total
    assert ((first > 0) & (first <= 1)).all()
    assert first.tolist() == again.tolist()


@pytest.mark.parametrize("size", [1, 10, 60, 1000])
def test_a_widened_row_has_the_size_asked_for_or_all_its_run_has(size):
    reader = Reader(STATIC)
    rows = [row(n, " ".join(["word"] * (n % 5 + 1)), thread="1", place=n) for n in range(20)]
    stream = lay_out(list(reader.read("t", STATIC.name, rows).values()), None, reader.lexicon)
    window = stream.widened(size)
    for n in range(20):
        own = stream.end[n] - stream.start[n]
        assert window.high[n] - window.low[n] == max(own, min(size, len(stream.words)))


def test_rows_that_do_not_follow_each_other_are_not_neighbours():
    reader = Reader(STATIC)
    rows = [row(n, "one two three", thread="1", place=n) for n in range(4)]
    readings = list(reader.read("t", STATIC.name, rows).values())
    stream = lay_out(readings, [False, True, False, True], reader.lexicon)
    window = stream.widened(100)
    assert window.low.tolist() == [0, 0, 6, 6]
    assert window.high.tolist() == [6, 6, 12, 12]


def test_blending_vectors_agrees_with_a_plain_loop():
    reader, rng = Reader(STATIC), np.random.default_rng(1)
    rows = [row(n, " ".join(["word"] * int(rng.integers(1, 9))), thread=str(n // 7), place=n) for n in range(30)]
    stream = lay_out(list(reader.read("t", STATIC.name, rows).values()), None, reader.lexicon)
    vectors = rng.normal(size=(30, 8)).astype(np.float32)
    window = stream.widened(12)
    inside = np.minimum(window.high[:, None], stream.end) - np.maximum(window.low[:, None], stream.start)
    expected = np.maximum(inside, 0) @ vectors
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(stream.blended(vectors, window), expected, atol=1e-4)


def test_scaling_looks_at_the_chosen_rows_only():
    values = np.array([1.0, 2.0, 3.0, 9.0])
    assert min_max(values, np.array([True, True, True, False])).tolist() == [0, 0.5, 1, 1]
    assert min_max(np.ones(3), np.ones(3, bool)).tolist() == [0, 0, 0]

"""A reranker changes the order of what was found and nothing else, and one that fails changes nothing."""

import asyncio
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.models.rerank import (
    RERANK_MAX_TEXTS,
    RERANK_QUERY_MAX_CHARS,
    RERANK_TEXT_MAX_CHARS,
    Reranker,
    checked_scores,
    reranked,
)
from clew.models.rerank_checked import CheckedReranker

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ODD = st.one_of(st.floats(), st.none(), st.text(max_size=3), st.integers(), st.booleans(), st.fractions())
ANSWERS = st.one_of(ODD, st.lists(ODD, max_size=4), st.dictionaries(st.integers(0, 3), ODD), st.sets(st.floats()))


class Scripted:
    """A reranker that answers with what it was given, or raises it."""

    name = "scripted"

    def __init__(self, answer: Any) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self._answer = answer

    async def rerank(self, query: str, texts: Sequence[str]) -> Any:
        self.asked.append((query, list(texts)))
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


class Lengths:
    """A reranker that likes long texts."""

    name = "lengths"

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]


def test_what_promises_to_be_a_reranker_is_one() -> None:
    assert isinstance(Lengths(), Reranker)
    assert isinstance(CheckedReranker(Lengths()), Reranker)


@given(st.lists(FINITE, max_size=6), st.sampled_from([list, tuple, np.array]))
def test_finite_scores_come_out_as_they_are(scores: list[float], kind: Any) -> None:
    assert checked_scores(kind(scores), count=len(scores), where="test") == scores


@given(ANSWERS, st.integers(0, 4))
def test_whatever_a_reranker_answers_is_finite_scores_or_unavailable(answer: Any, count: int) -> None:
    try:
        scores = checked_scores(answer, count=count, where="test")
    except Unavailable:
        return
    assert len(scores) == count
    assert all(type(score) is float and math.isfinite(score) for score in scores)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([1.0], "2 texts with 1 scores"),
        ([1.0, 2.0, 3.0], "2 texts with 3 scores"),
        ([], "2 texts with 0 scores"),
        ([1.0, math.nan], "NaN"),
        ([1.0, -math.inf], "infinite"),
        ([1.0, 10**400], "infinite"),
        ([1.0, None], "not a number"),
        ([1.0, True], "not a number"),
        ("12", "not a number"),
        ([[1.0], [2.0]], "not a number"),
        (np.ones((2, 1)), "not a number"),
        (np.float64(1), "not a list"),
        (None, "NoneType, not a list"),
        ({0: 1.0, 1: 2.0}, "dict, not a list"),
    ],
)
async def test_a_bad_answer_is_an_error_that_says_how_it_is_bad(answer: Any, says: str) -> None:
    with pytest.raises(Unavailable, match=says) as caught:
        await CheckedReranker(Scripted(answer)).rerank("query", ["a", "b"])
    assert str(caught.value).startswith("scripted: ")
    # The same answer from a reranker that nobody wrapped.
    assert await reranked(Scripted(answer), "query", "ba", str, 9) == (["b", "a"], str(caught.value))


async def test_numbers_of_other_kinds_are_numbers() -> None:
    answer = [1, Fraction(1, 2), np.float32(0.25)]
    assert await CheckedReranker(Scripted(answer)).rerank("query", ["a", "b", "c"]) == [1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    ("query", "texts", "where"),
    [
        (" \n", ["a"], "query"),
        ("a\0b", ["a"], "query"),
        ("\ud800", ["a"], "query"),
        ("query", ["a", "  "], r"texts\[1\]"),
        ("query", ["a\0"], r"texts\[0\]"),
        ("query", "text", "texts"),
        ("query", ["a"] * (RERANK_MAX_TEXTS + 1), "texts"),
    ],
)
async def test_what_can_t_be_scored_never_reaches_the_model(query: str, texts: Any, where: str) -> None:
    source = Scripted([])
    with pytest.raises(InvalidInput, match=f"^{where}"):
        await CheckedReranker(source).rerank(query, texts)
    assert source.asked == []


async def test_no_texts_have_no_scores_and_ask_nobody() -> None:
    source = Scripted(None)
    assert await CheckedReranker(source).rerank("query", []) == []
    assert source.asked == []


async def test_the_model_reads_the_beginning_of_what_is_long() -> None:
    source = Scripted([1.0])
    await CheckedReranker(source).rerank("\n" + "q" * 100_000, [" " * 100_000 + "t" * 100_000])
    assert source.asked == [("q" * RERANK_QUERY_MAX_CHARS, ["t" * RERANK_TEXT_MAX_CHARS])]


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 14))
def test_the_first_are_sorted_by_score_ties_and_the_rest_keep_their_places(scores: list[int], top_n: int) -> None:
    candidates = list(enumerate(scores))
    before = list(candidates)
    got, reason = asyncio.run(reranked(Lengths(), "query", candidates, lambda one: "x" * one[1], top_n))
    assert reason is None
    assert candidates == before
    assert got == sorted(candidates[:top_n], key=lambda one: (-one[1], one[0])) + candidates[top_n:]


@given(ANSWERS, st.lists(st.integers(), max_size=6), st.integers(0, 7))
def test_whatever_a_reranker_answers_the_search_answers_with_the_same_candidates(
    answer: Any, candidates: list[int], top_n: int
) -> None:
    got, reason = asyncio.run(reranked(Scripted(answer), "query", candidates, str, top_n))
    assert sorted(got) == sorted(candidates)
    assert got[top_n:] == candidates[top_n:]
    if reason is not None:
        assert got == candidates
        assert reason.startswith("scripted: ")
        assert "\n" not in reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unavailable("no answer in 10 s", where="scripted"), "scripted: no answer in 10 s"),
        (InvalidInput("is empty", where="texts[1]", fix="Leave it out"), "scripted: texts[1]: is empty. Leave it out"),
        (ClewError("two\nlines\tof  it"), "scripted: two lines of it"),
        (ClewError("long " * 1000), "scripted: " + ("long " * 1000)[:290]),
        (ConnectionRefusedError("secret.host"), "scripted: ConnectionRefusedError"),
    ],
)
async def test_a_reranker_that_fails_is_skipped_and_reported(error: Exception, reason: str) -> None:
    assert await reranked(Scripted(error), "query", ["b", "a"], str, 2) == (["b", "a"], reason)


async def test_a_reranker_that_hangs_is_skipped_and_reported() -> None:
    class Hanging(Lengths):
        async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
            await asyncio.sleep(3600)
            return []

    got = await reranked(Hanging(), "query", ["b", "a"], str, 2, timeout_s=0.05)
    assert got == (["b", "a"], "lengths: no answer in 0.05 s")


async def test_a_mistake_in_a_reranker_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await reranked(Scripted(ZeroDivisionError()), "query", ["b", "a"], str, 2)


async def test_a_search_that_is_cancelled_is_cancelled() -> None:
    with pytest.raises(asyncio.CancelledError):
        await reranked(Scripted(asyncio.CancelledError()), "query", ["b", "a"], str, 2)


@pytest.mark.parametrize(("candidates", "top_n"), [([], 5), (["a"], 5), (["a", "b"], 0), (["a", "b"], 1)])
async def test_where_there_is_nothing_to_reorder_nobody_is_asked(candidates: list[str], top_n: int) -> None:
    source = Scripted(None)
    assert await reranked(source, "query", candidates, str, top_n) == (candidates, None)
    assert source.asked == []


async def test_without_a_reranker_everything_stays_as_it_is() -> None:
    assert await reranked(None, "query", ["b", "a"], str, 2) == (["b", "a"], None)


@pytest.mark.parametrize("top_n", [-1, 1.5, True, None, "2"])
async def test_a_top_n_that_is_no_count_is_refused(top_n: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^top_n: "):
        await reranked(Lengths(), "query", ["b", "a"], str, top_n)

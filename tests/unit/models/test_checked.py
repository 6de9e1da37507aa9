"""No answer that is not what was asked for gets past the check."""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InvalidInput, Unavailable
from clew.models.checked import Checked, unit_rows

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
ODD = st.one_of(st.floats(), st.none(), st.text(max_size=3), st.integers(), st.booleans())


class Scripted:
    """A source that answers with what it was given, whatever it is asked."""

    name = "scripted"

    def __init__(self, *answers: Any, dimensions: int = 3) -> None:
        self.dimensions = dimensions
        self.asked: list[list[str]] = []
        self._answers = list(answers)

    async def embed(self, texts: Sequence[str], *, purpose: str) -> Any:
        self.asked.append(list(texts))
        return self._answers.pop(0)


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), max_size=5))
def test_finite_vectors_come_out_as_unit_rows_in_the_same_direction(rows: list[list[float]]) -> None:
    if not all(any(row) for row in rows):
        with pytest.raises(Unavailable, match="zero"):
            unit_rows(np.array(rows).reshape(-1, 3), count=len(rows), dimensions=3, where="test")
        return
    unit = unit_rows(np.array(rows).reshape(-1, 3), count=len(rows), dimensions=3, where="test")
    assert unit.dtype == np.float32
    assert unit.shape == (len(rows), 3)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    for row, out in zip(rows, unit, strict=True):
        largest = max(range(3), key=lambda i: abs(row[i]))
        assert math.copysign(1, row[largest]) == math.copysign(1, out[largest])


@given(
    st.one_of(st.none(), ODD, st.lists(ODD, max_size=4), st.lists(st.lists(ODD, max_size=4), max_size=4)),
    st.integers(1, 4),
)
def test_whatever_a_model_answers_is_unit_rows_or_unavailable(answer: Any, count: int) -> None:
    try:
        unit = unit_rows(answer, count=count, dimensions=3, where="test")
    except Unavailable:
        return
    assert unit.shape == (count, 3)
    assert np.isfinite(unit).all()
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([[1.0, 0, 0]], "2 texts with 1 vectors"),
        ([[1.0, 0, 0]] * 3, "2 texts with 3 vectors"),
        ([[1.0, 0], [0, 1.0]], "2 dimensions, not 3"),
        ([[1.0, 0, 0], [0, 1.0]], "one length"),
        ([[1.0, 0, 0], [0, math.nan, 0]], "NaN"),
        ([[1.0, 0, 0], [0, math.inf, 0]], "NaN or infinity"),
        ([[1.0, 0, 0], [0, None, 0]], "NaN"),
        ([[1.0, 0, 0], [0, 0, 0]], "zero"),
        ([[1.0, 0, 0], ["a", "b", "c"]], "not numbers"),
        (None, "0 vectors"),
        ([1.0, 0.0], "no dimensions"),
    ],
)
async def test_a_bad_answer_is_an_error_that_says_how_it_is_bad(answer: Any, says: str) -> None:
    with pytest.raises(Unavailable, match=says):
        await Checked(Scripted(answer)).embed(["a", "b"])


async def test_one_vector_too_many_and_one_too_few_do_not_add_up() -> None:
    row = [1.0, 0, 0]
    source = Scripted([row] * 3, [row])
    with pytest.raises(Unavailable, match="2 texts with 3 vectors"):
        await Checked(source, batch_texts=2).embed(["a", "b", "c", "d"])


async def test_texts_reach_the_model_in_batches_and_come_back_in_order() -> None:
    source = Scripted([[1.0, 0, 0], [0, 2.0, 0]], [[0, 0, 3.0]])
    rows = await Checked(source, batch_texts=2).embed(["a", "b", "c"])
    assert source.asked == [["a", "b"], ["c"]]
    assert rows.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


async def test_no_texts_are_no_rows_and_no_call() -> None:
    source = Scripted()
    assert (await Checked(source).embed([])).shape == (0, 3)
    assert source.asked == []


@pytest.mark.parametrize("texts", [["a", ""], ["a", " \n\t"], ["a", "\0"], ["a", "\ud800"], ["a", None], "a"])
def test_texts_that_nothing_can_be_said_about_are_refused_before_the_model_sees_any(texts: Any) -> None:
    source = Scripted()
    with pytest.raises(InvalidInput, match="texts"):
        asyncio.run(Checked(source).embed(texts))
    assert source.asked == []


async def test_an_unknown_purpose_is_refused() -> None:
    with pytest.raises(InvalidInput, match="purpose"):
        await Checked(Scripted()).embed(["a"], purpose="both")  # type: ignore[arg-type]

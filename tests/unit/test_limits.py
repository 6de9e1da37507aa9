import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import InvalidInput
from clew.limits import JSON_MAX_DEPTH, check_json, check_text

plain_text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain_text,
    lambda inner: st.lists(inner) | st.dictionaries(plain_text, inner),
)


@given(plain_text)
def test_ordinary_text_passes_unchanged(text):
    assert check_text(text, "content") is text


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("a\0b", "content: holds a NUL character at position 1"),
        ("ok \ud800", "content: holds a lone surrogate at position 3"),
        (b"bytes", "content: expected text, got bytes"),
        (None, "content: expected text, got NoneType"),
        ("é" * 6, "content: is 12 bytes long; the limit is 10"),
    ],
)
def test_text_that_could_not_be_stored_is_refused_with_the_place(bad, words):
    with pytest.raises(InvalidInput, match=words):
        check_text(bad, "content", max_bytes=10)


def test_empty_text_is_refused_only_where_it_means_nothing():
    assert check_text("", "content") == ""
    with pytest.raises(InvalidInput, match="must not be empty"):
        check_text("", "kind", allow_empty=False)


@given(plain_json)
def test_plain_json_passes_unchanged(value):
    assert check_json(value, "metadata") is value


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"a": [1, {"b": math.inf}]}, r"metadata\.a\[1\]\.b: inf is not a JSON number"),
        ({"a": float("1e400")}, r"metadata\.a: inf is not a JSON number"),
        ({"a": math.nan}, "nan is not a JSON number"),
        ({"a": "x\0"}, r"metadata\.a: holds a NUL"),
        ({"x\0": 1}, "metadata key: holds a NUL"),
        ({1: 1}, "metadata: has the key 1"),
        ({"a": {1, 2}}, r"metadata\.a: set is not JSON"),
        ({"a": "\udfff"}, r"metadata\.a: holds a lone surrogate"),
    ],
)
def test_json_that_could_not_be_stored_is_refused_with_the_path(bad, words):
    with pytest.raises(InvalidInput, match=words):
        check_json(bad, "metadata")


def test_nesting_has_a_limit():
    deep: list = []
    for _ in range(JSON_MAX_DEPTH + 5):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested deeper than 64 levels"):
        check_json(deep, "metadata")

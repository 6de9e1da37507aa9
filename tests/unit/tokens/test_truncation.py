"""What truncation promises, for any text and any limit."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew import tokens
from clew.errors import InvalidInput
from clew.tokens import truncation

from .conftest import prose

PIECES = [
    *(
        "the ",
        "token",
        "ization",
        "中",
        "文",
        "👩‍👩‍👧‍👦",
        "👍🏽",
        "🇩🇪",
        "é",
        "e\u0301",
        "\u0301",
        " ",
        "   ",
        "\n",
        "\r\n",
    ),
    *("\0", "'s", "3", "\ud83d\ude00", "\ud800", "<|endoftext|>", "한", "ไทย", "==", "A", "ﷺ"),
]
texts = st.one_of(
    st.text(st.characters(), max_size=120),
    st.lists(st.sampled_from(PIECES), max_size=80).map("".join),
    st.tuples(st.sampled_from(PIECES), st.integers(1, 3_000)).map(lambda drawn: drawn[0] * drawn[1]),
)
encodings = st.sampled_from(tokens.ENCODINGS)
sides = st.sampled_from(["start", "end"])
# Left unused at most: a visible character is up to 32 code points of up to four tokens each.
UNUSED_MAX = 4 * truncation.CLUSTER_MAX_CHARS


@settings(max_examples=600, deadline=None)
@given(texts, st.integers(0, 200), encodings, sides)
@example("\n   \n   x", 2, "cl100k_base", "start")
@example("\ud83d\ude00" * 9, 3, "o200k_base", "end")
def test_truncation_never_exceeds_and_never_breaks_a_character(text, max_tokens, encoding, keep):
    kept = tokens.truncate(text, max_tokens, encoding, keep=keep)
    assert text.startswith(kept) if keep == "start" else text.endswith(kept)
    assert tokens.count(kept, encoding) <= max_tokens
    cut = len(kept) if keep == "start" else len(text) - len(kept)
    if 0 < cut < len(text):
        assert not ("\ud800" <= text[cut - 1] <= "\udbff" and "\udc00" <= text[cut] <= "\udfff")
    if tokens.count(text, encoding) <= max_tokens:
        assert kept == text
    else:
        assert tokens.count(kept, encoding) >= max_tokens - UNUSED_MAX


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3_000), encodings, sides)
def test_prose_is_cut_within_two_tokens_of_the_limit(max_tokens, encoding, keep):
    kept = tokens.truncate(prose(20_000), max_tokens, encoding, keep=keep)
    assert max_tokens - 2 <= tokens.count(kept, encoding) <= max_tokens


@pytest.mark.parametrize("keep", ["start", "end"])
@pytest.mark.parametrize("whole", ["👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "e\u0301", "\ud83d\ude00", "🏳️‍🌈"])
def test_a_visible_character_is_kept_whole_or_left_out(whole, keep):
    text = whole * 40
    for max_tokens in range(1, 60):
        kept = tokens.truncate(text, max_tokens, keep=keep)
        assert kept == whole * (len(kept) // len(whole))


def test_a_text_that_fits_is_returned_as_it_is():
    assert tokens.truncate("a\ud800b", 10) == "a\ud800b"
    assert tokens.truncate("", 0) == ""
    assert tokens.truncate("x", 0) == ""
    # The first look ends inside the last word, and counts more than the whole.
    long_words = "ization" * 33
    assert tokens.truncate(long_words, tokens.count(long_words)) == long_words


@pytest.mark.parametrize("unit", ["a", " ", "\n", "中", "=", "\u0301", "👍🏽"])
@pytest.mark.parametrize("keep", ["start", "end"])
def test_a_megabyte_without_breaks_is_cut_close_to_the_limit(unit, keep):
    text = unit * 300_000
    kept = tokens.truncate(text, 1_000, keep=keep)
    assert 1_000 - UNUSED_MAX <= tokens.count(kept) <= 1_000


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("x", -1), "max_tokens"),
        (("x", 1.5), "max_tokens"),
        (("x", True), "max_tokens"),
        ((7, 1), "text"),
        (("x", 1, "no"), "encoding"),
    ],
)
def test_bad_input_is_refused_with_its_place(arguments, where):
    with pytest.raises(InvalidInput) as refused:
        tokens.truncate(*arguments)
    assert refused.value.where == where


def test_an_unknown_side_is_refused():
    with pytest.raises(InvalidInput, match="keep"):
        tokens.truncate("x", 1, keep="middle")  # type: ignore[arg-type]

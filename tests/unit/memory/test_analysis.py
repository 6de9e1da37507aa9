"""What a text says to the search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.memory import analysis
from clew.memory.analysis import MonthYear
from clew.memory.question import Question


@given(st.text())
def test_any_text_can_be_read_and_its_terms_fit_an_index(text):
    for word in analysis.words(text):
        found = analysis.stem(word)
        assert found is None or len(found) <= analysis.TERM_MAX_CHARS
    analysis.tells_time(text)
    analysis.months(text)
    Question.read(text)


@pytest.mark.parametrize("words", [("run", "running", "runs", "run's"), ("Café", "café"), ("don't", "the")])
def test_forms_of_a_word_share_a_stem(words):
    assert len({analysis.stem(word.lower()) for word in words}) == 1


def test_a_typographic_apostrophe_is_an_apostrophe():
    assert analysis.words("Ana’s book") == analysis.words("Ana's book") == ["ana's", "book"]


def test_text_without_spaces_is_read_in_pairs():
    assert analysis.words("東京都 tower") == ["東京", "京都", "tower"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What happened in May 2023?", [MonthYear(5, 2023)]),
        ("What happened on 8 May?", [MonthYear(5, None)]),
        ("What may happen?", []),
        ("who marched in the parade", []),
        ("Who came on August 3rd, 2022?", [MonthYear(8, 2022)]),
        ("What was said on 2023-06-11?", [MonthYear(6, 2023)]),
        ("What did she do in 2021?", [MonthYear(None, 2021)]),
        ("Between Jan 2022 and Sept 2022?", [MonthYear(1, 2022), MonthYear(9, 2022)]),
        ("he jan the dec", []),
    ],
)
def test_months_that_a_question_names(query, expected):
    assert analysis.months(query) == expected


@pytest.mark.parametrize("text", ["I went yesterday", "two weeks ago", "next Friday", "since 2019", "Last summer!"])
def test_a_text_that_tells_a_time(text):
    assert analysis.tells_time(text)


def test_a_text_that_tells_none():
    assert not analysis.tells_time("I like tea, and long walks by the sea")


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What does Ana like?", "ana"),
        ("What did Ana say about Bob's store?", "ana"),
        ("What do Ana and Bob both like?", None),
        ("What is liked?", None),
        ("Why was bob late to ANA's party?", "bob"),
    ],
)
def test_whom_a_question_is_about(text, about):
    assert Question.read(text).naming({"ana", "bob"}).about == about


def test_names_are_cut_from_what_is_embedded_unless_nothing_would_be_left():
    assert Question.read("What does Ana's dog eat?").naming({"ana"}).without_names == "What does dog eat?"
    assert Question.read("Ana?").naming({"ana"}).without_names == "Ana?"

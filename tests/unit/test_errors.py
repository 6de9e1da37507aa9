import inspect

import pytest

import clew
from clew import errors

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.ClewError)]


def test_the_tree_in_the_docstring_names_every_error_with_its_status():
    drawn = {line.split()[1]: int(line.split()[2]) for line in errors.__doc__.splitlines() if "─ " in line}
    assert drawn == {kind.__name__: kind.status for kind in ALL if kind is not errors.ClewError}


def test_codes_are_unique():
    assert len({kind.code for kind in ALL}) == len(ALL)


def test_every_error_is_importable_from_clew():
    assert all(getattr(clew, kind.__name__) is kind for kind in ALL)


def test_without_words_of_its_own_an_error_says_what_its_class_means():
    assert str(clew.NotFound()) == "There is no such thing here"


def test_an_error_says_where_what_and_what_would_be_right():
    error = clew.InvalidInput("is 7", where="limit", fix="Use 1 to 5")
    assert str(error) == "limit: is 7. Use 1 to 5"
    assert error.as_dict() == {"code": "invalid_input", "message": "limit: is 7. Use 1 to 5", "retryable": False}


@pytest.mark.parametrize("kind", ALL)
def test_only_what_may_succeed_later_is_retryable(kind):
    assert kind.retryable == (kind is clew.Unavailable)

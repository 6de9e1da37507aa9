from importlib import resources

import pytest

from clew.store.named_sql import Statements, statements

FILES = [file.name.removesuffix(".sql") for file in resources.files("clew.store").joinpath("sql").iterdir()]


def test_a_statement_is_found_by_its_name():
    found = Statements("things", "-- name: one\n-- why\nSELECT 1;\n\n-- name: two\n-- why\nSELECT 2;\n")
    assert found.one == "-- why\nSELECT 1;"
    assert dir(found) == ["one", "two"]


def test_a_name_that_is_not_there_says_which_file_lacks_it():
    with pytest.raises(AttributeError, match="walls has no statement named nope"):
        statements("walls").nope  # noqa: B018


@pytest.mark.parametrize("file", FILES)
def test_every_statement_says_in_a_line_why_it_is_there(file):
    found = statements(file)
    unexplained = [name for name in dir(found) if not getattr(found, name).startswith("-- ")]
    assert dir(found), "a file without statements"
    assert unexplained == []

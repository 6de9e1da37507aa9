"""Every promised name is importable from `clew` itself."""

import importlib

import pydantic
import pytest

import clew

TIERS = ["SessionStore", "MemoryEntry", "LongTermMemory", "BatchResult", "WorkingContextCompiler", "ContextManager"]
ENGINE = ["Clew", "open", "open_sync"]
GROUND = ["Settings", "Database"]
ERRORS = ["InvalidInput", "NotFound", "Conflict", "BudgetExceeded", "ContextWindowExhausted", "Unavailable"]


@pytest.mark.parametrize("name", [*TIERS, *ENGINE, *GROUND, *ERRORS, "ClewError"])
def test_a_promised_name_is_importable_and_listed(name):
    assert getattr(importlib.import_module("clew"), name) is not None
    assert name in clew.__all__
    assert name in dir(clew)


def test_a_name_that_was_never_promised_is_not_there():
    with pytest.raises(AttributeError, match="SessionStor"):
        clew.SessionStor  # noqa: B018


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_a_clew_error(name):
    assert issubclass(getattr(clew, name), clew.ClewError)


def test_errors_do_not_pass_for_one_another():
    kinds = [getattr(clew, name) for name in ERRORS]
    assert [(a, b) for a in kinds for b in kinds if a is not b and issubclass(a, b)] == []
    assert not issubclass(clew.ClewError, ValueError | KeyError | TypeError)


def test_an_entry_is_a_pydantic_model():
    assert issubclass(clew.MemoryEntry, pydantic.BaseModel)


def test_importing_clew_loads_none_of_the_heavy_libraries(python):
    code = "import sys, clew; print([m for m in ('langgraph', 'psycopg', 'numpy', 'wordllama') if m in sys.modules])"
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"

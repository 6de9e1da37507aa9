"""What exists is documented, and what is documented exists."""

import inspect
import re
from pathlib import Path

import pytest
import typer

from clew import errors
from clew.cli.app import app
from clew.settings import described, variables
from clew.store.named_sql import statements

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def _commands(group: typer.Typer, prefix: str = "clew") -> list[str]:
    own = [f"{prefix} {info.name or info.callback.__name__}" for info in group.registered_commands]
    nested = [_commands(info.typer_instance, f"{prefix} {info.name}") for info in group.registered_groups]
    alone = [
        f"{prefix} {info.name}"
        for info in group.registered_groups
        if info.typer_instance.registered_callback and info.typer_instance.registered_callback.invoke_without_command
    ]
    return own + alone + [name for names in nested for name in names]


@pytest.mark.parametrize("field", described(), ids=lambda field: field.name)
def test_every_setting_is_in_the_reference(field):
    page = (REFERENCE / "settings.md").read_text()
    assert all(f"`{variable}`" in page for variable in variables(field))


def test_every_variable_in_the_reference_exists():
    known = {variable for field in described() for variable in variables(field)}
    named = set(re.findall(r"^\| `([A-Z_]+)`", (REFERENCE / "settings.md").read_text(), re.MULTILINE))
    assert named <= known


def test_the_errors_in_the_reference_are_the_errors_there_are():
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \| (yes|no) \|", (REFERENCE / "errors.md").read_text(), re.M)
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.ClewError)]
    expected = {(k.__name__, k.code, str(k.status), "yes" if k.retryable else "no") for k in kinds}
    assert set(rows) == expected


def test_every_command_is_in_the_reference_and_no_other_is():
    page = (REFERENCE / "cli.md").read_text()
    named = set(re.findall(r"^\| `(clew [a-z ]+)`", page, re.MULTILINE))
    assert named == set(_commands(app))


def test_every_wall_is_in_the_reference():
    page = (REFERENCE / "database.md").read_text()
    assert [rule for rule in dir(statements("walls")) if f"| `{rule}` |" not in page] == []


def test_every_promise_names_a_test_that_is_there():
    page = (ROOT / "docs" / "promises.md").read_text()
    named = re.findall(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`", page)
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).exists() or (name and f"def {name}(" not in (ROOT / file).read_text())
    ]
    assert len(named) >= 10
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+?)(?:#[\w-]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_make_target_a_page_names_exists(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^\$ |`)make ([a-z-]+)", page.read_text(), re.MULTILINE))
    assert named <= targets


def test_every_benchmark_that_the_docs_quote_exists():
    quoted = {name for page in PAGES for name in re.findall(r"benchmarks/(\w+)\.py", page.read_text())}
    assert {name for name in quoted if not (ROOT / "benchmarks" / f"{name}.py").exists()} == set()

"""`import clew` is quick, and says what it has."""

import subprocess
import sys

import pytest

import clew

HEAVY = {"numpy", "psycopg", "pydantic", "alembic", "sqlalchemy", "typer", "rich", "wordllama", "splintr"}


def _loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", clew.__all__)
def test_every_public_name_is_there(name):
    assert getattr(clew, name) is not None
    assert name in dir(clew)


def test_a_name_that_is_not_there_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match="module 'clew' has no attribute 'nope'"):
        clew.nope  # noqa: B018


def test_importing_clew_loads_no_heavy_library():
    assert _loaded_by("import clew") & HEAVY == set()
    assert _loaded_by("import clew; clew.Database") >= {"psycopg"}, "the control: using a name does load its library"


def test_asking_for_the_version_loads_no_heavy_library():
    asked = "import sys; sys.argv[1:] = ['--version']; import clew.cli; clew.cli.main()"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == f"clew {clew.__version__}\n"
    assert _loaded_by(asked) & HEAVY == set()


def test_the_embedded_server_s_keeper_loads_no_heavy_library():
    assert _loaded_by("import clew.store.embedded.keeper") & HEAVY == set()

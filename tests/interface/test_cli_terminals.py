"""What is remembered is data for a terminal too, and not every terminal speaks UTF-8."""

import json
from uuid import uuid4

import pytest

from .conftest import user

TENANT = f"term-{uuid4().hex[:8]}"
HOSTILE = "\x1b[2J\x1b]0;pwned\x07 [bold]not bold[/bold] [/nope] \x9b31m swordfish"


@pytest.fixture(scope="module")
async def hostile(engine) -> None:
    """Somebody else's text, stored where nobody looked at it."""
    await engine.tenant(TENANT).remember(HOSTILE)
    await engine.tenant(TENANT).thread("t").append(user(HOSTILE))


@pytest.mark.parametrize("words", [("recall", "swordfish"), ("compile", "t"), ("threads", "show", "t")])
def test_stored_text_cannot_drive_the_terminal(cli, hostile, words):
    done = cli(*words, "--tenant", TENANT)
    assert done.returncode == 0, done.stderr
    assert not {"\x1b", "\x9b", "\x07"} & set(done.stdout)


def test_stored_text_is_shown_as_it_is_not_as_markup(cli, hostile):
    assert "[bold]not bold[/bold] [/nope]" in cli("recall", "swordfish", "--tenant", TENANT, COLUMNS="200").stdout


def test_a_name_that_looks_like_markup_is_a_name(cli):
    done = cli("threads", "show", "[/nope]", "--tenant", TENANT)
    assert (done.returncode, "Traceback" in done.stderr, "[/nope]" in done.stdout) == (0, False, True)


def test_programs_get_it_unchanged(cli, hostile):
    assert json.loads(cli("recall", "swordfish", "--tenant", TENANT, "--json").stdout)[0]["content"] == HOSTILE


@pytest.mark.parametrize("words", [("recall", "swordfish"), ("compile", "t", "--explain")])
def test_a_terminal_without_utf_8_gets_an_answer_and_no_traceback(cli, hostile, words):
    old = {"LC_ALL": "POSIX", "LANG": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = cli(*words, "--tenant", TENANT, **old)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert "swordfish" in done.stdout or "session" in done.stdout

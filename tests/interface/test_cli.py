"""The commands of the three tiers, as a user types them."""

import json
import subprocess
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from clew.store.embedded.cluster import APP_ROLE

from ..conftest import url_of
from .conftest import assistant, user

TENANT = "cli-acme"


def _ok(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 0, done.stderr or done.stdout
    assert "Traceback" not in done.stderr
    return done.stdout


def _failed(done: "subprocess.CompletedProcess[str]", code: int) -> str:
    """What it says: a sentence for people, and nothing for programs to trip over."""
    said = done.stderr + done.stdout
    assert done.returncode == code, said
    assert "Traceback" not in said
    assert said.strip()
    return said


def _found(value: Any, key: str) -> Any:
    """The first value of that key, wherever it is in the JSON."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := _found(item, key)) is not None), None)
    return None


@pytest.fixture(scope="module")
def remembered(cli) -> dict[str, Any]:
    return json.loads(_ok(cli("remember", "Ana prefers green tea ✓", "--tenant", TENANT, "--json")))


@pytest.fixture(scope="module")
async def thread(engine) -> str:
    said = [user(f"Question {n}: {'tea or coffee ' * 60}") for n in range(120)]
    await engine.tenant(TENANT).thread("support-42").append([*said, assistant("Noted."), user("So, tea?")])
    return "support-42"


def test_remember_says_under_which_id(remembered):
    assert isinstance(_found(remembered, "memory_id"), str)


def test_recall_finds_it_in_another_process_as_json(cli, remembered):
    answer = json.loads(_ok(cli("recall", "What does Ana drink?", "--tenant", TENANT, "--json")))
    assert _found(answer, "content") == "Ana prefers green tea ✓"
    assert _found(answer, "memory_id") == _found(remembered, "memory_id")
    assert isinstance(_found(answer, "score"), float)


def test_recall_shows_it_to_people(cli, remembered):
    assert "green tea" in _ok(cli("recall", "tea", "--tenant", TENANT))


def test_recall_of_another_tenant_finds_nothing(cli, remembered):
    assert "green tea" not in _ok(cli("recall", "What does Ana drink?", "--tenant", f"{TENANT}-other", "--json"))


def test_remember_and_recall_without_a_tenant_are_the_default_ones(cli):
    word = f"w{uuid4().hex[:8]}"
    assert _ok(cli("remember", f"The word of the day is {word}")).strip()
    assert word in _ok(cli("recall", f"word of the day {word}"))
    assert word in _ok(cli("recall", f"word of the day {word}", "--tenant", "default", "--json"))


def test_threads_are_listed_with_their_messages(cli, thread):
    listed = json.loads(_ok(cli("threads", "--tenant", TENANT, "--json")))
    assert _found(listed, "thread_id") == thread
    assert _found(listed, "message_count") == 122
    assert thread in _ok(cli("threads", "--tenant", TENANT))


def test_another_tenants_threads_are_not(cli, thread):
    answer = _ok(cli("threads", "--tenant", f"{TENANT}-other", "--json"))
    json.loads(answer)
    assert thread not in answer


def test_compile_gives_json_within_the_budget(cli, thread, remembered):
    made = json.loads(_ok(cli("compile", thread, "--tenant", TENANT, "--json")))
    usage = _found(made, "token_usage")
    assert set(usage) == {"total", "system", "session", "memory", "task"}
    assert 0 < usage["session"] <= 0.35 * 32_000
    assert _found(made, "messages")
    assert _found(made, "manifest")


def test_compile_explain_shows_every_section_with_a_bar_and_why(cli, thread):
    shown = _ok(cli("compile", thread, "--tenant", TENANT, "--explain"))
    assert all(section in shown.lower() for section in ("system", "session", "memory", "task"))
    assert any(bar in shown for bar in "█▇━▰■#=")
    assert "kept" in shown.lower() or "dropped" in shown.lower()


def test_compile_without_explain_works_too(cli, thread):
    assert "So, tea?" in _ok(cli("compile", thread, "--tenant", TENANT))


def test_another_tenants_thread_compiles_like_one_that_does_not_exist(cli, thread):
    theirs = cli("compile", thread, "--tenant", f"{TENANT}-other")
    nobodys = cli("compile", "no-such-42", "--tenant", f"{TENANT}-other")
    assert theirs.returncode == nobodys.returncode
    assert (theirs.stdout + theirs.stderr).replace(thread, "…") == (nobodys.stdout + nobodys.stderr).replace(
        "no-such-42", "…"
    )
    assert "tea" not in theirs.stdout
    assert "Traceback" not in theirs.stderr


def test_a_thread_is_written_and_shown(cli):
    tenant = ("--tenant", f"{TENANT}-thread", "--json")
    assert _found(json.loads(_ok(cli("threads", "append", "t1", "hello there", *tenant))), "message_id")
    [shown] = json.loads(_ok(cli("threads", "show", "t1", *tenant)))
    assert shown["message"] == {"role": "user", "content": "hello there"}, "OpenAI form, as from Python"
    assert datetime.fromisoformat(shown["created_at"]).utcoffset() == timedelta(0)
    assert "T" in shown["created_at"], "ISO 8601, as everywhere else"


def test_clearing_a_thread_asks_first_unless_told_not_to(cli):
    tenant = ("--tenant", f"{TENANT}-clear")
    _ok(cli("threads", "append", "t1", "precious words", *tenant))
    assert cli("threads", "clear", "t1", *tenant).returncode == 1
    assert "precious" in _ok(cli("threads", "show", "t1", *tenant))


def test_a_database_may_be_named(cli, server, remembered):
    url = url_of(server.conninfo(server.ensure(), APP_ROLE))
    assert "green tea" in _ok(cli("recall", "tea", "--tenant", TENANT, "--database", url, "--json"))


@pytest.mark.parametrize(
    "words",
    [
        ("remember", ""),
        ("remember", b"half a character \xff"),
        ("remember", "x", "--tenant", "not a tenant"),
        ("recall", "x", "--tenant", "a/b", "--json"),
        ("compile", "", "--tenant", TENANT),
        ("threads", "--database", "postgresql://app:hunter2@127.0.0.1:1/clew"),
        ("recall", "x", "--database", "not a url"),
        ("recall", "x", "--limit", "0"),
        ("compile", "t", "--tier", "slow"),
        ("compile", "t", "--task", "word " * 6_000),
    ],
    ids=lambda words: " ".join(str(word)[:30] for word in words),
)
def test_what_cannot_be_done_is_a_sentence_and_exit_code_1(cli, words):
    said = _failed(cli(*words), 1)
    assert "hunter2" not in said
    assert len(said.strip().splitlines()) <= 8


def test_an_error_is_json_when_json_was_asked_for(cli):
    done = cli("recall", "x", "--tenant", "a/b", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout or done.stderr)["error"]
    assert (error["code"], error["retryable"]) == ("invalid_input", False)


@pytest.mark.parametrize("words", [("remember",), ("recall", "a", "--nonsense")], ids=str)
def test_a_wrong_word_is_exit_code_2(cli, words):
    _failed(cli(*words), 2)


def test_every_command_is_listed(cli):
    listed = _ok(cli("--help"))
    assert [name for name in ("demo", "remember", "recall", "threads", "compile") if name not in listed] == []

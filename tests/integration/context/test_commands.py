"""`clew threads compact`, `show` and `savings`, as a person types them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import clew
from clew import Settings

from .conftest import said, talk

CLEW = Path(sys.executable).with_name("clew")


@pytest.fixture
def run(place: str, settings: Settings) -> Any:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CLEW_", "DATABASE_URL"))}

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**clean, "CLEW_DATA_DIR": str(settings.data_dir), "CLEW_DATABASE_URL": place, "COLUMNS": "200"}
        command = [CLEW, "threads", *words]
        return subprocess.run(
            command, env={**env, **environment}, capture_output=True, text=True, timeout=120, check=False
        )

    return run


async def test_compact_says_what_it_did_and_then_that_there_is_nothing_to_do(run, thread, tenant):
    await thread.append(talk(1, 21))
    done = run("compact", "t", "--tenant", tenant)
    assert done.returncode == 0
    (compaction,) = await thread.compactions()
    numbers = f"{compaction.tokens_before:,} → {compaction.tokens_after:,} tokens"
    assert numbers in done.stdout
    assert "V-1003" in done.stdout
    again = run("compact", "t", "--tenant", tenant)
    assert (again.returncode, "Nothing to do" in again.stdout) == (0, True)
    shown = run("show", "t", "--tenant", tenant).stdout
    assert "compacted" in shown
    assert numbers in shown
    assert said(21)["content"][:40] in shown


async def test_compact_as_json(run, thread, tenant):
    await thread.append(talk(1, 21))
    answer = json.loads(run("compact", "t", "--tenant", tenant, "--json").stdout)
    (compaction,) = await thread.compactions()
    assert answer["compaction"]["compaction_id"] == compaction.compaction_id
    assert (answer["compaction"]["through"], answer["refused"]) == (11, [])
    assert json.loads(run("compact", "t", "--tenant", tenant, "--json").stdout) == {"compaction": None, "refused": []}


async def test_the_settings_of_the_environment_count(run, thread, tenant):
    await thread.append(talk(1, 12))
    answer = run("compact", "t", "--tenant", tenant, "--json", CLEW_COMPACT_MESSAGES="8", CLEW_COMPACT_KEEP_RECENT="4")
    assert json.loads(answer.stdout)["compaction"]["through"] == 8


async def test_show_and_savings_count_what_was_kept_out_of_the_window(run, engine, thread, tenant):
    def search(topic: str) -> list[dict[str, Any]]:
        return [{"title": f"{topic} {n}", "text": "finding " * 40} for n in range(40)]

    with clew.tool_call(tool_call_id="c1", thread_id="t"):
        text = await engine.tenant(tenant).isolate(search)("pumps")
    await thread.append({"role": "user", "content": text})
    (saved,) = await thread.savings()
    shown = run("show", "t", "--tenant", tenant).stdout
    assert "kept out of the window" in shown
    assert "search" in shown
    assert f"{saved.saved_tokens:,}" in shown
    for words in (["t"], []):
        answer = json.loads(run("savings", *words, "--tenant", tenant, "--json").stdout)
        assert answer["tools"] == [saved.as_dict()]
        assert answer["total"]["saved_tokens"] == saved.saved_tokens
    other = json.loads(run("savings", "other", "--tenant", tenant, "--json").stdout)
    assert (other["tools"], other["total"]["saved_tokens"]) == ([], 0)


def test_a_thread_that_is_not_there_and_a_bad_name_are_sentences(run, tenant):
    assert run("compact", "nobody", "--tenant", tenant).returncode == 0
    for words in (["compact", ""], ["compact", "t", "--tenant", "a/b"], ["show", "x" * 300]):
        done = run(*words)
        assert done.returncode != 0
        assert "Traceback" not in done.stdout + done.stderr

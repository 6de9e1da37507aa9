"""The example of “One object that wires it all”, word for word, where Clew has never run before."""

import json
import textwrap

import pytest

from .conftest import run_python

# Copied from interface.md.
EXAMPLE = """
async with clew.open(database=None, models=None, settings=None) as engine:   # clew.Clew
    acme = engine.tenant("acme")                # a handle that can see one tenant only
    thread = acme.thread("support-42")
    await thread.append({"role": "user", "content": "Q3 revenue was actually $5.2M, not $4.8M"})
    context = await thread.compile(task={"description": "Draft the board note"}, system_prompt="…",
                                   model_tier="reasoning")
    context.messages      # ready to send to a model, in OpenAI form; also .to("anthropic" | "langchain" | "pydantic_ai")
    context.token_usage   # {"total", "system", "session", "memory", "task"}
    context.manifest      # what went in, what stayed out, why, at what token cost
"""  # noqa: E501
REPORT = """
    print(json.dumps({"messages": context.messages, "token_usage": dict(context.token_usage),
                      "manifest": str(context.manifest), "kind": type(engine).__name__}))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    body = textwrap.indent(EXAMPLE + REPORT, "    ")
    code = f"import asyncio, json\nimport clew\n\nasync def main():\n{body}\nasyncio.run(main())\n"
    done = run_python(code, tmp_path_factory.mktemp("never-used"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_it_runs_in_a_data_folder_that_was_never_used(printed):
    assert printed["kind"] == "Clew"


def test_its_messages_are_ready_to_send(printed):
    messages = printed["messages"]
    assert messages[0]["role"] == "system"
    assert "…" in messages[0]["content"]
    assert messages[-1]["role"] == "user"
    assert "Draft the board note" in messages[-1]["content"]
    assert any("Q3 revenue was actually $5.2M" in message["content"] for message in messages[1:])


def test_its_usage_has_the_promised_keys_and_adds_up(printed):
    usage = printed["token_usage"]
    assert set(usage) == {"total", "system", "session", "memory", "task"}
    assert usage["total"] == usage["system"] + usage["session"] + usage["memory"] + usage["task"]
    assert 0 < usage["total"] <= 32_000
    assert usage["session"] > 0
    assert usage["task"] > 0


def test_its_manifest_says_something(printed):
    assert "session" in printed["manifest"]

"""`WorkingContextCompiler` as promised: its constants, its keys, what it takes, and what it refuses."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from clew.context import WorkingContextCompiler
from clew.errors import InvalidInput
from clew.messages import Message
from clew.tokens import count_messages

MESSAGES = [{"role": "user", "content": "Revenue?"}, {"role": "assistant", "content": "5.2M"}]


def test_the_promised_constants():
    assert WorkingContextCompiler.TOKEN_BUDGETS == {"fast": 8_000, "reasoning": 32_000}
    assert WorkingContextCompiler.BUDGET_ALLOCATION == {
        "system_prompt": 0.15, "session_history": 0.35, "relevant_context": 0.35, "task_and_buffer": 0.15,
    }  # fmt: skip
    assert WorkingContextCompiler().model_tier == "reasoning"


async def test_the_promised_keys():
    made = await WorkingContextCompiler("fast").compile(
        "Be brief.", MESSAGES, ["The board meets"], {"description": "Go"}
    )
    assert made["system_prompt"] == "Be brief."
    assert made["messages"] == MESSAGES
    assert "The board meets" in made["context"]
    assert made["task"] == {"description": "Go"}
    assert set(made["token_usage"]) == {"total", "system", "session", "memory", "task"}
    assert made["token_usage"]["total"] == count_messages(made["sent_messages"])
    assert made["manifest"]["budget"] == 8_000
    json.dumps(made)


async def test_one_line_is_logged_with_the_tokens_and_no_text():
    with capture_logs() as lines:
        made = await WorkingContextCompiler("fast").compile("sys-secret", MESSAGES, ["mem-secret"], "task-secret")
    (line,) = lines
    assert line["event"] == "context_compiled"
    assert {f"{name}_tokens": n for name, n in made["token_usage"].items()}.items() <= line.items()
    assert "secret" not in str(line)
    assert "Revenue" not in str(line)


@pytest.mark.parametrize("tier", ["slow", "", None, 8_000, ["fast"]])
def test_an_unknown_tier_is_refused_with_the_known_ones(tier):
    with pytest.raises(InvalidInput, match=r"model_tier: unknown tier .* Use one of fast, long, reasoning"):
        WorkingContextCompiler(tier, budgets={"long": 128_000})


def test_tiers_by_configuration():
    long = WorkingContextCompiler("long", budgets={"long": 128_000, "fast": 4_000})
    assert long.budget.tokens == 128_000
    assert long.for_tier("fast").budget.tokens == 4_000
    assert long.budget.tokens == 128_000
    assert WorkingContextCompiler.TOKEN_BUDGETS["fast"] == 8_000


def test_a_subclass_may_change_the_constants():
    class Small(WorkingContextCompiler):
        TOKEN_BUDGETS = {"tiny": 500}  # noqa: RUF012

    assert Small("tiny").budget.session == 175


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"allocation": "loose"}, "allocation"),
        ({"encoding": "p50k_base"}, "encoding"),
        ({"budgets": {"reasoning": 0}}, "budget"),
        ({"shares": {"system_prompt": 1}}, "shares"),
    ],
)
def test_bad_options_are_refused(options, place):
    with pytest.raises(InvalidInput, match=place):
        WorkingContextCompiler(**options)


def compiled(system="s", messages=(), memories=(), task="t"):
    return WorkingContextCompiler("fast").compiled(system, messages, memories, task)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"system": None}, "system_prompt: expected text, got NoneType"),
        ({"system": "a\0b"}, "system_prompt: holds a NUL character at position 1"),
        ({"system": "\ud800"}, "system_prompt: holds a lone surrogate"),
        ({"messages": "hello"}, "session_messages: expected a list, got str"),
        ({"messages": None}, "session_messages: expected a list"),
        ({"messages": [*MESSAGES, 3]}, r"session_messages\[2\]: expected a dict or a clew.Message, got int"),
        ({"messages": [*MESSAGES, {"role": "usr", "content": ""}]}, r"session_messages\[2\]\.role: unknown role 'usr'"),
        ({"messages": [{"role": "user", "content": "\udfff"}]}, r"session_messages\[0\]\.content: .*lone surrogate"),
        ({"messages": [{**MESSAGES[0], "tokens": -1}]}, r"session_messages\[0\]\.tokens: -1 is not"),
        ({"messages": [{**MESSAGES[0], "id": 7}]}, r"session_messages\[0\]\.id: expected text"),
        ({"memories": {"content": "x"}}, "relevant_memories: expected a list, got dict"),
        ({"memories": ["ok", 3]}, r"relevant_memories\[1\]: has no content \(int\)"),
        ({"memories": ["a\0"]}, r"relevant_memories\[0\]: holds a NUL"),
        ({"memories": [{"content": "x", "score": float("nan")}]}, r"relevant_memories\[0\]\.score: nan is not a score"),
        ({"memories": [{"content": "x", "score": "high"}]}, r"relevant_memories\[0\]\.score"),
        ({"memories": [{"content": "x", "metadata": "m"}]}, r"relevant_memories\[0\]\.metadata: expected an object"),
        ({"memories": [{"content": "x", "memory_id": 5}]}, r"relevant_memories\[0\]\.memory_id: expected text"),
        ({"memories": [{"content": "x", "metadata": {"speaker": "\0"}}]}, r"\[0\]\.metadata\.speaker: holds a NUL"),
        ({"task": None}, "task: expected a dict or text, got NoneType"),
        ({"task": ["t"]}, "task: expected a dict or text, got list"),
        ({"task": {"description": 5}}, r"task\.description: expected text, got int"),
        ({"task": {"when": datetime.now(UTC)}}, r"task\.when: datetime is not JSON"),
        ({"task": "\ud800"}, "task: holds a lone surrogate"),
    ],
)
def test_bad_input_is_refused_with_its_place(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        compiled(**arguments)


def test_messages_may_come_in_any_form_and_bookkeeping_is_not_sent():
    row = SimpleNamespace(message=Message(role="user", content="three"), message_id="m3", tokens=5, position=3)
    given = [
        {"role": "user", "content": "one", "id": "m1", "tokens": 5, "position": 1, "created_at": "2026-01-01"},
        Message(role="assistant", content="two", id="m2"),
        row,
    ]
    found = compiled(messages=given)
    assert [list(message) for message in found.messages] == [["role", "content"]] * 3
    assert [message["content"] for message in found.messages] == ["one", "two", "three"]
    assert [item.source_id for item in found.manifest.of("session")] == ["m1", "m2", "m3"]


def test_memories_may_come_in_any_form():
    moment = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    entry = SimpleNamespace(
        memory_id="m1", content="one", score=0.9, created_at=moment, metadata={"speaker": "Ana", "source": "call"}
    )
    asked = {"memory_id": "m2", "content": "two", "score": 0.8, "metadata": {"occurred_at": "2023-05-08T13:56"}}
    found = compiled(memories=[entry, asked])
    assert '{"id": "m1", "source": "call", "date": "2026-03-01", "speaker": "Ana"}\none' in found.context
    assert '{"id": "m2", "date": "2023-05-08T13:56"}\ntwo' in found.context
    assert '{"id": "relevant_memories[0]"}\nplain' in compiled(memories=["plain"]).context


def test_five_megabytes_in_one_message_are_no_trouble():
    huge = "All work and no play makes Jack a dull boy. " * 120_000
    found = compiled(messages=[{"role": "user", "content": huge}], memories=[huge])
    assert found.token_usage["session"] <= 2_800
    assert "left out" in found.messages[0]["content"]
    assert found.context == ""

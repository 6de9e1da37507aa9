"""Conversations to compile, and what must hold of every compiled one."""

import json
from typing import Any

import clew
from clew.tokens import count_messages

from .conftest import assistant, entry, user

SHARES = {"system": 0.15, "session": 0.35, "memory": 0.35, "task": 0.15}
PARAGRAPH = "The quick brown fox jumps over the lazy dog while the committee deliberates. " * 6


def tool_turn(number: int, calls: int = 2) -> list[dict[str, Any]]:
    """A question, its calls, their results, the answer."""
    ids = [f"call-{number}-{call}" for call in range(calls)]
    asked = [{"id": i, "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}} for i in ids]
    return [
        user(f"Question {number}: {PARAGRAPH}"),
        {"role": "assistant", "content": None, "tool_calls": asked},
        *({"role": "tool", "tool_call_id": i, "content": f"Result {i}: {PARAGRAPH}"} for i in ids),
        assistant(f"Answer {number}: {PARAGRAPH}"),
    ]


def conversation(turns: int) -> list[dict[str, Any]]:
    return [message for number in range(turns) for message in tool_turn(number, 1 + number % 3)]


def remembered(count: int, tenant: str = "acme") -> list[Any]:
    """Memories, each less relevant than the one before."""
    return [
        entry(tenant, f"Memory {n}: {PARAGRAPH}", memory_id=f"m{n:03}").model_copy(update={"score": 1 - n / count})
        for n in range(count)
    ]


def as_bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def split_groups(messages: list[dict[str, Any]]) -> list[str]:
    """Calls without their result right behind them, and results without their call."""
    problems, waiting = [], []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                problems.append(f"result without call: {message['tool_call_id']}")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        problems += [f"call without result: {call}" for call in waiting]
        waiting = [call["id"] for call in message.get("tool_calls") or []]
    return problems + [f"call without result: {call}" for call in waiting]


def check_window(made: dict[str, Any], budget: int) -> None:
    """Everything that holds of any compiled context."""
    usage = made["token_usage"]
    assert set(usage) == {"total", "system", "session", "memory", "task"}
    assert usage["total"] == sum(usage[part] for part in SHARES)
    assert usage["total"] == count_messages(made["sent_messages"])
    assert usage["total"] <= budget
    for part, share in SHARES.items():
        assert usage[part] <= share * budget, f"{part} is over its share"
    assert split_groups(made["messages"]) == []
    kept = sum(item["tokens"] for item in made["manifest"]["items"] if item["kept"])
    assert kept == usage["total"], "the manifest does not add up"


async def compiled(tier: str, *arguments: Any) -> dict[str, Any]:
    """Compiled, and checked for what always holds."""
    made: dict[str, Any] = await clew.WorkingContextCompiler(tier).compile(*arguments)
    check_window(made, clew.WorkingContextCompiler.TOKEN_BUDGETS[tier])
    return made

"""What a thread's compile gives: messages to send, their cost, what went in and why, in four forms."""

import json
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, SystemMessage
from pydantic_ai.messages import ModelRequest

import clew
from clew.tokens import count_messages

from .conftest import assistant, entry, user

CALL = {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": '{"q": "Q3"}'}}


@pytest.fixture
async def context(engine, tenant) -> Any:
    thread = engine.tenant(tenant).thread("support-42")
    await thread.append(
        [
            user("What was Q3 revenue?"),
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "$5.2M"},
            assistant("It was $5.2M."),
            user("Draft the board note"),
        ]
    )
    await engine.memory.store(entry(tenant, "The board note never exceeds one page", memory_id="page-rule"))
    return await thread.compile(task={"description": "Draft the board note"}, system_prompt="You draft notes.")


def _manifest(context: Any) -> str:
    manifest = context.manifest
    manifest = manifest.as_dict() if hasattr(manifest, "as_dict") else manifest
    return json.dumps(manifest)


async def test_messages_are_the_whole_request_in_openai_form(context):
    messages = context.messages
    assert json.loads(json.dumps(messages)) == messages
    assert messages[0] == {"role": "system", "content": "You draft notes."}
    assert {message["role"] for message in messages} <= {"system", "user", "assistant", "tool"}
    assert {"role": "tool", "tool_call_id": "call_1", "content": "$5.2M"} in messages
    assert "Draft the board note" in messages[-1]["content"]
    assert "never exceeds one page" in messages[-1]["content"]


async def test_token_usage_is_what_the_messages_cost(context):
    usage = context.token_usage
    assert set(usage) == {"total", "system", "session", "memory", "task"}
    assert usage["total"] == sum(usage[part] for part in ("system", "session", "memory", "task"))
    assert usage["total"] == count_messages(context.messages)
    assert all(type(cost) is int and cost > 0 for cost in usage.values())


async def test_the_manifest_names_what_went_in_with_its_cost_and_why(context):
    manifest = json.loads(_manifest(context))
    items = manifest["items"]
    assert {"section", "source_id", "tokens", "score", "kept", "reason"} <= set(items[0])
    [rule] = [item for item in items if item["source_id"] == "page-rule"]
    assert (rule["section"], rule["kept"]) == ("memory", True)
    assert rule["tokens"] > 0
    assert 0 <= rule["score"] <= 1
    assert sum(item["tokens"] for item in items if item["kept"]) == context.token_usage["total"]


async def test_it_reads_as_openai_messages(context):
    assert context.to("openai") == context.messages


async def test_it_reads_as_an_anthropic_request(context):
    request = context.to("anthropic")
    assert request.system == "You draft notes."
    assert [message["role"] for message in request.messages[:2]] == ["user", "assistant"]
    assert "tool_use" in json.dumps(request.messages)
    assert "tool_result" in json.dumps(request.messages)


async def test_it_reads_as_langchain_messages(context):
    messages = context.to("langchain")
    assert all(isinstance(message, BaseMessage) for message in messages)
    assert isinstance(messages[0], SystemMessage)
    assert "Draft the board note" in messages[-1].content


async def test_it_reads_as_pydantic_ai_messages(context):
    messages = context.to("pydantic_ai")
    assert isinstance(messages[0], ModelRequest)
    assert "Draft the board note" in str(messages[-1])


@pytest.mark.parametrize("form", ["antropic", "", None, 5, ["openai"]])
async def test_another_form_is_refused(context, form):
    with pytest.raises(clew.InvalidInput):
        context.to(form)


async def test_a_task_may_be_a_text_and_the_tier_another(engine, tenant):
    thread = engine.tenant(tenant).thread("short")
    ids = await thread.append([user("hello")])
    assert len(ids) == 1
    context = await thread.compile(task="Say hello", system_prompt="", model_tier="fast")
    assert "Say hello" in context.messages[-1]["content"]
    assert count_messages(context.messages) <= 8_000


async def test_the_handle_and_the_manager_compile_the_same(engine, tenant):
    thread = engine.tenant(tenant).thread("same")
    await thread.append([user("one"), assistant("two"), user("three")])
    context = await thread.compile(task={"description": "Go on"}, system_prompt="Be brief")
    made = await engine.context.compile_working_context(tenant, "same", {"description": "Go on"}, "Be brief")
    assert dict(context.token_usage) == made["token_usage"]

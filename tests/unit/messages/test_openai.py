"""OpenAI chat form: exact shapes, losslessness, and requests that the official SDK's types accept."""

import json
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter

from clew.errors import InvalidInput
from clew.messages import (
    MediaPart,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    from_openai,
    to_openai,
)

from .strategies import conversations, openai_conversations, unhurried

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


@unhurried
@given(openai_conversations())
def test_an_openai_conversation_comes_back_byte_for_byte(history: list[dict[str, Any]]) -> None:
    before = json.dumps(history)
    converted = from_openai(history)
    assert json.dumps(to_openai(converted)) == before
    assert json.dumps(history) == before, "the input was changed"


@unhurried
@given(openai_conversations())
def test_an_openai_conversation_comes_back_through_neutral_json(history: list[dict[str, Any]]) -> None:
    stored = [message.model_dump_json() for message in from_openai(history)]
    assert to_openai([Message.model_validate_json(text) for text in stored]) == history


@unhurried
@given(conversations())
def test_what_goes_to_openai_is_a_request_that_its_own_sdk_accepts(history: list[Message]) -> None:
    from openai.types.chat import ChatCompletionMessageParam

    sent = to_openai(history)
    accepted = TypeAdapter(list[ChatCompletionMessageParam]).validate_python(sent)
    assert len(accepted) == len(sent)
    waiting: list[str] = []
    for message in sent:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, "something stands between calls and their results"
            waiting = [call["id"] for call in message.get("tool_calls", [])]


@unhurried
@given(conversations())
def test_words_calls_and_results_survive_the_openai_form(history: list[Message]) -> None:
    back = [message for message in from_openai(to_openai(history)) if message.role != "user"]
    there = [message for message in history if message.role != "user"]
    calls = [(c.id, c.name, c.arguments_text) for m in there for c in m.tool_calls]
    assert [(c.id, c.name, c.arguments_text) for m in back for c in m.tool_calls] == calls
    answered = [r.call_id for m in there for r in m.tool_results]
    assert [r.call_id for m in back for r in m.tool_results] == answered
    said = [m.text for m in there if m.role == "assistant"]
    assert [m.text for m in back if m.role == "assistant"] == said


@pytest.mark.parametrize(
    ("message", "wire"),
    [
        (Message(role="user", content="hi"), {"role": "user", "content": "hi"}),
        (Message(role="developer", content="be brief"), {"role": "developer", "content": "be brief"}),
        (Message(role="user", content="hi", name="ann"), {"role": "user", "content": "hi", "name": "ann"}),
        (
            Message(role="assistant", content=(ToolCallPart(id="c1", name="f", arguments={"a": 1}),)),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
            },
        ),
        (
            Message(role="tool", content=(ToolResultPart(call_id="c1", content="42", name="f"),)),
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
        ),
        (
            Message(role="assistant", content=(RefusalPart(text="no"),)),
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        ),
        (
            Message(role="user", content=(MediaPart(kind="image", data="QUJD", media_type="image/png", detail="low"),)),
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD", "detail": "low"}}],
            },
        ),
        (
            Message(role="user", content=(MediaPart(kind="audio", data="QUJD", media_type="audio/mpeg"),)),
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}}]},
        ),
        (
            Message(role="user", content=(MediaPart(kind="video", url="https://example.org/v"),)),
            {"role": "user", "content": [{"type": "text", "text": "[video: https://example.org/v]"}]},
        ),
        (
            Message(role="assistant", content=(ReasoningPart(text="hm"), TextPart(text="hi"))),
            {"role": "assistant", "content": "hi"},
        ),
        (
            Message(role="user", content=(ProviderPart(provider="x", data={}, text="words"),)),
            {"role": "user", "content": [{"type": "text", "text": "words"}]},
        ),
    ],
)
def test_the_wire_form_is_exactly_this(message: Message, wire: dict[str, Any]) -> None:
    assert to_openai([message]) == [wire]


def test_arguments_keep_the_exact_text_the_model_wrote() -> None:
    (message,) = from_openai([{"role": "assistant", "tool_calls": [CALL]}])
    (call,) = message.tool_calls
    assert call.arguments == '{"a": 1}'
    assert call.arguments_object == {"a": 1}


def test_an_edited_message_says_what_it_was_edited_to() -> None:
    (message,) = from_openai([{"role": "user", "content": [{"type": "text", "text": "old"}], "x_new": 1}])
    edited = message.model_copy(update={"content": (TextPart(text="new"),)})
    assert to_openai([edited]) == [{"role": "user", "content": [{"type": "text", "text": "new"}], "x_new": 1}]


def test_an_image_in_a_tool_result_is_shown_after_all_the_results() -> None:
    calls = tuple(ToolCallPart(id=id, name="f") for id in ("c1", "c2"))
    image = MediaPart(kind="image", url="https://example.org/a.png")
    sent = to_openai(
        [
            Message(role="user", content="look"),
            Message(role="assistant", content=calls),
            Message(role="tool", content=(ToolResultPart(call_id="c1", content=(image,)),)),
            Message(role="tool", content=(ToolResultPart(call_id="c2", content="ok"),)),
        ]
    )
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert sent[-1]["content"][-1] == {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def test_a_users_words_between_calls_and_results_move_behind_the_results() -> None:
    sent = to_openai(
        [
            Message(role="assistant", content=(ToolCallPart(id="c1", name="f"),)),
            Message(role="user", content="well?"),
            Message(role="tool", content=(ToolResultPart(call_id="c1", content="ok"),)),
        ]
    )
    assert [message["role"] for message in sent] == ["assistant", "tool", "user"]


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ("hi", "messages"),
        (None, "messages"),
        ({"role": "user", "content": "hi"}, "messages"),
        (["hi"], "messages[0]"),
        ([{"content": "hi"}], "messages[0].role"),
        ([{"role": 3, "content": "hi"}], "messages[0].role"),
        ([{"role": "usr", "content": "hi"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "user", "content": "\ud800"}], "messages[0].content"),
        ([{"role": "user", "content": ["hi"]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"text": "hi"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "txt"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "refusal", "refusal": "no"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0].image_url"),
        ([{"role": "user", "content": [{"type": "file", "file": {}}]}], "messages[0].content[0].file"),
        ([{"role": "user", "content": "hi", "x": object()}], "messages[0].x"),
        ([{"role": "user", "content": "hi", "x": float("nan")}], "messages[0].x"),
        ([{"role": "user", "content": "hi", 3: "x"}], "messages[0]"),
        ([{"role": "tool", "content": "42"}], "messages[0].tool_call_id"),
        ([{"role": "tool", "content": "42", "tool_call_id": ""}], "messages[0].tool_call_id"),
        ([{"role": "tool", "tool_call_id": "c1"}], "messages[0].content"),
        ([{"role": "assistant", "tool_calls": {"id": "c1"}}], "messages[0].tool_calls"),
        ([{"role": "assistant", "tool_calls": [{"id": "c1"}]}], "messages[0].tool_calls[0].function"),
        ([{"role": "assistant", "tool_calls": [{**CALL, "id": None}]}], "messages[0].tool_calls[0].id"),
        ([{"role": "assistant", "tool_calls": [{**CALL, "type": "fun"}]}], "messages[0].tool_calls[0].type"),
        (
            [{"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}],
            "messages[0].tool_calls[0].function.arguments",
        ),
    ],
)
def test_bad_input_is_refused_with_its_place(messages: Any, where: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        from_openai(messages)
    assert caught.value.where == where


def test_a_misspelt_role_is_told_the_right_one() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'assistant'"):
        from_openai([{"role": "asistant", "content": "hi"}])


@pytest.mark.parametrize("messages", ["hi", None, 3, [{"role": "user", "content": "hi"}], Message(role="user")])
def test_only_neutral_messages_can_be_sent(messages: Any) -> None:
    with pytest.raises(InvalidInput, match="messages"):
        to_openai(messages)

"""Pydantic AI messages: real objects come back equal."""

import builtins
import warnings
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import messages as pai

from clew.errors import ClewError, InvalidInput
from clew.messages import (
    Message,
    ReasoningPart,
    TextPart,
    from_pydantic_ai,
    to_anthropic,
    to_openai,
    to_pydantic_ai,
)

from .strategies import conversations, ids, json_objects, json_values, moments, names, texts, unhurried, urls, words

binary = st.builds(
    pai.BinaryContent,
    data=st.binary(max_size=6),
    media_type=st.sampled_from(["image/png", "application/pdf", "audio/wav", "text/plain"]),
    vendor_metadata=st.none() | json_objects,
) | st.builds(pai.BinaryImage, data=st.binary(max_size=6), media_type=st.just("image/png"))
files = (
    binary
    | st.builds(pai.ImageUrl, url=urls, vendor_metadata=st.none() | st.just({"detail": "low"}))
    | st.builds(pai.DocumentUrl, url=urls, media_type=st.just("application/pdf"), force_download=st.booleans())
    | st.builds(pai.UploadedFile, file_id=ids, provider_name=st.just("openai"))
)
prompt = texts | st.lists(
    texts | files | st.builds(pai.TextContent, content=texts, metadata=json_values) | st.builds(pai.CachePoint),
    max_size=3,
)
details = {"provider_name": st.none() | st.just("anthropic"), "provider_details": st.none() | json_objects}
request_parts = (
    st.builds(pai.SystemPromptPart, content=texts, timestamp=moments, dynamic_ref=st.none() | names)
    | st.builds(pai.UserPromptPart, content=prompt, timestamp=moments)
    | st.builds(
        pai.ToolReturnPart,
        tool_name=names,
        content=json_values | st.lists(files | texts | json_objects, max_size=3) | files,
        tool_call_id=ids,
        metadata=st.none() | json_objects,
        timestamp=moments,
        outcome=st.sampled_from(["success", "failed", "denied", "retried"]),
    )
    | st.builds(
        pai.RetryFeedbackPart,
        content=words,
        retry=st.just(pai.RetryInfo(cause="model_retry")),
        timestamp=moments,
    )
)
response_parts = (
    st.builds(pai.TextPart, content=texts, id=st.none() | ids, **details)
    | st.builds(
        pai.ThinkingPart,
        content=texts,
        id=st.none() | ids | st.just("redacted_thinking"),
        signature=st.none() | words,
        **details,
    )
    | st.builds(
        pai.ToolCallPart, tool_name=names, args=st.none() | texts | json_objects, tool_call_id=ids, id=st.none() | ids
    )
    | st.builds(pai.NativeToolCallPart, tool_name=names, args=json_objects, tool_call_id=ids, **details)
    | st.builds(
        pai.NativeToolReturnPart, tool_name=names, content=json_values, tool_call_id=ids, timestamp=moments, **details
    )
    | st.builds(pai.FilePart, content=binary, id=st.none() | ids)
)
pydantic_ai_messages = st.lists(
    st.builds(
        pai.ModelRequest,
        parts=st.lists(request_parts, max_size=3),
        instructions=st.none() | st.sampled_from(["", "be brief", "be long"]),
        timestamp=st.none() | moments,
        run_id=st.none() | ids,
        metadata=st.none() | json_objects,
    )
    | st.builds(
        pai.ModelResponse,
        parts=st.lists(response_parts, max_size=3),
        timestamp=moments | st.just(datetime(1970, 1, 1, tzinfo=UTC)),
        model_name=st.none() | names,
        usage=st.just(pai.RequestUsage(input_tokens=3, output_tokens=4)),
        finish_reason=st.sampled_from([None, "stop", "tool_call"]),
        provider_details=st.none() | json_objects,
    ),
    max_size=4,
)


@unhurried
@given(pydantic_ai_messages)
def test_pydantic_ai_messages_come_back_equal(messages: list[Any]) -> None:
    neutral = from_pydantic_ai(messages)
    stored = [Message.model_validate_json(message.model_dump_json()) for message in neutral]
    assert stored == neutral
    assert to_pydantic_ai(stored) == messages


@unhurried
@given(conversations())
def test_words_calls_and_results_survive_the_pydantic_ai_form(history: list[Message]) -> None:
    back = from_pydantic_ai(to_pydantic_ai(history))
    calls = [(c.id, c.name, c.arguments) for m in history for c in m.tool_calls]
    assert [(c.id, c.name, c.arguments) for m in back for c in m.tool_calls] == calls
    answered = [(r.call_id, r.is_error) for m in history for r in m.tool_results]
    assert [(r.call_id, r.is_error) for m in back for r in m.tool_results] == answered
    thoughts = [p.text for m in history for p in m.content if isinstance(p, ReasoningPart)]
    assert [p.text for m in back for p in m.content if isinstance(p, ReasoningPart)] == thoughts


@unhurried
@given(conversations())
def test_equal_conversations_make_equal_pydantic_ai_messages(history: list[Message]) -> None:
    assert to_pydantic_ai(history) == to_pydantic_ai(list(history))


def test_a_request_is_taken_apart_and_its_instructions_are_what_the_model_sees() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    messages = [
        pai.ModelRequest(parts=[pai.UserPromptPart("hi", timestamp=at)], instructions="be brief"),
        pai.ModelResponse(parts=[pai.ToolCallPart("f", {"a": 1}, "c1")], timestamp=at),
        pai.ModelRequest(
            parts=[pai.UserPromptPart("well?", timestamp=at), pai.ToolReturnPart("f", {"b": 2}, "c1", timestamp=at)],
            instructions="be brief",
        ),
    ]
    neutral = from_pydantic_ai(messages)
    assert [message.role for message in neutral] == ["system", "user", "assistant", "user", "tool"]
    assert [message["role"] for message in to_openai(neutral)] == ["system", "user", "assistant", "tool", "user"]
    assert to_openai(neutral)[3]["content"] == '{"b":2}'
    assert to_anthropic(neutral).system == "be brief"
    assert to_pydantic_ai(neutral) == messages


def test_redacted_thoughts_reach_anthropic_as_such() -> None:
    part = pai.ThinkingPart("", id="redacted_thinking", signature="xyz", provider_name="anthropic")
    sent = to_anthropic(from_pydantic_ai([pai.ModelResponse(parts=[part])]))
    assert sent.messages == [{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "xyz"}]}]


def test_a_retired_retry_part_is_read_as_the_result_it_always_meant() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = pai.RetryPromptPart("try again", tool_name="f", tool_call_id="c1")
        (message,) = from_pydantic_ai([pai.ModelRequest(parts=[part])])
    assert message.tool_results[0].call_id == "c1"
    assert message.tool_results[0].is_error


def test_a_result_whose_text_was_replaced_says_the_new_text() -> None:
    request = pai.ModelRequest(parts=[pai.ToolReturnPart("f", {"b": 2}, "c1")])
    (message,) = from_pydantic_ai([request])
    (result,) = message.tool_results
    short = result.content[0].model_copy(update={"text": "shortened"})
    edited = message.model_copy(update={"content": (result.model_copy(update={"content": (short,)}),)})
    (back,) = to_pydantic_ai([edited])
    assert back.parts[0].content == "shortened"


@pytest.mark.parametrize("value", [None, "", "null", 0, False, [], {}, [None], "{}"])
def test_a_result_that_is_nearly_nothing_comes_back_as_it_was(value: Any) -> None:
    request = pai.ModelRequest(parts=[pai.ToolReturnPart("f", value, "c1")])
    (back,) = to_pydantic_ai(from_pydantic_ai([request]))
    assert back == request
    assert type(back.parts[0].content) is type(value)


def test_a_result_without_a_name_gets_that_of_its_call() -> None:
    history = [
        Message.model_validate({"role": "assistant", "content": [{"type": "tool_call", "id": "c1", "name": "f"}]}),
        Message.model_validate({"role": "tool", "content": [{"type": "tool_result", "call_id": "c1"}]}),
    ]
    assert to_pydantic_ai(history)[1].parts[0].tool_name == "f"


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ("hi", "messages"),
        ([{"kind": "request"}], "messages[0]"),
        ([pai.ModelRequest(parts=[pai.ToolReturnPart("f", object(), "c1")])], "messages[0]"),
        ([pai.ModelResponse(parts=[pai.ToolCallPart("f", {}, "")])], "messages[0].parts[0].tool_call_id"),
    ],
)
def test_bad_input_is_refused_with_its_place(messages: Any, where: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        from_pydantic_ai(messages)
    assert caught.value.where == where


def test_data_that_is_not_base64_is_refused() -> None:
    broken = {"role": "user", "content": [{"type": "media", "kind": "image", "data": "?", "media_type": "image/png"}]}
    with pytest.raises(InvalidInput, match="base64"):
        to_pydantic_ai([Message.model_validate(broken)])


@pytest.mark.parametrize("convert", [from_pydantic_ai, to_pydantic_ai])
def test_without_pydantic_ai_the_error_names_the_extra(convert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pydantic_ai"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ClewError, match=r"pip install 'clew\[pydantic-ai\]'"):
        convert([])


def test_text_is_one_text_part() -> None:
    (message,) = from_pydantic_ai([pai.ModelResponse(parts=[pai.TextPart("hi")])])
    assert message.content == (TextPart(text="hi"),)

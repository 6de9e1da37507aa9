"""LangChain messages: real objects come back equal."""

import builtins
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from clew.errors import ClewError, InvalidInput
from clew.messages import (
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    from_langchain,
    to_anthropic,
    to_langchain,
    to_openai,
)

from .strategies import (
    anthropic_document,
    anthropic_image,
    base64_data,
    conversations,
    ids,
    json_objects,
    names,
    objects,
    openai_audio,
    openai_file,
    openai_image,
    texts,
    unhurried,
    urls,
    words,
)

CACHED = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
standard_media = st.sampled_from(["image", "audio", "video", "file"]).flatmap(
    lambda kind: (
        objects({"type": st.just(kind), "url": urls}, {"mime_type": st.just("image/png"), "id": ids})
        | objects({"type": st.just(kind), "base64": base64_data, "mime_type": st.just("application/pdf")})
        | objects({"type": st.just(kind), "file_id": ids})
    )
)
blocks = (
    texts
    | objects({"type": st.just("text"), "text": texts}, {"annotations": st.just([]), "index": st.integers(0, 3)})
    | st.just(CACHED)
    | standard_media
    | openai_image
    | openai_audio
    | openai_file
    | anthropic_image
    | anthropic_document
    | objects({"type": st.just("non_standard"), "value": json_objects})
    | objects({"cachePoint": json_objects})
)
made_blocks = (
    blocks
    | objects({"type": st.just("thinking"), "thinking": texts}, {"signature": words, "index": st.integers(0, 3)})
    | objects({"type": st.just("redacted_thinking"), "data": words})
    | objects({"type": st.just("reasoning"), "reasoning": texts}, {"id": ids, "extras": st.just({"signature": "s"})})
    | objects({"type": st.just("tool_use"), "id": ids, "name": names, "input": json_objects})
)
common = {
    "id": st.none() | ids,
    "name": st.none() | names,
    "additional_kwargs": json_objects,
    "response_metadata": json_objects,
}


@st.composite
def ai_messages(draw: st.DrawFn) -> AIMessage:
    calls = [{"id": f"c{n}", "name": draw(names), "args": draw(json_objects)} for n in range(draw(st.integers(0, 2)))]
    content: Any = draw(texts | st.lists(made_blocks, max_size=3))
    if isinstance(content, list) and draw(st.booleans()):  # as langchain-anthropic writes them: twice
        content += [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["args"]} for c in calls]
    invalid = draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "id": st.none() | ids,
                    "name": st.none() | names,
                    "args": st.none() | texts,
                    "error": st.none() | texts,
                }
            ),
            max_size=1,
        )
    )
    usage = draw(st.none() | st.just({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}))
    rest = draw(st.fixed_dictionaries(common))
    return AIMessage(content=content, tool_calls=calls, invalid_tool_calls=invalid, usage_metadata=usage, **rest)


content = texts | st.lists(blocks, max_size=3)
langchain_messages = st.lists(
    ai_messages()
    | st.builds(HumanMessage, content=content, **common)
    | st.builds(SystemMessage, content=content, **common)
    | st.builds(
        ToolMessage,
        content=content,
        tool_call_id=ids,
        status=st.sampled_from(["success", "error"]),
        artifact=st.none() | json_objects,
        **common,
    )
    | st.builds(ChatMessage, content=content, role=st.sampled_from(["user", "assistant", "developer"]), **common),
    max_size=4,
)


@unhurried
@given(langchain_messages)
def test_langchain_messages_come_back_equal(messages: list[BaseMessage]) -> None:
    dumped = [message.model_dump() for message in messages]
    neutral = from_langchain(messages)
    stored = [Message.model_validate_json(message.model_dump_json()) for message in neutral]
    assert stored == neutral
    assert to_langchain(stored) == messages
    assert [message.model_dump() for message in messages] == dumped, "the input was changed"


@unhurried
@given(conversations())
def test_words_calls_and_results_survive_the_langchain_form(history: list[Message]) -> None:
    back = from_langchain(to_langchain(history))
    assert [message.role for message in back] == [message.role for message in history]
    assert [m.id for m in back] == [m.id for m in history]
    calls = [sorted((c.id, c.name, c.arguments_object or {}) for c in m.tool_calls) for m in history]
    assert [sorted((c.id, c.name, c.arguments_object or {}) for c in m.tool_calls) for m in back] == calls
    answered = [[(r.call_id, r.is_error) for r in m.tool_results] for m in history]
    assert [[(r.call_id, r.is_error) for r in m.tool_results] for m in back] == answered


def test_the_objects_are_exactly_these() -> None:
    history = [
        Message(role="developer", content="be brief"),
        Message(role="user", content="hi", name="ann", id="m1"),
        Message(
            role="assistant",
            content=(
                ReasoningPart(text="hm", provider="anthropic", signature="s"),
                TextPart(text="ok"),
                ToolCallPart(id="c1", name="f", arguments='{"a": 1}'),
                ToolCallPart(id="c2", name="f", arguments="{broken"),
            ),
        ),
    ]
    assert to_langchain(history) == [
        SystemMessage(content="be brief", additional_kwargs={"__openai_role__": "developer"}),
        HumanMessage(content="hi", name="ann", id="m1"),
        AIMessage(
            content=[{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "ok"}],
            tool_calls=[{"id": "c1", "name": "f", "args": {"a": 1}}],
            invalid_tool_calls=[{"id": "c2", "name": "f", "args": "{broken", "error": None}],
        ),
    ]


def test_a_call_that_anthropic_writes_twice_is_one_call_in_its_place() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
    message = AIMessage(
        content=[{"type": "text", "text": "let me see"}, block],
        tool_calls=[{"id": "c1", "name": "f", "args": {"a": 1}}],
    )
    (neutral,) = from_langchain([message])
    assert [part.type for part in neutral.content] == ["text", "tool_call"]
    assert to_anthropic([neutral]).messages == [{"role": "assistant", "content": message.content}]
    assert len(to_openai([neutral])[0]["tool_calls"]) == 1


def test_what_one_provider_understands_reaches_it_through_langchain() -> None:
    (neutral,) = from_langchain([HumanMessage(content=[CACHED])])
    assert to_anthropic([neutral]).messages == [{"role": "user", "content": [CACHED]}]


def test_a_streamed_chunk_comes_back_as_one() -> None:
    chunk = AIMessageChunk(
        content="hi",
        id="m1",
        tool_call_chunks=[{"id": "c1", "name": "f", "args": '{"a": 1}', "index": 0, "type": "tool_call_chunk"}],
    )
    neutral = from_langchain([chunk])
    assert neutral[0].tool_calls[0].arguments == {"a": 1}
    assert to_langchain(neutral) == [chunk]


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ("hi", "messages"),
        ([{"role": "user", "content": "hi"}], "messages[0]"),
        ([RemoveMessage(id="m1")], "messages[0]"),
        ([FunctionMessage(content="1", name="f")], "messages[0]"),
        ([ChatMessage(content="hi", role="narrator")], "messages[0]"),
        ([ToolMessage(content="1", tool_call_id="")], "messages[0].tool_call_id"),
        ([ToolMessage(content="1", tool_call_id="c", artifact=object())], "messages[0].artifact"),
        ([AIMessage(content="", tool_calls=[{"id": None, "name": "f", "args": {}}])], "messages[0].tool_calls[0].id"),
        ([HumanMessage(content="", additional_kwargs={"x": float("inf")})], "messages[0].additional_kwargs.x"),
    ],
)
def test_bad_input_is_refused_with_its_place(messages: Any, where: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        from_langchain(messages)
    assert caught.value.where == where


@pytest.mark.parametrize("convert", [from_langchain, to_langchain])
def test_without_langchain_the_error_names_the_extra(convert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("langchain_core"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ClewError, match=r"pip install 'clew\[langchain\]'"):
        convert([])

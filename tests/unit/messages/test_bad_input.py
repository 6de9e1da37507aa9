"""Whatever comes in, the caller sees neutral messages or InvalidInput, and no other error."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import InvalidInput
from clew.messages import Message, from_anthropic, from_openai

from .strategies import openai_conversations, unhurried

KEYS = [
    "role",
    "content",
    "type",
    "text",
    "name",
    "tool_calls",
    "tool_call_id",
    "id",
    "function",
    "arguments",
    "custom",
    "input",
    "image_url",
    "url",
    "detail",
    "input_audio",
    "data",
    "format",
    "file",
    "file_data",
    "refusal",
    "reasoning_content",
    "source",
    "media_type",
    "tool_use_id",
    "is_error",
    "thinking",
]
VALUES = [
    "system",
    "user",
    "assistant",
    "tool",
    "text",
    "image_url",
    "input_audio",
    "file",
    "refusal",
    "function",
    "custom",
    "image",
    "document",
    "thinking",
    "tool_use",
    "tool_result",
    "base64",
    "url",
]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(VALUES) | st.text(max_size=3)
nearly = st.recursive(
    scalars | st.just("\ud800") | st.binary(max_size=2) | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.integers(), inner, max_size=5)
    ),
    max_leaves=12,
)
message = st.dictionaries(st.sampled_from(KEYS), nearly, max_size=4).flatmap(
    lambda fields: st.sampled_from(["user", "assistant", "tool", "system"]).map(lambda role: {**fields, "role": role})
)


@settings(unhurried, max_examples=300)
@given(st.sampled_from([from_openai, from_anthropic]), nearly | st.lists(nearly | message, max_size=3))
def test_anything_at_all_gives_messages_or_invalid_input(convert: Any, value: Any) -> None:
    converted: list[Message] = []
    refused_at = "messages"
    try:
        converted = convert(value)
    except InvalidInput as error:
        refused_at = error.where or "nowhere"
    assert refused_at.startswith("messages")
    assert [Message.model_validate_json(item.model_dump_json()) for item in converted] == converted


@unhurried
@given(openai_conversations(), st.data())
def test_one_wrong_value_in_a_good_conversation_is_found_where_it_is(
    history: list[dict[str, Any]], data: st.DataObject
) -> None:
    if not history:
        return
    place = data.draw(st.integers(0, len(history) - 1))
    broken = [*history[:place], {**history[place], "content": 3}, *history[place + 1 :]]
    with pytest.raises(InvalidInput) as caught:
        from_openai(broken)
    assert caught.value.where == f"messages[{place}].content"


def test_nesting_without_end_is_refused() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested deeper"):
        from_openai([{"role": "user", "content": "hi", "x": deep}])

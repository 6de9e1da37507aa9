"""Anthropic form: exact shapes, losslessness, and the rules by which the API refuses a request."""

import importlib.util
import json
import re
from typing import Any

import pytest
from hypothesis import given

from clew.errors import InvalidInput
from clew.messages import (
    MediaPart,
    Message,
    ProviderPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    from_anthropic,
    from_openai,
    to_anthropic,
)

from .strategies import anthropic_conversations, conversations, unhurried


@unhurried
@given(anthropic_conversations())
def test_an_anthropic_conversation_comes_back_equal(conversation: tuple[list[dict[str, Any]], Any]) -> None:
    messages, system = conversation
    before = json.dumps([messages, system])
    back = to_anthropic(from_anthropic(messages, system))
    assert back.messages == messages
    assert back.system == system
    assert json.dumps([messages, system]) == before, "the input was changed"


@unhurried
@given(anthropic_conversations())
def test_an_anthropic_conversation_comes_back_through_neutral_json(
    conversation: tuple[list[dict[str, Any]], Any],
) -> None:
    stored = [message.model_dump_json() for message in from_anthropic(*conversation)]
    assert tuple(to_anthropic([Message.model_validate_json(text) for text in stored])) == (
        conversation[1],
        conversation[0],
    )


def assert_valid(messages: list[dict[str, Any]]) -> None:
    """The rules of the Messages API that histories break."""
    used: set[str] = set()
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        assert message["role"] == ("user", "assistant")[place % 2], "roles do not alternate"
        blocks = message["content"]
        assert blocks, "empty content"
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        kinds = [block["type"] for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert kinds[: len(answered)] == ["tool_result"] * len(answered), "results do not come first"
        assert sorted(answered) == sorted(waiting), "calls and results do not match"
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}
        assert len(waiting) == kinds.count("tool_use")
        assert not used & waiting, "an id is used twice"
        used |= waiting
        for block in blocks:
            assert block["type"] != "text" or block["text"].strip(), "blank text"
            assert block["type"] != "tool_use" or re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"])
            assert block["type"] != "tool_use" or isinstance(block["input"], dict)


@unhurried
@given(conversations())
def test_what_goes_to_anthropic_keeps_every_rule_of_its_api(history: list[Message]) -> None:
    assert_valid(to_anthropic(history).messages)


@pytest.mark.skipif(importlib.util.find_spec("anthropic") is None, reason="the anthropic SDK is not installed")
@unhurried
@given(conversations())
def test_what_goes_to_anthropic_is_a_request_that_its_own_sdk_accepts(history: list[Message]) -> None:
    from anthropic.types import MessageParam  # type: ignore[import-not-found,unused-ignore]
    from pydantic import TypeAdapter

    sent = to_anthropic(history).messages
    assert len(TypeAdapter(list[MessageParam]).validate_python(sent)) == len(sent)


@unhurried
@given(conversations())
def test_words_calls_and_results_survive_the_anthropic_form(history: list[Message]) -> None:
    sent = to_anthropic(history)
    back = from_anthropic(sent.messages, sent.system)
    calls = [(c.id, c.name) for m in history for c in m.tool_calls]
    assert [(c.id, c.name) for m in back for c in m.tool_calls] == calls
    answered = [(r.call_id, r.is_error) for m in history for r in m.tool_results]
    assert [(r.call_id, r.is_error) for m in back for r in m.tool_results] == answered
    said = "".join(p.text for m in history for p in m.content if isinstance(p, TextPart) and p.text.strip())
    heard = "".join(m.text for m in back)
    assert all(heard.count(char) >= said.count(char) for char in set(said) - set("<>/system\n"))


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        ([Message(role="user", content="hi")], (None, [{"role": "user", "content": "hi"}])),
        (
            [Message(role="system", content="be brief"), Message(role="user", content="hi")],
            ("be brief", [{"role": "user", "content": "hi"}]),
        ),
        (
            [Message(role="system", content="a"), Message(role="developer", content="b")],
            ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], []),
        ),
        (
            [Message(role="user", content="a"), Message(role="user", content="b")],
            (None, [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]),
        ),
        (
            [Message(role="user", content="a"), Message(role="system", content="now French")],
            (
                None,
                [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "a"},
                            {"type": "text", "text": "<system>\nnow French\n</system>"},
                        ],
                    }
                ],
            ),
        ),
        (
            [Message(role="user", content="a"), Message(role="assistant"), Message(role="user", content="b")],
            (None, [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]),
        ),
        (
            [Message(role="assistant", content=(ReasoningPart(text="hm", provider="openai"), TextPart(text="hi")))],
            (None, [{"role": "assistant", "content": "hi"}]),
        ),
        (
            [Message(role="assistant", content=(ReasoningPart(text="hm", signature="s", provider="anthropic"),))],
            (None, [{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}]),
        ),
        (
            [Message(role="assistant", content=(ToolCallPart(id="a.b", name="f", arguments="{broken"),))],
            (
                None,
                [
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "tool_use", "id": "a_b", "name": "f", "input": {"INVALID_JSON": "{broken"}}
                        ],
                    }
                ],
            ),
        ),
        (
            [Message(role="user", content=(MediaPart(kind="file", data="aGk=", media_type="text/plain"),))],
            (
                None,
                [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "document",
                                "source": {"type": "text", "media_type": "text/plain", "data": "hi"},
                            }
                        ],
                    }
                ],
            ),
        ),
    ],
)
def test_the_wire_form_is_exactly_this(messages: list[Message], sent: Any) -> None:
    assert tuple(to_anthropic(messages)) == sent


def test_parallel_results_go_into_one_user_message_and_ids_used_again_are_told_apart() -> None:
    turn = [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ("a", "b")
            ],
        },
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]
    sent = to_anthropic(from_openai([{"role": "user", "content": "go"}, *turn, *turn]))
    assert_valid(sent.messages)
    assert [block["tool_use_id"] for block in sent.messages[4]["content"]] == ["b_2", "a_2"]


def test_a_user_message_with_results_and_words_is_split_and_joined_again() -> None:
    user = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "42", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "and now?"},
        ],
    }
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}
    messages = from_anthropic([call, user])
    assert [message.role for message in messages] == ["assistant", "tool", "user"]
    assert messages[1].tool_results[0].text == "42"
    assert to_anthropic(messages).messages == [call, user]


def test_a_block_of_the_servers_own_tools_is_kept_whole() -> None:
    block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    (message,) = from_anthropic([{"role": "assistant", "content": [block]}])
    assert message.content == (ProviderPart(provider="anthropic", data=block),)
    assert not message.tool_calls


def test_a_system_message_in_mid_conversation_goes_back_as_one() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "system", "content": "be brief"}]
    assert to_anthropic(from_anthropic(messages)).messages == messages


def test_a_merged_history_gets_one_message_where_the_turn_between_was_taken_out() -> None:
    messages = from_anthropic([{"role": r, "content": r} for r in ("user", "assistant", "user")])
    assert_valid(to_anthropic([messages[0], messages[2]]).messages)
    results = [
        Message(role="tool", content=(ToolResultPart(call_id="c1", content="1"),)),
        Message(role="user", content="next"),
    ]
    call = Message(role="assistant", content=(ToolCallPart(id="c1", name="f"),))
    assert len(to_anthropic([messages[0], call, *results]).messages) == 3


RESULT = {"type": "tool_result", "tool_use_id": "t"}


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ("hi", "messages"),
        ([3], "messages[0]"),
        ([{"role": "tool", "content": "hi"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        ([{"role": "user", "content": [{"text": "hi"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "txt"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "tool_use"}]}], "messages[0].content[0].type"),
        ([{"role": "assistant", "content": [RESULT, RESULT]}, {"role": "user", "content": 3}], "messages[1].content"),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], "messages[0].content[0].tool_use_id"),
        ([{"role": "user", "content": [{**RESULT, "content": 3}]}], "messages[0].content[0].content"),
        ([{"role": "user", "content": [{**RESULT, "content": [RESULT]}]}], "messages[0].content[0].content"),
        ([{"role": "user", "content": [{**RESULT, "is_error": 1}]}], "messages[0].content[0].is_error"),
        ([{"role": "user", "content": [{"type": "image"}]}], "messages[0].content[0].source"),
        (
            [{"role": "user", "content": [{"type": "image", "source": {"type": "text"}}]}],
            "messages[0].content[0].source.type",
        ),
        (
            [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f"}]}],
            "messages[0].content[0].input",
        ),
        (
            [{"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]}],
            "messages[0].content[0].id",
        ),
    ],
)
def test_bad_input_is_refused_with_its_place(messages: Any, where: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        from_anthropic(messages)
    assert caught.value.where == where


def test_a_bad_system_prompt_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidInput) as caught:
        from_anthropic([], system=[{"type": "text"}])
    assert caught.value.where == "system[0].text"

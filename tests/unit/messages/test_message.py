"""The neutral message itself."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import clew.messages
from clew.messages import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart

from .strategies import assistants, results, speakers, unhurried


@unhurried
@given(st.lists(assistants() | speakers() | results(), max_size=4))
def test_a_message_comes_back_from_json_equal(history: list[Message]) -> None:
    for message in history:
        assert Message.model_validate_json(message.model_dump_json()) == message
        assert Message.model_validate(message.model_dump()) == message


@unhurried
@given(assistants())
def test_text_calls_and_results_are_at_hand(message: Message) -> None:
    assert message.text == "".join(part.text for part in message.content if isinstance(part, TextPart))
    assert message.tool_calls == tuple(part for part in message.content if isinstance(part, ToolCallPart))
    assert message.tool_results == ()


def test_a_message_cannot_be_changed() -> None:
    message = Message(role="user", content="hi")
    with pytest.raises(ValidationError, match="frozen"):
        message.role = "assistant"
    with pytest.raises(ValidationError, match="frozen"):
        message.content[0].text = "ho"  # type: ignore[union-attr]


def test_a_string_stands_for_one_text_part_and_an_empty_one_for_none() -> None:
    assert Message(role="user", content="hi").content == (TextPart(text="hi"),)
    assert Message(role="user", content="").content == ()
    assert ToolResultPart(call_id="c1", content="42").text == "42"


def test_a_timestamp_is_kept_in_utc() -> None:
    there = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    stamp = Message(role="user", timestamp=there).timestamp
    assert stamp == there
    assert stamp is not None
    assert stamp.tzinfo is UTC


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"role": "narrator"}, "role"),
        ({"role": "user", "timestamp": datetime(2026, 1, 1)}, "timezone"),
        ({"role": "user", "metadata": {"x": object()}}, "metadata"),
        ({"role": "user", "metadata": {"x": float("nan")}}, "not finite"),
        ({"role": "user", "content": (ToolCallPart(id="c1", name="f"),)}, "assistant"),
        ({"role": "user", "content": (ToolResultPart(call_id="c1"),)}, "'tool'"),
        ({"role": "tool", "content": "hi"}, "exactly one tool_result"),
        ({"role": "tool", "content": (ToolResultPart(call_id="c1"), ToolResultPart(call_id="c2"))}, "exactly one"),
        ({"role": "user", "x_new": 1}, "x_new"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Message(**fields)


@pytest.mark.parametrize("sources", [{}, {"url": "u", "data": "QQ=="}])
def test_media_have_exactly_one_source(sources: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="exactly one"):
        MediaPart(kind="image", **sources)


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("[1]", None),
        ("{broken", None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
        ('{"a": "\\ud800"}', None),
        ("[" * 100_000, None),
        ('{"a":' * 500 + "1" + "}" * 500, None),
    ],
)
def test_arguments_are_an_object_or_nothing(arguments: Any, parsed: Any) -> None:
    assert ToolCallPart(id="c1", name="f", arguments=arguments).arguments_object == parsed


def test_importing_the_room_does_not_import_the_frameworks() -> None:
    code = "import sys, clew.messages; print(sorted({'langchain_core', 'pydantic_ai', 'openai'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_every_public_name_exists_and_says_what_it_is() -> None:
    assert list(clew.messages.__all__) == sorted(clew.messages.__all__)
    undocumented = [
        name
        for name in clew.messages.__all__
        if name not in ("Part", "Role") and not (getattr(clew.messages, name).__doc__ or "").strip()
    ]
    assert undocumented == []

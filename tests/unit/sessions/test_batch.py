"""What a caller appends is checked whole, named by its place, and stored without loss."""

import json

import pytest

from clew import InvalidInput, Message
from clew.limits import TEXT_MAX_BYTES
from clew.messages import MediaPart, ProviderPart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart, to_openai
from clew.sessions import batch as batch_module
from clew.sessions.batch import prepare
from clew.tokens import count_message

GOOD = {"role": "user", "content": "hello"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"q": "Ünïcode"}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "found"}
MESSAGES = [
    Message(role="user", content="plain"),
    Message(role="system", content=""),
    Message(role="assistant", content=(ProviderPart(provider="x", data={}), ToolCallPart(id="c", name="f"))),
    Message(role="tool", content=(ToolResultPart(call_id="c", content=(TextPart(text="r"),), is_error=True),)),
    Message(role="tool", content=(ToolResultPart(call_id="c"),), metadata={"null": None, "empty": {}}),
    Message(
        role="assistant", content=(ReasoningPart(text="hm", signature="s"), TextPart(text="ok")), name="bo", id="7"
    ),
    Message(
        role="user", content=(MediaPart(kind="image", url="https://example.org/a.png"),), extra={"openai": {"a": {}}}
    ),
    Message(role="user", content="then", timestamp="2026-01-02T03:04:05+02:00"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.model_dump_json()[:40])
def test_what_is_stored_is_the_message_and_all_of_it(message):
    stored = prepare(message).messages[0]
    assert Message.model_validate_json(stored) == message


def test_openai_messages_come_back_with_their_keys_in_order():
    given = [{"content": "first", "role": "user", "custom": {"b": 1, "a": [1.0, -0.0]}}, CALL, RESULT]
    stored = [Message.model_validate_json(text) for text in prepare(given).messages]
    assert json.dumps(to_openai(stored)) == json.dumps(given)


def test_one_message_need_not_be_in_a_list():
    assert prepare(GOOD).digest == prepare([GOOD]).digest
    assert len(prepare(Message(role="user", content="hi")).messages) == 1


def test_tokens_are_counted_for_every_message():
    assert prepare([GOOD, CALL, RESULT]).tokens == [count_message(message) for message in (GOOD, CALL, RESULT)]


def test_the_digest_depends_on_content_and_not_on_the_order_of_keys():
    other_order = dict(reversed(GOOD.items()))
    assert prepare([GOOD, CALL]).digest == prepare([other_order, CALL]).digest
    assert prepare([GOOD, CALL]).digest != prepare([CALL, GOOD]).digest
    assert prepare([GOOD]).digest != prepare([{**GOOD, "content": "Hello"}]).digest


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"role": "user", "content": "a\0b"}, r"messages\[3\]\.content: holds a NUL character at position 1"),
        ({"role": "user", "content": "a\ud800"}, r"messages\[3\]\.content: holds a lone surrogate at position 1"),
        ({"role": "robot", "content": "hi"}, r"messages\[3\]\.role: unknown role 'robot'"),
        ({"content": "hi"}, r"messages\[3\]\.role: is missing"),
        ({"role": "user"}, r"messages\[3\]\.content: is missing"),
        ({"role": "user", "content": 7}, r"messages\[3\]\.content: expected text or a list of parts, got 7"),
        (
            {"role": "user", "content": [{"type": "text", "text": "\0"}]},
            r"messages\[3\]\.content\[0\]\.text: holds a NUL",
        ),
        ({"role": "tool", "content": "x"}, r"messages\[3\]\.tool_call_id"),
        (Message(role="user", content="a\0b"), r"messages\[3\]\.content\[0\]\.text: holds a NUL"),
        (Message(role="user", content="a\ud800"), r"messages\[3\]\.content\[0\]\.text: holds a lone surrogate"),
        ({"role": "user", "content": "x", "extra\0": 1}, r"messages\[3\] key: holds a NUL"),
        ({"role": "user", "content": "x", "score": float("nan")}, r"messages\[3\]\.score: nan is not a JSON number"),
        ({"role": "user", "content": "x", "who": object()}, r"messages\[3\]\.who: object is not JSON"),
        ("hello", r"messages\[3\]: expected an object, got str"),
        (None, r"messages\[3\]: expected an object, got NoneType"),
    ],
)
def test_the_first_thing_wrong_is_named_by_its_place(bad, words):
    with pytest.raises(InvalidInput, match=words):
        prepare([GOOD, Message(role="user", content="ours"), GOOD, bad, GOOD])


@pytest.mark.parametrize("bad", ["hello", 7, None, {1, 2}, iter([GOOD])])
def test_what_is_no_message_and_no_list_is_refused(bad):
    with pytest.raises(InvalidInput, match="messages: expected a message or a list of messages"):
        prepare(bad)


def test_five_megabytes_are_welcome_and_the_limit_is_named():
    big = "five megabytes " * 350_000
    assert prepare({"role": "user", "content": big}).tokens[0] > 100_000
    with pytest.raises(
        InvalidInput, match=r"messages\[0\]\.content: is 16,777,217 bytes long; the limit is 16,777,216"
    ):
        prepare({"role": "user", "content": "x" * (TEXT_MAX_BYTES + 1)})


def test_a_message_and_a_batch_have_limits_of_their_own(monkeypatch):
    parts = [{"type": "text", "text": "x" * 600}] * 2
    monkeypatch.setattr(batch_module, "MESSAGE_MAX_BYTES", 1_000)
    with pytest.raises(InvalidInput, match=r"messages\[1\]: is 1,\d\d\d bytes long; the limit is 1,000"):
        prepare([GOOD, {"role": "user", "content": parts}])
    monkeypatch.setattr(batch_module, "APPEND_MAX_BYTES", 1_500)
    with pytest.raises(InvalidInput, match=r"messages: are 1,[5-9]\d\d bytes long together; the limit is 1,500"):
        prepare([{"role": "user", "content": "x" * 500}] * 3)
    monkeypatch.setattr(batch_module, "APPEND_MAX_MESSAGES", 3)
    with pytest.raises(InvalidInput, match="messages: holds 4 messages; the limit is 3"):
        prepare([GOOD] * 4)


def test_a_caller_who_changes_its_dict_afterwards_changes_nothing():
    mine = {"role": "user", "content": [{"type": "text", "text": "before"}]}
    stored = prepare(mine)
    mine["content"][0]["text"] = "after"
    assert "before" in stored.messages[0]

"""What messages, tools and images cost: the providers' published examples, and sums that add up."""

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import tokens
from clew.errors import InvalidInput
from clew.messages import Message
from clew.tokens import chat, parts

# The cookbook's own example, and the numbers its API answered with.
JARGON = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant "
        "that translates corporate jargon into plain English.",
    },
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth "
        "to touch base on opportunities for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}
WEATHER_QUESTION = [
    {"role": "system", "content": "You are a helpful assistant that can answer to questions about the weather."},
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]


@pytest.mark.parametrize(("encoding", "reported"), [("cl100k_base", 129), ("o200k_base", 124)])
def test_messages_cost_what_the_openai_api_reported(encoding, reported):
    assert tokens.count_messages(JARGON, encoding=encoding) == reported


@pytest.mark.parametrize(("encoding", "reported"), [("cl100k_base", 105), ("o200k_base", 101)])
def test_tools_cost_what_the_openai_api_reported(encoding, reported):
    assert tokens.count_messages(WEATHER_QUESTION, encoding=encoding, tools=[WEATHER]) == reported


@pytest.mark.parametrize(
    ("size", "detail", "cost"),
    [
        ((1024, 1024), "high", 765),
        ((2048, 4096), "high", 1105),
        ((4096, 8192), "low", 85),
        ((100, 100), "auto", 255),
        ((None, None), "auto", 1445),
        ((10_000, 1), "high", 85 + 4 * 170),
    ],
)
def test_openai_images_cost_what_its_guide_says(size, detail, cost):
    assert tokens.count_image(*size, detail=detail) == cost


@pytest.mark.parametrize(
    ("size", "cost"),
    [((200, 200), 54), ((1000, 1000), 1334), ((1092, 1092), 1590), ((9000, 9000), 1600), ((None, None), 1600)],
)
def test_anthropic_images_cost_what_its_guide_says(size, cost):
    assert tokens.count_image(*size, format="anthropic") == cost


PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 1024, 1024) + b"\x08\x06\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 1024, 1024) + b"\0\0\0"
JPEG = b"\xff\xd8\xff\xe0\0\x10" + b"\0" * 14 + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", 1024, 1024) + b"\x03" * 9
WEBP = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\xff\x03\0" * 2
WEBP_LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 1023 | 1023 << 14) + b"\0" * 5
WEBP_LOSSY = b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 1024, 1024)


@pytest.mark.parametrize("image", [PNG, GIF, JPEG, WEBP, WEBP_LOSSLESS, WEBP_LOSSY])
def test_an_image_sent_as_data_is_measured(image):
    data = base64.b64encode(image).decode()
    openai = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/x;base64,{data}"}}]}
    anthropic = {
        "role": "user",
        "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/x", "data": data}}],
    }
    empty = {"role": "user", "content": ""}
    assert tokens.count_message(openai) - tokens.count_message(empty) == 765
    assert tokens.count_message(anthropic, format="anthropic") - tokens.count_message(empty) == 1399


@pytest.mark.parametrize("url", ["https://example.org/x.png", "data:image/png;base64,AAAA", "data:image/png;base64,é"])
def test_an_image_of_unknown_size_costs_the_most(url):
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url, "detail": "high"}}]}
    assert tokens.count_message(message) == tokens.count_message({"role": "user", "content": ""}) + 1445


CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Kyōto"}'}}
OPENAI_MESSAGES = [
    {"role": "user", "content": "What's the weather?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "call_2"}]},
    {"role": "tool", "tool_call_id": "call_1", "content": '{"temp": 21}'},
    {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "failed"}]},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "A" * 4_000, "format": "mp3"}}]},
    {"role": "user", "content": [{"type": "file", "file": {"filename": "a.pdf", "file_data": "A" * 90_000}}]},
    {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{}"}},
]
ANTHROPIC_MESSAGES = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln" * 100},
            {"type": "redacted_thinking", "data": "A" * 40},
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Kyōto"}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "21"}]}],
    },
    {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "words"}, "title": "T"}]},
    {"role": "user", "content": [{"type": "newer_than_this_table", "data": [1, 2]}]},
]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(range(5)), max_size=8),
    st.sampled_from(tokens.ENCODINGS),
    st.sampled_from(["openai", "anthropic"]),
    st.booleans(),
)
def test_counts_add_up(places, encoding, format, with_tools):
    source = OPENAI_MESSAGES if format == "openai" else ANTHROPIC_MESSAGES
    messages, tools = [source[place] for place in places], [WEATHER] if with_tools else None
    parts_sum = sum(tokens.count_message(m, encoding=encoding, format=format) for m in messages)
    fixed = tokens.count_priming(format=format) + tokens.count_tools(tools, encoding=encoding, format=format)
    assert tokens.count_messages(messages, encoding=encoding, format=format, tools=tools) == parts_sum + fixed


def test_a_call_costs_its_frame_its_id_its_name_and_its_arguments():
    without, with_call = {"role": "assistant", "content": None}, {"role": "assistant", "tool_calls": [CALL]}
    expected = sum(tokens.count(text) for text in ("call_1", "get_weather", '{"city":"Kyōto"}'))
    difference = tokens.count_message(with_call) - tokens.count_message(without)
    assert difference == parts.TOOL_CALL_TOKENS + expected


def test_what_is_not_text_costs_what_its_rule_says():
    frame = chat.OPENAI_MESSAGE_TOKENS + 1
    assert tokens.count_message(OPENAI_MESSAGES[5]) == frame + 8
    assert tokens.count_message(OPENAI_MESSAGES[6]) == frame + tokens.count("a.pdf") + 2 * parts.DOCUMENT_PAGE_TOKENS
    thought = {"role": "assistant", "content": [ANTHROPIC_MESSAGES[1]["content"][0]]}
    assert tokens.count_message(thought, format="anthropic") == frame + tokens.count("Let me look.")


@pytest.mark.parametrize("format", ["openai", "anthropic"])
def test_neutral_messages_cost_what_their_provider_form_costs(format):
    told = [
        Message(role="system", content="Be brief."),
        Message(role="user", content="What's the weather?"),
        Message(role="assistant", content=({"type": "tool_call", "id": "c1", "name": "w", "arguments": "{}"},)),
        Message(role="tool", content=({"type": "tool_result", "call_id": "c1", "content": "21 degrees"},)),
    ]
    total = tokens.count_messages(told, format=format)
    assert total == sum(tokens.count_message(m, format=format) for m in told) + tokens.count_priming(format=format)
    words = ("Be brief.", "What's the weather?", "{}", "21 degrees")
    assert sum(map(tokens.count, words)) < total < 60


def test_nested_schemas_are_counted_where_the_cookbook_stops():
    def tool(inner):
        return {"name": "t", "description": "d", "parameters": {"type": "object", "properties": {"p": inner}}}

    flat = tokens.count_tools([tool({"type": "object"})])
    nested = tokens.count_tools([tool({"type": "object", "properties": {"q": {"type": "string"}}})])
    listed = tokens.count_tools(
        [tool({"type": "array", "items": {"type": "object", "properties": {"q": {"type": "string"}}}})]
    )
    united = tokens.count_tools([tool({"anyOf": [{"type": "string"}, {"type": "null"}], "enum": [1, None]})])
    assert min(nested, listed, united) > flat


def test_tools_for_anthropic_cost_its_prompt_and_their_json():
    tool = {"name": "t", "description": "d.", "input_schema": {"type": "object"}}
    assert tokens.count_tools([tool], format="anthropic") == 346 + 3 + 1 + 2 + tokens.count('{"type":"object"}')
    assert tokens.count_tools([{"type": "web_search_20250305", "name": "web_search"}], format="anthropic") > 346
    assert tokens.count_tools([]) == tokens.count_tools(None) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: tokens.count_messages("text"),  # type: ignore[arg-type]
        lambda: tokens.count_messages({"role": "user"}),  # type: ignore[arg-type]
        lambda: tokens.count_messages([{"content": "no role"}]),
        lambda: tokens.count_messages([{"role": "user", "content": 7}]),
        lambda: tokens.count_messages([{"role": "user", "content": [7]}]),
        lambda: tokens.count_messages([{"role": "user", "content": [{"type": "new", "x": object()}]}]),
        lambda: tokens.count_messages([{"role": "assistant", "tool_calls": ["x"]}]),
        lambda: tokens.count_messages([7]),  # type: ignore[list-item]
        lambda: tokens.count_messages([], format="google"),  # type: ignore[arg-type]
        lambda: tokens.count_message({"role": "user"}, format="google"),  # type: ignore[arg-type]
        lambda: tokens.count_tools([{"no": "name"}]),
        lambda: tokens.count_tools(["x"]),  # type: ignore[list-item]
        lambda: tokens.count_tools([WEATHER], encoding="gpt2"),
        lambda: tokens.count_image(0, 5),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(InvalidInput):
        call()


def test_endless_nesting_is_refused():
    schema, content = {"type": "object"}, "end"
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"p": schema}}
        content = [{"type": "tool_result", "content": content}]
    with pytest.raises(InvalidInput, match="nested"):
        tokens.count_tools([{"name": "t", "parameters": schema}])
    with pytest.raises(InvalidInput, match="nested"):
        tokens.count_message({"role": "user", "content": content})
    with pytest.raises(InvalidInput, match="JSON"):
        tokens.count_tools([{"name": "t", "input_schema": schema}], format="anthropic")


def test_an_error_names_the_message():
    with pytest.raises(InvalidInput) as refused:
        tokens.count_messages([{"role": "user", "content": "ok"}, {"role": "user", "content": [None]}])
    assert refused.value.where == "messages[1].content[0]"

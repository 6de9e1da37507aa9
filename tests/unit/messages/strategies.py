"""Conversations to test with: neutral ones, and valid ones in each provider's own form."""

import base64
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from clew.messages import (
    MediaPart,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

# A busy machine is no failure; each example is a whole conversation, so a few dozen find what there is to find.
unhurried = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])

texts = st.text(st.characters(codec="utf-8"), max_size=12)
words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12)
ids = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True)
names = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
numbers = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    numbers | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
base64_data = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())
urls = names.map(lambda name: f"https://example.org/{name}.png")
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
# Fields nobody knows yet: they must survive all the same.
unknown = st.dictionaries(st.sampled_from(["x_new", "x_other"]), json_values, max_size=2)


def objects(required: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these fields, in any order of keys, and perhaps some that nobody knows."""
    known = st.fixed_dictionaries(required, optional=optional or {})
    return st.builds(lambda a, b: {**b, **a}, known, unknown)


# --- neutral -----------------------------------------------------------------------------------------------------


@st.composite
def media(draw: st.DrawFn) -> MediaPart:
    kind = draw(st.sampled_from(["image", "audio", "video", "document", "file"]))
    source: dict[str, Any] = draw(
        st.fixed_dictionaries({"url": urls})
        | st.fixed_dictionaries({"data": base64_data})
        | st.fixed_dictionaries({"file_id": ids, "provider": st.sampled_from(["openai", "anthropic"])})
    )
    types = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}
    return MediaPart(kind=kind, media_type=types.get(kind), filename=draw(st.none() | names), **source)


reasoning = st.builds(
    ReasoningPart,
    text=texts,
    signature=st.none() | words,
    id=st.none() | ids,
    provider=st.sampled_from([None, "anthropic", "openai"]),
)
said = st.builds(TextPart, text=texts)
arguments = json_objects | st.sampled_from(['{"a": 1}', "{broken", "", "[1]", '{"a":1e999}', '"\\ud800"'])
calls = st.builds(ToolCallPart, id=ids, name=names, arguments=arguments)
foreign = st.builds(ProviderPart, provider=st.just("elsewhere"), data=st.just({"type": "odd"}), text=st.none() | words)


@st.composite
def assistants(draw: st.DrawFn) -> Message:
    parts = draw(st.lists(said | reasoning | calls | st.builds(RefusalPart, text=words) | foreign, max_size=4))
    return Message(
        role="assistant", content=tuple(parts), id=draw(st.none() | ids), timestamp=draw(st.none() | moments)
    )


@st.composite
def speakers(draw: st.DrawFn) -> Message:
    role = draw(st.sampled_from(["user", "user", "system", "developer"]))
    parts = draw(st.lists(said | media() | foreign if role == "user" else said, max_size=3))
    name = draw(st.none() | names)
    return Message(role=role, content=tuple(parts), id=draw(st.none() | ids), name=name, metadata=draw(json_objects))


@st.composite
def results(draw: st.DrawFn, call_ids: st.SearchStrategy[str] = ids) -> Message:
    content = tuple(draw(st.lists(said | media() | foreign, max_size=2)))
    part = ToolResultPart(
        call_id=draw(call_ids), name=draw(st.none() | names), content=content, is_error=draw(st.booleans())
    )
    return Message(role="tool", content=(part,), id=draw(st.none() | ids))


few_ids = st.sampled_from(["a", "b", "c"])


@st.composite
def damaged_histories(draw: st.DrawFn) -> list[Message]:
    """Any messages in any order, with so few ids that they collide all the time."""
    few_calls = st.builds(ToolCallPart, id=few_ids, name=names, arguments=st.sampled_from(["{}", '{"a":1}']))
    callers = st.builds(
        lambda parts, id: Message(role="assistant", content=tuple(parts), id=id),
        st.lists(few_calls | said | reasoning, max_size=3),
        st.none() | few_ids,
    )
    return draw(st.lists(callers | results(few_ids) | speakers(), max_size=8))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Healthy: begins with the user, and all calls are answered, in any order, before anyone speaks again."""
    history = draw(st.lists(st.builds(Message, role=st.just("system"), content=words), max_size=1))
    history.append(Message(role="user", content=draw(words)))
    for number in range(draw(st.integers(0, 3))):
        texts_before = draw(st.lists(said | reasoning, max_size=2))
        made = [
            ToolCallPart(id=f"call_{number}_{n}", name=draw(names), arguments=draw(arguments))
            for n in range(draw(st.integers(0, 3)))
        ]
        history.append(Message(role="assistant", content=(*texts_before, *made)))
        for call in draw(st.permutations(made)):
            history.append(draw(results(st.just(call.id))).model_copy(update={"id": None}))
        history += draw(st.lists(speakers().map(lambda m: m.model_copy(update={"id": None})), max_size=2))
    return history


# --- OpenAI ------------------------------------------------------------------------------------------------------

openai_text = objects({"type": st.just("text"), "text": texts})
openai_url = urls | base64_data.map(lambda data: f"data:image/png;base64,{data}") | st.just("data:,odd")
openai_image = objects(
    {
        "type": st.just("image_url"),
        "image_url": objects({"url": openai_url}, {"detail": st.sampled_from(["low", None])}),
    }
)
openai_audio = objects(
    {
        "type": st.just("input_audio"),
        "input_audio": objects({"data": base64_data, "format": st.sampled_from(["wav", "mp3"])}),
    }
)
openai_file = objects(
    {
        "type": st.just("file"),
        "file": objects({"file_id": ids}, {"filename": names})
        | objects({"file_data": base64_data.map(lambda d: f"data:application/pdf;base64,{d}") | base64_data})
        | objects({"file_data": base64_data, "file_id": ids}),
    }
)
openai_call = objects(
    {
        "id": ids,
        "type": st.just("function"),
        "function": objects({"name": names, "arguments": texts | st.just('{ "a" : 1 }')}),
    }
) | objects({"id": ids, "type": st.just("custom"), "custom": objects({"name": names, "input": texts})})


@st.composite
def openai_turns(draw: st.DrawFn, number: int) -> list[dict[str, Any]]:
    message = draw(
        objects(
            {"role": st.just("assistant"), "content": st.none() | texts | st.lists(openai_text, max_size=2)},
            {
                "refusal": st.none() | texts,
                "audio": st.none() | objects({"id": ids}),
                "annotations": st.lists(json_objects, max_size=1),
                "reasoning_content": texts,
                "name": names,
            },
        )
    )
    made = draw(st.none() | st.lists(openai_call, max_size=2))
    if made is not None:
        message["tool_calls"] = [{**call, "id": f"call_{number}_{n}"} for n, call in enumerate(made)]
        if draw(st.booleans()):
            del message["content"]
    answers = [
        {
            **draw(
                objects(
                    {"role": st.just("tool"), "content": texts | st.lists(openai_text | openai_image, max_size=2)},
                    {"name": names},
                )
            ),
            "tool_call_id": call["id"],
        }
        for call in message.get("tool_calls", [])
    ]
    return [message, *draw(st.permutations(answers))]


@st.composite
def openai_conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    content = texts | st.lists(openai_text | openai_image | openai_audio | openai_file, max_size=3)
    user = objects({"role": st.just("user"), "content": content}, {"name": names})
    system = objects(
        {"role": st.sampled_from(["system", "developer"]), "content": texts | st.lists(openai_text, max_size=2)}
    )
    history: list[dict[str, Any]] = draw(st.lists(system, max_size=1))
    for number in range(draw(st.integers(0, 2))):
        history += draw(st.lists(user | system, max_size=2))
        history += draw(openai_turns(number))
    return history


# --- Anthropic ---------------------------------------------------------------------------------------------------

cache = {"cache_control": st.just({"type": "ephemeral"})}
anthropic_text = objects({"type": st.just("text"), "text": texts}, {**cache, "citations": st.none() | st.just([])})
anthropic_image = objects(
    {
        "type": st.just("image"),
        "source": objects({"type": st.just("base64"), "media_type": st.just("image/png"), "data": base64_data})
        | objects({"type": st.just("url"), "url": urls})
        | objects({"type": st.just("file"), "file_id": ids}),
    },
    cache,
)
anthropic_document = objects(
    {
        "type": st.just("document"),
        "source": objects(
            {
                "type": st.just("base64"),
                "media_type": st.sampled_from(["application/pdf", "text/plain", "application/zip"]),
                "data": base64_data,
            }
        )
        | objects(
            {"type": st.just("text"), "media_type": st.sampled_from(["text/plain", "text/markdown"]), "data": texts}
        )
        | objects({"type": st.just("url"), "url": urls})
        | objects({"type": st.just("content"), "content": texts | st.lists(anthropic_text, max_size=1)}),
    },
    {**cache, "title": st.none() | names, "citations": st.just({"enabled": True})},
)
anthropic_made = (
    anthropic_text
    | objects({"type": st.just("thinking"), "thinking": texts}, {"signature": words})
    | objects({"type": st.just("redacted_thinking"), "data": words})
    | objects({"type": st.just("server_tool_use"), "id": ids, "name": names, "input": json_objects})
    | objects({"type": st.just("web_search_tool_result"), "tool_use_id": ids, "content": st.just([])})
    | objects({"type": st.just("x_block_of_next_year"), "content": json_values})
)
anthropic_call = objects({"type": st.just("tool_use"), "name": names, "input": json_objects}, cache)
anthropic_result = objects(
    {"type": st.just("tool_result")},
    {
        **cache,
        "content": st.none() | texts | st.lists(anthropic_text | anthropic_image | anthropic_document, max_size=2),
        "is_error": st.booleans(),
    },
)


@st.composite
def anthropic_conversations(draw: st.DrawFn) -> tuple[list[dict[str, Any]], Any]:
    block = anthropic_text | anthropic_image | anthropic_document
    history: list[dict[str, Any]] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(0, 4))):
        made = [{**draw(anthropic_call), "id": f"toolu_{number}_{n}"} for n in range(draw(st.integers(0, 2)))]
        answers = [{**draw(anthropic_result), "tool_use_id": id} for id in waiting]
        user: Any = draw(texts | st.lists(block, max_size=2))
        if answers:
            user = [*answers, *(user if isinstance(user, list) else [])]
        history.append({**draw(unknown), "role": "user", "content": user})
        if draw(st.booleans()):  # the API takes two in a row, and so do we
            history.append({"role": "user", "content": draw(texts | st.lists(block, max_size=2))})
        assistant: Any = draw(texts | st.lists(anthropic_made, max_size=3))
        if made:
            assistant = [*(assistant if isinstance(assistant, list) else []), *made]
        history.append({**draw(unknown), "role": "assistant", "content": assistant})
        waiting = [call["id"] for call in made]
    return history, draw(st.none() | texts | st.lists(anthropic_text, max_size=2))

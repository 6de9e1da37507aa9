"""OpenAI chat messages, to and from the neutral form."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from clew.errors import InvalidInput
from clew.messages.groups import results_first
from clew.messages.media import described
from clew.messages.message import (
    MediaPart,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.openai_parts import OPENAI, call_from_openai, call_to_openai, part_from_openai, part_to_openai
from clew.messages.reading import Fields, add_fields, list_at, naming, neutral_messages, role_at, shown

ContentForm = Literal["text", "list", "null", "absent"]

# A part in a role where OpenAI itself takes none: servers that speak its form do, so what came so goes back so.
_AS_IT_CAME: Final = {"place": "as it came"}


def from_openai(messages: Iterable[Mapping[str, Any]]) -> list[Message]:
    """Neutral messages, one for each OpenAI chat message. `to_openai` gives the same list back, key order included."""
    converted = []
    for index, value in enumerate(list_at(messages, "messages", what="a list of messages")):
        where = f"messages[{index}]"
        with naming(where):
            converted.append(_with_key_order(_message(value, where), value))
    return converted


def _message(value: object, where: str) -> Message:
    fields = Fields(value, where)
    role = role_at(fields)
    if role == "tool":
        return _tool_message(fields)
    parts: list[Part] = []
    form: dict[str, Any] = {}
    if role == "assistant" and fields.peek("reasoning_content"):
        reasoning = fields.text("reasoning_content")
        parts.append(ReasoningPart(text=reasoning, extra=extra_of(OPENAI, {}, {"field": "reasoning_content"})))
    content, content_form = _content(fields, role)
    parts += content
    if role == "assistant" and fields.peek("refusal"):
        parts.append(RefusalPart(text=fields.text("refusal"), extra=extra_of(OPENAI, {}, {"field": "refusal"})))
    has_calls = role == "assistant" and bool(fields.peek("tool_calls"))
    if has_calls:
        where_calls = f"{where}.tool_calls"
        for index, call in enumerate(list_at(fields.take("tool_calls"), where_calls)):
            parts.append(call_from_openai(call, f"{where_calls}[{index}]"))
    if content_form != _usual_form(content, has_calls=has_calls):
        form["content"] = content_form
    name = fields.maybe_text("name")
    return Message(role=role, content=tuple(parts), name=name, extra=extra_of(OPENAI, fields.rest(), form))


def _tool_message(fields: Fields) -> Message:
    call_id = fields.text("tool_call_id", allow_empty=False, fix="A tool message names the call it answers")
    name = fields.maybe_text("name")
    content, content_form = _content(fields, "tool")
    form: dict[str, Any] = {} if name is None else {"name": True}
    if content_form != _usual_form(content, has_calls=False):
        form["content"] = content_form
    result = ToolResultPart(call_id=call_id, name=name, content=tuple(content))
    return Message(role="tool", content=(result,), extra=extra_of(OPENAI, fields.rest(), form))


def _content(fields: Fields, role: Role) -> tuple[list[Part], ContentForm]:
    where = f"{fields.where}.content"
    fix = "Content is text or a list of parts"
    if not fields.has("content"):
        if role == "assistant":
            return [], "absent"
        raise InvalidInput("is missing", where=where, fix=fix)
    value = fields.peek("content")
    if isinstance(value, str):
        text = fields.text("content")
        return ([TextPart(text=text)] if text else []), "text"
    fields.take("content")
    if value is None and role == "assistant":
        return [], "null"
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"expected text or a list of parts, got {shown(value)}", where=where, fix=fix)
    return [
        _placed(part_from_openai(item, f"{where}[{i}]"), role, f"{where}[{i}]") for i, item in enumerate(value)
    ], "list"


def _placed(part: TextPart | MediaPart | RefusalPart, role: Role, where: str) -> Part:
    if isinstance(part, RefusalPart) and role != "assistant":
        raise InvalidInput(f"a {role} message cannot refuse", where=f"{where}.type", fix="Only the assistant refuses")
    if isinstance(part, MediaPart) and role != "user":
        form = {**form_of(part, OPENAI), **_AS_IT_CAME}
        return part.model_copy(update={"extra": extra_of(OPENAI, dict(own_fields(part, OPENAI)), form)})
    return part


def _usual_form(content: Sequence[Part], *, has_calls: bool) -> ContentForm:
    """How we write content when nothing says otherwise."""
    if not content:
        return "null" if has_calls else "text"
    return "text" if len(content) == 1 and _is_plain_text(content[0]) else "list"


def _is_plain_text(part: Part) -> bool:
    return isinstance(part, TextPart) and not own_fields(part, OPENAI)


def to_openai(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """An OpenAI chat request's `messages`: each result right after its calls, every part in a place OpenAI has.

    Media in a tool result go into a user message after the results, since a tool message takes text only. Reasoning is
    left out unless it came in OpenAI form: the chat form has no field for it. Whether a result is an error is told by
    its text alone. A damaged history stays damaged: `repair` it first.
    """
    out: list[dict[str, Any]] = []
    held: list[dict[str, Any]] = []
    for message in results_first(neutral_messages(messages)):
        if message.role == "tool":
            out.append(_in_key_order(_tool_to_openai(message, held), message))
            continue
        _release(held, out)
        out.append(_in_key_order(_to_openai(message), message))
    _release(held, out)
    return out


def _release(held: list[dict[str, Any]], out: list[dict[str, Any]]) -> None:
    if held:
        out.append({"role": "user", "content": list(held)})
        held.clear()


def _to_openai(message: Message) -> dict[str, Any]:
    content: list[tuple[Part, dict[str, Any]]] = []
    fields: dict[str, Any] = {}
    for part in message.content:
        field = form_of(part, OPENAI).get("field")
        if isinstance(part, ToolCallPart):
            fields.setdefault("tool_calls", []).append(call_to_openai(part))
        elif isinstance(part, ReasoningPart | RefusalPart) and field and field not in fields:
            fields[field] = part.text
        elif (rendered := _part_to_openai(part, message.role)) is not None:
            content.append((part, rendered))
    out: dict[str, Any] = {"role": message.role}
    _add_content(out, content, message, has_calls="tool_calls" in fields)
    if message.name is not None:
        out["name"] = message.name
    return add_fields(out | fields, own_fields(message, OPENAI))


def _part_to_openai(part: Part, role: Role) -> dict[str, Any] | None:
    if isinstance(part, MediaPart) and role != "user" and "place" not in form_of(part, OPENAI):
        return {"type": "text", "text": described(part)}
    if isinstance(part, RefusalPart) and role != "assistant":
        return {"type": "text", "text": part.text}
    return part_to_openai(part)


def _add_content(
    out: dict[str, Any], content: list[tuple[Part, dict[str, Any]]], message: Message, *, has_calls: bool
) -> None:
    """The content in the form it came in, as long as that form still holds what the message now says."""
    parts = [part for part, _ in content]
    usual = _usual_form(parts, has_calls=has_calls)
    wanted = form_of(message, OPENAI).get("content", usual)
    if parts and wanted != "list":
        wanted = usual
    if wanted == "text":
        out["content"] = content[0][1]["text"] if content else ""
    elif wanted == "list":
        out["content"] = [rendered for _, rendered in content]
    elif wanted == "null":
        out["content"] = None


def _tool_to_openai(message: Message, held: list[dict[str, Any]]) -> dict[str, Any]:
    (result,) = message.tool_results
    out: dict[str, Any] = {"role": "tool", "tool_call_id": result.call_id}
    if result.name is not None and form_of(message, OPENAI).get("name"):
        out["name"] = result.name
    content: list[tuple[Part, dict[str, Any]]] = []
    for part in result.content:
        rendered = part_to_openai(part)
        if rendered is None:
            continue
        if isinstance(part, MediaPart) and rendered["type"] != "text" and "place" not in form_of(part, OPENAI):
            held.append({"type": "text", "text": f"From tool call {result.call_id}:"})
            held.append(rendered)
            rendered = {"type": "text", "text": f"{described(part)} (shown below)"}
        content.append((part, rendered))
    if not any(isinstance(part, MediaPart | ProviderPart) for part, _ in content):
        _add_content(out, content, message, has_calls=False)
    else:
        out["content"] = [rendered for _, rendered in content]
    return add_fields(out, own_fields(message, OPENAI))


def _with_key_order(message: Message, original: object) -> Message:
    """The message, remembering the order of the original's keys where we would write them in another."""
    order = _key_order(original, _tool_to_openai(message, []) if message.role == "tool" else _to_openai(message))
    if order is None:
        return message
    form = {**form_of(message, OPENAI), "order": order}
    return message.model_copy(update={"extra": extra_of(OPENAI, dict(own_fields(message, OPENAI)), form)})


def _in_key_order(out: dict[str, Any], message: Message) -> dict[str, Any]:
    order = form_of(message, OPENAI).get("order")
    return out if order is None else _reordered(out, order)


def _key_order(original: object, ours: object) -> dict[str, Any] | None:
    """Where the two differ in the order of keys: `keys` for an object, `in` for what differs further inside."""
    pairs: list[tuple[str, Any, Any]] = []
    order: dict[str, Any] = {}
    if isinstance(original, Mapping) and isinstance(ours, Mapping):
        if list(original) != list(ours):
            order["keys"] = list(original)
        pairs = [(key, original[key], ours[key]) for key in original if key in ours]
    elif isinstance(original, list) and isinstance(ours, list):
        pairs = [(str(i), a, b) for i, (a, b) in enumerate(zip(original, ours, strict=False))]
    inside = {key: found for key, a, b in pairs if (found := _key_order(a, b)) is not None}
    if inside:
        order["in"] = inside
    return order or None


def _reordered(value: Any, order: Mapping[str, Any]) -> Any:
    inside = order.get("in", {})
    if isinstance(value, list):
        return [_reordered(item, inside[str(i)]) if str(i) in inside else item for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    keys = [key for key in order.get("keys", ()) if key in value]
    keys += [key for key in value if key not in keys]
    return {key: _reordered(value[key], inside[key]) if key in inside else value[key] for key in keys}

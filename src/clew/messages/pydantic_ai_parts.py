"""Pydantic AI's parts in their JSON form, one at a time, for `pydantic_ai.py`."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from clew.messages.json_values import json_text
from clew.messages.media import decoded, described, encoded, kind_of
from clew.messages.message import (
    MediaKind,
    MediaPart,
    Part,
    ProviderPart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.reading import Fields, add_fields, plain, text_at

PYDANTIC_AI: Final = "pydantic_ai"
_URL_KINDS: Final[dict[str, MediaKind]] = {
    "image-url": "image",
    "audio-url": "audio",
    "video-url": "video",
    "document-url": "document",
}
_URL_NAMES: Final = {kind: name for name, kind in _URL_KINDS.items()} | {"file": "document-url"}
_FILE_KINDS: Final = (*_URL_KINDS, "binary", "uploaded-file")
_REDACTED: Final = "redacted_thinking"  # Pydantic AI's mark on Anthropic's redacted thoughts
PLAIN: Final = "clew:plain"  # binary content that is to be BinaryContent, and no subclass
# Pydantic AI has no word for "time unknown" and would put in the present, so that equal inputs made unequal outputs.
UNKNOWN_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)


def media_from(fields: Fields, made: object) -> MediaPart:
    """The neutral part of a file: by URL, as data, or uploaded to a provider. `made` is the object itself."""
    kind = fields.text("kind")
    media_type = fields.maybe_text("media_type")
    media: dict[str, Any] = {"media_type": media_type}
    # Pydantic AI turns plain BinaryContent with an image in it into BinaryImage whenever it reads messages back.
    form: dict[str, Any] = {PLAIN: True} if type(made).__name__ == "BinaryContent" else {}
    if kind == "binary":
        media |= {"data": encoded(decoded(fields.text("data"), f"{fields.where}.data")), "kind": kind_of(media_type)}
    elif kind == "uploaded-file":
        media |= {"file_id": fields.text("file_id"), "provider": fields.text("provider_name")}
        media["kind"] = kind_of(media_type)
    else:
        media |= {"url": fields.text("url"), "kind": _URL_KINDS[kind]}
    vendor = fields.peek("vendor_metadata")
    if isinstance(vendor, dict) and isinstance(vendor.get("detail"), str):
        media["detail"] = vendor["detail"]
    return MediaPart(**media, extra=extra_of(PYDANTIC_AI, fields.rest(), form))


def media_to(part: MediaPart) -> dict[str, Any]:
    """The JSON form of a file."""
    out: dict[str, Any] = {} if part.media_type is None else {"media_type": part.media_type}
    if part.data is not None:
        data = encoded(decoded(part.data, "data")).replace("+", "-").replace("/", "_")
        out |= {"kind": "binary", "data": data, "media_type": part.media_type or "application/octet-stream"}
        if PLAIN in form_of(part, PYDANTIC_AI):
            out[PLAIN] = True
    elif part.file_id is not None:
        if part.provider is None:
            return {"kind": "text-content", "content": described(part)}
        out |= {"kind": "uploaded-file", "file_id": part.file_id, "provider_name": part.provider}
    else:
        out |= {"kind": _URL_NAMES[part.kind], "url": part.url}
    if part.detail is not None and not own_fields(part, PYDANTIC_AI):
        out["vendor_metadata"] = {"detail": part.detail}
    return add_fields(out, own_fields(part, PYDANTIC_AI))


def user_content_from(value: object, where: str, made: object) -> Part:
    """The neutral part of one item of a user prompt."""
    if isinstance(value, str):
        return TextPart(text=text_at(value, where))
    fields = Fields(value, where)
    kind = fields.peek("kind")
    if kind in _FILE_KINDS:
        return media_from(fields, made)
    if kind == "text-content":
        text = fields.text("content")
        return TextPart(text=text, extra=extra_of(PYDANTIC_AI, fields.rest()))
    words = fields.peek("content")
    return ProviderPart(provider=PYDANTIC_AI, data=fields.rest(), text=words if isinstance(words, str) else None)


def user_content_to(part: Part) -> str | dict[str, Any] | None:
    """One item of a user prompt, or None when there is no place for the part in one."""
    match part:
        case TextPart():
            fields = own_fields(part, PYDANTIC_AI)
            return add_fields({"content": part.text}, fields) if fields else part.text
        case MediaPart():
            return media_to(part)
        case ProviderPart() if part.provider == PYDANTIC_AI:
            return add_fields({}, part.data)
    return getattr(part, "text", None) or None


def result_from(fields: Fields, made: object) -> ToolResultPart:
    """The neutral result of a tool return. Structured content becomes JSON text, as the model would see it.

    A tool's own data may look like a file once it is JSON; only the objects, in `made`, tell the two apart.
    """
    call_id, name = fields.text("tool_call_id", allow_empty=False), fields.text("tool_name")
    outcome = fields.peek("outcome")
    if outcome in ("success", "failed"):
        fields.take("outcome")
    value, where = fields.take("content"), f"{fields.where}.content"
    form: dict[str, Any] = {}
    content: list[Part] = []
    if isinstance(made, list | tuple) and any(_is_file(item) for item in made):
        form["content"] = "list"
        content = [
            _result_item(item, f"{where}[{i}]", item_made)
            for i, (item, item_made) in enumerate(zip(value, made, strict=True))
        ]
    elif value != "":
        content = [_result_item(value, where, made)]
    extra = extra_of(PYDANTIC_AI, fields.rest(), form)
    is_error = outcome not in (None, "success")
    return ToolResultPart(call_id=call_id, name=name, content=tuple(content), is_error=is_error, extra=extra)


def _is_file(made: object) -> bool:
    return not isinstance(made, str | Mapping) and getattr(made, "kind", None) in _FILE_KINDS


def _result_item(value: object, where: str, made: object) -> TextPart | MediaPart:
    if isinstance(value, str):
        return TextPart(text=text_at(value, where))
    if _is_file(made):
        return media_from(Fields(value, where), made)
    return TextPart(text=json_text(plain(value, where)), extra=extra_of(PYDANTIC_AI, {}, {"value": "json"}))


def result_to(result: ToolResultPart, call_name: str | None) -> dict[str, Any]:
    """The JSON form of a tool return."""
    # A part without words is left out; a null that the tool returned is an answer like any other.
    items = [_item_to(part) for part in result.content if not isinstance(part, ProviderPart) or part.text]
    content: Any = items
    if form_of(result, PYDANTIC_AI).get("content") != "list" and len(items) <= 1:
        content = items[0] if items else ""
    elif "content" not in form_of(result, PYDANTIC_AI) and all(isinstance(item, str) for item in items):
        content = "".join(items)
    out = {"tool_name": result.name or call_name or "unknown", "content": content, "tool_call_id": result.call_id}
    out["part_kind"] = "tool-return"
    kept = own_fields(result, PYDANTIC_AI).get("outcome")
    if not result.is_error or kept is None:
        out["outcome"] = "failed" if result.is_error else "success"
    return add_fields(out, own_fields(result, PYDANTIC_AI))


def _item_to(part: Part) -> Any:
    if isinstance(part, TextPart):
        if form_of(part, PYDANTIC_AI).get("value") != "json":
            return part.text
        try:
            return json.loads(part.text)
        except ValueError:  # someone has put other words in its place since
            return part.text
    return media_to(part) if isinstance(part, MediaPart) else getattr(part, "text", None)


def made_from(fields: Fields, made: Any) -> Part:
    """The neutral part of one part of a model's response; one that has no neutral equal is kept whole."""
    kind = fields.peek("part_kind")
    match kind:
        case "text":
            text = fields.text("content")
            return TextPart(text=text, extra=_extra(fields))
        case "thinking":
            return _thinking(fields)
        case "tool-call":
            return _call(fields)
        case "file":
            inner = media_from(fields.inner("content"), made.content)
            form = {**form_of(inner, PYDANTIC_AI), "file": _noted(fields)}
            return inner.model_copy(update={"extra": extra_of(PYDANTIC_AI, dict(own_fields(inner, PYDANTIC_AI)), form)})
    words = fields.peek("transcript") if kind == "speech" else fields.peek("content") if kind == "compaction" else None
    return ProviderPart(provider=PYDANTIC_AI, data=fields.rest(), text=words if isinstance(words, str) else None)


def _noted(fields: Fields) -> dict[str, Any]:
    """The fields left, without those that say nothing: Pydantic AI writes a null for everything it has not."""
    return {key: value for key, value in fields.rest().items() if value is not None and key != "part_kind"}


def _extra(fields: Fields, form: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return extra_of(PYDANTIC_AI, _noted(fields), form)


def _thinking(fields: Fields) -> ReasoningPart:
    text, id = fields.text("content"), fields.maybe_text("id")
    signature, provider = fields.maybe_text("signature"), fields.maybe_text("provider_name")
    extra = _extra(fields)
    if id == _REDACTED and signature is not None and provider == "anthropic":
        return ReasoningPart(text=text, redacted=signature, provider=provider, extra=extra)
    return ReasoningPart(text=text, id=id, signature=signature, provider=provider, extra=extra)


def _call(fields: Fields) -> ToolCallPart:
    id, name = fields.text("tool_call_id", allow_empty=False), fields.text("tool_name")
    arguments = fields.take("args")
    form = {"args": "none"} if arguments is None else {}
    arguments = plain({} if arguments is None else arguments, f"{fields.where}.args")
    return ToolCallPart(id=id, name=name, arguments=arguments, extra=_extra(fields, form))


def made_to(part: Part) -> dict[str, Any] | None:
    """The JSON form of one part of a model's response, or None when there is no place for it."""
    out: dict[str, Any]
    match part:
        case TextPart():
            out = {"part_kind": "text", "content": part.text}
        case ReasoningPart():
            out = _thinking_to(part)
        case ToolCallPart():
            none = form_of(part, PYDANTIC_AI).get("args") == "none" and part.arguments == {}
            arguments = part.arguments if isinstance(part.arguments, str) else add_fields({}, part.arguments)
            out = {"part_kind": "tool-call", "tool_name": part.name, "tool_call_id": part.id}
            out["args"] = None if none else arguments
        case MediaPart() if part.data is not None:
            fields = form_of(part, PYDANTIC_AI).get("file", {})
            return add_fields({"part_kind": "file", "content": media_to(part)}, fields)
        case MediaPart():
            return {"part_kind": "text", "content": described(part)}
        case ProviderPart() if part.provider == PYDANTIC_AI:
            return add_fields({}, part.data)
        case _:
            words = getattr(part, "text", None)
            return {"part_kind": "text", "content": words} if words else None
    return add_fields(out, own_fields(part, PYDANTIC_AI))


def _thinking_to(part: ReasoningPart) -> dict[str, Any]:
    out: dict[str, Any] = {"part_kind": "thinking", "content": part.text, "provider_name": part.provider}
    if part.redacted is not None:
        return out | {"id": _REDACTED, "signature": part.redacted}
    return out | {"id": part.id, "signature": part.signature}


def prompt_content_to(parts: Sequence[Part], form: str | None) -> str | list[Any]:
    """The content of a user prompt: text where one text is all there is, and it did not come as a list."""
    items = [item for part in parts if (item := user_content_to(part)) is not None]
    if form != "list" and len(items) == 1 and isinstance(items[0], str):
        return items[0]
    return items if items or form == "list" else ""

"""Anthropic content blocks, one at a time, for `anthropic.py` and `langchain.py`."""

from collections.abc import Sequence
from typing import Any, Final

from clew.errors import InvalidInput
from clew.messages.media import decoded, described, encoded
from clew.messages.message import (
    INVALID_ARGUMENTS_KEY,
    MediaPart,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.reading import Fields, add_fields, list_at, plain, unknown_type

ANTHROPIC: Final = "anthropic"
PDF: Final = "application/pdf"
# What a user may send. What the model sends may be of any type: new ones appear, and all must go back as they came.
USER_TYPES: Final = (
    "text",
    "image",
    "document",
    "search_result",
    "tool_result",
    "tool_reference",
    "container_upload",
)
_MADE_TYPES: Final = ("thinking", "redacted_thinking", "tool_use")


def block_from_anthropic(value: object, where: str, *, from_model: bool) -> Part:
    """The neutral part of one content block; a block that has no neutral equal is kept whole."""
    fields = Fields(value, where)
    kind = fields.text("type", fix=f"Types here are {', '.join(USER_TYPES + _MADE_TYPES)}")
    match kind:
        case "text":
            text = fields.text("text")
            form = {} if text.strip() else {"blank": True}
            return TextPart(text=text, extra=extra_of(ANTHROPIC, fields.rest(), form))
        case "image" | "document" if not _is_special_document(fields):
            return _media(fields, kind)
        case "thinking" if from_model:
            text, signature = fields.text("thinking"), fields.maybe_text("signature")
            extra = extra_of(ANTHROPIC, fields.rest())
            return ReasoningPart(text=text, signature=signature, provider=ANTHROPIC, extra=extra)
        case "redacted_thinking" if from_model:
            redacted = fields.text("data")
            return ReasoningPart(redacted=redacted, provider=ANTHROPIC, extra=extra_of(ANTHROPIC, fields.rest()))
        case "tool_use" if from_model:
            return _call(fields)
        case "tool_result" if not from_model:
            return _result(fields)
    allowed = from_model or kind in USER_TYPES or kind.endswith(("_tool_use", "_tool_result"))
    if not allowed:
        raise unknown_type(fields, kind, USER_TYPES)
    data = {"type": kind, **fields.rest()}
    return ProviderPart(provider=ANTHROPIC, data=data, text=_words_of(data))


def _is_special_document(fields: Fields) -> bool:
    """A document whose source is a list of blocks, or of a kind we do not know: kept whole."""
    source = fields.peek("source")
    kind = source.get("type") if isinstance(source, dict) else "base64"
    return kind not in ("base64", "url", "file", "text")


def _words_of(data: dict[str, Any]) -> str | None:
    """The words of a search result or of a document made of blocks, for formats that have no such thing."""
    source = data.get("source")
    content = source.get("content") if isinstance(source, dict) else data.get("content")
    if data["type"] not in ("search_result", "document") or not isinstance(content, str | list):
        return None
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


def _media(fields: Fields, kind: str) -> MediaPart:
    source = fields.inner("source")
    source_kind = source.text("type", fix="Sources are base64, url, file and text")
    media: dict[str, Any] = {"kind": kind, "filename": fields.maybe_text("title") if kind == "document" else None}
    form: dict[str, Any] = {}
    match source_kind:
        case "base64":
            media |= {"data": source.text("data"), "media_type": source.text("media_type")}
            if kind == "document" and media["media_type"] != PDF:
                form["source"] = "base64"
        case "text" if kind == "document":
            media |= {"data": encoded(source.text("data").encode()), "media_type": source.text("media_type")}
            if media["media_type"] != "text/plain":
                form["source"] = "text"
        case "url":
            media["url"] = source.text("url")
        case "file":
            media |= {"file_id": source.text("file_id"), "provider": ANTHROPIC}
        case _:
            raise unknown_type(source, source_kind, ("base64", "url", "file", "text"))
    rest = fields.rest()
    if source_rest := source.rest():
        rest["source"] = source_rest
    return MediaPart(**media, extra=extra_of(ANTHROPIC, rest, form))


def _call(fields: Fields) -> ToolCallPart:
    id = fields.text("id", allow_empty=False, fix="Every tool_use block needs the id that its tool_result repeats")
    name = fields.text("name")
    arguments = fields.take("input")
    if not isinstance(arguments, dict):
        where = f"{fields.where}.input"
        raise InvalidInput(f"expected an object, got {type(arguments).__name__}", where=where)
    arguments = plain(arguments, f"{fields.where}.input")
    return ToolCallPart(id=id, name=name, arguments=arguments, extra=extra_of(ANTHROPIC, fields.rest()))


def _result(fields: Fields) -> ToolResultPart:
    call_id = fields.text("tool_use_id", allow_empty=False, fix="A tool_result names the tool_use it answers")
    content: list[Part] = []
    form: dict[str, Any] = {}
    value, where = fields.peek("content"), f"{fields.where}.content"
    if isinstance(value, str):
        text = fields.text("content")
        content = [TextPart(text=text, extra=extra_of(ANTHROPIC, {}, {} if text.strip() else {"blank": True}))]
        form = {"content": "text"}
    elif value is not None:
        blocks = list_at(fields.take("content"), where, what="text or a list of blocks")
        content = [block_from_anthropic(block, f"{where}[{i}]", from_model=False) for i, block in enumerate(blocks)]
        form = {"content": "list"}
        if any(isinstance(part, ToolResultPart) for part in content):
            raise InvalidInput("a tool_result cannot hold another", where=where)
    is_error = fields.peek("is_error")
    if is_error is not None and not isinstance(is_error, bool):
        raise InvalidInput(f"expected true or false, got {type(is_error).__name__}", where=f"{fields.where}.is_error")
    if is_error:  # an explicit false stays among the rest, and comes back
        fields.take("is_error")
    if form.get("content") == usual_result_form(content):
        form = {}
    extra = extra_of(ANTHROPIC, fields.rest(), form)
    return ToolResultPart(call_id=call_id, content=tuple(content), is_error=bool(is_error), extra=extra)


def usual_result_form(content: Sequence[Part]) -> str:
    """How we write a result's content when nothing says otherwise."""
    if not content:
        return "absent"
    return "text" if len(content) == 1 and is_plain_text(content[0]) else "list"


def is_plain_text(part: Part) -> bool:
    """Whether a part can be written as a bare string."""
    return isinstance(part, TextPart) and not own_fields(part, ANTHROPIC)


def block_to_anthropic(part: Part, *, media: bool = True) -> dict[str, Any] | None:
    """The block that says the same, or None when Anthropic has no place for it. Without `media`, those become words."""
    match part:
        case TextPart() | RefusalPart():
            out = _text(part)
        case MediaPart():
            out = _media_to_anthropic(part) if media or "place" in form_of(part, ANTHROPIC) else None
            out = out or {"type": "text", "text": described(part)}
        case ReasoningPart():
            out = _reasoning(part)
        case ToolCallPart():
            out = {"type": "tool_use", "id": part.id, "name": part.name, "input": _arguments(part)}
        case ToolResultPart():
            out = _result_to_anthropic(part)
        case ProviderPart() if part.provider == ANTHROPIC:
            out = add_fields({}, part.data)
        case ProviderPart():
            out = {"type": "text", "text": part.text} if part.text and part.text.strip() else None
    return None if out is None else add_fields(out, own_fields(part, ANTHROPIC))


def _text(part: TextPart | RefusalPart) -> dict[str, Any] | None:
    # Anthropic refuses blank text; only what came from there blank goes back blank.
    if not part.text.strip() and "blank" not in form_of(part, ANTHROPIC):
        return None
    return {"type": "text", "text": part.text}


def _reasoning(part: ReasoningPart) -> dict[str, Any] | None:
    # Anthropic verifies the signature of every thinking block: another provider's thoughts would be refused.
    if part.provider != ANTHROPIC:
        return None
    if part.redacted is not None:
        return {"type": "redacted_thinking", "data": part.redacted}
    out = {"type": "thinking", "thinking": part.text}
    return out if part.signature is None else {**out, "signature": part.signature}


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    arguments = call.arguments_object
    return {INVALID_ARGUMENTS_KEY: call.arguments} if arguments is None else add_fields({}, arguments)


def _media_to_anthropic(part: MediaPart) -> dict[str, Any] | None:
    if part.kind in ("audio", "video") or (part.file_id is not None and part.provider not in (None, ANTHROPIC)):
        return None
    kind = "image" if part.kind == "image" else "document"
    source = _source(part, kind)
    if source is None:
        return None
    out: dict[str, Any] = {"type": kind, "source": source}
    if kind == "document" and part.filename is not None:
        out["title"] = part.filename
    return out


def _source(part: MediaPart, kind: str) -> dict[str, Any] | None:
    if part.file_id is not None:
        return {"type": "file", "file_id": part.file_id}
    if part.url is not None:
        return {"type": "url", "url": part.url}
    form = form_of(part, ANTHROPIC).get("source", "text" if part.media_type == "text/plain" else None)
    if kind == "document" and form == "text":
        words = decoded(part.data or "", "data").decode(errors="replace")
        return {"type": "text", "media_type": part.media_type, "data": words}
    if kind == "document" and part.media_type not in (None, PDF) and form != "base64":
        return None  # Anthropic reads PDF and plain text, and refuses the rest
    media_type = part.media_type or ("image/png" if kind == "image" else PDF)
    return {"type": "base64", "media_type": media_type, "data": part.data}


def _result_to_anthropic(result: ToolResultPart) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    pairs = [(part, block) for part in result.content if (block := block_to_anthropic(part)) is not None]
    usual = usual_result_form([part for part, _ in pairs])
    wanted = form_of(result, ANTHROPIC).get("content", usual)
    if pairs and wanted != "list":
        wanted = usual
    if wanted == "text":
        out["content"] = pairs[0][1]["text"] if pairs else ""
    elif wanted == "list":
        out["content"] = [block for _, block in pairs]
    if result.is_error:
        out["is_error"] = True
    return out

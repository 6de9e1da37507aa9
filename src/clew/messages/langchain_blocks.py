"""LangChain content blocks, one at a time.

LangChain passes on three dialects: its own standard blocks, OpenAI's parts and Anthropic's blocks. Each is read by the
converter that knows it, and `extra["langchain:form"]["block"]` says in which dialect it goes back.
"""

from typing import Any, Final

from clew.messages.anthropic_blocks import ANTHROPIC, block_from_anthropic, block_to_anthropic
from clew.messages.media import described, kind_of
from clew.messages.message import (
    MediaPart,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.openai_parts import OPENAI, part_from_openai, part_to_openai
from clew.messages.reading import Fields, add_fields, plain, text_at

LANGCHAIN: Final = "langchain"
_STANDARD_MEDIA: Final = ("image", "audio", "video", "file")


def block_from_langchain(value: object, where: str) -> Part:
    """The neutral part of one content block; a block that has no neutral equal is kept whole."""
    if isinstance(value, str):
        return TextPart(text=text_at(value, where), extra=extra_of(LANGCHAIN, {}, {"block": "string"}))
    fields = Fields(value, where)
    dialect = _dialect(fields)
    if dialect == OPENAI:
        return _marked(part_from_openai(value, where), dialect)
    if dialect == ANTHROPIC:
        return _marked(block_from_anthropic(value, where, from_model=True), dialect)
    match fields.peek("type"):
        case "text" if isinstance(fields.peek("text"), str):
            fields.take("type")
            return TextPart(text=fields.text("text"), extra=extra_of(LANGCHAIN, fields.rest(), {"block": LANGCHAIN}))
        case "reasoning" if isinstance(fields.peek("reasoning"), str):
            return _reasoning(fields)
        case kind if kind in _STANDARD_MEDIA and _sources(fields) == 1:
            return _media(fields, kind)
    return ProviderPart(provider=LANGCHAIN, data=plain(value, where), text=None)


def _dialect(fields: Fields) -> str:
    match fields.peek("type"):
        case "image_url" | "input_audio" | "refusal":
            return OPENAI
        case "file" if isinstance(fields.peek("file"), dict):
            return OPENAI
        case "thinking" | "redacted_thinking" if fields.peek("thinking") is not None or fields.has("data"):
            return ANTHROPIC
        case "image" | "document" if isinstance(fields.peek("source"), dict):
            return ANTHROPIC
        case "text" if fields.has("cache_control"):
            return ANTHROPIC
    return LANGCHAIN


def _sources(fields: Fields) -> int:
    return sum(isinstance(fields.peek(key), str) for key in ("url", "base64", "file_id"))


def _marked(part: Part, dialect: str) -> Part:
    return part.model_copy(update={"extra": {**part.extra, **extra_of(LANGCHAIN, {}, {"block": dialect})}})


def _reasoning(fields: Fields) -> ReasoningPart:
    fields.take("type")
    text, id = fields.text("reasoning"), fields.maybe_text("id")
    extras = fields.peek("extras")
    signature = None
    if isinstance(extras, dict) and isinstance(extras.get("signature"), str):
        fields.take("extras")
        signature = extras["signature"]
    rest = fields.rest()
    if signature is not None and len(extras) > 1:
        rest["extras"] = {key: plain(item, fields.where) for key, item in extras.items() if key != "signature"}
    return ReasoningPart(text=text, id=id, signature=signature, extra=extra_of(LANGCHAIN, rest))


def _media(fields: Fields, kind: str) -> MediaPart:
    fields.take("type")
    media = {
        "url": fields.maybe_text("url"),
        "data": fields.maybe_text("base64"),
        "file_id": fields.maybe_text("file_id"),
        "media_type": fields.maybe_text("mime_type"),
        "filename": fields.maybe_text("filename"),
    }
    if kind == "file" and kind_of(media["media_type"]) == "document":
        kind = "document"
    return MediaPart(kind=kind, **media, extra=extra_of(LANGCHAIN, fields.rest(), {"block": LANGCHAIN}))


def block_to_langchain(part: Part) -> str | dict[str, Any] | None:
    """The content block that says the same, or None when LangChain has no place for it."""
    form = form_of(part, LANGCHAIN).get("block")
    if form == "string" and isinstance(part, TextPart):
        return part.text
    if form == OPENAI:
        return part_to_openai(part)
    if form == ANTHROPIC:
        return block_to_anthropic(part)
    match part:
        case TextPart() | RefusalPart():
            out = {"type": "text", "text": part.text}
        case ReasoningPart():
            out = _reasoning_to_langchain(part)
        case MediaPart():
            out = _media_to_langchain(part)
        case ProviderPart() if part.provider == LANGCHAIN:
            out = add_fields({}, part.data)
        case ProviderPart() if part.text:
            out = {"type": "text", "text": part.text}
        case _:
            return None
    return add_fields(out, own_fields(part, LANGCHAIN))


def _reasoning_to_langchain(part: ReasoningPart) -> dict[str, Any]:
    if part.provider == ANTHROPIC:  # LangChain hands these to Anthropic as they are, signature and all
        return block_to_anthropic(part) or {}
    out: dict[str, Any] = {"type": "reasoning", "reasoning": part.text}
    if part.id is not None:
        out["id"] = part.id
    if part.signature is not None:
        out["extras"] = {"signature": part.signature}
    return out


def _media_to_langchain(part: MediaPart) -> dict[str, Any]:
    if part.file_id is not None and part.provider is not None and LANGCHAIN not in part.extra:
        return {"type": "text", "text": described(part)}
    out: dict[str, Any] = {"type": part.kind if part.kind in _STANDARD_MEDIA else "file"}
    named = {"url": part.url, "base64": part.data, "file_id": part.file_id}
    named |= {"mime_type": part.media_type, "filename": part.filename}
    return out | {key: value for key, value in named.items() if value is not None}

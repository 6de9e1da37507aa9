"""OpenAI content parts and tool calls, one at a time, for `openai.py` and `langchain.py`."""

from typing import Any, Final

from clew.errors import InvalidInput
from clew.messages.media import data_url, described, kind_of, split_data_url
from clew.messages.message import (
    MediaPart,
    Part,
    ProviderPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.reading import Fields, add_fields, unknown_type

OPENAI: Final = "openai"
PART_TYPES: Final = ("text", "image_url", "input_audio", "file", "refusal", "video_url")
# OpenAI names formats, everyone else media types. What is not in the table is spelled the same after the slash.
_AUDIO_TYPES: Final = {"mp3": "audio/mpeg"}
_AUDIO_FORMATS: Final = {"audio/mpeg": "mp3", "audio/x-wav": "wav", "audio/wave": "wav"}


def part_from_openai(value: object, where: str) -> TextPart | MediaPart | RefusalPart:
    """The neutral part of one OpenAI content part."""
    fields = Fields(value, where)
    kind = fields.text("type", fix=f"Types here are {', '.join(PART_TYPES)}")
    match kind:
        case "text":
            return TextPart(text=fields.text("text"), extra=extra_of(OPENAI, fields.rest()))
        case "refusal":
            return RefusalPart(text=fields.text("refusal"), extra=extra_of(OPENAI, fields.rest()))
        case "image_url" | "video_url":
            return _url_media(fields, kind)
        case "input_audio":
            inner = fields.inner("input_audio")
            data, format = inner.text("data"), inner.text("format", allow_empty=False)
            media_type = _AUDIO_TYPES.get(format, f"audio/{format}")
            extra = extra_of(OPENAI, _with_inner(fields, kind, inner))
            return MediaPart(kind="audio", data=data, media_type=media_type, extra=extra)
        case "file":
            return _file(fields)
    raise unknown_type(fields, kind, PART_TYPES)


def _url_media(fields: Fields, kind: str) -> MediaPart:
    if isinstance(fields.peek(kind), str):  # LangChain allows the bare URL
        url, detail, form = fields.text(kind), None, {"url": "bare"}
        rest = fields.rest()
    else:
        inner = fields.inner(kind)
        url, detail, form = inner.text("url"), inner.maybe_text("detail"), {}
        rest = _with_inner(fields, kind, inner)
    media: dict[str, Any] = {"kind": "image" if kind == "image_url" else "video", "detail": detail}
    if split := split_data_url(url):
        media |= {"media_type": split[0], "data": split[1]}
    else:
        media["url"] = url
    return MediaPart(**media, extra=extra_of(OPENAI, rest, form))


def _file(fields: Fields) -> MediaPart:
    inner = fields.inner("file")
    form: dict[str, Any] = {}
    media: dict[str, Any] = {"filename": inner.maybe_text("filename")}
    if (data := inner.maybe_text("file_data")) is not None:
        if split := split_data_url(data):
            media |= {"media_type": split[0], "data": split[1]}
        else:
            form["data"] = "bare"
            media["data"] = data
    elif (file_id := inner.maybe_text("file_id")) is not None:
        media |= {"file_id": file_id, "provider": OPENAI}
    else:
        raise InvalidInput("names no file", where=inner.where, fix="Give file_data or file_id")
    extra = extra_of(OPENAI, _with_inner(fields, "file", inner), form)
    kind = "document" if kind_of(media.get("media_type")) == "document" else "file"
    return MediaPart(kind=kind, **media, extra=extra)


def _with_inner(fields: Fields, key: str, inner: Fields) -> dict[str, Any]:
    rest = fields.rest()
    if inner_rest := inner.rest():
        rest[key] = inner_rest
    return rest


def part_to_openai(part: Part) -> dict[str, Any] | None:
    """The OpenAI content part that says the same, or None when OpenAI has no place for it."""
    match part:
        case TextPart():
            out = {"type": "text", "text": part.text}
        case RefusalPart():
            out = {"type": "refusal", "refusal": part.text}
        case MediaPart():
            out = _media_to_openai(part)
        case ProviderPart() if part.provider == OPENAI:
            out = dict(part.data)
        case ProviderPart() if part.text:
            out = {"type": "text", "text": part.text}
        case _:
            return None
    return add_fields(out, own_fields(part, OPENAI))


def _media_to_openai(part: MediaPart) -> dict[str, Any]:
    form = form_of(part, OPENAI)
    if part.kind == "image" and part.file_id is None:
        return _url_to_openai(part, "image_url", "image/png", bare="url" in form)
    if part.kind == "video" and part.file_id is None and OPENAI in _origins(part):
        return _url_to_openai(part, "video_url", "video/mp4", bare="url" in form)
    if part.kind == "audio" and part.data is not None:
        media_type = part.media_type or "audio/wav"
        format = _AUDIO_FORMATS.get(media_type, media_type.partition("/")[2] or media_type)
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": format}}
    if part.url is not None or (part.file_id is not None and part.provider not in (None, OPENAI)):
        return {"type": "text", "text": described(part)}
    return {"type": "file", "file": _file_to_openai(part, bare="data" in form)}


def _origins(part: MediaPart) -> set[str]:
    # A video by URL or data is an extension that OpenAI itself refuses: only what came that way goes back that way.
    return {key.partition(":")[0] for key in part.extra}


def _url_to_openai(part: MediaPart, key: str, media_type: str, *, bare: bool) -> dict[str, Any]:
    url = part.url if part.url is not None else data_url(part, media_type)
    if bare and part.detail is None:
        return {"type": key, key: url}
    inner = {"url": url} if part.detail is None else {"url": url, "detail": part.detail}
    return {"type": key, key: inner}


def _file_to_openai(part: MediaPart, *, bare: bool) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    if part.file_id is not None:
        inner["file_id"] = part.file_id
    elif bare:
        inner["file_data"] = part.data
    else:
        inner["file_data"] = data_url(part, "application/octet-stream")
    if part.filename is not None:
        inner["filename"] = part.filename
    return inner


def call_from_openai(value: object, where: str) -> ToolCallPart:
    """The neutral call of one entry in `tool_calls`."""
    fields = Fields(value, where)
    id = fields.text("id", allow_empty=False, fix="Every call needs the id that its tool message repeats")
    form: dict[str, Any] = {}
    kind = fields.maybe_text("type")
    if kind not in (None, "function", "custom"):
        raise unknown_type(fields, kind, ("function", "custom"))
    if kind != "function":
        form["type"] = kind
    key, words = ("custom", "input") if kind == "custom" else ("function", "arguments")
    inner = fields.inner(key)
    name = inner.text("name")
    arguments = inner.text(words, fix="Send the arguments as text, as the model wrote them")
    extra = extra_of(OPENAI, _with_inner(fields, key, inner), form)
    return ToolCallPart(id=id, name=name, arguments=arguments, extra=extra)


def call_to_openai(call: ToolCallPart) -> dict[str, Any]:
    """The entry in `tool_calls` for a neutral call."""
    kind = form_of(call, OPENAI).get("type", "function")
    key, words = ("custom", "input") if kind == "custom" else ("function", "arguments")
    out: dict[str, Any] = {"id": call.id}
    if kind is not None:
        out["type"] = kind
    out[key] = {"name": call.name, words: call.arguments_text}
    return add_fields(out, own_fields(call, OPENAI))

"""What a message's content costs: text, images, files, calls, results and thoughts, in either provider's form."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clew.errors import InvalidInput
from clew.limits import JSON_MAX_DEPTH
from clew.tokens.images import Format, count_image, size_of_base64

Counter = Callable[[str], int]

# The frame around a call (whom it is for, where its arguments start and end). No provider documents it: an assumption,
# the same as the frame of a message.
TOOL_CALL_TOKENS: Final = 3
# The same around an Anthropic result block, which is a block and has no message's frame of its own.
TOOL_RESULT_TOKENS: Final = 3

# Both providers show a PDF page to the model as text and image; Anthropic's guide says 1,500 to 3,000 tokens a page.
DOCUMENT_PAGE_TOKENS: Final = 3000
# How many pages a file has is not known without opening it: 50 kB a page is a text page with a picture.
DOCUMENT_PAGE_BYTES: Final = 50_000
# OpenAI hears ten tokens a second; the smallest recording in use, MP3 at 32 kbit/s, has 4,000 bytes a second.
AUDIO_BYTES_PER_TOKEN: Final = 400
# A thought that only its provider can read: base64 of about four characters a token.
HIDDEN_CHARS_PER_TOKEN: Final = 4


def count_content(content: object, counter: Counter, format: Format, where: str) -> int:
    """The tokens of a message's `content`: nothing, text, or a list of parts."""
    if content is None:
        return 0
    if isinstance(content, str):
        return counter(content)
    if not isinstance(content, Sequence):
        raise InvalidInput(f"content is {type(content).__name__}", where=where, fix="Use text or a list of parts")
    if where.count(".") > JSON_MAX_DEPTH:
        raise InvalidInput(f"content is nested deeper than {JSON_MAX_DEPTH} levels", where="messages")
    return sum(_count_part(part, counter, format, f"{where}[{index}]") for index, part in enumerate(content))


def count_tool_call(call: object, counter: Counter, where: str) -> int:
    """The tokens of one entry of an assistant's `tool_calls`: frame, id, name and arguments."""
    if not isinstance(call, Mapping):
        raise InvalidInput(f"a call is {type(call).__name__}", where=where, fix="Use an object with id and function")
    function = _object(call.get("function") or call.get("custom"))
    fields = (call.get("id"), function.get("name"), function.get("arguments", function.get("input")))
    return TOOL_CALL_TOKENS + sum(counter(_text(field)) for field in fields)


def _count_part(part: object, counter: Counter, format: Format, where: str) -> int:
    if isinstance(part, str):
        return counter(part)
    if not isinstance(part, Mapping):
        raise InvalidInput(f"a part is {type(part).__name__}", where=where, fix="Use text or an object with a type")
    match part.get("type"):
        case "text" | "input_text" | "output_text":
            return counter(_text(part.get("text")))
        case "refusal":
            return counter(_text(part.get("refusal")))
        case "image_url" | "input_image" | "image":
            return _count_image(part, format)
        case "input_audio":
            return _count_audio(_object(part.get("input_audio")))
        case "file" | "document":
            return _count_document(part, counter, format, where)
        case "tool_use" | "server_tool_use":
            call = (part.get("id"), part.get("name"), part.get("input"))
            return TOOL_CALL_TOKENS + sum(counter(_text(field)) for field in call)
        case "tool_result":
            inside = count_content(part.get("content"), counter, format, f"{where}.content")
            return TOOL_RESULT_TOKENS + counter(_text(part.get("tool_use_id"))) + inside
        case "thinking":
            # The signature proves the thought to its provider and is not shown to the model.
            return counter(_text(part.get("thinking")))
        case "redacted_thinking":
            return math.ceil(len(_text(part.get("data"))) / HIDDEN_CHARS_PER_TOKEN)
    # A kind that is newer than this table: its JSON, which holds everything the model could be shown.
    return counter(_text(part))


def _count_image(part: Mapping[str, Any], format: Format) -> int:
    source = _object(part.get("source"))
    image = part.get("image_url")
    holder = _object(image) or part
    url = image if isinstance(image, str) else _text(holder.get("url"))
    data = _text(source.get("data")) or (url.partition(";base64,")[2] if url.startswith("data:") else "")
    size = size_of_base64(data) if data else None
    return count_image(*(size or (None, None)), detail=_text(holder.get("detail")) or "auto", format=format)


def _count_audio(audio: Mapping[str, Any]) -> int:
    return math.ceil(_bytes_of_base64(audio.get("data")) / AUDIO_BYTES_PER_TOKEN)


def _count_document(part: Mapping[str, Any], counter: Counter, format: Format, where: str) -> int:
    source, file = _object(part.get("source")), _object(part.get("file"))
    words = sum(counter(_text(word)) for word in (part.get("title"), part.get("context"), file.get("filename")))
    match source.get("type"):
        case "text":
            return words + counter(_text(source.get("data")))
        case "content":
            return words + count_content(source.get("content"), counter, format, f"{where}.source.content")
    size = _bytes_of_base64(source.get("data") or file.get("file_data"))
    return words + DOCUMENT_PAGE_TOKENS * max(1, math.ceil(size / DOCUMENT_PAGE_BYTES))


def _bytes_of_base64(data: object) -> int:
    return len(_text(data).rpartition(",")[2]) * 3 // 4


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    """Text as it is, nothing as nothing, and any other value as the JSON that a provider would receive."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)


def compact_json(value: object) -> str:
    """JSON as the SDKs send it: no spaces, characters as themselves."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"cannot be sent as JSON ({error})", where="messages", fix="Use plain JSON values") from None

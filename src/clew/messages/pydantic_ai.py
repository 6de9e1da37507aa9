"""Pydantic AI messages, to and from the neutral form. Needs `pip install 'clew[pydantic-ai]'`.

Both ways go through Pydantic AI's own JSON form, so that fields of later versions survive as well.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from clew.errors import InvalidInput, Misconfigured
from clew.messages.message import (
    Message,
    Part,
    ProviderPart,
    TextPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.pydantic_ai_parts import (
    PLAIN,
    PYDANTIC_AI,
    UNKNOWN_TIME,
    made_from,
    made_to,
    prompt_content_to,
    result_from,
    result_to,
    user_content_from,
)
from clew.messages.reading import Fields, add_fields, list_at, naming, neutral_messages

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

# Tool results that other formats brought have no record of which of their items are files: all that look so are.
_CONTEXT: Final = {"pydantic_ai": {"rebuild_unrecorded_tool_files": True}}


def _pydantic_ai() -> ModuleType:
    try:
        from pydantic_ai import messages
    except ImportError as error:
        raise Misconfigured("pydantic-ai is not installed", fix="Run: pip install 'clew[pydantic-ai]'") from error
    return messages


def from_pydantic_ai(messages: Iterable["ModelMessage"]) -> list[Message]:
    """Neutral messages; `to_pydantic_ai` gives equal ones back.

    A response is one assistant message. A request becomes one message for each of its parts: system, user or tool. Its
    instructions become a system message where they differ from those before, since that is what the model sees.
    """
    library = _pydantic_ai()
    converted: list[Message] = []
    instructions: str | None = None
    for index, message in enumerate(list_at(messages, "messages", what="a list of messages")):
        where = f"messages[{index}]"
        if not isinstance(message, library.ModelRequest | library.ModelResponse):
            raise InvalidInput(f"expected a ModelRequest or ModelResponse, got {type(message).__name__}", where=where)
        with naming(where):
            fields, current = _dumped(message, where, library)
            if isinstance(message, library.ModelResponse):
                converted.append(_response(fields, current))
            else:
                converted += _request(fields, current, instructions)
                instructions = current.instructions if current.instructions is not None else instructions
    return converted


def _dumped(message: Any, where: str, library: ModuleType) -> tuple[Fields, Any]:
    """The message's JSON form, and the message itself: read back, where it holds parts of a kind now retired."""
    adapter = library.ModelMessagesTypeAdapter
    try:
        (dumped,) = adapter.dump_python([message], mode="json", warnings=False)
        if any(part["part_kind"] == "retry-prompt" for part in dumped["parts"]):
            (message,) = adapter.validate_python([dumped])
            (dumped,) = adapter.dump_python([message], mode="json", warnings=False)
    except (ValueError, TypeError) as error:
        fix = "Keep only JSON values in tool results and metadata"
        raise InvalidInput(f"cannot be written as JSON: {error}", where=where, fix=fix) from None
    return Fields(dumped, where), message


def _response(fields: Fields, message: Any) -> Message:
    where = f"{fields.where}.parts"
    parts = [
        made_from(Fields(value, f"{where}[{i}]"), part)
        for i, (value, part) in enumerate(zip(fields.take("parts"), message.parts, strict=True))
    ]
    timestamp = _known(fields.maybe_text("timestamp"))
    fields.take("kind")
    rest = {key: value for key, value in fields.rest().items() if value is not None}
    return Message(role="assistant", content=tuple(parts), timestamp=timestamp, extra=extra_of(PYDANTIC_AI, rest))


def _request(fields: Fields, message: Any, previous: str | None) -> list[Message]:
    where = f"{fields.where}.parts"
    values = fields.take("parts")
    pieces: list[Message] = []
    text = message.instructions
    if text and text != previous:
        fields.take("instructions")
        form = {"as": "instructions"}
        pieces.append(Message(role="system", content=(TextPart(text=text),), extra=extra_of(PYDANTIC_AI, {}, form)))
    for index, (value, part) in enumerate(zip(values, message.parts, strict=True)):
        pieces.append(_request_piece(Fields(value, f"{where}[{index}]"), part))
    if not pieces:
        pieces.append(Message(role="user", extra=extra_of(PYDANTIC_AI, {}, {"as": "nothing"})))
    fields.take("kind")
    rest = {key: item for key, item in fields.rest().items() if item is not None}
    first = pieces[0]
    # The first piece begins the request and carries what belongs to it as a whole.
    whole: dict[str, Any] = {**form_of(first, PYDANTIC_AI), "request": rest}
    pieces[0] = first.model_copy(update={"extra": extra_of(PYDANTIC_AI, dict(own_fields(first, PYDANTIC_AI)), whole)})
    return pieces


def _request_piece(fields: Fields, part: Any) -> Message:
    kind = fields.peek("part_kind")
    if kind not in ("system-prompt", "user-prompt", "tool-return"):
        return _other_piece(fields, kind, part)
    fields.take("part_kind")
    timestamp = _known(fields.maybe_text("timestamp"))
    if kind == "tool-return":
        return Message(role="tool", content=(result_from(fields, part.content),), timestamp=timestamp)
    value, where = fields.take("content"), f"{fields.where}.content"
    form: dict[str, Any] = {}
    if isinstance(value, str):
        parts: list[Part] = [TextPart(text=value)] if value else []
    else:
        form["content"] = "list"
        parts = [
            user_content_from(item, f"{where}[{i}]", made)
            for i, (item, made) in enumerate(zip(value, part.content, strict=True))
        ]
    rest = {key: item for key, item in fields.rest().items() if item is not None}
    role = "system" if kind == "system-prompt" else "user"
    return Message(role=role, content=tuple(parts), timestamp=timestamp, extra=extra_of(PYDANTIC_AI, rest, form))


def _other_piece(fields: Fields, kind: str, part: Any) -> Message:
    """A part that is neither prompt nor result: kept whole, with the words the model would see where it sees any."""
    words = None
    if kind == "retry-feedback":
        words = part.model_response()
    elif kind in ("speech", "compaction"):
        words = fields.peek("transcript" if kind == "speech" else "content")
    content = ProviderPart(provider=PYDANTIC_AI, data=fields.rest(), text=words)
    return Message(role="user", content=(content,), extra=extra_of(PYDANTIC_AI, {}, {"as": "part"}))


def _known(timestamp: str | None) -> datetime | None:
    if timestamp is None:
        return None
    moment = datetime.fromisoformat(timestamp)
    return None if moment == UNKNOWN_TIME else moment


def to_pydantic_ai(messages: Iterable[Message]) -> list["ModelMessage"]:
    """Pydantic AI's requests and responses: what the model said is a response, everything between is one request.

    A message without a timestamp gets 1970-01-01, so that equal inputs give equal outputs.
    """
    library = _pydantic_ai()
    checked = neutral_messages(messages)
    out: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for message in checked:
        if message.role == "assistant":
            names |= {call.id: call.name for call in message.tool_calls}
            out.append(_response_to(message))
            continue
        request = form_of(message, PYDANTIC_AI).get("request")
        if request is not None or not out or out[-1]["kind"] == "response":
            out.append(add_fields({"kind": "request", "parts": []}, request or {}))
        _add_to_request(out[-1], message, names)
    places = _plain_places(out)
    try:
        made: list[ModelMessage] = library.ModelMessagesTypeAdapter.validate_python(out, context=_CONTEXT)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise InvalidInput(f"Pydantic AI refuses it: {first['msg']}", where="messages") from None
    _widen(made, places, library)
    return made


def _response_to(message: Message) -> dict[str, Any]:
    parts = [made for part in message.content if (made := made_to(part)) is not None]
    out = {"kind": "response", "parts": parts, "timestamp": _stamp(message)}
    return add_fields(out, own_fields(message, PYDANTIC_AI))


def _add_to_request(request: dict[str, Any], message: Message, names: dict[str, str]) -> None:
    form = form_of(message, PYDANTIC_AI)
    kind = form.get("as")
    if kind == "instructions":
        request["instructions"] = message.text
    elif kind == "part" and isinstance(message.content[0], ProviderPart):
        request["parts"].append(add_fields({}, message.content[0].data))
    elif message.role == "tool":
        (result,) = message.tool_results
        made = result_to(result, names.get(result.call_id))
        request["parts"].append({**made, "timestamp": _stamp(message)})
    elif kind != "nothing" or message.content:
        request["parts"].append(_prompt(message, form.get("content")))


def _prompt(message: Message, form: str | None) -> dict[str, Any]:
    out: dict[str, Any] = {"timestamp": _stamp(message)}
    if message.role == "user":
        out |= {"part_kind": "user-prompt", "content": prompt_content_to(message.content, form)}
    else:
        out |= {"part_kind": "system-prompt", "content": message.text}
    return add_fields(out, own_fields(message, PYDANTIC_AI))


def _stamp(message: Message) -> str:
    return (message.timestamp or UNKNOWN_TIME).isoformat()


def _plain_places(out: list[dict[str, Any]]) -> set[tuple[int, int, int]]:
    """Where binary content has to be of the plain class, taking away the marks that say so."""
    places: set[tuple[int, int, int]] = set()
    for i, message in enumerate(out):
        for j, part in enumerate(message["parts"]):
            content = part.get("content")
            for k, item in enumerate(content if isinstance(content, list) else [content]):
                if isinstance(item, dict) and item.pop(PLAIN, False):
                    places.add((i, j, k))
    return places


def _widen(made: Sequence[Any], places: set[tuple[int, int, int]], library: ModuleType) -> None:
    """Gives binary content back the class it came with, which Pydantic AI's own reading narrows."""
    for i, j, k in places:
        part = made[i].parts[j]
        if isinstance(part.content, Sequence):
            part.content = [_widened(x, library) if n == k else x for n, x in enumerate(part.content)]
        else:
            part.content = _widened(part.content, library)


def _widened(item: Any, library: ModuleType) -> Any:
    return library.BinaryContent(
        data=item.data, media_type=item.media_type, vendor_metadata=item.vendor_metadata, identifier=item.identifier
    )

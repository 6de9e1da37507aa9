"""LangChain messages, to and from the neutral form. Needs `pip install 'clew[langchain]'`."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from clew.errors import InvalidInput, Misconfigured
from clew.messages.langchain_blocks import LANGCHAIN, block_from_langchain, block_to_langchain
from clew.messages.message import (
    Message,
    Part,
    ProviderPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.reading import Fields, add_fields, list_at, naming, neutral_messages, plain, text_at

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_DEVELOPER: Final = "__openai_role__"  # where LangChain itself keeps the difference between developer and system
_ROLES: Final[dict[str, Role]] = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}
# What a message always has, and has empty: left out of `extra`, and made anew by LangChain.
_EMPTY: Final[dict[str, Any]] = {
    "additional_kwargs": {},
    "response_metadata": {},
    "usage_metadata": None,
    "artifact": None,
    "tool_call_chunks": [],
    "chunk_position": None,
}


def _langchain() -> ModuleType:
    try:
        from langchain_core import messages
    except ImportError as error:
        raise Misconfigured("langchain-core is not installed", fix="Run: pip install 'clew[langchain]'") from error
    return messages


def from_langchain(messages: Iterable["BaseMessage"]) -> list[Message]:
    """Neutral messages, one for each LangChain message; `to_langchain` gives equal ones back."""
    base = _langchain().BaseMessage
    converted = []
    for index, message in enumerate(list_at(messages, "messages", what="a list of messages")):
        where = f"messages[{index}]"
        if not isinstance(message, base):
            raise InvalidInput(f"expected a LangChain message, got {type(message).__name__}", where=where)
        with naming(where):
            converted.append(_message(message, where))
    return converted


def _message(message: "BaseMessage", where: str) -> Message:
    values = {name: getattr(message, name) for name in type(message).model_fields} | (message.model_extra or {})
    values = {name: value for name, value in values.items() if name not in _EMPTY or value != _EMPTY[name]}
    fields = Fields(values, where)
    kind = fields.text("type")
    role = _role(message, fields, kind)
    form: dict[str, Any] = {} if kind in _ROLES else {"class": type(message).__name__}
    id, name = fields.maybe_text("id"), fields.maybe_text("name")
    for key in ("id", "name"):
        if fields.peek(key) is None:
            fields.take(key)
    content = _content(fields, form)
    if role == "tool":
        part = _result(fields, name, content)
        return Message(role=role, content=(part,), id=id, extra=extra_of(LANGCHAIN, fields.rest(), form))
    parts = _with_calls(content, fields, form) if role == "assistant" else content
    return Message(role=role, content=tuple(parts), id=id, name=name, extra=extra_of(LANGCHAIN, fields.rest(), form))


def _role(message: "BaseMessage", fields: Fields, kind: str) -> Role:
    name = kind.removesuffix("MessageChunk").lower()
    if name == "chat":
        said = fields.text("role")
        role = said if said in ("system", "developer", "user", "assistant") else None
    else:
        role = _ROLES.get(name)
    if role is None:
        raise InvalidInput(
            f"{type(message).__name__} has no place in a conversation that is sent to a model",
            where=fields.where,
            fix="Use SystemMessage, HumanMessage, AIMessage, ToolMessage, or ChatMessage with one of their roles",
        )
    if role == "system" and message.additional_kwargs.get(_DEVELOPER) == "developer":
        return "developer"
    return role  # type: ignore[return-value]


def _content(fields: Fields, form: dict[str, Any]) -> list[Part]:
    where = f"{fields.where}.content"
    value = fields.take("content")
    if isinstance(value, str):
        return [TextPart(text=text_at(value, where))] if value else []
    parts = [block_from_langchain(block, f"{where}[{i}]") for i, block in enumerate(list_at(value, where))]
    if not parts or (len(parts) == 1 and _is_plain_text(parts[0])):
        form["content"] = "list"
    return parts


def _is_plain_text(part: Part) -> bool:
    return isinstance(part, TextPart) and not own_fields(part, LANGCHAIN)


def _result(fields: Fields, name: str | None, content: Sequence[Part]) -> ToolResultPart:
    call_id = fields.text("tool_call_id", allow_empty=False, fix="A ToolMessage names the call it answers")
    is_error = fields.take("status") == "error"
    words = [_as_result_content(part) for part in content]
    return ToolResultPart(call_id=call_id, name=name, content=tuple(words), is_error=is_error)


def _as_result_content(part: Part) -> Part:
    # A result holds text and media; anything else in it is kept as the block it was.
    if part.type in ("text", "media", "provider"):
        return part
    block = block_to_langchain(part)
    return ProviderPart(
        provider=LANGCHAIN, data=block if isinstance(block, dict) else {}, text=getattr(part, "text", None)
    )


def _with_calls(content: list[Part], fields: Fields, form: dict[str, Any]) -> list[Part]:
    """The content and the calls as one sequence.

    Anthropic's calls are in the content as well as in `tool_calls`. Where the two agree, the call stands at its place
    in the content; where they do not, the block is kept as it is and the call follows the content.
    """
    calls = [_call(value, f"{fields.where}.tool_calls[{i}]") for i, value in enumerate(fields.take("tool_calls") or ())]
    invalid = fields.take("invalid_tool_calls") or ()
    late = [_invalid_call(value, f"{fields.where}.invalid_tool_calls[{i}]") for i, value in enumerate(invalid)]
    blocks = [part for part in content if _call_block(part) is not None]
    if not blocks or [_call_block(part) for part in blocks] != [(c.id, c.name, c.arguments) for c in calls]:
        return [*content, *calls, *late]
    waiting = iter(calls)
    merged: list[Part] = []
    for part in content:
        if isinstance(part, ProviderPart) and _call_block(part) is not None:
            known = {"type", "id", "name", "input", "args"}
            rest = {key: value for key, value in part.data.items() if key not in known}
            extra = extra_of(LANGCHAIN, rest, {"block": part.data["type"]})
            merged.append(next(waiting).model_copy(update={"extra": extra}))
        else:
            merged.append(part)
    return [*merged, *late]


def _call_block(part: Part) -> tuple[Any, Any, Any] | None:
    if not isinstance(part, ProviderPart) or part.provider != LANGCHAIN:
        return None
    arguments = {"tool_use": "input", "tool_call": "args"}.get(part.data.get("type", ""))
    if arguments is None:
        return None
    return part.data.get("id"), part.data.get("name"), part.data.get(arguments)


def _call(value: object, where: str) -> ToolCallPart:
    fields = Fields(value, where)
    id = fields.text("id", allow_empty=False, fix="Every call needs the id that its ToolMessage repeats")
    return ToolCallPart(id=id, name=fields.text("name"), arguments=plain(fields.take("args"), f"{where}.args"))


def _invalid_call(value: object, where: str) -> Part:
    fields = Fields(value, where)
    if not all(isinstance(fields.peek(key), str) and fields.peek(key) for key in ("id", "name", "args")):
        return ProviderPart(
            provider=LANGCHAIN, data=plain(value, where), extra=extra_of(LANGCHAIN, {}, {"call": "invalid"})
        )
    fields.take("type")
    id, name, arguments = fields.text("id"), fields.text("name"), fields.text("args")
    return ToolCallPart(
        id=id, name=name, arguments=arguments, extra=extra_of(LANGCHAIN, fields.rest(), {"call": "invalid"})
    )


def to_langchain(messages: Iterable[Message]) -> list["BaseMessage"]:
    """LangChain messages, one for each neutral one. Arguments that are no object make an invalid tool call."""
    library = _langchain()
    return [_to_langchain(message, library) for message in neutral_messages(messages)]


def _to_langchain(message: Message, library: ModuleType) -> "BaseMessage":
    names = {"system": "SystemMessage", "developer": "SystemMessage", "user": "HumanMessage"}
    default = {**names, "assistant": "AIMessage", "tool": "ToolMessage"}[message.role]
    made: type[BaseMessage] = getattr(library, form_of(message, LANGCHAIN).get("class", default))
    values: dict[str, Any] = {"id": message.id, "name": message.name}
    if message.role == "tool":
        (result,) = message.tool_results
        values |= {
            "name": result.name,
            "tool_call_id": result.call_id,
            "status": "error" if result.is_error else "success",
        }
        values["content"] = _content_to_langchain(result.content, message)
    else:
        values["content"] = _content_to_langchain(message.content, message)
    if made.__name__.startswith("Chat"):
        values["role"] = message.role
    elif message.role == "developer":
        values["additional_kwargs"] = {_DEVELOPER: "developer"}
    elif message.role == "assistant":
        values |= _calls_to_langchain(message)
    return made(**add_fields(values, own_fields(message, LANGCHAIN)))


def _content_to_langchain(parts: Sequence[Part], message: Message) -> str | list[Any]:
    blocks: list[Any] = []
    shown_parts: list[Part] = []
    for part in parts:
        block = _block(part)
        if block is not None:
            blocks.append(block)
            shown_parts.append(part)
    form = form_of(message, LANGCHAIN).get("content")
    if form == "list" or len(blocks) > 1 or (blocks and not _is_bare(shown_parts[0])):
        return blocks
    return blocks[0]["text"] if blocks else ""


def _is_bare(part: Part) -> bool:
    return isinstance(part, TextPart) and not any(key.startswith(LANGCHAIN) for key in part.extra)


def _block(part: Part) -> str | dict[str, Any] | None:
    form = form_of(part, LANGCHAIN)
    if "call" in form:
        return None
    if not isinstance(part, ToolCallPart):
        return block_to_langchain(part)
    kind = form.get("block")
    if kind is None:
        return None
    key = "input" if kind == "tool_use" else "args"
    out = {"type": kind, "id": part.id, "name": part.name, key: part.arguments_object or {}}
    return add_fields(out, own_fields(part, LANGCHAIN))


def _calls_to_langchain(message: Message) -> dict[str, Any]:
    calls: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    for part in message.content:
        form = form_of(part, LANGCHAIN)
        if isinstance(part, ProviderPart) and form.get("call") == "invalid":
            invalid.append(add_fields({}, part.data))
        elif isinstance(part, ToolCallPart):
            arguments = None if form.get("call") == "invalid" else part.arguments_object
            if arguments is None:
                call = {"type": "invalid_tool_call", "id": part.id, "name": part.name, "args": part.arguments_text}
                invalid.append(add_fields(call, {"error": None, **own_fields(part, LANGCHAIN)}))
            else:
                calls.append({"type": "tool_call", "id": part.id, "name": part.name, "args": add_fields({}, arguments)})
    return {"tool_calls": calls, "invalid_tool_calls": invalid}

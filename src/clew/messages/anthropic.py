"""Anthropic messages, to and from the neutral form."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from clew.errors import InvalidInput
from clew.messages.anthropic_blocks import ANTHROPIC, block_from_anthropic, block_to_anthropic, is_plain_text
from clew.messages.groups import results_first
from clew.messages.message import (
    MediaPart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    extra_of,
    form_of,
    own_fields,
)
from clew.messages.reading import Fields, add_fields, list_at, naming, neutral_messages, role_at, shown, text_at

_NOT_IN_IDS: Final = re.compile(r"[^A-Za-z0-9_-]")


class AnthropicRequest(NamedTuple):
    """The two arguments of an Anthropic request that hold a conversation."""

    system: str | list[dict[str, Any]] | None
    messages: list[dict[str, Any]]


def from_anthropic(
    messages: Iterable[Mapping[str, Any]], system: str | Sequence[Mapping[str, Any]] | None = None
) -> list[Message]:
    """Neutral messages; `to_anthropic` gives the same system and messages back.

    A user message that holds tool results becomes one tool message for each, and a user message for the rest.
    """
    converted: list[Message] = []
    with naming("system"):
        if system is not None:
            parts, form = _content(system, "system", "system")
            converted.append(Message(role="system", content=parts, extra=extra_of(ANTHROPIC, {}, form)))
    previous: Role | None = None
    for index, value in enumerate(list_at(messages, "messages", what="a list of messages")):
        where = f"messages[{index}]"
        with naming(where):
            fields = Fields(value, where)
            role = role_at(fields, ("user", "assistant", "system"))
            converted += _pieces(fields, role, separate=role == previous)
            previous = role
    return converted


def _pieces(fields: Fields, role: Role, *, separate: bool) -> list[Message]:
    where = f"{fields.where}.content"
    if not fields.has("content"):
        raise InvalidInput("is missing", where=where, fix="Content is text or a list of blocks")
    parts, form = _content(fields.take("content"), where, role)
    if separate:  # two user messages in a row would be merged on the way back
        form["separate"] = True
    if role == "system":
        form["inline"] = True
    extra = extra_of(ANTHROPIC, fields.rest(), form)
    runs: list[list[Part]] = []
    for part in parts:
        if runs and not isinstance(part, ToolResultPart) and not isinstance(runs[-1][0], ToolResultPart):
            runs[-1].append(part)
        else:
            runs.append([part])
    pieces: list[Message] = []
    for run in runs or [[]]:
        piece_role: Role = "tool" if run and isinstance(run[0], ToolResultPart) else role
        pieces.append(Message(role=piece_role, content=tuple(run), extra=extra if not pieces else {}))
    return pieces


def _content(value: object, where: str, role: Role) -> tuple[tuple[Part, ...], dict[str, Any]]:
    """The parts of a message's content, and its form where that is not the usual one."""
    if isinstance(value, str):
        if not value:
            return (), {"content": "text"}
        form = {} if value.strip() else {"blank": True}
        return (TextPart(text=text_at(value, where), extra=extra_of(ANTHROPIC, {}, form)),), {}
    if not isinstance(value, list | tuple):
        fix = "Content is text or a list of blocks"
        raise InvalidInput(f"expected text or a list of blocks, got {shown(value)}", where=where, fix=fix)
    from_model = role == "assistant"
    parts = [
        _placed(block_from_anthropic(block, f"{where}[{i}]", from_model=from_model), role, f"{where}[{i}]")
        for i, block in enumerate(value)
    ]
    unusual = not parts or (len(parts) == 1 and is_plain_text(parts[0]))
    return tuple(parts), {"content": "list"} if unusual else {}


def _placed(part: Part, role: Role, where: str) -> Part:
    if isinstance(part, ToolResultPart) and role != "user":
        raise InvalidInput(f"a {role} message cannot hold a tool_result", where=f"{where}.type")
    if isinstance(part, MediaPart) and role != "user":
        form = {**form_of(part, ANTHROPIC), "place": "as it came"}
        return part.model_copy(update={"extra": extra_of(ANTHROPIC, dict(own_fields(part, ANTHROPIC)), form)})
    return part


class _Turn:
    """One message of the request while it is put together from neutral ones."""

    def __init__(self, role: Literal["user", "assistant", "system"]) -> None:
        self.role = role
        self.blocks: list[dict[str, Any]] = []
        self.fields: dict[str, Any] = {}
        self.form: str | None = None
        self.bare = True

    def add(self, message: Message, parts: Sequence[Part]) -> None:
        """Takes up one neutral message."""
        for part in parts:
            block = block_to_anthropic(part, media=self.role == "user")
            if block is not None:
                self.blocks.append(block)
                self.bare = self.bare and block.keys() == {"type", "text"} and block["type"] == "text"
        self.form = self.form or form_of(message, ANTHROPIC).get("content")
        add_fields(self.fields, own_fields(message, ANTHROPIC))

    def content(self) -> str | list[dict[str, Any]] | None:
        """The content in the form it came in, if that can still hold it; None when there is nothing to send."""
        if not self.blocks:
            return {None: None, "text": "", "list": []}[self.form]
        if len(self.blocks) == 1 and self.bare and self.form != "list":
            return str(self.blocks[0]["text"])
        return self.blocks


def to_anthropic(messages: Iterable[Message]) -> AnthropicRequest:
    """The `system` and `messages` of an Anthropic request.

    Roles alternate: neighbours of one role become one message, and so do all results of parallel calls. System messages
    at the start become `system`; a later one keeps its place, in a user message, between `<system>` tags. Ids that
    Anthropic would refuse (reused, or with other characters) are rewritten, in call and result alike. Blank text, and
    reasoning that Anthropic did not sign, are left out.
    """
    ordered = results_first(neutral_messages(messages))
    lead = 0
    while lead < len(ordered) and ordered[lead].role in ("system", "developer") and not _is_inline(ordered[lead]):
        lead += 1
    turns: list[_Turn] = []
    ids = _WireIds()
    for message in ordered[lead:]:
        role: Literal["user", "assistant", "system"] = "assistant" if message.role == "assistant" else "user"
        if _is_inline(message):
            role = "system"
        if not turns or turns[-1].role != role or form_of(message, ANTHROPIC).get("separate"):
            turns.append(_Turn(role))
        turns[-1].add(message, [ids.rewritten(part) for part in _spoken(message, role)])
    return AnthropicRequest(_system(ordered[:lead]), _merged(turns))


def _merged(turns: list[_Turn]) -> list[dict[str, Any]]:
    """The turns as messages: one with nothing to send is dropped, and its neighbours, now of one role, are joined."""
    out: list[_Turn] = []
    dropped = False
    for turn in turns:
        if turn.content() is None:
            dropped = True
        elif dropped and out and out[-1].role == turn.role:
            out[-1].blocks += turn.blocks
            out[-1].form = "list"
            add_fields(out[-1].fields, turn.fields)
            dropped = False
        else:
            out.append(turn)
            dropped = False
    return [add_fields({"role": turn.role, "content": turn.content()}, turn.fields) for turn in out]


def _is_inline(message: Message) -> bool:
    return bool(form_of(message, ANTHROPIC).get("inline"))


def _system(messages: Sequence[Message]) -> str | list[dict[str, Any]] | None:
    turn = _Turn("system")
    for message in messages:
        turn.add(message, message.content)
    return turn.content()


def _spoken(message: Message, role: str) -> Sequence[Part]:
    """The message's parts; those of a system message that has to speak in a user's place are marked as such."""
    if role != "user" or message.role not in ("system", "developer"):
        return message.content
    return [
        part.model_copy(update={"text": f"<system>\n{part.text}\n</system>"})
        if isinstance(part, TextPart) and part.text.strip()
        else part
        for part in message.content
    ]


class _WireIds:
    """Call ids as Anthropic takes them: letters, digits, - and _, and no id twice in one request."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._current: dict[str, str] = {}

    def rewritten(self, part: Part) -> Part:
        if isinstance(part, ToolCallPart):
            wire = self._new(part.id)
            return part if wire == part.id else part.model_copy(update={"id": wire})
        if isinstance(part, ToolResultPart):
            wire = self._current.get(part.call_id) or _clean(part.call_id)
            return part if wire == part.call_id else part.model_copy(update={"call_id": wire})
        return part

    def _new(self, id: str) -> str:
        wire, count = _clean(id), 1
        while wire in self._used:
            count += 1
            wire = f"{_clean(id)}_{count}"
        self._used.add(wire)
        self._current[id] = wire
        return wire


def _clean(id: str) -> str:
    return _NOT_IN_IDS.sub("_", id)

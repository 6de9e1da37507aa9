"""The cheap tiers: results that say the same, and old results, become stubs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from clew.context.compaction.showing import stub
from clew.context.compaction.units import Unit
from clew.context.compaction.view import Edit, EditKind, Entry
from clew.messages import Message
from clew.tokens import count_message

UNKNOWN_TOOL: Final = "a tool"
# Of the stub: a name of any length, from outside, must not make it longer than what it replaces matters.
TOOL_NAME_MAX_CHARS: Final = 64


def repeats(found: Sequence[Unit], edited: Collection[int], before: int) -> dict[int, Edit]:
    """Stubs for every result up to `before` that a later one repeats word for word."""
    edits: dict[int, Edit] = {}
    newest: dict[tuple[object, ...], int] = {}
    for unit in reversed(found):
        for entry in reversed(unit.entries[1:]):
            content = _content(entry.message)
            same_as = newest.setdefault(content, entry.position)
            if same_as != entry.position and _may_change(unit, entry, edited, before):
                edit = _edit("repeat", unit, entry, same_as)
                if _saves(entry, edit):
                    edits[entry.position] = edit
    return edits


def clearings(found: Sequence[Unit], edited: Collection[int], before: int) -> dict[int, Edit]:
    """Stubs for every result up to `before` that is longer than one."""
    edits: dict[int, Edit] = {}
    for unit in found:
        for entry in unit.entries[1:]:
            if _may_change(unit, entry, edited, before):
                edit = _edit("clear", unit, entry, None)
                if _saves(entry, edit):
                    edits[entry.position] = edit
    return edits


def saved(entries: Mapping[int, Entry], edits: Mapping[int, Edit]) -> int:
    """The tokens that the stubs save."""
    return sum(entries[position].tokens - _tokens(entries[position], edit) for position, edit in edits.items())


def _content(message: Message) -> tuple[object, ...]:
    """What a result holds, whatever call it answers."""
    (result,) = message.tool_results
    return tuple(part.model_dump_json() for part in result.content)


def _may_change(unit: Unit, entry: Entry, edited: Collection[int], before: int) -> bool:
    is_result = bool(entry.message.tool_results)
    # What waits for a result is work in progress.
    return (
        is_result and entry.position <= before and entry.position not in edited and not unit.pinned and not unit.pending
    )


def _edit(kind: EditKind, unit: Unit, entry: Entry, same_as: int | None) -> Edit:
    (result,) = entry.message.tool_results
    called = {call.id: call.name for call in unit.entries[0].message.tool_calls}
    tool = called.get(result.call_id) or result.name or UNKNOWN_TOOL
    shown_name = " ".join(tool.split())[:TOOL_NAME_MAX_CHARS] or UNKNOWN_TOOL
    return Edit(entry.position, kind, shown_name, entry.tokens, same_as)


def _tokens(entry: Entry, edit: Edit) -> int:
    return count_message(stub(entry.message, edit, references=True))


def _saves(entry: Entry, edit: Edit) -> bool:
    return _tokens(entry, edit) < entry.tokens

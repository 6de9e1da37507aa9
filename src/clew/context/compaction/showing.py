"""A view of a log as messages: the summary, what is pinned, and the rest with its stubs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.compaction.summary import Summary
from clew.context.compaction.units import units
from clew.context.compaction.view import Edit, Entry, View
from clew.messages import Message, ToolResultPart
from clew.tokens import DEFAULT_ENCODING, count_message

# As short as it can say it: in a thread of one-line messages the frame is most of the summary.
OPENING: Final = "[Summary of messages {first}-{last}]"
OPENING_WITH_RECALL: Final = (
    '[Summary of messages {first}-{last}; recall_messages(positions="{first}") returns the originals]'
)
CLOSING: Final = "[End of the summary]"
_FORGED_CLOSING: Final = re.compile(r"\[(?=\s*end of the summary)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as a model sees it, where it stands in the log (None for the summary), and what it costs."""

    message: Message
    position: int | None
    tokens: int


def shown(view: View, entries: Sequence[Entry], *, references: bool, encoding: str = DEFAULT_ENCODING) -> list[Shown]:
    """The messages a model sees: what instructs it from the start, the summary, what is pinned, then the rest.

    `entries` may be the whole log, or only what is pinned and what comes after `view.through`. System messages that
    open the log stay in front of the summary, which changes with every compaction while they don't: the provider's
    cache keeps them. Results that answer no call are left out; nothing is put in but the summary. Between two
    compactions a longer log begins with exactly these messages, unless a late result has to move behind its call.
    """
    said = [
        _shown(entry, view.edits.get(entry.position), references=references, encoding=encoding)
        for unit in units(view.visible(entries))
        for entry in unit.entries
    ]
    if view.summary is None:
        return said
    opening = _opening(view, said)
    message = summary_message(view.summary, references=references)
    summary = Shown(message, None, count_message(message, encoding=encoding))
    return [*said[:opening], summary, *said[opening:]]


def summary_message(summary: Summary, *, references: bool) -> Message:
    """The summary as the user's message, between two lines that its own text cannot forge."""
    first, last = summary.covers
    opening = (OPENING_WITH_RECALL if references else OPENING).format(first=first, last=last)
    body = _FORGED_CLOSING.sub("(", summary.text(references))
    return Message(role="user", content=f"{opening}\n{body}\n{CLOSING}")


def stub_text(edit: Edit, *, references: bool) -> str:
    """What stands in the place of a result."""
    if edit.kind == "repeat" and edit.same_as is not None:
        where = f"message {edit.same_as}" if references else "a later one"
        return f"[result of {edit.tool}: the same {edit.tokens} tokens as {where}]"
    recall = f'; recall_messages(positions="{edit.position}") returns it' if references else ""
    return f"[result of {edit.tool} cleared: {edit.tokens} tokens{recall}]"


def stub(message: Message, edit: Edit, *, references: bool) -> Message:
    """The result's message with the stub in place of everything it held; it still answers the same call."""
    (result,) = message.tool_results
    words = ToolResultPart(
        call_id=result.call_id,
        name=result.name,
        content=stub_text(edit, references=references),
        is_error=result.is_error,
    )
    return Message(role="tool", content=(words,), id=message.id, timestamp=message.timestamp, metadata=message.metadata)


def _shown(entry: Entry, edit: Edit | None, *, references: bool, encoding: str) -> Shown:
    if edit is None or not entry.message.tool_results:
        return Shown(entry.message, entry.position, entry.tokens)
    message = stub(entry.message, edit, references=references)
    return Shown(message, entry.position, count_message(message, encoding=encoding))


def _opening(view: View, said: Sequence[Shown]) -> int:
    """How many messages stand before the summary: those that instruct the model before anyone speaks."""
    for index, one in enumerate(said):
        summarised = one.position is not None and one.position <= view.through
        if one.message.role not in ("system", "developer") or not summarised:
            return index
    return len(said)

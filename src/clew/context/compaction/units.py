"""What of a log is kept or moved together: single messages, and calls with all their results."""

from collections.abc import Sequence
from dataclasses import dataclass

from clew.context.compaction.view import Entry, is_pinned
from clew.context.mended import mend
from clew.messages import Message
from clew.tokens import DEFAULT_ENCODING, count_message


@dataclass(frozen=True, slots=True)
class Unit:
    """Entries that belong together, in the order in which they are shown."""

    entries: tuple[Entry, ...]
    unanswered: bool
    """Whether a call has no result."""
    pending: bool
    """Whether that result may still come: nobody but the user has spoken since."""

    @property
    def first(self) -> int:
        """The earliest position."""
        return min(entry.position for entry in self.entries)

    @property
    def last(self) -> int:
        """The latest position."""
        return max(entry.position for entry in self.entries)

    @property
    def pinned(self) -> bool:
        """Whether any of its messages is: then all of them stay."""
        return any(is_pinned(entry.message) for entry in self.entries)


def units(entries: Sequence[Entry]) -> list[Unit]:
    """The entries as units, each result right behind its call; results that answer no call are in none.

    Mended as for sending, except that nothing is put in: a call that was never answered stays as it is. It is pending
    until the assistant speaks again, and dead after that, so that one lost result does not stop every later compaction.
    """
    found: list[tuple[tuple[Entry, ...], bool]] = []
    for unit in mend([entry.message for entry in entries], DEFAULT_ENCODING).units:
        kept = tuple(
            _entry(entries[source], message)
            for message, source in zip(unit.messages, unit.sources, strict=True)
            if source is not None
        )
        if kept:
            found.append((kept, None in unit.sources))
    speaking = [index for index, (kept, _) in enumerate(found) if kept[0].message.role == "assistant"]
    last_word = speaking[-1] if speaking else -1
    return [Unit(kept, lacks, lacks and index >= last_word) for index, (kept, lacks) in enumerate(found)]


def pending_from(entries: Sequence[Entry], found: Sequence[Unit]) -> int | None:
    """The position of the first call that may still get its result, from which on nothing is summarised.

    The assistant's last calls count even where mending takes them for a repeat of earlier ones: models use ids again,
    and whether the result is still to come cannot be told until the assistant goes on.
    """
    waiting = [unit.first for unit in found if unit.pending]
    answered: set[str] = set()
    for entry in reversed(entries):
        answered.update(result.call_id for result in entry.message.tool_results)
        if entry.message.role == "assistant":
            if any(call.id not in answered for call in entry.message.tool_calls):
                waiting.append(entry.position)
            break
    return min(waiting, default=None)


def _entry(entry: Entry, message: Message) -> Entry:
    """The entry itself, or one with the mended message: an assistant's that lost a repeated call."""
    if message is entry.message:
        return entry
    return Entry(entry.position, message, count_message(message))

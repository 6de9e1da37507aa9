"""Token pruning without a summary: the oldest messages go, and nothing that belongs together is parted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.compaction.units import Unit, units
from clew.context.compaction.view import Entry
from clew.errors import BudgetExceeded
from clew.limits import check_count
from clew.messages import Message
from clew.messages.reading import neutral_messages
from clew.tokens import DEFAULT_ENCODING, count_message

TRIM_MAX_TOKENS: Final = 1_000_000_000
MESSAGES_MAX: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What is left, what it costs, and the places of what is not, counted from 0 in the list that was given."""

    messages: tuple[Message, ...]
    places: tuple[int, ...]
    """Where each of `messages` stood; one that lost a repeated call is a copy of what stood there."""
    dropped: tuple[int, ...]
    tokens: int


def trim(
    messages: Iterable[Message], max_tokens: int, *, keep_recent: int = 1, encoding: str = DEFAULT_ENCODING
) -> Trimmed:
    """The newest messages that cost at most `max_tokens` together, and every pinned one wherever it stands.

    The last `keep_recent` messages stay, and so do pending calls with all that follows them: `BudgetExceeded` when that
    alone is too much. A call stays with its results or goes with them, results that answer no call always go, and what
    is left begins with a user's message where one can lead it.
    """
    check_count(max_tokens, "max_tokens", least=0, most=TRIM_MAX_TOKENS)
    check_count(keep_recent, "keep_recent", least=0, most=MESSAGES_MAX)
    given = neutral_messages(messages)
    entries = [Entry(place, message, count_message(message, encoding=encoding)) for place, message in enumerate(given)]
    found = units(entries)
    costs = [sum(entry.tokens for entry in unit.entries) for unit in found]
    start = _start(found, costs, max_tokens, len(given) - keep_recent)
    kept = [unit for index, unit in enumerate(found) if index >= start or unit.pinned]
    left = [entry for unit in kept for entry in unit.entries]
    places = {entry.position for entry in left}
    return Trimmed(
        messages=tuple(entry.message for entry in left),
        places=tuple(entry.position for entry in left),
        dropped=tuple(place for place in range(len(given)) if place not in places),
        tokens=sum(entry.tokens for entry in left),
    )


def _start(found: Sequence[Unit], costs: Sequence[int], max_tokens: int, recent: int) -> int:
    """The unit that the unpinned rest begins with."""
    needed = [index for index, unit in enumerate(found) if unit.pending or unit.last >= recent]
    latest = min(needed, default=len(found))
    room = max_tokens - sum(cost for unit, cost in zip(found, costs, strict=True) if unit.pinned)
    start, total = len(found), 0
    for index in range(len(found) - 1, -1, -1):
        total += 0 if found[index].pinned else costs[index]
        if total > room:
            break
        start = index
    if start > latest or room < 0:
        least = sum(cost for index, cost in enumerate(costs) if index >= latest or found[index].pinned)
        raise BudgetExceeded(
            f"what must stay needs {least:,} tokens, and {max_tokens:,} are available",
            where="max_tokens",
            fix="Allow more tokens, keep fewer recent messages, or unpin some",
        )
    if start == 0:
        return 0
    led = (
        index
        for index in range(start, latest + 1)
        if index < len(found) and found[index].entries[0].message.role == "user"
    )
    return next(led, start)

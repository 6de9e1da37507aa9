"""A history made fit to send: mended, grouped, and every message traced to the one it came from."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from clew.context.manifest import Repair
from clew.messages import Change, Message, group, repair, to_openai
from clew.tokens import count_message

# What `repair` calls the changes after which the message at their index is gone.
_DROPPING: Final = ("duplicate_message", "duplicate_result", "orphan_result")


@dataclass(frozen=True)
class Unit:
    """Messages that are kept or left out together: one message, or calls with all their results."""

    messages: tuple[Message, ...]
    sources: tuple[int | None, ...]
    """For each message its place in what was given; None for one that mending put in."""
    encoding: str

    @property
    def role(self) -> str:
        return self.messages[0].role

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """What each message costs, counted in the form that is sent.

        Pictures in tool results travel in a message of their own behind the last result, which pays for it.
        """
        counts = [count_message(form, encoding=self.encoding) for form in to_openai(self.messages)]
        last = len(self.messages) - 1
        return (*counts[:last], sum(counts[last:]))

    @cached_property
    def total(self) -> int:
        return sum(self.tokens)


@dataclass(frozen=True, slots=True)
class Mended:
    """A history that a provider accepts, and what had to be done to it."""

    units: tuple[Unit, ...]
    left_out: dict[int, str]
    """Places in what was given whose messages are gone, and why."""
    repairs: tuple[Repair, ...]


def mend(given: Sequence[Message], encoding: str) -> Mended:
    """The history with every call answered, since what is compiled is sent: pending calls get an error result too."""
    mended = repair(given, pending="close")
    sources = _traced(given, mended.messages, mended.changes)
    units, at = [], 0
    for found in group(mended.messages):
        end = at + len(found.messages)
        units.append(Unit(found.messages, tuple(sources[at:end]), encoding))
        at = end
    alive = {source for source in sources if source is not None}
    sentences = {change.index: change.sentence for change in mended.changes}
    left_out = {index: sentences[index] for index in range(len(given)) if index not in alive}
    repairs = tuple(
        Repair(change.kind, given[change.index].id, change.call_id, change.sentence) for change in mended.changes
    )
    return Mended(tuple(units), left_out, repairs)


def _traced(given: Sequence[Message], mended: Sequence[Message], changes: Sequence[Change]) -> list[int | None]:
    """Where each mended message came from.

    Untouched ones are the same objects; an assistant's that lost a repeated call is a copy, and copies keep the order
    of their originals; anything else was put in.
    """
    gone = {change.index for change in changes if change.kind in _DROPPING}
    places: dict[int, deque[int]] = {}
    for index, message in enumerate(given):
        if index not in gone:
            places.setdefault(id(message), deque()).append(index)
    shortened = deque(sorted({change.index for change in changes if change.kind == "duplicate_call"} - gone))
    sources: list[int | None] = []
    for message in mended:
        if queue := places.get(id(message)):
            sources.append(queue.popleft())
        elif message.role == "assistant" and shortened:
            sources.append(shortened.popleft())
        else:
            sources.append(None)
    return sources

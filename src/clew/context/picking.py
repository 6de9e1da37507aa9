"""The few passages that are shown of what was looked up: the best, each with more of its own conversation."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, zip_longest
from typing import Final

from clew.context.manifest import FITS, LESS_RELEVANT, WRAPPER, Item
from clew.context.retrieved import (
    Line,
    Memory,
    Retrieved,
    block_of_passages,
    joined,
    mark_for_texts,
    passage,
    unwanted,
)
from clew.tokens import count

# Turns that stand further apart than this have others between them, which are not shown.
NEXT_TO: Final = 1.0
GAP: Final = "…"


@dataclass(frozen=True, slots=True)
class Picking:
    """How many passages are shown, in how many tokens; what the share allows all the same."""

    passages: int
    tokens: int


@dataclass(slots=True)
class _Passage:
    """One passage while it grows: what was found, and the other turns of its conversation that are shown with it."""

    found: Memory
    lines: dict[str, Line] = field(default_factory=dict)

    @property
    def text(self) -> str:
        if not self.lines:
            return self.found.content
        own = _line_of(self.found)
        ordered = sorted([own, *self.lines.values()], key=lambda line: (line.order, line.id))
        parts = [ordered[0].text]
        for before, line in pairwise(ordered):
            parts += [GAP, line.text] if line.order - before.order > NEXT_TO else [line.text]
        return "\n".join(parts)


def pick_memories(
    memories: Sequence[Memory],
    spoken: Sequence[str],
    message_ids: Collection[str],
    task_text: str,
    limit: int,
    encoding: str,
    picking: Picking,
) -> Retrieved:
    """The best passages, in the order given, what is superseded last; and an account of every memory.

    Not shown: what the messages in the window (`spoken`, with their ids) say already, what a better one says already,
    and what would not fit alone. What was found in the same conversation shares a passage with the best of it, and
    what room is left goes to what was said around each.
    """
    picker = _Picker(memories, task_text, min(limit, picking.tokens), encoding, picking.passages)
    return picker.picked(spoken, message_ids)


class _Picker:
    def __init__(self, memories: Sequence[Memory], task_text: str, limit: int, encoding: str, passages: int) -> None:
        self._memories = memories
        self._mark = mark_for_texts(chain.from_iterable(map(_texts, memories)))
        self._task_text, self._task_tokens = task_text, count(task_text, encoding)
        self._limit, self._encoding, self._most = limit, encoding, passages
        self._passages: list[_Passage] = []
        self._spent = 0

    def picked(self, spoken: Sequence[str], message_ids: Collection[str]) -> Retrieved:
        reasons = unwanted(self._memories, spoken, message_ids, lambda one: self._tokens(one) > self._limit)
        wanted = [place for place in range(len(self._memories)) if place not in reasons]
        kept = set(self._lead(wanted)) | set(self._join(wanted))
        self._widen()
        kept -= set(self._within_limit(wanted, kept))
        self._passages.sort(key=lambda one: one.found.status is not None)
        reasons |= {place: FITS if place in kept else LESS_RELEVANT for place in wanted}
        items = [self._item(place, reasons[place]) for place in range(len(self._memories))]
        if self._passages:
            rest = self._cost() - sum(item.tokens for item in items if item.kept)
            items.append(Item("memory", "wrapper", None, rest, kept=True, reason=WRAPPER))
        return Retrieved(self._block(), tuple(items))

    def _lead(self, wanted: Sequence[int]) -> Iterator[int]:
        """The best of each conversation, and what is of none, begin a passage, as long as there is room."""
        begun: set[str] = set()
        for place in wanted:
            memory = self._memories[place]
            if len(self._passages) < self._most and memory.conversation not in begun:
                self._passages.append(_Passage(memory))
                if self._cost() > self._limit:
                    self._passages.pop()
                    continue
                begun |= {memory.conversation} if memory.conversation is not None else set()
                yield place
        self._spent = self._cost()

    def _join(self, wanted: Sequence[int]) -> Iterator[int]:
        """What else was found in a conversation that has a passage, best first."""
        of = {one.found.conversation: one for one in self._passages if one.found.conversation is not None}
        leads = {one.found.memory_id for one in self._passages}
        for place in wanted:
            memory = self._memories[place]
            into = of.get(memory.conversation) if memory.conversation is not None else None
            if into is not None and memory.memory_id not in leads and self._affords(_line_of(memory)):
                into.lines[memory.memory_id] = _line_of(memory)
                yield place

    def _widen(self) -> None:
        """What was said around them, the nearest of each first."""
        shown = {id for one in self._passages for id in (one.found.memory_id, *one.lines)}
        for nearest in zip_longest(*(one.found.near for one in self._passages)):
            for one, line in zip(self._passages, nearest, strict=True):
                if line is not None and line.id not in shown and self._affords(line):
                    shown.add(line.id)
                    one.lines[line.id] = line

    def _affords(self, line: Line) -> bool:
        """Whether there is room for a line and a mark of a gap, by a guess that the count of the whole settles."""
        needed = count(f"{GAP}\n{line.text}\n", self._encoding)
        if self._spent + needed > self._limit:
            return False
        self._spent += needed
        return True

    def _within_limit(self, wanted: Sequence[int], kept: Collection[int]) -> Iterator[int]:
        """Take the lines added last away until it fits; the memories that go with them."""
        places = {self._memories[place].memory_id: place for place in wanted if place in kept}
        while self._cost() > self._limit:
            fullest = max(self._passages, key=lambda one: len(one.lines))
            if not fullest.lines:
                break  # leads were counted exactly, so this cannot be
            gone, _ = fullest.lines.popitem()
            if gone in places:
                yield places[gone]

    def _item(self, place: int, reason: str) -> Item:
        memory = self._memories[place]
        kept = reason is FITS
        leads = any(one.found is memory for one in self._passages)
        tokens = self._tokens(memory) if leads or not kept else count(_line_of(memory).text + "\n", self._encoding)
        return Item("memory", memory.kind, memory.memory_id, tokens, kept=kept, reason=reason, score=memory.score)

    def _tokens(self, memory: Memory) -> int:
        return count(passage(memory.label, memory.content, 1, self._mark) + "\n", self._encoding)

    def _block(self) -> str:
        return block_of_passages([(one.found.label, one.text) for one in self._passages], self._mark)

    def _cost(self) -> int:
        """What the block adds to the last message: the real text is counted, since counts of parts do not add up."""
        return count(joined(self._block(), self._task_text), self._encoding) - self._task_tokens


def _line_of(memory: Memory) -> Line:
    spoken = f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content
    return Line(memory.memory_id, spoken, memory.order)


def _texts(memory: Memory) -> Iterable[str]:
    return memory.label, _line_of(memory).text, *(line.text for line in memory.near)

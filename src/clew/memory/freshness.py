"""Which of two statements is the newer one about the same thing. It only re-orders: nothing is left out.

A ranker looks at the question, and an old statement matches it as well as the one that replaced it. Two entries are
about the same thing when what one of them is about is all said by the other; they conflict when the values they give
differ, or when the newer one says that something changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from clew.memory.entry import MemoryEntry
from clew.memory.preparing import moment
from clew.memory.statement import STATEMENT_MAX_CHARS, Statement, read_statements

# Of how many of the best the order is looked at: each is compared with each.
FRESHEN_TOP: Final = 50
# Such a share of the shorter one's words beside the values is in both.
NEAR_SHARE: Final = 0.5
SHOWN_MAX_CHARS: Final = 60
# Sentences of so many equal words in which only so few are others say the same of another value.
FRAME_LEAST_WORDS: Final = 3
REPLACED_MAX_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class Dated:
    """A ranked entry: its text and when it was said. `order` tells which of two said at one time came later.

    `text` is None for an entry that is too long to be one statement; `thread` is whose and which conversation it is in.
    """

    text: str | None
    at: float
    order: int
    thread: tuple[str, str] | None = None
    speaker: str | None = None

    @classmethod
    def of_row(
        cls, seq: int, at: datetime, text: str | None, agent_id: str, thread_id: str | None, speaker: str | None
    ) -> "Dated":
        """An entry as the statement `dated` gives it."""
        return cls(text, at.timestamp(), seq, None if thread_id is None else (agent_id, thread_id), speaker)

    @classmethod
    def of_entry(cls, entry: MemoryEntry, order: int) -> "Dated":
        """An entry as a caller has it; whether it was ever changed is not known of it."""
        at = moment(entry.metadata.get("occurred_at")) or entry.created_at
        thread, speaker = entry.metadata.get("thread_id"), entry.metadata.get("speaker")
        text = entry.content if len(entry.content) <= STATEMENT_MAX_CHARS else None
        return cls(text, at.timestamp(), order, None if thread is None else (entry.agent_id, str(thread)), speaker)

    def newer_than(self, other: "Dated") -> bool:
        return (self.at, self.order) > (other.at, other.order)


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry's place before, and the place before of the one it was lifted above."""

    index: int
    above: int | None


def newest_first(entries: Sequence[Dated]) -> list[Placed]:
    """The order in which no entry stands above a newer one that it conflicts with; else as it was."""
    return _Order(entries).placed()


def newer_than(text: str) -> str:
    """The reason of an entry that was lifted: what it is newer than."""
    shown = text if len(text) <= SHOWN_MAX_CHARS else text[: SHOWN_MAX_CHARS - 1].rstrip() + "…"
    return f"newer than “{shown}”"


class _Order:
    def __init__(self, entries: Sequence[Dated]) -> None:
        self._entries = entries
        self._best = range(min(len(entries), FRESHEN_TOP))
        self._done: set[int] = set()
        self._placed: list[Placed] = []

    def placed(self) -> list[Placed]:
        for index in range(len(self._entries)):
            if index not in self._done:
                self._place(index, None)
        return self._placed

    def _place(self, index: int, above: int | None) -> None:
        """Place an entry, after what is newer and not placed yet. It ends: each step leads to a newer one."""
        self._done.add(index)
        if index in self._best:
            entry = self._entries[index]
            waiting = [n for n in self._best if n not in self._done and self._entries[n].newer_than(entry)]
            newer = [n for n in waiting if conflicts(entry, self._entries[n])]
            for n in sorted(newer, key=lambda n: (-self._entries[n].at, -self._entries[n].order)):
                if n not in self._done:
                    self._place(n, index)
        self._placed.append(Placed(index, above))


def conflicts(older: Dated, newer: Dated) -> bool:
    """Whether the newer entry states anew what the older one stated otherwise."""
    if not older.text or not newer.text:
        return False
    return any(
        _conflict(older, old, newer, new) for old in read_statements(older.text) for new in read_statements(newer.text)
    )


def _conflict(older: Dated, old: Statement, newer: Dated, new: Statement) -> bool:
    if new.adds or old.stems.isdisjoint(new.stems):
        return False
    if (old.first_person or new.first_person) and older.speaker != newer.speaker:
        return False
    # Turns of conversations resemble each other in everything but values.
    talk = older.thread is not None and newer.thread is not None
    if not talk and _denies(old, new):
        return True
    told = new.changes or (old.negated != new.negated)
    # What is said twice in one conversation, or may hold more than once, must say that it replaces.
    several = old.adds or old.adding_verb or new.adding_verb
    if not told and (several or (older.thread is not None and older.thread == newer.thread)):
        return False
    if not _near(old, new, told=told) or not _same_subject(old, new, talk=talk) or _another_time(old, new, told=told):
        return False
    return _other_value(old, new) or (not talk and _restated(old, new, told=told))


def _denies(old: Statement, new: Statement) -> bool:
    """Whether the newer one says of the same subject that what the older one says of it is no more."""
    return not old.about.isdisjoint(new.stems) and not new.denied.isdisjoint(old.stems - old.about)


def _near(old: Statement, new: Statement, *, told: bool) -> bool:
    """Whether they share enough of their words, beside the values, to be about one thing."""
    if told and old.properties & new.properties:
        return True
    shared = len(old.stems & new.stems)
    return shared >= NEAR_SHARE * min(max(len(old.frame), 1), max(len(new.frame), 1))


def _same_subject(old: Statement, new: Statement, *, talk: bool) -> bool:
    """What one is about is all said by the other, and they share more than nothing."""
    shared = old.stems & new.stems
    # Of a person many things are told: then it must be the same one.
    if shared.isdisjoint(old.common | new.common) and not (old.properties & new.properties or len(shared) > 1):
        return False
    known = [one for one, other in ((old.about, new), (new.about, old)) if one <= other.stems]
    # “I” and “it” are about nothing that words could tell: then more of the rest must be the same.
    alike = old.properties & new.properties or _units(old) & _units(new) or (old.dates and new.dates)
    alone = len(shared) == 1 and not alike
    return bool(shared) and (any(known) or (bool(known) and not alone and not talk))


def _another_time(old: Statement, new: Statement, *, told: bool) -> bool:
    """Both name a time and something else that differs: two times, and not one thing that changed."""
    dated = bool(old.dates - new.dates) and bool(new.dates - old.dates)
    return dated and not told and _other_figure(old, new)


def _other_value(old: Statement, new: Statement) -> bool:
    """Whether each gives a value, of one kind, that the other does not."""
    if old.dates - new.dates and new.dates - old.dates:
        return True
    if old.names - new.stems and new.names - old.stems:
        return True
    return _other_figure(old, new) or _other_state(old, new)


def _restated(old: Statement, new: Statement, *, told: bool) -> bool:
    """Whether the newer one replaces what it does not repeat: few words in an equal frame, or by saying so."""
    shared = old.stems & new.stems
    gone, come = len(old.stems - shared), len(new.stems - shared)
    if len(shared) >= FRAME_LEAST_WORDS and 0 < gone <= REPLACED_MAX_WORDS and 0 < come <= REPLACED_MAX_WORDS:
        return True
    if old.owned and len(old.about) > 1 and old.about == new.about and _all_other(old.rest, new.rest):
        return True
    if old.about and old.about == new.about and old.names - old.about and new.names - old.stems:
        return True
    if not (old.about or new.about):
        return told and len(shared) >= FRAME_LEAST_WORDS
    return told and (len(shared) > 1 or bool(old.properties & new.properties))


def _all_other(gone: frozenset[str], come: frozenset[str]) -> bool:
    return bool(gone) and bool(come) and gone.isdisjoint(come)


def _other_figure(old: Statement, new: Statement) -> bool:
    gone, come = old.figures - new.figures, new.figures - old.figures
    return any(one == other or not one or not other for _, one in gone for _, other in come)


def _units(statement: Statement) -> set[str]:
    return {unit for _, unit in statement.figures if unit}


def _other_state(old: Statement, new: Statement) -> bool:
    gone, come = old.states - new.states, new.states - old.states
    return not {group for group, _ in gone}.isdisjoint(group for group, _ in come)

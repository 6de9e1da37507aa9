"""The session's part of the window: the newest turns that fit, cut rarely and deep."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.manifest import (
    FITS,
    LATEST_USER,
    OLDER,
    PINNED,
    REPAIRED,
    SHORTENED,
    STANDS_FOR,
    TOO_LARGE,
    Item,
    Repair,
)
from clew.context.mended import Mended, Unit, mend
from clew.context.shorten import shorten
from clew.errors import BudgetExceeded
from clew.messages import Message
from clew.tokens import count_message

# When something must go, the cut may fall anywhere in the older half of what fits: the wider that zone, the rarer the
# cut has to move. Over 200 turns with calls (as in test_prefix.py) the whole earlier history leads the next request in
# 97, 96 and 91% of the compiles (32,000 tokens with messages of 60 and of 120 words, 8,000 with 60); with 0.7 it is 97,
# 94 and 84%, and keeping just what fits 80, 73 and 71%. The price: 0.79 of the share is in use on average.
KEPT_AT_LEAST: Final = 0.5
# A summary was written for a tier larger than this one may be: it gets no more than this part of the share.
SUMMARY_AT_MOST: Final = 0.5
# Calls of the running turn that cannot fit are shortened to this part of the room, so that the next fit beside them.
SHORTENED_TO: Final = 0.5


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message of the session log, and its stored token count where that is known."""

    message: Message
    tokens: int | None = None
    """What the log says it costs. Believed for what is left out; what is sent is always counted."""
    stands_for: str | None = None
    """For a summary: the messages whose place it takes. It never leaves the window."""

    @property
    def stays(self) -> bool:
        """Whether no budget moves it out."""
        return self.message.pinned or self.stands_for is not None


@dataclass(frozen=True, slots=True)
class History:
    """What the session contributes, and an account of every message that was given."""

    messages: tuple[Message, ...]
    items: tuple[Item, ...]
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Everything from the unit `start` on is kept, and the latest user's words and what is pinned wherever it is."""

    start: int
    latest: int | None
    pinned: frozenset[int]

    def keeps(self, index: int) -> bool:
        return index >= self.start or index == self.latest or index in self.pinned


def history_need(session: Sequence[SessionMessage], encoding: str, ceiling: int) -> int:
    """What the whole history would cost, or the ceiling when it costs at least that; counted from the newest back."""
    total = 0
    for unit in reversed(mend([entry.message for entry in session], encoding).units):
        total += unit.total
        if total >= ceiling:
            return ceiling
    return total


def fit_history(session: Sequence[SessionMessage], limit: int, encoding: str) -> History:
    """The newest part of the session that costs at most `limit`, oldest messages left out first, groups never split.

    The most recent user message is always there: shortened, visibly, when it alone exceeds the limit. So is what is
    pinned, whole. Results of the running turn that could never fit are shortened too. `BudgetExceeded` when the limit
    cannot hold what is pinned and a mark for the user's words.
    """
    mended = mend([entry.message for entry in session], encoding)
    units = list(mended.units)
    pinned = _pinned(session, units)
    for index in pinned:
        units[index] = _fitting_summary(session, units[index], limit)
    room = limit - sum(units[index].total for index in pinned)
    if room < 0:
        raise _pins_exceed(limit, limit - room)
    latest = _latest_user(units, room)
    if latest is not None and latest not in pinned:
        units[latest] = _fitting_user(units[latest], room)
        room -= units[latest].total
    always = pinned if latest is None else pinned | {latest}
    cut = _cut(units, _Cut(0, latest, pinned), limit, _reached(units, latest, always, room))
    kept = [unit for index, unit in enumerate(units) if cut.keeps(index)]
    items = _Account(session, mended, encoding, limit).items(units, cut)
    return History(tuple(message for unit in kept for message in unit.messages), items, mended.repairs)


def _pinned(session: Sequence[SessionMessage], units: Sequence[Unit]) -> frozenset[int]:
    """The units that hold a pinned message, or the summary."""
    staying = {index for index, entry in enumerate(session) if entry.stays}
    return frozenset(index for index, unit in enumerate(units) if not staying.isdisjoint(unit.sources))


def _fitting_summary(session: Sequence[SessionMessage], unit: Unit, limit: int) -> Unit:
    """A summary that leaves room for what follows it: its beginning and its end, where it is too long for this tier."""
    source = unit.sources[0]
    if source is None or session[source].stands_for is None or unit.total <= limit * SUMMARY_AT_MOST:
        return unit
    shorter = shorten(unit.messages[0], int(limit * SUMMARY_AT_MOST), unit.encoding)
    return unit if shorter is None else Unit((shorter,), unit.sources, unit.encoding)


def _pins_exceed(limit: int, needed: int) -> BudgetExceeded:
    return BudgetExceeded(
        f"pinned messages and the summary need {needed:,} tokens, and {limit:,} are available",
        where="session_messages",
        fix="Pin less, or raise the budget or the session's share",
    )


def _reached(units: list[Unit], latest: int | None, always: frozenset[int], room: int) -> dict[int, int]:
    """For each place where the history could start, the tokens from there on without what is kept anyway.

    Counted from the newest unit back, no further than the room reaches; on the way, units of the running turn that
    could never fit are replaced by shortened ones.
    """
    tokens_from = {len(units): 0}
    total = 0
    for index in range(len(units) - 1, -1, -1):
        if index not in always:
            if latest is not None and index > latest:
                units[index] = _fitting_group(units[index], room)
            total += units[index].total
        if total > room:
            break
        tokens_from[index] = total
    return tokens_from


def _latest_user(units: Sequence[Unit], limit: int) -> int | None:
    """The unit of the most recent user message; of the opening that mending put in, when no user ever spoke."""
    spoken = [index for index, unit in enumerate(units) if unit.role == "user"]
    real = [index for index in spoken if units[index].sources[0] is not None]
    if real:
        return real[-1]
    return next((index for index in spoken if units[index].total <= limit), None)


def _fitting_user(unit: Unit, limit: int) -> Unit:
    if unit.total <= limit:
        return unit
    shorter = shorten(unit.messages[0], limit, unit.encoding)
    if shorter is None:
        name = f"message {unit.messages[0].id!r}" if unit.messages[0].id else "the most recent user message"
        raise BudgetExceeded(
            f"{name} needs {unit.total:,} tokens, and {limit:,} are available: too few even for a shortened one",
            where="session_messages",
            fix="Raise the budget or the session's share",
        )
    return Unit((shorter,), unit.sources, unit.encoding)


def _fitting_group(unit: Unit, room: int) -> Unit:
    """The unit, or one with its results shortened, when it could never fit beside the user's message it works for."""
    results = len(unit.messages) - 1
    if not results or unit.total <= room:
        return unit
    call = unit.messages[0]
    each = (int(room * SHORTENED_TO) - count_message(call, encoding=unit.encoding)) // results
    messages = [call]
    for message in unit.messages[1:]:
        fits = count_message(message, encoding=unit.encoding) <= each
        shorter = message if fits else shorten(message, max(0, each), unit.encoding)
        if shorter is None:
            return unit  # the calls themselves are too long; they are left out whole
        messages.append(shorter)
    return Unit(tuple(messages), unit.sources, unit.encoding)


def _cut(units: Sequence[Unit], uncut: _Cut, limit: int, tokens_from: Mapping[int, int]) -> _Cut:
    """Where to cut, among the places that are within reach."""
    reach, latest = min(tokens_from), uncut.latest
    if reach == 0:
        return uncut
    always = uncut.pinned if latest is None else uncut.pinned | {latest}
    always_tokens = sum(units[index].total for index in always)
    if latest is not None and reach <= latest:
        # The running turn fits whole, so the history starts with some turn, which is where a user speaks.
        starts = [index for index in range(reach, latest + 1) if units[index].role == "user"]
        at_least = limit * KEPT_AT_LEAST - always_tokens
    else:
        # It does not: the user's message leads it, and any of its units may come next.
        starts = list(range(reach, len(units) + 1))
        at_least = (limit - always_tokens) * KEPT_AT_LEAST
    zone = [index for index in starts if index < len(units) and tokens_from[index] > at_least]
    # The steadiest place in the zone, the oldest of equals: it changes only when a steadier one comes in, or when it
    # falls out of reach, and not with every message.
    best = max(zone, key=lambda index: (_steadiness(units[index]), -index)) if zone else starts[0]
    return _Cut(best, latest, uncut.pinned)


def _steadiness(unit: Unit) -> int:
    """How good a place to cut the start of this unit is: a number that depends on the message alone.

    A digest of its id, or of its words where it has none, decides: every second message has at least 2, every fourth at
    least 3, and so on. So a caller may pass any newest stretch of the log and get the same cut.
    """
    message = unit.messages[0]
    words = message.id if message.id is not None else f"{message.role}\n{message.text}"
    number = int.from_bytes(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest())
    return (number & -number).bit_length()


class _Account:
    """What the manifest says about the session: one item for each message given and for each that mending put in."""

    def __init__(self, session: Sequence[SessionMessage], mended: Mended, encoding: str, limit: int) -> None:
        self._session = session
        self._mended = mended
        self._encoding = encoding
        self._limit = limit

    def items(self, units: Sequence[Unit], cut: _Cut) -> tuple[Item, ...]:
        """The items in the order of the log; `units` are the mended ones, some of them shortened."""
        by_place: dict[int, list[Item]] = {}
        at = -1
        for index, (unit, whole) in enumerate(zip(units, self._mended.units, strict=True)):
            for place, source in enumerate(unit.sources):
                at = at if source is None else source
                if cut.keeps(index):
                    reason = PINNED if index in cut.pinned else LATEST_USER if index == cut.latest else FITS
                    item = self._kept(unit, whole, place, reason)
                else:
                    item = self._dropped(whole, place, TOO_LARGE if whole.total > self._limit else OLDER)
                by_place.setdefault(at, []).append(item)
        for index, sentence in self._mended.left_out.items():
            by_place.setdefault(index, []).append(self._mended_away(index, sentence))
        return tuple(item for place in sorted(by_place) for item in by_place[place])

    def _kept(self, unit: Unit, whole: Unit, place: int, reason: str) -> Item:
        message, source, tokens = unit.messages[place], unit.sources[place], unit.tokens[place]
        if source is None:
            put_in = f"{REPAIRED} put in so that a provider accepts the history"
            return Item("session", "repair", None, tokens, kept=True, reason=put_in, role=message.role)
        shortened = message is not whole.messages[place]
        stands_for = self._session[source].stands_for
        return Item(
            "session",
            "message" if stands_for is None else "summary",
            self._name(source),
            tokens,
            kept=True,
            reason=SHORTENED if shortened else reason if stands_for is None else f"{STANDS_FOR} {stands_for}",
            role=message.role,
            full_tokens=whole.tokens[place] if shortened else None,
        )

    def _dropped(self, whole: Unit, place: int, reason: str) -> Item:
        source, role = whole.sources[place], whole.messages[place].role
        if source is None:
            return Item("session", "repair", None, whole.tokens[place], kept=False, reason=reason, role=role)
        stored = self._session[source].tokens
        tokens = whole.tokens[place] if stored is None else stored
        return Item("session", "message", self._name(source), tokens, kept=False, reason=reason, role=role)

    def _mended_away(self, index: int, sentence: str) -> Item:
        entry = self._session[index]
        tokens = count_message(entry.message, encoding=self._encoding) if entry.tokens is None else entry.tokens
        reason, role = f"{REPAIRED} {sentence}", entry.message.role
        return Item("session", "message", self._name(index), tokens, kept=False, reason=reason, role=role)

    def _name(self, index: int) -> str:
        """The message's id, or its place where it has none: something a reader can find it by."""
        id = self._session[index].message.id
        return id if id is not None else f"session_messages[{index}]"

"""The session's part of the window: the newest turns that fit, cut rarely and deep."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew.context.manifest import FITS, LATEST_USER, OLDER, REPAIRED, SHORTENED, Item, Repair
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
# Calls of the running turn that cannot fit are shortened to this part of the room, so that the next fit beside them.
SHORTENED_TO: Final = 0.5


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message of the session log, and its stored token count where that is known."""

    message: Message
    tokens: int | None = None
    """What the log says it costs. Believed for what is left out; what is sent is always counted."""


@dataclass(frozen=True, slots=True)
class History:
    """What the session contributes, and an account of every message that was given."""

    messages: tuple[Message, ...]
    items: tuple[Item, ...]
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Everything from the unit `start` on is kept, and the unit `pinned` wherever it is."""

    start: int
    pinned: int | None

    def keeps(self, index: int) -> bool:
        return index >= self.start or index == self.pinned


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

    The most recent user message is always there: shortened, visibly, when it alone exceeds the limit. Results of the
    running turn that could never fit are shortened too. `BudgetExceeded` when the limit cannot hold even a mark.
    """
    mended = mend([entry.message for entry in session], encoding)
    units = list(mended.units)
    pinned = _latest_user(units, limit)
    if pinned is not None:
        units[pinned] = _fitting_user(units[pinned], limit)
    room = limit - (units[pinned].total if pinned is not None else 0)
    cut = _cut(units, pinned, limit, _reached(units, pinned, room))
    kept = [unit for index, unit in enumerate(units) if cut.keeps(index)]
    items = _Account(session, mended, encoding).items(units, cut)
    return History(tuple(message for unit in kept for message in unit.messages), items, mended.repairs)


def _reached(units: list[Unit], pinned: int | None, room: int) -> dict[int, int]:
    """For each place where the history could start, the tokens from there on without the pinned message.

    Counted from the newest unit back, no further than the room reaches; on the way, units of the running turn that
    could never fit are replaced by shortened ones.
    """
    tokens_from = {len(units): 0}
    total = 0
    for index in range(len(units) - 1, -1, -1):
        if index != pinned:
            if pinned is not None and index > pinned:
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


def _cut(
    units: Sequence[Unit],
    pinned: int | None,
    limit: int,
    tokens_from: Mapping[int, int],
) -> _Cut:
    """Where to cut, among the places that are within reach."""
    reach = min(tokens_from)
    if reach == 0:
        return _Cut(0, pinned)
    pinned_tokens = units[pinned].total if pinned is not None else 0
    if pinned is not None and reach <= pinned:
        # The running turn fits whole, so the history starts with some turn, which is where a user speaks.
        starts = [index for index in range(reach, pinned + 1) if units[index].role == "user"]
        at_least = limit * KEPT_AT_LEAST - pinned_tokens
    else:
        # It does not: the pinned message leads it, and any of its units may come next.
        starts = list(range(reach, len(units) + 1))
        at_least = (limit - pinned_tokens) * KEPT_AT_LEAST
    zone = [index for index in starts if index < len(units) and tokens_from[index] > at_least]
    if not zone:
        return _Cut(starts[0], pinned)
    # The steadiest place in the zone, the oldest of equals: it changes only when a steadier one comes in, or when it
    # falls out of reach, and not with every message.
    return _Cut(max(zone, key=lambda index: (_steadiness(units[index]), -index)), pinned)


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

    def __init__(self, session: Sequence[SessionMessage], mended: Mended, encoding: str) -> None:
        self._session = session
        self._mended = mended
        self._encoding = encoding

    def items(self, units: Sequence[Unit], cut: _Cut) -> tuple[Item, ...]:
        """The items in the order of the log; `units` are the mended ones, some of them shortened."""
        by_place: dict[int, list[Item]] = {}
        at = -1
        for index, (unit, whole) in enumerate(zip(units, self._mended.units, strict=True)):
            for place, source in enumerate(unit.sources):
                at = at if source is None else source
                if cut.keeps(index):
                    item = self._kept(unit, whole, place, pinned=index == cut.pinned)
                else:
                    item = self._dropped(whole, place)
                by_place.setdefault(at, []).append(item)
        for index, sentence in self._mended.left_out.items():
            by_place.setdefault(index, []).append(self._mended_away(index, sentence))
        return tuple(item for place in sorted(by_place) for item in by_place[place])

    def _kept(self, unit: Unit, whole: Unit, place: int, *, pinned: bool) -> Item:
        message, source, tokens = unit.messages[place], unit.sources[place], unit.tokens[place]
        if source is None:
            reason = f"{REPAIRED} put in so that a provider accepts the history"
            return Item("session", "repair", None, tokens, kept=True, reason=reason, role=message.role)
        shortened = message is not whole.messages[place]
        return Item(
            "session",
            "message",
            self._name(source),
            tokens,
            kept=True,
            reason=SHORTENED if shortened else LATEST_USER if pinned else FITS,
            role=message.role,
            full_tokens=whole.tokens[place] if shortened else None,
        )

    def _dropped(self, whole: Unit, place: int) -> Item:
        source, role = whole.sources[place], whole.messages[place].role
        if source is None:
            return Item("session", "repair", None, whole.tokens[place], kept=False, reason=OLDER, role=role)
        stored = self._session[source].tokens
        tokens = whole.tokens[place] if stored is None else stored
        return Item("session", "message", self._name(source), tokens, kept=False, reason=OLDER, role=role)

    def _mended_away(self, index: int, sentence: str) -> Item:
        entry = self._session[index]
        tokens = count_message(entry.message, encoding=self._encoding) if entry.tokens is None else entry.tokens
        reason, role = f"{REPAIRED} {sentence}", entry.message.role
        return Item("session", "message", self._name(index), tokens, kept=False, reason=reason, role=role)

    def _name(self, index: int) -> str:
        """The message's id, or its place where it has none: something a reader can find it by."""
        id = self._session[index].message.id
        return id if id is not None else f"session_messages[{index}]"

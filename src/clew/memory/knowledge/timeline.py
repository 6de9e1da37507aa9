"""What is believed of one slot: spans of time, and what a statement does to them. Pure, so that it can be replayed.

All that is believed follows from the statements in their order. Adding one settles it on the spans there are; taking an
episode back settles all the others anew. A slot's single-valued spans never overlap.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from clew.memory.knowledge.extract import same_value

Act = Literal["holds", "ended", "denied"]
# What stands between a value and what it is good for.
PURPOSE: Final = " for "


@dataclass(frozen=True, slots=True)
class Statement:
    """A value holds from a time on; or ended then; or is denied from then on. `fact` is what it would make.

    `said` is when; a `lasting` one holds from its time on and did still then. The end of a time that a value was told
    for has no `quote` of its own: what begins with that end is another's.
    """

    act: Act
    fact: str
    slot: str
    value: str
    object: str | None
    single: bool
    at: datetime
    quote: str = ""
    said: datetime | None = None
    lasting: bool = False

    @property
    def undated(self) -> bool:
        """Whether it says that something holds, and not since when."""
        return self.act == "holds" and self.at == self.said


# When each fact was told without a time of its own: it held then, and nobody said since when.
Undated = Mapping[str, frozenset[datetime]]


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when a fact holds; None where nobody said. `belief` is the stored row that says so, if any."""

    fact: str
    value: str
    object: str | None
    single: bool
    negated: bool
    valid_at: datetime | None
    invalid_at: datetime | None
    belief: int | None = None
    because: str | None = None

    def covers(self, moment: datetime) -> bool:
        """Whether the fact holds at a moment."""
        return self.begins_by(moment) and (self.invalid_at is None or moment < self.invalid_at)

    def begins_by(self, moment: datetime) -> bool:
        """Whether the fact has begun to hold at a moment."""
        return self.valid_at is None or self.valid_at <= moment

    def begins_before(self, moment: datetime) -> bool:
        """Whether the fact began to hold before a moment."""
        return self.valid_at is None or self.valid_at < moment

    def closed(self, moment: datetime, because: str) -> "Span":
        """The same, holding until a moment; no words say so where it was told for a time from the beginning."""
        return replace(self, invalid_at=moment, belief=None, because=because)

    def tells(self, statement: Statement) -> bool:
        """Whether it has the statement's value, in whatever words.

        “Not on Tuesday” means the Tuesday that was told, though another is the next by now.
        """
        if statement.act != "holds" and self.object and self.object.casefold() == (statement.object or "").casefold():
            return True
        if statement.act != "holds" and statement.value and self.value.startswith(f"{statement.value}{PURPOSE}"):
            # “No longer uses Jenkins”: nor for anything.
            return True
        return same_value(self.value, self.object, statement.value, statement.object)


@dataclass(frozen=True, slots=True)
class Settled:
    """The spans after a statement, and the fact that it made or supports."""

    spans: tuple[Span, ...]
    fact: str


def settle(spans: Iterable[Span], statement: Statement, undated: Undated | None = None) -> Settled:
    """What is believed after one more statement. Nothing is closed but by a value of its own slot, or by name."""
    if statement.act == "holds":
        return _hold(_without_stale(tuple(spans), statement, undated or {}), statement)
    return (_end if statement.act == "ended" else _deny)(tuple(spans), statement)


def replay(statements: Iterable[Statement]) -> tuple[Span, ...]:
    """What is believed of a slot, from nothing."""
    spans: tuple[Span, ...] = ()
    undated: dict[str, frozenset[datetime]] = {}
    for statement in statements:
        done = settle(spans, statement, undated)
        spans, undated = done.spans, heard(undated, done.fact, statement)
    return spans


def heard(undated: Undated, fact: str, statement: Statement) -> dict[str, frozenset[datetime]]:
    """What was told without a time, with one more statement."""
    known = dict(undated)
    if statement.undated:
        known[fact] = known.get(fact, frozenset()) | {statement.at}
    return known


def _without_stale(spans: tuple[Span, ...], said: Statement, undated: Undated) -> tuple[Span, ...]:
    """“Moved last month” closes what was told last week without a date: whoever said that had not heard yet.

    It ends where it began, for by then the new value held.
    """
    if not (said.lasting and said.single and said.said):
        return spans
    until = said.said

    def stale(one: Span) -> bool:
        times = undated.get(one.fact, frozenset())
        told = one.valid_at in times and max(times) <= until
        return one.single and not one.negated and not one.tells(said) and told and (one.valid_at or until) > said.at

    return tuple(one.closed(one.valid_at or until, said.quote) if stale(one) else one for one in spans)


def _hold(spans: tuple[Span, ...], said: Statement) -> Settled:
    spans = _close(spans, said, [one for one in spans if one.negated and one.tells(said) and one.covers(said.at)])
    for one in spans:
        still = one.covers(said.at) or not (said.single or one.single or one.invalid_at)
        if not one.negated and one.tells(said) and still:
            return Settled(spans, one.fact)
    if not said.single:
        return _added(spans, said, said.at, None)
    spans = _close(spans, said, [one for one in spans if one.single and one.covers(said.at)])
    later = [
        one
        for one in spans
        if one.single and one.valid_at is not None and one.valid_at > said.at and one.invalid_at != one.valid_at
    ]
    after = min(later, key=lambda one: one.valid_at or said.at, default=None)
    if after is not None and after.tells(said) and not after.negated and said.undated:
        # Of two who said the same without a time, whoever was heard last spoke first: it is one span.
        longer = replace(after, valid_at=said.at, belief=None)
        return Settled(tuple(longer if one is after else one for one in spans), after.fact)
    return _added(spans, said, said.at, after.valid_at if after else None)


def _end(spans: tuple[Span, ...], said: Statement) -> Settled:
    known = [one for one in spans if not one.negated and one.tells(said) and one.begins_by(said.at)]
    if known:
        ending = [one for one in known if one.covers(said.at) and (said.quote or one.begins_before(said.at))]
        return Settled(_close(spans, said, ending), known[-1].fact)
    # Nobody had told us: it held until now, and since whatever else is known to have held. Where that held until now
    # as well, it is noted and never held.
    before = [one for one in spans if one.single and one.begins_before(said.at)] if said.single else []
    ends = [said.at if one.invalid_at is None else min(one.invalid_at, said.at) for one in before]
    return _added(spans, said, max(ends, default=None), said.at)


def _deny(spans: tuple[Span, ...], said: Statement) -> Settled:
    spans = _close(spans, said, [one for one in spans if not one.negated and one.tells(said) and one.covers(said.at)])
    for one in spans:
        if one.negated and one.tells(said) and one.invalid_at is None:
            return Settled(spans, one.fact)
    return _added(spans, replace(said, single=False), said.at, None, negated=True)


def _close(spans: tuple[Span, ...], said: Statement, closing: list[Span]) -> tuple[Span, ...]:
    return tuple(one.closed(said.at, said.quote) if one in closing else one for one in spans)


def _added(
    spans: tuple[Span, ...], said: Statement, start: datetime | None, end: datetime | None, *, negated: bool = False
) -> Settled:
    new = Span(said.fact, said.value, said.object, said.single, negated, start, end, because=said.quote)
    return Settled((*spans, new), said.fact)

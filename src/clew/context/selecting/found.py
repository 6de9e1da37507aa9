"""What the stores found, in one form, so that it can be weighed together."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from clew.context.reading import memories_at
from clew.context.retrieved import Line, Memory
from clew.memory.analysis import content_stems, words

if TYPE_CHECKING:
    from clew.memory import MemoryEntry
    from clew.memory.knowledge import Fact
    from clew.sessions import StoredMessage

Store = Literal["memory", "facts", "neighbours", "past"]
LABEL_MAX_CHARS: Final = 200
# Of a long message of the thread's past, what stands around the words that were asked for.
EXCERPT_MAX_CHARS: Final = 1_200
EXCERPT_LEAD_CHARS: Final = 300
NAMED_SOURCES: Final = 2
# What a fact that holds no more keeps of its score: worth showing beside the one that holds, seldom without.
SUPERSEDED_SHARE: Final = 0.6
# Clocks of two machines need not agree to the second.
CLOCK_SLACK: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Found:
    """One candidate: what will be shown of it, which store it is from, and how well it answered there."""

    store: Store
    memory: Memory
    score: float
    at: datetime | None = None
    """Since when it holds, or when it was said."""
    position: int | None = None
    """Where a message of the thread's past stands in the log."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is, whichever store named it."""
        return self.memory.kind, self.memory.memory_id

    def stems(self) -> frozenset[str]:
        """The words that it says something with."""
        return frozenset(content_stems(words(self.memory.content)))

    def scored(self, score: float) -> "Found":
        """The same with another score."""
        return replace(self, score=score, memory=replace(self.memory, score=round(score, 6)))


def of_entries(entries: Sequence[Any]) -> list[Found]:
    """Entries of a memory, best first; where a memory gives no scores, their order stands for them."""
    memories = [_placed(memory, entry) for memory, entry in zip(memories_at(entries), entries, strict=True)]
    return [
        Found("memory", memory, 1 - place / len(memories) if memory.score is None else memory.score)
        for place, memory in enumerate(memories)
    ]


def _placed(memory: Memory, entry: Any) -> Memory:
    """The memory with its place in the conversation that it is from, where it is from one."""
    metadata = getattr(entry, "metadata", None)
    if not isinstance(metadata, Mapping) or metadata.get("thread_id") is None:
        return memory
    return replace(memory, conversation=str(metadata["thread_id"]), order=_order(entry))


def _order(entry: Any) -> float:
    position = entry.metadata.get("position")
    if isinstance(position, int | float) and math.isfinite(position):
        return float(position)
    return float(entry.created_at.timestamp())


def of_fact(fact: "Fact", store: Store = "facts", score: float | None = None) -> Found:
    """A fact, with who said so; one that holds no more says until when, and what was said then."""
    said = [source for source in fact.sources if not source.undone]
    names = list(dict.fromkeys(source.source_description or source.name for source in said))[:NAMED_SOURCES]
    memory = Memory(
        memory_id=fact.fact_id,
        content=fact.text,
        score=fact.score if score is None else score,
        source=_label("; ".join(names)) or None,
        date=_span(fact),
        kind="fact",
        status=_status(fact),
        # That something holds no more is worth saying, also where it can be seen that it was said.
        said_in=() if fact.superseded else tuple(source.message_id for source in said if source.message_id),
    )
    return Found(store, memory, (fact.score or 0.0) if score is None else score, fact.valid_at or fact.created_at)


def of_facts(facts: "Sequence[Fact]") -> list[Found]:
    """Facts that a search found: what was superseded counts less, and always less than what took its place.

    Of two values of one thing the old may match the question's words better; the new one takes over its score.
    """
    past = {fact.fact_id for fact in facts if fact.superseded and not fact.dated}
    own = {fact.fact_id: (fact.score or 0.0) * (SUPERSEDED_SHARE if fact.fact_id in past else 1.0) for fact in facts}
    holding: dict[tuple[str | None, str | None], Fact] = {
        (fact.subject, fact.predicate): fact for fact in facts if fact.subject and not fact.superseded
    }
    for fact in facts:
        now = holding.get((fact.subject, fact.predicate)) if fact.fact_id in past else None
        if now is not None:
            best = max(own[now.fact_id], fact.score or 0.0)
            own |= {now.fact_id: best, fact.fact_id: min(own[fact.fact_id], best * SUPERSEDED_SHARE)}
    return [of_fact(fact, "facts", own[fact.fact_id]) for fact in facts]


def of_message(row: "StoredMessage", wanted: Sequence[str], score: float) -> Found:
    """A message of the same conversation that is no longer in the window."""
    memory = Memory(
        memory_id=row.message_id,
        content=_excerpt(row.message.text, wanted),
        score=score,
        source=f"earlier in this conversation, message {row.position}",
        date=row.created_at.date().isoformat(),
        speaker=row.message.role,
        kind="past",
        said_in=(row.message_id,),
    )
    return Found("past", memory, score, row.created_at, row.position)


def line_of(entry: "MemoryEntry") -> Line:
    """An entry as a neighbour of another: who said it, and what."""
    speaker = _label(entry.metadata.get("speaker"))
    return Line(entry.memory_id, f"{speaker}: {entry.content}" if speaker else entry.content, _order(entry))


def _span(fact: "Fact") -> str | None:
    since = f"since {fact.valid_at.date().isoformat()}" if fact.valid_at else ""
    told = fact.dated or not fact.superseded
    ends = f"until {fact.invalid_at.date().isoformat()}" if fact.invalid_at and told else ""
    return " ".join(filter(None, (since, ends))) or None


def _status(fact: "Fact") -> str | None:
    if fact.dated and fact.superseded and fact.expired_at is None:
        return None  # told for a time of its own: its date says for which
    if not fact.superseded:
        later = fact.valid_at is not None and fact.valid_at > datetime.now(UTC) + CLOCK_SLACK
        return f"holds only from {fact.valid_at:%Y-%m-%d} on" if later else None
    until = f" on {fact.invalid_at.date().isoformat()}" if fact.invalid_at else ""
    return f"superseded{until}" + (f", when it was said: {_label(fact.because)}" if fact.because else "")


def _excerpt(text: str, wanted: Sequence[str]) -> str:
    if len(text) <= EXCERPT_MAX_CHARS:
        return text
    places = [at.start() for word in wanted if (at := re.search(re.escape(word), text, re.IGNORECASE))]
    first = max(0, min(places, default=0) - EXCERPT_LEAD_CHARS)
    part = text[first : first + EXCERPT_MAX_CHARS]
    return f"{'… ' if first else ''}{part}{' …' if first + EXCERPT_MAX_CHARS < len(text) else ''}"


def _label(value: object) -> str:
    return "" if value is None else str(value)[:LABEL_MAX_CHARS]

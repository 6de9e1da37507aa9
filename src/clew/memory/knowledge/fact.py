"""What a caller gets: facts with their two clocks and their sources, and what an episode changed."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    """Who said so: the episode, and of a conversation the message.

    `act` is what was said of the fact: that it `holds`, that it is `denied`, or, of one that nobody had told, `ended`.
    `undone`: the episode was taken back since.
    """

    episode_id: str
    name: str
    source: str
    source_description: str
    thread_id: str | None
    message_id: str | None
    role: str | None
    quote: str
    reference_time: datetime
    undone: bool = False
    act: str = "holds"
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is, or was, held to be true.

    `valid_at` … `invalid_at` is when it holds in the world (None: nobody said), `created_at` … `expired_at` when it was
    believed. A sentence that could not be read into a triple has a text and no subject. `sources` are those who said
    so; `because` is what was said when the fact was closed, and `closed_by` who said that. A fact is `dated` that was
    told for a time of its own, as “in 2023”: nothing else was said that closed it. `score` is set on search results.
    """

    fact_id: str
    text: str
    subject: str | None
    predicate: str | None
    object: str | None
    confidence: float
    valid_at: datetime | None
    invalid_at: datetime | None
    created_at: datetime
    expired_at: datetime | None
    sources: tuple[Source, ...] = ()
    negated: bool = False
    because: str | None = None
    score: float | None = None
    closed_by: Source | None = None
    dated: bool = False

    @property
    def superseded(self) -> bool:
        """Whether it holds no more, or is no longer believed. What is known to end later holds still."""
        ended = self.invalid_at is not None and self.invalid_at <= datetime.now(UTC)
        return ended or self.expired_at is not None


@dataclass(frozen=True, slots=True)
class Episode:
    """Something that was said or read."""

    episode_id: str
    name: str
    source: str
    source_description: str
    reference_time: datetime
    created_at: datetime
    thread_id: str | None = None
    user_id: str | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """What became of an episode: the facts it told, and those it closed. `notes` say what else is worth knowing.

    A value that it only calls past is among `facts` where nobody had told it before.
    """

    episode: Episode
    facts: list[Fact] = field(default_factory=list)
    invalidated: list[Fact] = field(default_factory=list)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking an episode back changed: facts that hold again, and facts that are believed no more."""

    episode_id: str
    reopened: list[Fact] = field(default_factory=list)
    expired: list[Fact] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What forgetting sources removed, by id; `kept` are facts that other sources support."""

    episodes: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the audit log."""

    change: int
    fact_id: str
    episode_id: str
    act: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    at: datetime

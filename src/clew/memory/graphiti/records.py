"""Edges and episodes as the graph holds them, and what Clew notes on an episode."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self, TypeAlias

# When a fact ended, and when that was learnt.
Ends: TypeAlias = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Note:
    """What Graphiti has no place for: whose an episode is, the ends from before of what it closed, when undone."""

    message_id: str | None = None
    user_id: str | None = None
    confidence: float = 1.0
    closed: Mapping[str, Ends] = field(default_factory=dict)
    undone_at: datetime | None = None

    def as_text(self) -> str:
        closed = {uuid: [_iso(one) for one in ends] for uuid, ends in self.closed.items()}
        return json.dumps(
            {
                "message_id": self.message_id,
                "user_id": self.user_id,
                "confidence": self.confidence,
                "closed": closed,
                "undone_at": _iso(self.undone_at),
            }
        )

    @classmethod
    def read(cls, text: str | None) -> Self:
        """An episode that something else told Graphiti has none: then nobody's, and believed."""
        if text is None:
            return cls()
        value = json.loads(text)
        closed = {uuid: (moment(ends[0]), moment(ends[1])) for uuid, ends in value["closed"].items()}
        return cls(value["message_id"], value["user_id"], value["confidence"], closed, moment(value["undone_at"]))


@dataclass(frozen=True, slots=True)
class Edge:
    """A fact, with the names of what it is between."""

    uuid: str
    name: str
    fact: str
    episodes: tuple[str, ...]
    valid_at: datetime | None
    invalid_at: datetime | None
    created_at: datetime
    expired_at: datetime | None
    source_uuid: str
    target_uuid: str
    subject: str
    object: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        times = {name: moment(row[name]) for name in ("valid_at", "invalid_at", "expired_at")}
        episodes, created_at = (
            tuple(row["episodes"] or ()),
            moment(row["created_at"]) or datetime.min.replace(tzinfo=UTC),
        )
        return cls(**{**row, **times, "episodes": episodes, "created_at": created_at})

    @property
    def ends(self) -> Ends:
        return self.invalid_at, self.expired_at

    @property
    def said(self) -> tuple[str, str, str]:
        """What it says of which two things, in whatever words and of whatever time."""
        return self.source_uuid, self.name, self.target_uuid


@dataclass(frozen=True, slots=True)
class Told:
    """An episode, with the facts that it told or closed."""

    uuid: str
    name: str
    source: str
    source_description: str
    content: str
    reference_time: datetime
    created_at: datetime
    edges: tuple[str, ...]
    thread_id: str | None
    note: Note

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        said_at, created_at = moment(row["valid_at"]), moment(row["created_at"])
        earliest = datetime.min.replace(tzinfo=UTC)
        return cls(
            row["uuid"],
            row["name"],
            row["source"],
            row["source_description"] or "",
            row["content"] or "",
            said_at or earliest,
            created_at or earliest,
            tuple(row["entity_edges"] or ()),
            row["thread"],
            Note.read(row["note"]),
        )

    def undone(self, at: datetime) -> bool:
        """Whether it was taken back by then."""
        return self.note.undone_at is not None and self.note.undone_at <= at


def moment(value: Any) -> datetime | None:
    """A time in UTC, of what FalkorDB (text) or Neo4j (a type of its own) holds."""
    if value is None:
        return None
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    found = found if isinstance(found, datetime) else found.to_native()
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _iso(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()

"""What a caller sends and gets: an entry, and the answer to a batch."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from clew.errors import ClewError
from clew.ids import new_id


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryEntry(BaseModel):
    """Something worth knowing later, and whose it is.

    `metadata` keys that search understands: `thread_id` and `position` (neighbouring turns of one conversation),
    `speaker`, `occurred_at` (ISO 8601), `source`. Any others are the caller's own.
    """

    memory_id: str = Field(default_factory=new_id)
    tenant_id: str
    agent_id: str
    content: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    embedding: list[float] | None = None
    created_at: datetime = Field(default_factory=_now)
    updated_at: datetime = Field(default_factory=_now)
    score: float | None = None
    reasons: list[str] | None = None

    @field_validator("created_at", "updated_at")
    @classmethod
    def _in_utc(cls, value: datetime) -> datetime:
        """The same moment in UTC; a time without a zone is taken to be in it."""
        try:
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        except OverflowError:
            raise ValueError("lies outside the years 1 to 9999 in UTC") from None


@dataclass(frozen=True, slots=True)
class FailedEntry:
    """An entry that was not stored: where it stood in the batch, its id when it had one, and why."""

    index: int
    memory_id: str | None
    error: ClewError


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of a batch: `stored` and `failed` together are what was sent.

    `stored` holds the ids in the order sent; an exact duplicate has the id of the entry that was there before.
    """

    stored: list[str] = field(default_factory=list)
    failed: list[FailedEntry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A change to an entry. `before` and `after` are its `agent_id`, `content` and `metadata`.

    Before it was added there was nothing; of an entry that was forgotten since, neither is known any more.
    """

    change: int
    memory_id: str
    act: Literal["added", "changed", "forgotten"]
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    at: datetime

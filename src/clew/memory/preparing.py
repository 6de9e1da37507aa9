"""From an entry as it was sent to rows that can be stored: every check is made here, before any work is done."""

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from clew.errors import InvalidInput
from clew.ids import check_tenant_id
from clew.limits import TEXT_MAX_BYTES, check_json, check_text
from clew.memory.analysis import content_stems, words
from clew.memory.entry import MemoryEntry

MEMORY_ID_MAX_BYTES: Final = 512
AGENT_ID_MAX_BYTES: Final = 512
METADATA_MAX_BYTES: Final = 1024 * 1024
# What an index row can hold: a longer thread id, speaker or source stays in the metadata and is not understood.
KEY_MAX_BYTES: Final = 1024
FREQUENCY_MAX: Final = 32_767
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entry that can be stored."""

    entry: MemoryEntry
    metadata: dict[str, Any]
    thread_id: str | None
    place: float
    speaker: str | None
    speaker_key: str | None
    source: str | None
    occurred_at: datetime | None
    terms: Counter[str]
    fingerprint: bytes

    @property
    def length(self) -> int:
        """How many words say something."""
        return self.terms.total()


def read_entry(sent: Any) -> MemoryEntry:
    """The entry itself, or one made of a mapping."""
    if isinstance(sent, MemoryEntry):
        return sent
    if not isinstance(sent, Mapping):
        raise InvalidInput(f"expected a MemoryEntry, got {type(sent).__name__}", where="entry")
    try:
        return MemoryEntry.model_validate(dict(sent))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(["entry", *map(str, first["loc"])])
        raise InvalidInput(first["msg"], where=where) from None


def prepare(entry: MemoryEntry) -> Prepared:
    """The entry, checked and read; `InvalidInput` says what PostgreSQL could not keep or nobody could find."""
    check_tenant_id(entry.tenant_id)
    check_text(entry.memory_id, "memory_id", max_bytes=MEMORY_ID_MAX_BYTES, allow_empty=False)
    check_text(entry.agent_id, "agent_id", max_bytes=AGENT_ID_MAX_BYTES)
    content = check_text(entry.content, "content", max_bytes=TEXT_MAX_BYTES)
    if not content.strip():
        raise InvalidInput("must not be empty", where="content")
    # An entry may have been changed after pydantic looked at it.
    if not isinstance(entry.created_at, datetime) or not isinstance(entry.updated_at, datetime):
        raise InvalidInput("must be times", where="created_at and updated_at")
    metadata = _checked_metadata(entry.metadata)
    occurred_at = moment(metadata.get("occurred_at"))
    speaker = _key(metadata.get("speaker")) or _key(metadata.get("role"))
    named = words(speaker) if speaker else []
    thread_id = _key(metadata.get("thread_id"))
    return Prepared(
        entry=entry,
        metadata=metadata,
        thread_id=thread_id,
        place=_place(metadata.get("position"), occurred_at or _utc(entry.created_at)),
        speaker=speaker,
        speaker_key=named[0] if named else None,
        source=_key(metadata.get("source")),
        occurred_at=occurred_at,
        terms=Counter(content_stems(words(content))),
        fingerprint=_fingerprint(entry.agent_id, content, metadata),
    )


def _checked_metadata(metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"expected a mapping, got {type(metadata).__name__}", where="metadata")
    kept = dict(metadata)
    if isinstance(kept.get("occurred_at"), datetime):
        kept["occurred_at"] = _utc(kept["occurred_at"]).isoformat()
    check_json(kept, "metadata", max_bytes=METADATA_MAX_BYTES)
    try:
        size = len(json.dumps(kept).encode())
    except ValueError:
        # Python writes no whole number of more than 4,300 digits.
        raise InvalidInput("holds a number that is too long to write", where="metadata") from None
    if size > METADATA_MAX_BYTES:
        raise InvalidInput(f"is {size:,} bytes long as JSON; the limit is {METADATA_MAX_BYTES:,}", where="metadata")
    return kept


def _fingerprint(agent_id: str, content: str, metadata: dict[str, Any]) -> bytes:
    """What an exact duplicate shares: the agent, the metadata, and the content but for spacing.

    With the metadata in it, two turns that both say “Thanks!” at different positions are two entries.
    """
    normal = _SPACE.sub(" ", unicodedata.normalize("NFC", content)).strip()
    told = json.dumps([agent_id, normal, metadata], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(told.encode()).digest()


def _key(value: Any) -> str | None:
    """A value that search understands, as text; None for what is not one."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 10**18 else None
    if not isinstance(value, str) or not value.strip() or len(value.encode()) > KEY_MAX_BYTES:
        return None
    return value


def _place(position: Any, when: datetime) -> float:
    """Where in its thread an entry stands: its position, else its time."""
    if isinstance(position, str):
        try:
            position = float(position)
        except ValueError:
            position = None
    if isinstance(position, int | float) and not isinstance(position, bool) and abs(position) < 2**53:
        number = float(position)
        if math.isfinite(number):
            return number
    return when.timestamp()


def moment(value: Any) -> datetime | None:
    """A time in ISO 8601; anything else stays in the metadata and is not understood."""
    if not isinstance(value, str):
        return None
    try:
        return _utc(datetime.fromisoformat(value.strip()))
    except (ValueError, OverflowError):
        return None


def _utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

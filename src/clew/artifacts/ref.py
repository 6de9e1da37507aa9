"""What the store gives back: references, artifacts, what a collection did, and how long things are kept."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Self

from clew.errors import InvalidInput

LIFETIME_MAX_S: Final = 100 * 366 * 86_400
_LIFETIME: Final = re.compile(r"(ttl|last_used):([0-9]{1,12})([smhdw])")
_UNITS_S: Final = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long an artifact is kept: for ever, for a time since it was stored, or since it was last used.

    What a thread's message names is kept beyond it.
    """

    kind: Literal["forever", "ttl", "last_used"] = "forever"
    seconds: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("forever", "ttl", "last_used"):
            raise _no_lifetime(f"there is no kind {self.kind!a}"[:80])
        if self.kind == "forever":
            fits = self.seconds is None
        else:
            whole = isinstance(self.seconds, int) and not isinstance(self.seconds, bool)
            fits = whole and 0 <= (self.seconds or 0) <= LIFETIME_MAX_S
        if not fits:
            raise _no_lifetime(f"{self.kind} takes {'no' if self.kind == 'forever' else 'up to 100 years of'} seconds")

    @classmethod
    def of(cls, given: "Lifetime | timedelta | str") -> "Lifetime":
        """From `"forever"`, `"ttl:7d"`, `"last_used:30d"` (s, m, h, d or w), or a `timedelta`, which is a ttl."""
        match given:
            case Lifetime():
                return given
            case timedelta():
                return cls("ttl", math.ceil(given.total_seconds()))
            case "forever":
                return cls()
            case str() if found := _LIFETIME.fullmatch(given):
                kind: Literal["ttl", "last_used"] = "ttl" if found[1] == "ttl" else "last_used"
                return cls(kind, int(found[2]) * _UNITS_S[found[3]])
            case str():
                raise _no_lifetime(f"{given[:40]!a} is none")
        raise _no_lifetime(f"expected text or a timedelta, got {type(given).__name__}")

    def __str__(self) -> str:
        """As `of` reads it, in the largest unit that is exact."""
        if self.seconds is None:
            return self.kind
        unit, length = next((unit, length) for unit, length in _UNITS_S.items() if self.seconds % length == 0)
        return f"{self.kind}:{self.seconds // length}{unit if self.seconds else 's'}"


def _no_lifetime(what: str) -> InvalidInput:
    return InvalidInput(what, where="keep", fix='Write "forever", "ttl:7d" or "last_used:30d", up to 100 years')


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """Where an artifact is, and what is known of it without reading it."""

    artifact_id: str
    media_type: str
    size: int
    sha256: str
    """In hexadecimal."""
    name: str | None
    """What it was called outside: a label, never a path."""
    created_at: datetime
    details: Mapping[str, Any] = field(hash=False)
    keep: Lifetime

    def as_dict(self) -> dict[str, Any]:
        """The reference as plain JSON."""
        plain = {name: getattr(self, name) for name in ("artifact_id", "media_type", "size", "sha256", "name")}
        return {
            **plain,
            "created_at": self.created_at.isoformat(),
            "details": dict(self.details),
            "keep": str(self.keep),
        }


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact, whole: its bytes, which are what was stored, and its reference."""

    ref: ArtifactRef
    data: bytes = field(repr=False)

    @property
    def artifact_id(self) -> str:
        return self.ref.artifact_id

    @property
    def media_type(self) -> str:
        return self.ref.media_type

    @property
    def size(self) -> int:
        return self.ref.size

    @property
    def sha256(self) -> str:
        return self.ref.sha256

    @property
    def name(self) -> str | None:
        return self.ref.name

    @property
    def details(self) -> Mapping[str, Any]:
        return self.ref.details

    @property
    def text(self) -> str:
        """The bytes as text; what isn't UTF-8 in them shows as the replacement character."""
        return self.data.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection removed, or would have."""

    dry_run: bool = False
    expired: tuple[str, ...] = ()
    """Artifacts whose lifetime was over."""
    in_use: int = 0
    """Artifacts whose lifetime was over, kept because a conversation names them."""
    orphans: int = 0
    """Objects that no artifact named: what interrupted writes and deletions left."""
    bytes: int = 0
    """What all that took in the object store."""
    damaged: tuple[str, ...] = ()
    """Artifacts whose object is gone or has another size. They stay; only a deep collection looks."""

    foreign: int = 0
    """Objects that have no row here and were left alone: another database keeps its own in this object store."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return asdict(self)

    def __add__(self, other: Self) -> "Collected":
        return Collected(
            self.dry_run,
            self.expired + other.expired,
            self.in_use + other.in_use,
            self.orphans + other.orphans,
            self.bytes + other.bytes,
            self.damaged + other.damaged,
            self.foreign + other.foreign,
        )

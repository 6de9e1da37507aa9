"""What an erasure says of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

Scope = Literal["thread", "episode", "memory", "artifact", "user", "tenant"]
# Of each kind so many ids are told; the counts are of all.
IDS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class Check:
    """One store, asked again afterwards."""

    store: str
    looked_for: str
    found: int
    """0 when nothing is left."""


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What went, what stayed and why, and what every store answered when it was asked again.

    An id that never was and another tenant's give the same report: nothing removed.
    """

    scope: Scope
    subject: str
    tenant_id: str
    removed: Mapping[str, int] = field(default_factory=dict)
    """Rows by table, and `objects` of the object store. Of a log of changes, those that lost their words."""
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What went, by kind; at most 1,000 of each."""
    kept: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What stays: `facts` and `artifacts` that others hold too, and `threads` whose words name what went."""
    checks: tuple[Check, ...] = ()
    dry_run: bool = False

    @property
    def complete(self) -> bool:
        """Whether every store was asked again and none had anything left."""
        return not self.dry_run and bool(self.checks) and not self.left

    @property
    def left(self) -> tuple[Check, ...]:
        """Where something was found again."""
        return tuple(check for check in self.checks if check.found)

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "scope": self.scope,
            "subject": self.subject,
            "tenant_id": self.tenant_id,
            "dry_run": self.dry_run,
            "complete": self.complete,
            "removed": dict(self.removed),
            "ids": {kind: list(ids) for kind, ids in self.ids.items()},
            "kept": {kind: list(ids) for kind, ids in self.kept.items()},
            "checks": [asdict(check) for check in self.checks],
        }


def bounded(ids: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The kinds that have any, and the first ids of each."""
    return {kind: list(found[:IDS_MAX]) for kind, found in ids.items() if found}

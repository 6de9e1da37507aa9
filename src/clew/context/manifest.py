"""The manifest: every candidate for the window, whether it went in, why, and what it cost."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

Section = Literal["system", "session", "memory", "task"]
SECTIONS: Final[tuple[Section, ...]] = ("system", "session", "memory", "task")
Kind = Literal[
    "system_prompt", "instruction", "message", "summary", "repair", "memory", "fact", "past", "wrapper", "task"
]

# Reasons, as the manifest gives them. Those that end in a colon are completed with what they are about.
FITS: Final = "fits"
LATEST_USER: Final = "the most recent user message is always kept"
PINNED: Final = "pinned: it never leaves"
STANDS_FOR: Final = "the summary of"
SHORTENED: Final = "shortened to fit; the whole text stays under its id"
OLDER: Final = "older than what fits"
REPAIRED: Final = "repair:"
IN_SESSION: Final = "already in the session"
REPEATS: Final = "repeats memory:"
REPEATS_INSTRUCTION: Final = "said again by instruction:"
LESS_RELEVANT: Final = "less relevant than what fits"
TOO_LARGE: Final = "larger than the whole section"
TOO_LONG: Final = "longer than all that standing instructions may take"
EMPTY: Final = "says nothing"
CUT: Final = "cut: longer than its share"
HEADED: Final = "the heading of the standing instructions"
WRAPPER: Final = "the boundary around retrieved text, and the sentence that introduces it"


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate. `tokens` is what it costs in the request when kept, what it would have cost when not."""

    section: Section
    kind: Kind
    source_id: str | None
    tokens: int
    kept: bool
    reason: str
    role: str | None = None
    score: float | None = None
    full_tokens: int | None = None
    """What it would cost whole, where only a part of it was kept."""


@dataclass(frozen=True, slots=True)
class SectionUse:
    """One section: its share of the budget, how far it was allowed to go, how far it went, and with how many items."""

    section: Section
    share: int
    limit: int
    used: int
    kept: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that had to be mended in the history before it could be sent."""

    kind: str
    message_id: str | None
    call_id: str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Looked:
    """Whether anything was looked up for the turn: what it wanted, what was asked, and how much was found where."""

    intent: str
    confidence: float
    reason: str
    looked_up: bool = False
    asked: str = ""
    carried: bool = False
    """Whether words of earlier messages were added, because the latest alone does not say what it is about."""
    from_cache: bool = field(default=False, compare=False)
    """Whether what the same topic found before was read again, since nothing about it was written meanwhile. Not a part
    of what the manifest tells: the same window compiled twice has equal manifests."""
    sources: tuple[tuple[str, int], ...] = ()
    candidates: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON, `sources` by name; without `from_cache`."""
        told = {name: value for name, value in asdict(self).items() if name != "from_cache"}
        return {**told, "sources": dict(self.sources)}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What went in, what stayed out, why, at what cost. Kept items add up to each section's `used`, and those to
    `total`."""

    budget: int
    total: int
    allocation: str
    encoding: str
    sections: tuple[SectionUse, ...]
    items: tuple[Item, ...]
    repairs: tuple[Repair, ...] = ()
    notes: tuple[str, ...] = field(default=())
    selection: Looked | None = None
    """None where the caller chose the memories."""

    def of(self, section: Section) -> Iterator[Item]:
        """The items of one section, in the order in which the model would have seen them."""
        return (item for item in self.items if item.section == section)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON: `sections` by name, `items`, `repairs` and `notes` as lists."""
        sections = {use.section: {k: v for k, v in asdict(use).items() if k != "section"} for use in self.sections}
        return {
            "budget": self.budget,
            "total": self.total,
            "allocation": self.allocation,
            "encoding": self.encoding,
            "sections": sections,
            "items": [asdict(item) for item in self.items],
            "repairs": [asdict(repair) for repair in self.repairs],
            "notes": list(self.notes),
            "selection": None if self.selection is None else self.selection.as_dict(),
        }


def used(items: Iterable[Item]) -> int:
    """The tokens of what was kept."""
    return sum(item.tokens for item in items if item.kept)

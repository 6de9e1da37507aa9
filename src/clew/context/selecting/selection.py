"""What selecting came to, as frozen data: for the compiler to fit, and for the manifest to tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from clew.context.manifest import Looked
from clew.context.picking import Picking
from clew.context.retrieved import Memory

# So many are looked at, and so many of them shown, in so many tokens.
CANDIDATES: Final = 50
SHOWN: Final = 5
SHOWN_MAX_TOKENS: Final = 2_000
PICKING: Final = Picking(SHOWN, SHOWN_MAX_TOKENS)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which intent was seen, what was asked, and what was found, best first."""

    intent: str
    confidence: float
    reason: str
    asked: str = ""
    carried: bool = False
    from_cache: bool = False
    sources: Mapping[str, int] = field(default_factory=dict)
    """How many candidates each store had: `memory`, `facts`, `neighbours`, `past`."""
    found: tuple[Memory, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def looked_up(self) -> bool:
        """Whether anything was asked of a store."""
        return bool(self.asked)

    @property
    def told(self) -> Looked:
        """For the manifest: everything but the texts, which its items name."""
        return Looked(
            intent=self.intent,
            confidence=self.confidence,
            reason=self.reason,
            looked_up=self.looked_up,
            asked=self.asked,
            carried=self.carried,
            from_cache=self.from_cache,
            sources=tuple(self.sources.items()),
            candidates=len(self.found),
        )

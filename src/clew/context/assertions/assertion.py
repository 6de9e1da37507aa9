"""An assertion, as frozen data."""

from dataclasses import dataclass
from typing import Final, Literal

SourceType = Literal["correction", "confirmation", "new_info", "contradiction"]
CONFIDENCE: Final[dict[SourceType, float]] = {
    "correction": 0.95,
    "confirmation": 0.90,
    "new_info": 0.85,
    "contradiction": 0.80,
}


@dataclass(frozen=True, slots=True)
class Assertion:
    """Something that was stated as true: what, how it was stated, and what it takes the place of.

    `content` stands on its own: "it" and "that figure" are replaced by what they refer to, where that can be told.
    """

    source_type: SourceType
    content: str
    subject: str | None = None
    replaces: str | None = None

    @property
    def confidence(self) -> float:
        """How far to trust a statement of this type."""
        return CONFIDENCE[self.source_type]

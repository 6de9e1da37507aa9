"""What the gate answers, as frozen data."""

from dataclasses import dataclass
from typing import Literal

Reason = Literal["junk", "secret", "personal_data", "recalled", "instruction", "duplicate", "unreadable"]
"""Why something is not kept. The gate itself never says `duplicate`: that takes a look at what is stored."""

Source = Literal["user", "tool", "agent"]
"""Who says it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be kept: the content, with what was redacted taken out of it; None, with the reason, when it is refused.

    `redacted` are the kinds that were taken out, such as `card_number`, in the order in which they were found.
    """

    content: str | None
    reason: Reason | None = None
    redacted: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether there is something to keep."""
        return self.content is not None

"""A budget in tokens, and how much of it each section may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

from clew.context.manifest import SECTIONS, Section
from clew.errors import InvalidInput

Allocation = Literal["fixed", "flexible"]

# The promised names of the shares, and the section each one feeds.
SECTION_OF: Final[dict[str, Section]] = {
    "system_prompt": "system",
    "session_history": "session",
    "relevant_context": "memory",
    "task_and_buffer": "task",
}
# Who may take first from what others leave: what must not be cut, then what a provider's cache holds.
_FLOW: Final[tuple[Section, ...]] = ("task", "system", "session", "memory")


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for a whole request, and each section's share of them. Shares are rounded down, so they never add up to
    more than the whole."""

    tokens: int
    system: int
    session: int
    memory: int
    task: int
    allocation: Allocation = "fixed"

    @classmethod
    def split(cls, tokens: int, shares: Mapping[str, float], allocation: Allocation = "fixed") -> "Budget":
        """The budget that gives each section its fraction: `{"system_prompt": 0.15, "session_history": 0.35, …}`."""
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
            raise InvalidInput(f"{tokens!r} is not a number of tokens", where="budget", fix="Use a whole number from 1")
        if allocation not in get_args(Allocation):
            raise InvalidInput(
                f"unknown allocation {allocation!r}", where="allocation", fix="Use 'fixed' or 'flexible'"
            )
        part = {section: int(tokens * fraction) for section, fraction in _checked(shares).items()}
        return cls(tokens, part["system"], part["session"], part["memory"], part["task"], allocation)

    def share(self, section: Section) -> int:
        """The tokens that are the section's own."""
        return {"system": self.system, "session": self.session, "memory": self.memory, "task": self.task}[section]

    def limits(self, needs: Mapping[Section, int]) -> dict[Section, int]:
        """How much each section may use, when it would like to use what `needs` says.

        Fixed: its share, whatever the others do. Flexible: its share, and what others leave of theirs; nobody gets less
        than it would have got alone.
        """
        if self.allocation == "fixed":
            return {section: self.share(section) for section in SECTIONS}
        limits = {section: min(needs[section], self.share(section)) for section in SECTIONS}
        unused = self.tokens - sum(limits.values())
        for section in _FLOW:
            more = min(needs[section] - limits[section], unused)
            limits[section] += more
            unused -= more
        return limits


def _checked(shares: Mapping[str, float]) -> dict[Section, Fraction]:
    fix = f"Give each of {', '.join(SECTION_OF)} a number from 0 to 1, together 1 at the most"
    if not isinstance(shares, Mapping) or set(shares) != set(SECTION_OF):
        raise InvalidInput("does not name the four sections", where="shares", fix=fix)
    fractions: dict[Section, Fraction] = {}
    for name, section in SECTION_OF.items():
        value = shares[name]
        # Not a number is unequal to everything, so the comparison refuses it too.
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InvalidInput(f"{value!r} is not a share", where=f"shares.{name}", fix=fix)
        # By its decimal spelling: 0.35 of 8,000 is 2,800, where the float nearest to 0.35 may give 2,799.
        fractions[section] = Fraction(str(value))
    if sum(fractions.values()) > 1:
        raise InvalidInput(f"adds up to {float(sum(fractions.values())):g}", where="shares", fix=fix)
    return fractions

"""A standing instruction, as frozen data."""

from dataclasses import dataclass
from typing import Literal

Scope = Literal["thread", "user", "tenant"]
Slot = Literal["address", "language", "length"]
"""What can hold one value at a time, so that a new one takes the place of the old."""


@dataclass(frozen=True, slots=True)
class StandingInstruction:
    """What the user wants of every answer: the words, whom it holds for, and what it is about.

    `text` is what goes into the window. `about` are the stems by which taking it back is recognised.
    """

    text: str
    scope: Scope = "user"
    forbids: bool = False
    slot: Slot | None = None
    about: tuple[str, ...] = ()

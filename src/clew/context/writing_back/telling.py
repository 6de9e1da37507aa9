"""What one message tells: facts to keep, instructions to follow, instructions taken back. Nothing is stored here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from clew.context.assertions import Assertion, detect_assertion
from clew.context.standing import StandingInstruction, revokes
from clew.context.standing.recognise import recognise_instructions
from clew.errors import InvalidInput

if TYPE_CHECKING:
    from clew.context.standing.kept import KeptInstruction
    from clew.memory.knowledge import EpisodeResult
    from clew.sessions import StoredMessage


@dataclass(frozen=True, slots=True)
class Telling:
    """What a message tells."""

    assertion: Assertion | None = None
    given: tuple[StandingInstruction, ...] = ()
    revoked: tuple[str, ...] = ()

    @property
    def instructs(self) -> bool:
        """Whether it gives an instruction, or takes one back."""
        return bool(self.given or self.revoked)


@dataclass(slots=True)
class Learnt:
    """What reading a thread came to, added up while it is read."""

    messages: int = 0
    episodes: "list[EpisodeResult]" = field(default_factory=list)
    instructions: int = 0
    revoked: int = 0
    user_id: str | None = None
    """Whose thread it is, where somebody said so."""
    refused: list[str] = field(default_factory=list)
    """The reasons for which something was not kept, one for each."""


@dataclass(frozen=True, slots=True)
class Refused:
    """How often the gate kept something out for a reason, and when it last did."""

    reason: str
    count: int
    last_at: datetime


def telling_of(row: "StoredMessage", before: "Sequence[StoredMessage]", active: "Sequence[KeptInstruction]") -> Telling:
    """What the message at hand tells, after those before it and with the instructions that hold."""
    message = row.message
    if message.role not in ("user", "tool") or not message.text.strip():
        return Telling()
    try:
        assertion = detect_assertion(message, [one.message for one in before])
        if message.role != "user":
            return Telling(assertion)
        known = {id(one.instruction): one.instruction_id for one in active}
        taken = revokes(message, [one.instruction for one in active])
        revoked = tuple(known[id(one)] for one in taken if id(one) in known)
        return Telling(assertion, tuple(recognise_instructions(message)), revoked)
    except InvalidInput:
        return Telling()  # what can be stored but not read, such as a text of many megabytes


def body_of(assertion: Assertion) -> str:
    """The statement with what it takes the place of, so that the old value is closed by name."""
    if assertion.replaces is None or assertion.replaces in assertion.content:
        return assertion.content
    first, dot, rest = assertion.content.partition(". ")
    return f"{first.rstrip('.!')}, not {assertion.replaces}." + (f" {rest}" if dot else "")

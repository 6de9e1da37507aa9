"""A fact as it was read, before anybody looked at what is known already."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Draft:
    """What one clause says.

    `slot` is what two statements about the same thing share: the subject and the predicate, in their one spelling.
    `value` is the object in its one spelling. A `single` slot holds one value at a time. `denied` are values of the
    slot, as they were told and in their one spelling, that the same clause calls wrong or past. A `negated` draft says
    that the slot does not hold the value. `topic` is everything that is named before the verb: of “Ana's phone number”
    the whole, where `subject` is Ana. `object_key` is the object where it is a name. `told` are topic, slot and subject
    key as the words had them, where names were replaced by what they are known to mean. `lasting`: since `valid_at` and
    still when it was said.
    """

    text: str
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    subject_key: str = ""
    object_key: str = ""
    topic: str = ""
    slot: str = ""
    value: str = ""
    single: bool = False
    negated: bool = False
    denied: tuple[tuple[str, str], ...] = ()
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    confidence: float = 0.8
    message_id: str | None = None
    role: str | None = None
    evidence: str = ""
    told: tuple[str, str, str] | None = None
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one thing, by their keys."""

    alias: str
    entity: str

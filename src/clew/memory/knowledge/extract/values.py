"""What stands behind a verb: its kind, and its one spelling."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from clew.memory.knowledge.extract.phrases import value_key
from clew.memory.knowledge.extract.quantities import Quantity, read_quantity
from clew.memory.knowledge.extract.times import date_key, iso_where_relative

# States of which a thing is in one at a time; each group by its name.
_STATES: Final = {
    "up": "up down online offline live reachable unreachable available unavailable",
    "open": "open opened closed resolved reopened shut fixed merged unresolved ongoing pending planned in-progress done"
    " finished completed complete cancelled canceled blocked unblocked waiting shipped delivered"
    " in-transit processing out-for-delivery",
    "track": "on-track off-track at-risk delayed late on-time",
    "locked": "locked unlocked",
    "health": "healthy sick ill injured recovered",
    "awake": "awake asleep",
    "required": "mandatory optional required",
    "confirmed": "confirmed unconfirmed tentative",
    "visible": "visible hidden",
    "connected": "connected disconnected",
    "secured": "encrypted unencrypted",
    "legal": "legal illegal",
    "stable": "stable unstable critical",
    "degree": "low medium moderate high",
    "test": "positive negative inconclusive",
    "guilt": "guilty innocent",
    "hours": "full-time part-time",
    "place": "remote hybrid on-site onsite in-office",
    "mode": "manual automatic",
    "presence": "present absent",
    "verdict": "approved rejected denied accepted declined",
    "active": "active inactive suspended retired deprecated enabled disabled on off on-hold paused",
    "passing": "passing failing broken flaky working repaired",
    "color": "red orange yellow green blue purple violet pink brown black white gray grey beige turquoise",
    "full": "full empty booked free vacant occupied",
    "paid": "paid unpaid overdue settled refunded",
    "life": "alive dead deceased",
    "marital": "married single divorced widowed engaged",
    "stock": "in-stock out-of-stock sold-out",
    "public": "public private draft published",
    "valid": "valid invalid expired",
    "size": "bigger smaller",
}
# The same state in other words.
_SAME_STATE: Final = {
    "shut": "closed", "opened": "open", "reopened": "open", "finished": "done", "completed": "done", "complete": "done",
    "canceled": "cancelled", "reachable": "up", "online": "up", "offline": "down", "unreachable": "down",
    "deceased": "dead", "sold-out": "out-of-stock", "declined": "rejected",
}  # fmt: skip
_STATE_OF: Final[dict[str, str]] = {word: group for group, words in reversed(_STATES.items()) for word in words.split()}
_SPACES: Final = re.compile(r"[\s]+")
_CODE: Final = re.compile(r"[\w.+-]*(?:\d|[@/_:.]\w|[A-Z]{2,})[\w.@/_:+%-]*")
_PERIODIC: Final = re.compile(r"every\s+(?P<rest>.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """An object, read. `kind` keeps apart what can't contradict: a date, a length and a name."""

    text: str
    kind: str
    key: str
    quantity: Quantity | None = None

    @property
    def definite(self) -> bool:
        """Whether it names one thing: a figure, a date, a name or a code, and not a quality."""
        return self.kind not in ("quality", "class")


def read_value(text: str, reference: datetime) -> Value:
    """The object of a clause."""
    text = text.strip().strip("“”\"'").strip()
    periodic = _PERIODIC.fullmatch(text)
    # First: “9 am” is a time of day, and no nine of anything.
    dated = date_key(text, reference)
    if dated is not None:
        return Value(iso_where_relative(text, reference), "date", dated)
    quantity = read_quantity(periodic["rest"] if periodic else text)
    if quantity is not None:
        return Value(text, quantity.slot_kind, _quantity_key(quantity), quantity)
    key = value_key(text)
    said = _SPACES.sub("-", text.lower())
    state = _STATE_OF.get(said)
    if state is not None:
        return Value(text, f"state {state}", value_key(_SAME_STATE.get(said, said).replace("-", " ")))
    if re.match(r"an?\s", text, re.IGNORECASE):
        return Value(text, "class", key)
    if _names_something(text):
        return Value(text, "name", key)
    return Value(text, "quality", key)


def is_state(text: str) -> bool:
    """Whether it is a word for a state that lasts until another begins: “closed”, “on hold”."""
    return _SPACES.sub("-", text.strip().lower()) in _STATE_OF


def same_value(key: str, text: str | None, other_key: str, other_text: str | None) -> bool:
    """Whether two objects, each by its one spelling and as it was told, are one: 5 kg and 5,000 g."""
    if key == other_key:
        return True
    one = read_quantity(text) if text else None
    other = read_quantity(other_text) if other_text else None
    return one is not None and other is not None and one.same(other)


def _quantity_key(quantity: Quantity) -> str:
    return f"{quantity.kind} {quantity.amount:.6g}{' rate' if quantity.rate else ''} {quantity.noun}".strip()


def _names_something(text: str) -> bool:
    words = text.split()
    if words and words[0].lower() in ("the", "our"):
        words = words[1:]
    return bool(words) and (words[0][:1].isupper() or any(_CODE.fullmatch(word) for word in words))

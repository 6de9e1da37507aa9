"""The answer of `classify_intent`: a text that also says how sure it is, and why."""

from typing import Final, Literal, get_args

IntentKind = Literal["greeting", "meta", "factual", "task"]
KINDS: Final[tuple[IntentKind, ...]] = get_args(IntentKind)
_LOOKED_UP: Final = frozenset(("factual", "task"))


class Intent(str):
    """`"greeting"`, `"meta"`, `"factual"` or `"task"`: equal to that text, with `confidence` and `reason` beside it.

    A text, because it is written to manifests, compared and counted as one; unlike an enum's members, two answers of
    the same kind may be of different certainty.
    """

    __slots__ = ("confidence", "reason")
    confidence: float
    reason: str

    def __new__(cls, kind: IntentKind, confidence: float = 1.0, reason: str = "") -> "Intent":
        made = super().__new__(cls, kind)
        object.__setattr__(made, "confidence", confidence)
        object.__setattr__(made, "reason", reason)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Intent is frozen: {name} can't be set")

    def __getnewargs__(self) -> tuple[str, float, str]:  # type: ignore[override]
        return (str(self), self.confidence, self.reason)

    def __getstate__(self) -> None:
        return None

    def __repr__(self) -> str:
        return f"Intent({str(self)!r}, confidence={self.confidence}, reason={self.reason!r})"

    @property
    def kind(self) -> str:
        """The bare text."""
        return str(self)

    @property
    def needs_lookup(self) -> bool:
        """Whether what is known may help with the answer; a greeting and talk about the talk need none of it."""
        return self in _LOOKED_UP

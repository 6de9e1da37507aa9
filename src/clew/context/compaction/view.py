"""What a model is shown of a log: up to where it is summarised, which results are stubs, and what stays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from clew.context.compaction.reading import number_at, numbers_at, object_at, text_at
from clew.context.compaction.summary import Summary
from clew.errors import InvalidInput
from clew.messages import Message

EditKind = Literal["repeat", "clear"]
EDIT_KINDS: Final[tuple[EditKind, ...]] = ("repeat", "clear")
_NO_EDITS: Final[Mapping[int, "Edit"]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the log, where it stands (from 1, without gaps), and what it costs."""

    position: int
    message: Message
    tokens: int


@dataclass(frozen=True, slots=True)
class Edit:
    """A tool result that is shown as a stub; the log has it as it was."""

    position: int
    kind: EditKind
    tool: str
    tokens: int
    """What the original costs."""
    same_as: int | None = None
    """Of a repeat: where the same text stands in full."""

    def as_json(self) -> dict[str, Any]:
        """The edit as plain JSON."""
        return {
            "position": self.position,
            "kind": self.kind,
            "tool": self.tool,
            "tokens": self.tokens,
            "same_as": self.same_as,
        }

    @classmethod
    def from_json(cls, value: object, where: str = "edit") -> "Edit":
        """The edit that `as_json` wrote; `InvalidInput` for anything else."""
        fields = object_at(value, where)
        kind = fields.get("kind")
        if kind not in EDIT_KINDS:
            raise InvalidInput(f"{ascii(kind)[:40]} is not a kind of edit", where=f"{where}.kind")
        same_as = fields.get("same_as")
        return cls(
            position=number_at(fields.get("position"), f"{where}.position"),
            kind="repeat" if kind == "repeat" else "clear",
            tool=text_at(fields.get("tool"), f"{where}.tool"),
            tokens=number_at(fields.get("tokens"), f"{where}.tokens"),
            same_as=None if same_as is None else number_at(same_as, f"{where}.same_as"),
        )


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a log: a summary of everything up to `through` but the pinned, then the rest with its edits.

    A view only moves forward: positions that were summarised and results that became stubs stay so. The log is whole.
    """

    through: int = 0
    summary: Summary | None = None
    edits: Mapping[int, Edit] = field(default_factory=lambda: _NO_EDITS)
    pinned: tuple[int, ...] = ()
    """Positions up to `through` that stay word for word, in order."""

    def as_json(self) -> dict[str, Any]:
        """The view as plain JSON; equal views give equal bytes."""
        return {
            "through": self.through,
            "summary": None if self.summary is None else self.summary.as_json(),
            "edits": [self.edits[position].as_json() for position in sorted(self.edits)],
            "pinned": list(self.pinned),
        }

    @classmethod
    def from_json(cls, value: object, where: str = "view") -> "View":
        """The view that `as_json` wrote; `InvalidInput` for anything else."""
        fields = object_at(value, where)
        edits = fields.get("edits")
        if not isinstance(edits, list):
            raise InvalidInput("expected a list", where=f"{where}.edits")
        read = [Edit.from_json(edit, f"{where}.edits[{index}]") for index, edit in enumerate(edits)]
        summary = fields.get("summary")
        return cls(
            through=number_at(fields.get("through"), f"{where}.through"),
            summary=None if summary is None else Summary.from_json(summary, f"{where}.summary"),
            edits={edit.position: edit for edit in read},
            pinned=numbers_at(fields.get("pinned"), f"{where}.pinned"),
        )

    def visible(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those of the entries that the summary does not stand for, in the order of the log."""
        pinned = set(self.pinned)
        seen = [entry for entry in entries if entry.position > self.through or entry.position in pinned]
        return sorted(seen, key=lambda entry: entry.position)


def is_pinned(message: Message) -> bool:
    """Whether a message never leaves the window: because its author says so, or because it instructs the model."""
    return message.metadata.get("pinned") is True or message.role in ("system", "developer")

"""JSON documents and lists of records: the most telling values, without the quotes and braces around them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.trees import Branch, Grower, Leaf
from clew.artifacts.shapes.values import needs_label

# How much a value's length counts against it: 0 would rank by worth alone, 1 by worth a token.
COST_POWER: Final = 0.7
# A repeated value this long is not said again in the next row.
CARRIED_CHARS: Final = 6


def sketch_document(value: Any, lead: str = "", *, labels: bool = True) -> Sketch:
    """A nested value: ids, states, amounts, dates and names first, in the order they stand in it.

    Without `labels` the values stand alone, for a lead that names the columns.
    """
    grower = Grower()
    tree = grower.grow(value)
    ranked = sorted(grower.leaves, key=lambda leaf: (-leaf.rank_worth / max(leaf.cost, 0.5) ** COST_POWER, leaf.index))

    def draw(chosen: Sequence[int]) -> str:
        return Pen({ranked[rank].index for rank in chosen}, labels=labels).draw(tree)

    return Sketch(lead, len(ranked), draw)


@dataclass(slots=True)
class Memory:
    """What the row before said, so that the next need not say it again."""

    carried: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


class Pen:
    """Writes the chosen leaves of a tree in as few tokens as stay readable."""

    def __init__(self, chosen: set[int], *, labels: bool = True) -> None:
        self._chosen = chosen
        self._labels = labels

    def draw(self, tree: Leaf | Branch | None) -> str:
        if tree is None:
            return ""
        if isinstance(tree, Leaf):
            return tree.text if tree.index in self._chosen else ""
        if tree.kind == "fields":
            return self._fields(tree, {}, labelled=True)
        return self._many(tree, level=0)

    def _fields(self, branch: Branch, carried: dict[str, str], *, labelled: bool, level: int = 0) -> str:
        text, after_list = "", False
        for child in branch.children:
            is_list = isinstance(child, Branch) and child.kind != "fields"
            part = self._field(child, carried, labelled=labelled, level=level)
            if part:
                # Inside a row there are only spaces; elsewhere a list is set off on both sides, and what follows it
                # is named, or it would read as one more row.
                apart = bool(text) and not level and (is_list or after_list)
                if apart and isinstance(child, Leaf) and part == child.text:
                    part = f"{child.label}={part}"
                text += f"; {part}" if apart else f" {part}"
                after_list = is_list
        return text.strip()

    def _field(self, child: Leaf | Branch, carried: dict[str, str], *, labelled: bool, level: int) -> str:
        if isinstance(child, Leaf):
            return self._leaf(child, carried, labelled=labelled)
        if child.kind != "fields":
            return self._many(child, level + 1)
        part = self._fields(child, carried, labelled=labelled, level=level)
        return f"{child.label}: {part}" if part and labelled and len(child.children) > 2 else part

    def _leaf(self, leaf: Leaf, carried: dict[str, str], *, labelled: bool) -> str:
        if leaf.index not in self._chosen:
            return ""
        if carried.get(leaf.label) == leaf.text and len(leaf.text) >= CARRIED_CHARS:
            return ""
        carried[leaf.label] = leaf.text
        named = labelled and self._labels and needs_label(leaf.label, leaf.text)
        return f"{leaf.label}={leaf.text}" if named else leaf.text

    def _many(self, branch: Branch, level: int, memory: "Memory | None" = None) -> str:
        """The rows or items of a list after their number; labels stand where the columns change from the row before."""
        inner = memory is not None
        memory = memory or Memory()
        rows = []
        for child in branch.children:
            if isinstance(child, Leaf):
                row = child.text if child.index in self._chosen else ""
            elif child.kind == "fields":
                row = self._row(child, memory)
            else:
                row = self._many(child, level + 1, memory)
            if row:
                rows.append(row)
        if not rows:
            return ""
        if inner:
            return " + ".join(rows)
        joint = " " if branch.kind == "items" and not any(" " in row for row in rows) else "; "
        # A list shown whole can be counted by its reader, and a number costs two tokens.
        number = f" {branch.total}" if len(rows) < branch.total else ""
        return f"{branch.label}{number}: {joint.join(rows)}" if level else joint.join(rows)

    def _row(self, branch: Branch, memory: "Memory") -> str:
        columns = self._labelled_columns(branch)
        row = self._fields(branch, memory.carried, labelled=columns != memory.columns, level=1)
        memory.columns = columns
        return row

    def _labelled_columns(self, branch: Branch) -> tuple[str, ...]:
        found: list[str] = []
        for child in branch.children:
            if isinstance(child, Branch):
                found += self._labelled_columns(child) if child.kind == "fields" else ()
            elif child.index in self._chosen and needs_label(child.label, child.text):
                found.append(child.label)
        return tuple(found)

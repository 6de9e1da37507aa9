"""A summary: what was said in messages that are no longer shown, in sections of short lines."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from clew.context.compaction.reading import numbers_at, object_at, text_at
from clew.errors import InvalidInput

# Field name and heading, in the order in which a model reads them: what it must obey and what was settled first.
SECTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("instructions", "Instructions that still hold"),
    ("topics", "Topics"),
    ("decisions", "Decisions and actions"),
    ("facts", "Key facts"),
    ("open_questions", "Open questions"),
    ("references", "References"),
)
MENTIONED: Final = "Also mentioned"
POSITIONS_SHOWN_MAX: Final = 3
# What a model may call the sections, in lower case.
_HEADINGS: Final[dict[str, str]] = {
    "topics": "topics",
    "topic": "topics",
    "goal": "topics",
    "goals": "topics",
    "task": "topics",
    "decisions": "decisions",
    "decision": "decisions",
    "decisions and actions": "decisions",
    "actions": "decisions",
    "key facts": "facts",
    "facts": "facts",
    "key fact": "facts",
    "open questions": "open_questions",
    "questions": "open_questions",
    "open issues": "open_questions",
    "next steps": "open_questions",
    "instructions": "instructions",
    "instructions that still hold": "instructions",
    "standing instructions": "instructions",
    "constraints": "instructions",
    "references": "references",
    "also mentioned": "mentioned",
}
_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s*|\*\*)?([A-Za-z][A-Za-z ]{2,40}?)\s*(?:\*\*)?\s*:?\s*(?:\*\*)?\s*$")
_INLINE: Final = re.compile(r"^\s*(?:#{1,6}\s*|\*\*)?([A-Za-z][A-Za-z ]{2,40}?)(?:\*\*)?:(?:\*\*)?\s+(\S.*)$")
_BULLET: Final = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_POSITIONS: Final = re.compile(r"\s*\[(\d{1,9}(?:\s*[,-]\s*\d{1,9})*)\]\s*$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a summary, and the messages it is from."""

    text: str
    positions: tuple[int, ...] = ()

    def shown(self, *, references: bool) -> str:
        """The line, with its messages in brackets where the reader can look them up."""
        if not references or not self.positions:
            return self.text
        return f"{self.text} {_positions(self.positions)}"

    def as_json(self) -> list[Any]:
        """The line as plain JSON: text and positions."""
        return [self.text, list(self.positions)]


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the messages from `covers[0]` to `covers[1]`, the pinned among them left out."""

    covers: tuple[int, int]
    topics: tuple[Line, ...] = ()
    decisions: tuple[Line, ...] = ()
    facts: tuple[Line, ...] = ()
    open_questions: tuple[Line, ...] = ()
    instructions: tuple[Line, ...] = ()
    references: tuple[Line, ...] = ()
    """Artifacts that the messages name; shown only to a model that can read them."""
    mentioned: tuple[Line, ...] = ()
    """Numbers, names and the like that no other line has, each by itself."""
    prose: str = field(default="")
    """Words of a model that came in no sections."""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not self.words.strip()

    @property
    def words(self) -> str:
        """Everything it says: without headings and positions, which are no numbers that were said, and references."""
        lines = [line.text for name, _ in SECTIONS if name != "references" for line in self.section(name)]
        return "\n".join(filter(None, [self.prose, *lines, *(line.text for line in self.mentioned)]))

    def section(self, name: str) -> tuple[Line, ...]:
        """The lines of one section."""
        lines: tuple[Line, ...] = getattr(self, name)
        return lines

    def text(self, references: bool) -> str:
        """What a model reads: sections of short lines, with positions and artifacts if it can follow them."""
        blocks = [self.prose] if self.prose else []
        for name, heading in SECTIONS:
            if name == "references":
                lines = _grouped(self.references) if references else []
            else:
                lines = [line.shown(references=references) for line in self.section(name)]
            if lines:
                blocks.append("\n".join([f"{heading}:", *(f"- {line}" for line in lines)]))
        if self.mentioned:
            blocks.append(f"{MENTIONED}: {_packed(self.mentioned, references=references)}")
        return "\n".join(blocks)

    def as_json(self) -> dict[str, Any]:
        """The summary as plain JSON; equal summaries give equal bytes."""
        sections = {name: [line.as_json() for line in self.section(name)] for name, _ in SECTIONS}
        mentioned = [line.as_json() for line in self.mentioned]
        return {"covers": list(self.covers), **sections, "mentioned": mentioned, "prose": self.prose}

    @classmethod
    def from_json(cls, value: object, where: str = "summary") -> "Summary":
        """The summary that `as_json` wrote; `InvalidInput` for anything else."""
        fields = object_at(value, where)
        covers = numbers_at(fields.get("covers"), f"{where}.covers")
        if len(covers) != 2:
            raise InvalidInput("expected two positions", where=f"{where}.covers")
        names = [*(name for name, _ in SECTIONS), "mentioned"]
        lines = {name: _lines_at(fields.get(name, []), f"{where}.{name}") for name in names}
        prose = text_at(fields.get("prose", ""), f"{where}.prose")
        return cls(covers=(covers[0], covers[1]), prose=prose, **lines)

    @classmethod
    def written(cls, text: str, covers: tuple[int, int], references: Iterable[Line] = ()) -> "Summary":
        """A summary that a model wrote: its headings become our sections, and what is under none stays as it is.

        The references are ours to keep, so they come from `references_in` and not from the model.
        """
        found: dict[str, list[Line]] = {}
        prose: list[str] = []
        section: str | None = None
        for raw in text.splitlines():
            section, line = _read(raw, section)
            if line is None:
                continue
            if section is None:
                prose.append(line.text)
            else:
                found.setdefault(section, []).append(line)
        found.pop("references", None)
        sections = {name: tuple(lines) for name, lines in found.items()}
        return cls(covers=covers, prose="\n".join(prose), references=tuple(references), **sections)


def _grouped(references: Sequence[Line]) -> list[str]:
    """A line a tool, with the ids of its results: in a long run there are many, and all of them stay within reach."""
    by_tool: dict[str, list[str]] = {}
    for line in references:
        artifact, _, tool = line.text.partition(" from ")
        by_tool.setdefault(tool, []).append(Line(artifact, line.positions).shown(references=True))
    return [f"{tool}: {', '.join(ids)}" if tool else ", ".join(ids) for tool, ids in by_tool.items()]


def _positions(positions: Sequence[int]) -> str:
    """Positions in brackets: all of them while they are few, else from the first to the last."""
    if len(positions) > POSITIONS_SHOWN_MAX:
        return f"[{positions[0]}-{positions[-1]}]"
    return f"[{','.join(map(str, positions))}]"


def _packed(lines: Iterable[Line], *, references: bool) -> str:
    """Details one behind the other, those of one message together."""
    if not references:
        return ", ".join(line.text for line in lines)
    runs = groupby(lines, key=lambda line: line.positions)
    return "; ".join(
        Line(", ".join(line.text for line in run), positions).shown(references=True) for positions, run in runs
    )


def _read(raw: str, section: str | None) -> tuple[str | None, Line | None]:
    """The section that a line of a model's text belongs to, and the line itself unless it is a heading or nothing."""
    if not raw.strip():
        return section, None
    heading = _HEADING.match(raw)
    if heading and heading[1].lower() in _HEADINGS:
        return _HEADINGS[heading[1].lower()], None
    inline = _INLINE.match(raw)
    if inline and inline[1].lower() in _HEADINGS:
        section, raw = _HEADINGS[inline[1].lower()], inline[2]
    bare = _BULLET.sub("", raw).strip() if section else raw.rstrip()
    named = _POSITIONS.search(bare)
    if section is None or named is None:
        return section, Line(bare)
    positions = tuple(int(number) for number in re.split("[,-]", named[1]))
    return section, Line(bare[: named.start()].rstrip(), positions)


def _lines_at(value: object, where: str) -> tuple[Line, ...]:
    if not isinstance(value, list):
        raise InvalidInput(f"expected a list of lines, got {type(value).__name__}", where=where)
    return tuple(_line_at(item, f"{where}[{index}]") for index, item in enumerate(value))


def _line_at(value: object, where: str) -> Line:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise InvalidInput("expected a text and its positions", where=where)
    return Line(text_at(value[0], where), numbers_at(value[1], where))

"""What shells and editors print: file views keep path, line range and definitions; the rest its telling lines."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from clew.artifacts.shapes.cleaning import line_count, lines_of, one_line, sentences
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import DEFINITION, Line, ranked_lines, sketch_lines, told

# The head of a file view, and how views number their lines: "12:", "12|", "12→", "    12<tab>".
_FILE_HEAD: Final = re.compile(
    r"^\[?(?:File|FILE|Path): *(?P<path>[^\n()\[\]]{1,400}?)(?: \((?P<total>[\d,]+) lines?[^)\n]{0,40}\))?\]?$"
)
_NUMBERED: Final = re.compile(r"^ {0,8}(\d{1,7})(?:[:|→]|\t| {2})(.*)$")
# The progress that downloads print, and lines of digits and dashes alone.
METER: Final = re.compile(r"^\s*(?:% Total|Dload|\d{1,3}\s+\d|[\s\d.:kMG%-]*$)")
_NAMED_FILE: Final = re.compile(r"(?:/|\b)[\w./-]{0,300}\.\w{1,8}\b")
# The lead says as much with its range.
_SCROLLED: Final = re.compile(r"^\W{0,4}\d+ more lines? (?:above|below)\W{0,4}$")
# Messages of the editor itself tell more than the lines of the file, which the reader can open.
_MESSAGE_BONUS: Final = 0.5
_CODE_CHARS: Final = 90
_NUMBERED_SHARE_MIN: Final = 0.5


def is_file_view(text: str) -> bool:
    """Whether most lines carry ascending line numbers, or a head names a file and its number of lines."""
    lines = lines_of(text[:8_000])[:200]
    if len(lines) < 4:
        return False
    # The heading of a table in columns of tabs has no number; every line of a view has one.
    if "\t" in lines[0] and not _NUMBERED.match(lines[0]):
        return False
    numbers = [int(found[1]) for line in lines if (found := _NUMBERED.match(line))]
    return len(numbers) >= _NUMBERED_SHARE_MIN * len(lines) and _ascending(numbers)


def _ascending(numbers: list[int]) -> bool:
    return sum(b == a + 1 for a, b in pairwise(numbers)) >= 0.8 * max(1, len(numbers) - 1)


def sketch_file_view(text: str) -> Sketch:
    """`path (1997 lines) 1457-1556`, the editor's own messages, then definitions with their line numbers."""
    lines = [line for line in lines_of(text) if not _SCROLLED.match(line)]
    numbered = [(found[1], found[2]) for line in lines if (found := _NUMBERED.match(line))]
    code = _file_lines(numbered)
    path, total, rest = "", "", []
    for line in lines:
        if head := _FILE_HEAD.match(line.strip()):
            path, total = head["path"], head["total"] or ""
        elif found := _NUMBERED.match(line):
            rest.append(code[found[1]])
        else:
            rest += [told(said, 0.0 if at else _MESSAGE_BONUS) for at, said in enumerate(sentences(line))]
    shown = f"lines {numbered[0][0]}-{numbered[-1][0]}" if numbered else f"{line_count(text)} lines"
    of = f" of {total}" if total else ""
    return sketch_lines(f"{one_line(path)} {shown}{of}:".strip(), rest)


def _file_lines(lines: Sequence[tuple[str, str]]) -> dict[str, Line]:
    """The lines of a file by their numbers: definitions first, then long ones near where the view was opened.

    Words like "error" tell nothing in source code. Editors scroll so that the line asked for stands in the upper third.
    """
    cut_out = bool(lines) and int(lines[0][0]) > 1
    found = {}
    for at, (number, code) in enumerate(lines):
        text = one_line(code, _CODE_CHARS)
        worth = 1.4 if DEFINITION.match(text) else min(1.2, len(text) / 45)
        near = cut_out and len(lines) // 12 <= at <= len(lines) // 4
        found[number] = Line(f"{number}: {text}" if len(text) > 2 else "", worth + (0.5 if near else 0.0))
    return found


def sketch_console(text: str) -> Sketch:
    """The number of lines, then those that tell the most; progress meters and rules are left out."""
    lines = [line for line in lines_of(text) if not METER.match(line)]
    total = line_count(text)
    lead = f"{total:,} lines:" if total > 1 else ""
    files = [line for line in lines if _NAMED_FILE.fullmatch(line.strip())]
    if lines and len(files) > len(lines) // 2:
        return sketch_lines(f"{total:,} lines, {len(files):,} paths:", ranked_lines(lines), joint=", ")
    return sketch_lines(lead, ranked_lines(lines))

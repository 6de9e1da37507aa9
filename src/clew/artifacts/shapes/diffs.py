"""Diffs: which files, how many lines came and went, and what they are."""

import re
from typing import Final

from clew.artifacts.shapes.cleaning import clean, lines_of, one_line
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import Line, sketch_lines

_START: Final = re.compile(r"^diff --git |^(?:---|\+\+\+) \S+.*\n(?:---|\+\+\+) \S+|^Index: \S+\n=+", re.M)
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$")
_FILE: Final = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]{1,400})", re.M)
_GONE: Final = re.compile(r"^--- (?:a/)?([^\t\n]{1,400})", re.M)
# Diffs of more than this are counted, but only their beginning is read line by line.
COUNTED_CHARS: Final = 20_000_000


def is_diff(text: str) -> bool:
    """Whether a text is a unified diff, or output that ends in one."""
    head = text[:20_000]
    return bool(_START.search(head)) and "\n@@ " in head


def sketch_diff(text: str) -> Sketch:
    """`diff: 2 files +10 -3`, then file names with the changed lines and where they stand."""
    counted = f"\n{clean(text[:COUNTED_CHARS])}"
    added = counted.count("\n+") - counted.count("\n+++ ")
    removed = counted.count("\n-") - counted.count("\n--- ")
    files = [name for name in _FILE.findall(counted) if name != "/dev/null"] or _GONE.findall(counted)
    lead = f"diff: {len(files)} file{'s' * (len(files) != 1)} +{added} -{removed}"
    told = []
    for line in lines_of(text):
        if hunk := _HUNK.match(line):
            told.append(Line(f"@@{hunk[2]} {one_line(hunk[3], 60)}".strip(), 1.2))
        elif line.startswith("+++ ") and "/dev/null" not in line:
            told.append(Line(one_line(line[4:].removeprefix("b/"), 160), 3.0))
        elif line[:1] in ("+", "-") and not line.startswith(("+++", "---")):
            told.append(Line(line[0] + one_line(line[1:], 120), 1.1 if line[0] == "+" else 0.9))
    return sketch_lines(f"{lead}:", told)

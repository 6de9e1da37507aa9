"""Tracebacks: what was raised, where it started and where it happened."""

import re
from typing import Final

from clew.artifacts.shapes.cleaning import lines_of
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import ERROR, Line, ranked_lines, sketch_lines

_HEAD: Final = re.compile(
    r"Traceback \(most recent call last\)|^Exception in thread|^panic: |^\s+at [\w.$<>]+[ (]", re.M
)
_PYTHON_FRAME: Final = re.compile(r'File "([^"\n]{1,400})", line (\d+)(?:, in (\S+))?')
_OTHER_FRAME: Final = re.compile(r"^\s+at (.{1,200})$|^\s+([\w./-]{1,300}\.\w{1,5}:\d+)")
_RAISED: Final = re.compile(
    r"^(?:Exception in thread \"[^\"\n]{0,80}\" |Caused by: |Uncaught )?"
    r"(?:[\w.$]{1,200}(?:Error|Exception|Exit|Interrupt|Warning|Failure|Fault)|panic)\b:? ?.*"
)
_MATTER: Final = 3.0


def is_traceback(text: str) -> bool:
    """Whether a text holds a stack trace of Python, Java, JavaScript or Go."""
    found = _HEAD.search(text[:40_000]) or _HEAD.search(text[-20_000:])
    return bool(found) and bool(_PYTHON_FRAME.search(text) if "Traceback (" in text else ERROR.search(text[:40_000]))


def sketch_traceback(text: str) -> Sketch:
    """The last thing raised in the lead, then the innermost and outermost frames, causes and other output."""
    lines = lines_of(text)
    places = [at for at, line in enumerate(lines) if _PYTHON_FRAME.search(line) or _OTHER_FRAME.match(line)]
    frames = {at: number for number, at in enumerate(places)}
    raised = [at for at, line in enumerate(lines) if _RAISED.match(line.strip())]
    told = []
    for at, line in enumerate(lines):
        if at in raised[-1:]:
            told.append(Line(_cut(line), 2 * _MATTER + 4))
        elif at in raised:
            told.append(Line(_cut(line), _MATTER))
        elif at in frames:
            told.append(Line(_frame(line), _frame_worth(frames[at], len(frames))))
        elif at - 1 in frames:
            told.append(Line(_cut(line), _frame_worth(frames[at - 1], len(frames)) - 1.0))
        elif not _HEAD.search(line):
            told += ranked_lines([line], bonus=-0.4)
    return sketch_lines(f"traceback, {len(frames)} frames:", told)


def _frame(line: str) -> str:
    if found := _PYTHON_FRAME.search(line):
        return f"{found[1]}:{found[2]}{f' {found[3]}' if found[3] else ''}"
    return _cut(line)


def _frame_worth(at: int, total: int) -> float:
    """The innermost frame is where it happened, the outermost what the reader ran."""
    return 2.6 if at == total - 1 else 1.8 if at == 0 else 1.2 if at == total - 2 else 0.6


def _cut(line: str) -> str:
    return line.strip()[:200]

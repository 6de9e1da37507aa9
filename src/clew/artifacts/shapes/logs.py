"""Logs: how many lines and of which levels, the span of time, and the lines that report trouble."""

import re
from collections import Counter
from typing import Final

from clew.artifacts.shapes.cleaning import line_count, lines_of, one_line
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import ERROR, Line, ranked_lines, sketch_lines

_STAMP: Final = re.compile(
    r"\[?(\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2})?|\d{2}:\d{2}:\d{2}|[A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2}:\d{2})"
    r"[\d.,:+Z-]*\]?"
)
_LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)\b|\[(info|warn|error|debug)\]|level=(\w+)"
)
_SHARE_MIN: Final = 0.5
_LINES_MIN: Final = 4


def is_log(text: str) -> bool:
    """Whether at least half of the first lines start with a time or carry a level."""
    lines = lines_of(text[:16_000])[:100]
    marked = sum(bool(_STAMP.match(line.strip()) or _LEVEL.search(line[:80])) for line in lines)
    return len(lines) >= _LINES_MIN and marked >= _SHARE_MIN * len(lines)


def error_lines(text: str, most: int = 5) -> list[str]:
    """The lines of a log that report trouble, the first ones and the last."""
    wrong = [one_line(line, 200) for line in lines_of(text) if _level(line) == "ERROR" or ERROR.search(line)]
    wrong = list(dict.fromkeys(wrong))
    return wrong if len(wrong) <= most else [*wrong[: most - 2], *wrong[-2:]]


def sketch_log(text: str) -> Sketch:
    """Counts by level and the span of time in the lead; errors before warnings before the rest."""
    lines = lines_of(text)
    levels = Counter(level for line in lines if (level := _level(line)))
    counts = ", ".join(f"{number} {name}" for name, number in sorted(levels.items(), key=lambda item: _order(item[0])))
    stamps = [found[1] for line in (lines[0], lines[-1]) if (found := _STAMP.match(line.strip()))] if lines else []
    span = f" {stamps[0]} to {stamps[1]}" if len(stamps) == 2 and stamps[0] != stamps[1] else ""
    told = []
    for line, ranked in zip(lines, ranked_lines(lines) if len(lines) < 400 else map(_plain, lines), strict=True):
        level = _level(line)
        bonus = 2.0 if level == "ERROR" else 0.8 if level == "WARN" else 0.0
        text_only = _STAMP.sub("", ranked.text, count=1).strip()
        told.append(Line(text_only, ranked.worth + bonus))
    best = sorted(told, key=lambda line: -line.worth)[:400]
    kept = {id(line) for line in best}
    lead = f"log, {line_count(text):,} lines{span}{f' ({counts})' if counts else ''}:"
    return sketch_lines(lead, [line for line in told if id(line) in kept])


def _plain(line: str) -> Line:
    return Line(one_line(line, 140), 2.0 if ERROR.search(line[:400]) else 0.5)


def _level(line: str) -> str:
    found = _LEVEL.search(line[:200])
    name = (found[1] or found[2] or found[3] or "").upper() if found else ""
    return {"WARNING": "WARN", "FATAL": "ERROR", "CRITICAL": "ERROR", "SEVERE": "ERROR"}.get(name, name)


def _order(level: str) -> tuple[int, str]:
    return (
        ("ERROR", "WARN", "INFO", "DEBUG").index(level) if level in ("ERROR", "WARN", "INFO", "DEBUG") else 9,
        level,
    )

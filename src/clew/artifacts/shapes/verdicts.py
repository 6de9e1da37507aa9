"""Test results: how many passed, failed and were skipped, and what failed with which words."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from clew.artifacts.shapes.cleaning import lines_of, one_line, vocabulary
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import Line, sketch_lines, told
from clew.artifacts.shapes.values import plain, shown

_COUNTS: Final = ("passed", "failed", "errors", "error", "skipped", "xfailed", "xpassed", "total", "flaky", "pending")
_PASSED: Final = vocabulary("pass passed ok success succeeded green")
_FAILED: Final = vocabulary("fail failed failure error errored broken red timeout timedout")
_SKIPPED: Final = vocabulary("skip skipped pending ignored xfail disabled todo")
_STATUS: Final = ("status", "outcome", "result", "state", "verdict", "passed", "ok", "success")
_NAME: Final = ("nodeid", "name", "test", "test_name", "title", "step", "description", "case", "id", "action")
_MESSAGE: Final = (
    "message",
    "error",
    "error_message",
    "longrepr",
    "failure",
    "detail",
    "details",
    "traceback",
    "reason",
)
_DURATION: Final = ("duration", "duration_s", "duration_ms", "elapsed", "time", "seconds")
_MANY: Final = 5_000

_SUMMARIES: Final = (
    re.compile(r"(?<!=)=+ .{0,200}\b\d+ (?:passed|failed|error).{0,200} =+"),
    re.compile(r"^(?:\d+ (?:passed|failed|errors?|skipped|xfailed|warnings?)(?:, )?)+ in [\d.]+s", re.M),
    re.compile(r"^Ran \d+ tests? in [\d.]+s", re.M),
    re.compile(r"^(?:OK|FAILED)(?: \([a-z ]+=\d+.{0,80}\))?$", re.M),
    re.compile(r"^Tests?:\s+.{0,80}\d+ (?:passed|failed|total).{0,80}$", re.M),
    re.compile(r"^test result: .{0,120}$", re.M),
    re.compile(r"^(?:--- FAIL|FAIL|ok  )\s*:?\s*\S+.{0,80}$", re.M),
    re.compile(r"^Tests run: \d+, Failures: \d+.{0,80}", re.M),
)
_SUITE: Final = re.compile(r"<testsuites?\b[^<>]{0,2000}\btests=")
_ATTRIBUTE: Final = re.compile(r"\b(tests|failures|errors|skipped|time)=\"([\d.]{1,12})\"")
_CASE_FAILED: Final = re.compile(r"<testcase\b([^<>]{0,1000}[^/])>\s{0,200}<(?:failure|error)\b([^<>]{0,2000})>?")
_NAMED: Final = re.compile(r"\b(?:class)?name=\"([^\"]{0,300})\"")
_SAID: Final = re.compile(r"\bmessage=\"([^\"]{0,600})\"")
_FAILED_LINE: Final = re.compile(
    r"^(?:FAILED|ERROR|FAIL:|ERROR:|--- FAIL:|not ok|✕|✗|×|●)\s*:?\s*\S|^E  +\S|^AssertionError"
)


def is_test_text(text: str) -> bool:
    """Whether a text is the report of pytest, unittest, Jest, cargo, Go, Maven, or JUnit's XML."""
    ends = f"{text[:20_000]}\n{text[-20_000:]}" if len(text) > 40_000 else text
    if _SUITE.search(ends):
        return True
    found = [bool(pattern.search(ends)) for pattern in _SUMMARIES]
    # "OK" and "FAIL x" alone are words that other programs print too.
    return found[0] or found[1] or found[2] or found[4] or found[5] or found[7] or (found[6] and "--- FAIL" in ends)


def sketch_test_text(text: str) -> Sketch:
    """The report's own summary line, then the names and words of what failed."""
    if _SUITE.search(text[:20_000]):
        return _sketch_junit(text)
    ends = f"{text[:40_000]}\n{text[-40_000:]}" if len(text) > 80_000 else text
    summaries = [one_line(found[0].strip("= "), 120) for pattern in _SUMMARIES[:6] if (found := pattern.search(ends))]
    lines = [_line(line) for line in lines_of(text)]
    best = {id(line) for line in sorted(lines, key=lambda line: -line.worth)[:400]}
    lead = "tests: " + ", ".join(dict.fromkeys(summaries))
    return sketch_lines(lead, [line for line in lines if id(line) in best and line.text.strip("= ") not in summaries])


def _line(line: str) -> Line:
    if _FAILED_LINE.match(line):
        return Line(one_line(line, 160), 2.0 if line.startswith("E ") else 5.0)
    return told(line, -0.3)


def _sketch_junit(text: str) -> Sketch:
    head = _SUITE.search(text)
    attributes = dict(_ATTRIBUTE.findall(head[0] + text[head.end() : text.find(">", head.end())])) if head else {}
    failed = []
    for case in list(_CASE_FAILED.finditer(text[:2_000_000]))[:200]:
        said = _SAID.search(case[2])
        failed.append(
            Line(one_line(f"FAILED {'.'.join(_NAMED.findall(case[1]))}: {said[1] if said else ''}", 160), 2.5)
        )
    return sketch_lines(f"tests: {', '.join(f'{key} {value}' for key, value in attributes.items())}.", failed)


def found_tests(value: Any) -> tuple[dict[str, str], list[dict[Any, Any]]] | None:
    """The counts and the test records of a mapping or a list; None for what is no test result."""
    if isinstance(value, list | tuple):
        records = _records(value)
        return ({}, records) if len(records) > 1 else None
    if not isinstance(value, dict):
        return None
    counts: dict[str, str] = {}
    records = []
    for part in (value, *(plain(item) for item in list(value.values())[:40])):
        if isinstance(part, dict):
            counts |= {key: shown(part[key]) for key in (*_COUNTS, *_DURATION) if _is_number(part.get(key))}
        elif isinstance(part, list | tuple) and not records:
            records = _records(part)
    known = {"passed", "failed"} & counts.keys()
    return (counts, records) if len(known) == 2 or (known and len(counts) > 1) or len(records) > 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _records(rows: Any) -> list[dict[Any, Any]]:
    """The rows when most of them are named and carry a verdict."""
    found = [
        row for item in rows[:_MANY] if isinstance(row := plain(item), dict) and _verdict(row) and _text(row, _NAME)
    ]
    kinds = {_verdict(row) for row in found}
    telling = "failed" in kinds or "passed" in kinds
    return found if telling and 2 * len(found) > min(len(rows), _MANY) else []


def _verdict(row: dict[Any, Any]) -> str:
    for key in _STATUS:
        value = row.get(key)
        if key in ("passed", "ok", "success") and isinstance(value, bool):
            return "passed" if value else "failed"
        if isinstance(value, str):
            word = value.strip().lower()[:16]
            for verdict, words in (("passed", _PASSED), ("failed", _FAILED), ("skipped", _SKIPPED)):
                if word in words:
                    return verdict
    return ""


def _text(row: dict[Any, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = row.get(key)
        if isinstance(value, dict):
            value = next((value[inner] for inner in _MESSAGE if isinstance(value.get(inner), str)), None)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def sketch_tests(value: Any, counts: dict[str, str], records: list[dict[Any, Any]]) -> Sketch:
    """`tests: 12 passed, 1 failed, 2 skipped`, then each failure's name and message, then the others' names."""
    if not {"passed", "failed"} & counts.keys():
        verdicts = Counter(_verdict(row) for row in records)
        counts = {name: str(verdicts[name]) for name in ("passed", "failed", "skipped") if verdicts[name]} | counts
    numbers = ", ".join(
        f"{key} {text}" if key in _DURATION or key == "total" else f"{text} {key}" for key, text in counts.items()
    )
    return sketch_lines(f"tests: {numbers}.", _lines(value, records), joint="; ")


def _lines(value: Any, records: list[dict[Any, Any]]) -> Iterator[Line]:
    if isinstance(value, dict):
        for key, item in list(value.items())[:40]:
            if isinstance(item, str | int | float) and not isinstance(item, bool) and key not in (*_COUNTS, *_DURATION):
                line = told(f"{shown(key)}={shown(item)}")
                yield Line(line.text, line.worth)
    failed = [row for row in records if _verdict(row) == "failed"]
    for row in failed[:200]:
        said = _text(row, _MESSAGE)
        yield Line(one_line(f"FAILED {_text(row, _NAME)}: {_last_line(said) if said else _beside(row)}", 160), 3.0)
    for row in records[:40]:
        if _verdict(row) != "failed":
            yield Line(one_line(f"{_text(row, _NAME)} {_verdict(row)}", 80), 0.4)


def _beside(row: dict[Any, Any]) -> str:
    """What else a record without a message says, to tell it from the others."""
    name = _text(row, _NAME)
    rest = ((key, item) for key, item in islice(row.items(), 12) if key not in (*_STATUS, *_DURATION))
    return " ".join(f"{shown(key)}={shown(item)}" for key, item in rest if isinstance(item, str | int) and item != name)


def _last_line(text: str) -> str:
    """A message's own words: of a traceback its last line."""
    lines = [line for line in text[-4_000:].split("\n") if line.strip()]
    return lines[-1] if "Traceback" in text and lines else text

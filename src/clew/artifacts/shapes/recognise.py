"""Which shape a result has, told from the value and never from the tool."""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

from clew.artifacts.shapes.binary import encoded, sketch_bytes, sketch_encoded
from clew.artifacts.shapes.cleaning import line_count, looked_at
from clew.artifacts.shapes.console import is_file_view, sketch_console, sketch_file_view
from clew.artifacts.shapes.diffs import is_diff, sketch_diff
from clew.artifacts.shapes.documents import sketch_document
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.hits import found_hits, sketch_hits
from clew.artifacts.shapes.logs import is_log, sketch_log
from clew.artifacts.shapes.pages import is_page, sketch_page
from clew.artifacts.shapes.prose import sketch_prose
from clew.artifacts.shapes.tables import sketch_table, table_of_lists, table_of_text, text_rows
from clew.artifacts.shapes.tracebacks import is_traceback, sketch_traceback
from clew.artifacts.shapes.values import needs_label, plain, shown
from clew.artifacts.shapes.verdicts import found_tests, is_test_text, sketch_test_text, sketch_tests
from clew.artifacts.test_results.pictures import media_type_of_bytes

# Longer texts are not parsed, only read at both ends.
JSON_MAX_CHARS: Final = 32_000_000
LITERAL_MAX_CHARS: Final = 50_000
JSON_LINES: Final = "application/x-ndjson"
# Of more lines of JSON than this the first are read, and all are counted.
JSON_LINES_MAX: Final = 1_000
# A mapping with more keys than a reader would count is counted for him.
LONG_MAPPING_KEYS: Final = 30
# A text inside a mapping that is longer than this, and most of the mapping, is what the result is about.
BODY_CHARS_MIN: Final = 120
BODY_SHARE_MIN: Final = 0.6


@dataclass(frozen=True, slots=True)
class Seen:
    """A result's shape, and how to sketch it when a summary is asked for."""

    kind: str
    media_type: str
    sketch: Callable[[], Sketch]


def recognised(result: Any) -> Seen:
    """The shape of any result."""
    value = plain(result)
    if isinstance(value, bytes | bytearray):
        data = bytes(value)
        return Seen("binary", media_type_of_bytes(data), partial(sketch_bytes, data))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict | list | tuple):
        return _value(value)
    return Seen("scalar", "application/json" if _is_json(value) else "text/plain", partial(Sketch, shown(value)))


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _text(text: str) -> Seen:
    if not text.strip():
        return Seen("empty", "text/plain", partial(Sketch, "empty result"))
    if found := parsed(text):
        value, media_type = found
        if media_type == JSON_LINES and len(value) >= JSON_LINES_MAX:
            lead = f"{line_count(text.strip()):,} records:"
            return Seen("records", media_type, partial(sketch_document, value, lead))
        seen = _value(value)
        return Seen(seen.kind, media_type, seen.sketch)
    if blob := encoded(text):
        # Stored as it is, it is the text and not the picture.
        return Seen("binary", "text/plain", partial(sketch_encoded, blob))
    for kind, media_type, tells, sketch in _TEXT_SHAPES:
        if tells(text):
            return Seen(kind, media_type, partial(sketch, text))
    if rows := table_of_text(text):
        return Seen("table", "text/csv" if "|" not in text[:200] else "text/markdown", partial(_text_table, text, rows))
    prose = _is_prose(looked_at(text))
    return Seen("prose" if prose else "console", "text/plain", partial(sketch_prose if prose else sketch_console, text))


_TEXT_SHAPES: Final[tuple[tuple[str, str, Callable[[str], bool], Callable[[str], Sketch]], ...]] = (
    ("diff", "text/x-diff", is_diff, sketch_diff),
    ("tests", "text/plain", is_test_text, sketch_test_text),
    ("console", "text/plain", is_file_view, sketch_file_view),
    ("html", "text/html", is_page, sketch_page),
    ("log", "text/plain", is_log, sketch_log),
    ("traceback", "text/plain", is_traceback, sketch_traceback),
)


def _text_table(text: str, rows: list[list[Any]]) -> Sketch:
    return sketch_table(rows, text_rows(text, rows))


def _is_prose(text: str) -> bool:
    """Whether lines are paragraphs: long, or few."""
    lines = [line for line in text.split("\n") if line.strip()][:400]
    return len(lines) <= 1 or sum(map(len, lines)) > 100 * len(lines)


def parsed(text: str) -> tuple[Any, str] | None:
    """The list or mapping that a text is, as JSON, lines of JSON or a Python literal, with the text's media type."""
    body = text.strip() if len(text) <= JSON_MAX_CHARS else ""
    if body[:1] not in ("{", "[") or body[-1:] not in ("}", "]"):
        return None
    for read, media_type in ((json.loads, "application/json"), (_json_lines, JSON_LINES), (_literal, "text/plain")):
        try:
            value = read(body)
        # Not of this form, too deep or with too long a number for Python: then it is a text.
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(value, dict | list):
            return value, media_type
    return None


def _json_lines(body: str) -> Any:
    lines = body.split("\n", JSON_LINES_MAX)
    if len(lines) < 2:
        raise ValueError("one line")
    return [json.loads(line) for line in lines[:JSON_LINES_MAX] if line.strip()]


def _literal(body: str) -> Any:
    if len(body) > LITERAL_MAX_CHARS:
        raise ValueError("too long")
    return ast.literal_eval(body)


def _value(value: Any) -> Seen:
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(plain(value[0]), str | dict):
        inner = recognised(value[0])
        return Seen(inner.kind, "application/json", inner.sketch)
    if not value:
        return Seen(
            "empty", "application/json", partial(Sketch, f"empty {'object' if isinstance(value, dict) else 'list'}")
        )
    if found := found_tests(value):
        return Seen("tests", "application/json", partial(sketch_tests, value, *found))
    if hits := found_hits(value):
        return Seen("hits", "application/json", partial(sketch_hits, *hits, _hit_total(value)))
    if rows := table_of_lists(value):
        return Seen("table", "application/json", partial(sketch_table, rows, len(value)))
    if isinstance(value, dict):
        if body := _body(value):
            return _with_body(value, body)
        lead = f"{len(value):,} entries:" if len(value) >= LONG_MAPPING_KEYS else ""
        return Seen("document", "application/json", partial(sketch_document, value, lead))
    records = any(isinstance(plain(item), dict | list | tuple) for item in value[:20])
    lead = f"{len(value):,} {'records' if records else 'items'}:"
    return Seen("records" if records else "items", "application/json", partial(sketch_document, value, lead))


def _hit_total(value: Any) -> int:
    if isinstance(value, dict):
        return max(len(item) for item in value.values() if isinstance(item, list | tuple))
    return len(value)


def _body(value: dict[Any, Any]) -> Any:
    """The key of the one long text that a mapping is about, such as a command's output; None without one."""
    lengths = {key: len(item) for key, item in islice(value.items(), 200) if isinstance(item, str)}
    if not lengths or any(isinstance(plain(item), dict | list | tuple) for item in islice(value.values(), 200)):
        return None
    key = max(lengths, key=lambda name: lengths[name])
    return key if lengths[key] >= max(BODY_CHARS_MIN, BODY_SHARE_MIN * sum(lengths.values())) else None


def _with_body(value: dict[Any, Any], key: Any) -> Seen:
    inner = _text(value[key])

    def sketch() -> Sketch:
        found = inner.sketch()
        rest = [(shown(name), shown(item)) for name, item in islice(value.items(), 12) if name is not key]
        facts = " ".join(f"{name}={text}" if needs_label(name, text) else text for name, text in rest if text)
        return Sketch(f"{facts[:160]} {shown(key)}: {found.lead}".strip(), found.pieces, found.draw)

    return Seen(inner.kind, "application/json", sketch)

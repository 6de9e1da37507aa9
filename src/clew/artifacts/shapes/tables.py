"""Tables: lists of lists, CSV, TSV and markdown, shown as records with their columns named once."""

import csv
import re
from collections.abc import Sequence
from typing import Any, Final

from clew.artifacts.shapes.cleaning import clean, line_count, looked_at, one_line
from clew.artifacts.shapes.documents import sketch_document
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.values import form, plain, shown

ROWS_READ_MAX: Final = 5_000
COLUMNS_MAX: Final = 64
_ROWS_MIN: Final = 3
_RULE: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_INTEGER: Final = re.compile(r"[-+]?\d{1,15}")
_DECIMAL: Final = re.compile(r"[-+]?\d{1,15}\.\d{1,15}")

Rows = list[list[Any]]


def table_of_lists(value: Any) -> Rows | None:
    """The rows of a list of equally long lists of plain values."""
    if not isinstance(value, list | tuple) or len(value) < _ROWS_MIN:
        return None
    rows = [list(row) if isinstance(row, list | tuple) else [] for row in value[:ROWS_READ_MAX]]
    if len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return None
    if any(isinstance(plain(cell), dict | list | tuple) for row in rows[:50] for cell in row):
        return None
    return rows


def table_of_text(text: str) -> Rows | None:
    """The rows of a table written as markdown, CSV or TSV."""
    lines = [line for line in clean(looked_at(text)).replace("\r", "\n").split("\n")[:ROWS_READ_MAX] if line.strip()]
    if len(lines) < _ROWS_MIN:
        return None
    for at, line in enumerate(lines[:40]):
        if at and "|" in line and _RULE.match(line[:2_000]) and "|" in lines[at - 1]:
            return [_cells(row) for row in (lines[at - 1], *lines[at + 1 :]) if "|" in row]
    for mark in ("\t", ",", ";"):
        if rows := _separated(lines, mark):
            return rows
    return None


def _cells(line: str) -> list[Any]:
    return [_value(cell.strip()) for cell in line.strip().strip("|").split("|")[:COLUMNS_MAX]]


def _separated(lines: Sequence[str], mark: str) -> Rows | None:
    if mark not in lines[0] or any(len(line) > 20_000 for line in lines):
        return None
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark, strict=True)]
    except csv.Error:
        return None
    width = len(rows[0])
    # A heading is short words; a sentence with commas is not a table.
    heading = all(0 < len(cell) <= 40 and cell.count(" ") <= 3 for cell in rows[0])
    if width < 2 or width > COLUMNS_MAX or not heading or any(len(row) != width for row in rows[:-1]):
        return None
    if mark != "\t" and width == 2 and not any(form(cell) == "number" for row in rows[1:] for cell in row):
        return None
    return [list[Any](rows[0]), *([_value(cell) for cell in row] for row in rows[1:])]


def _value(cell: str) -> Any:
    if _INTEGER.fullmatch(cell) and not (len(cell) > 1 and cell.lstrip("+-").startswith("0")):
        return int(cell)
    return float(cell) if _DECIMAL.fullmatch(cell) else cell


def sketch_table(rows: Rows, total: int) -> Sketch:
    """`table, 120 rows × 3 columns (id, name, price):`, ranges of its numbers, then its first rows."""
    named = all(isinstance(cell, str) and form(cell) != "number" for cell in rows[0])
    heading = [one_line(shown(cell), 40) if named else f"column {at}" for at, cell in enumerate(rows[0], 1)]
    body = rows[1:] if named else rows
    records = [dict(zip(heading, row, strict=False)) for row in body]
    columns = one_line(", ".join(heading), 120) if named else ""
    lead = f"table, {total - named:,} rows × {len(heading)} columns{f' ({columns})' if columns else ''}:"
    return sketch_document(records, lead, labels=False)


def text_rows(text: str, rows: Rows) -> int:
    """How many rows the whole text has: all its lines, but for markdown's rule and blank ones that were seen."""
    seen = line_count(looked_at(text))
    return len(rows) + max(0, line_count(text) - seen)

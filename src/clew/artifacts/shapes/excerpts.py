"""What stays in place of a text that was moved out, and what is told of it beside its reference."""

from typing import Any, Final

from clew.artifacts.shapes.cleaning import line_count
from clew.artifacts.shapes.fitting import Frame, Sketch, fit
from clew.artifacts.shapes.logs import error_lines
from clew.artifacts.shapes.pages import read_page
from clew.tokens import DEFAULT_ENCODING

EXCERPT_TOKENS: Final = 80
ERROR_LINES: Final = 3
TEXT_LINES: Final = 3
LINE_CHARS: Final = 120


def excerpt(sketch: Sketch, artifact_id: str, max_tokens: int = EXCERPT_TOKENS) -> str:
    """The most telling of a text in one line that ends in its reference."""
    return fit(sketch, Frame("", f"[artifact {artifact_id}]", max_tokens, DEFAULT_ENCODING), max_tokens)


def facts(text: str, kind: str) -> dict[str, Any]:
    """What a reader of the reference alone wants to know: a page's title and first words, a log's errors, lines."""
    if kind == "html":
        page = read_page(text)
        first = [line[:LINE_CHARS] for line in page.text if line != page.title][:TEXT_LINES]
        return {"title": page.title, "text": "\n".join(first)}
    lines = {"lines": line_count(text)}
    if kind in ("log", "tests", "traceback", "console"):
        return {**lines, "errors": [line[:LINE_CHARS] for line in error_lines(text, ERROR_LINES)]}
    return lines

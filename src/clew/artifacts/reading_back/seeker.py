"""A program of its own that searches text or follows a JSON path: one that hangs can be ended from outside.

It reads a request on the first line of its input and the artifact after it, and answers in lines of JSON. It is run by
its path, knows nothing of Clew, and holds no secret: patterns and paths come from a model.
"""

import contextlib
import json
import re
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

# A longer line is searched in pieces of this size.
PIECE_MAX_BYTES: Final = 1024 * 1024
SNIPPET_BEFORE_CHARS: Final = 120
SNIPPET_CHARS: Final = 360
MATCHES_COUNTED_MAX: Final = 100_000
VALUES_MAX_CHARS: Final = 256 * 1024
MEMORY_MAX_BYTES: Final = 2 * 1024**3
# Between two looks at the clock.
LINES_AT_ONCE: Final = 256
_WORDS: Final = re.compile(r'"([^"]+)"|(\S+)')


def main() -> None:
    _limit_memory()
    request = json.loads(sys.stdin.buffer.readline())
    answers = _search(request, sys.stdin.buffer) if request["do"] == "search" else _follow(request, sys.stdin.buffer)
    try:
        for answer in answers:
            print(json.dumps(answer))  # noqa: T201 - its only way to speak
    except (re.error, RecursionError, OverflowError) as error:
        print(json.dumps({"error": f"the pattern is not one: {error}"}))  # noqa: T201
    except MemoryError:
        print(json.dumps({"error": "it takes too much memory"}))  # noqa: T201


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))


class Finder:
    """Where a line has what is looked for: a pattern, or words in any order and letter case."""

    def __init__(self, query: str, regex: bool) -> None:
        self._pattern = re.compile(query) if regex else None
        self._words = [] if regex else [(quoted or word).casefold() for quoted, word in _WORDS.findall(query)]

    def all_at(self, line: str) -> int | None:
        """Where the pattern matches, or the first word of a line that has them all."""
        if self._pattern is not None:
            found = self._pattern.search(line)
            return found.start() if found else None
        folded = line.casefold()
        places = [folded.find(word) for word in self._words]
        return min(places) if places and min(places) >= 0 else None

    def any_at(self, line: str) -> int | None:
        """Where the first of the words is that the line has."""
        folded = line.casefold()
        places = [place for word in self._words if (place := folded.find(word)) >= 0]
        return min(places, default=None)


def _search(request: dict[str, Any], source: BinaryIO) -> Iterator[dict[str, Any]]:
    finder = Finder(request["query"], request["regex"])
    limit, context, deadline = request["limit"], request["context"], time.monotonic() + request["seconds"]
    before: deque[dict[str, Any]] = deque(maxlen=context)
    partial: list[dict[str, Any]] = []
    matches = number = after = 0
    stopped = False
    for count, (number, line) in enumerate(_lines(source)):
        if (count % LINES_AT_ONCE == 0 and time.monotonic() > deadline) or matches >= MATCHES_COUNTED_MAX:
            stopped = True
            break
        place = finder.all_at(line)
        if place is not None:
            matches += 1
            if matches <= limit:
                yield from before
                before.clear()
                after = context
                yield _shown(number, line, place, hit=True)
        elif after > 0:
            after -= 1
            yield _shown(number, line, 0, hit=False)
        elif matches < limit:
            if context:
                before.append(_shown(number, line, 0, hit=False))
            if not matches and len(partial) < limit and (place := finder.any_at(line)) is not None:
                partial.append(_shown(number, line, place, hit=True))
    if not matches:
        yield from partial
    yield {
        "done": True,
        "matches": matches,
        "partial": 0 if matches else len(partial),
        "lines": number,
        "stopped": stopped,
    }


def _lines(source: BinaryIO) -> Iterator[tuple[int, str]]:
    """Each line with its number; a very long one in pieces under the same number."""
    number = 1
    while piece := source.readline(PIECE_MAX_BYTES):
        yield number, piece.decode("utf-8", "replace").rstrip("\r\n")
        number += piece.endswith(b"\n")


def _shown(number: int, line: str, place: int, *, hit: bool) -> dict[str, Any]:
    start = max(0, place - SNIPPET_BEFORE_CHARS)
    if len(line) <= SNIPPET_CHARS:
        start = 0
    text = line[start : start + SNIPPET_CHARS]
    return {
        "line": number,
        "hit": hit,
        "text": f"{'…' if start else ''}{text}{'…' if start + len(text) < len(line) else ''}",
    }


def _follow(request: dict[str, Any], source: BinaryIO) -> Iterator[dict[str, Any]]:
    import jsonpath

    try:
        # A number too long for Python to read stays its digits.
        document = json.load(source, parse_int=lambda digits: int(digits) if len(digits) < 600 else digits)
    except (ValueError, RecursionError):
        yield {"error": "it is not JSON; read it by lines"}
        return
    matches = chars = 0
    try:
        for match in jsonpath.finditer(request["path"], document):
            matches += 1
            if matches <= request["limit"] and chars < VALUES_MAX_CHARS:
                text = json.dumps(match.obj, ensure_ascii=False, indent=1)[:VALUES_MAX_CHARS]
                chars += len(text)
                yield {"path": str(match.path), "text": text}
            if matches >= MATCHES_COUNTED_MAX:
                break
    except jsonpath.JSONPathError as error:
        yield {"error": f"the path is not one: {str(error).splitlines()[0]}"}
        return
    yield {"done": True, "matches": matches}


if __name__ == "__main__":
    main()

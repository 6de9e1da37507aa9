"""How a model's questions about an artifact are answered: a line that says what this is and how to go on, then it."""

import asyncio
import json
import re
from typing import Any, Final

from clew.artifacts.reading_back.asking import ask
from clew.artifacts.reading_back.slices import COUNT_MAX_BYTES, Range, count_lines, parse_range, pick_lines
from clew.artifacts.ref import ArtifactRef
from clew.artifacts.store import ArtifactStore
from clew.errors import InvalidInput, NotFound
from clew.limits import check_text
from clew.tokens import count, truncate

QUERY_MAX_CHARS: Final = 1_000
CONTEXT_LINES_MAX: Final = 20
SEARCH_LIMIT_MAX: Final = 100
LIST_LIMIT_MAX: Final = 100
# How many artifacts are looked through for a name.
LIST_SCAN_MAX: Final = 2_000
LIST_PAGE: Final = 200
JSON_MAX_BYTES: Final = 32 * 1024 * 1024
JSON_MATCHES_MAX: Final = 100
# Programs that search at the same time.
SEARCHES_AT_ONCE: Final = 4
# What the head line may take; and no token is longer than this many bytes, so more need not be fetched.
HEAD_TOKENS: Final = 90
TOKEN_MAX_BYTES: Final = 128
SNIFFED_BYTES: Final = 4_096
LABEL_MAX_CHARS: Final = 60

_ID: Final = re.compile(r"art_[a-z2-7]{16}(?![A-Za-z0-9])")
_TEXT_TYPE: Final = re.compile(r"text/.*|[a-z]+/(.*[+.-])?(json|xml|yaml|javascript|x-sh|sql|x-ndjson|csv)(\s*;.*)?")
_UNSHOWABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Looker:
    """One tenant's artifacts, as a model looks at them."""

    def __init__(self, store: ArtifactStore, tenant_id: str) -> None:
        self._store = store
        self._tenant_id = tenant_id
        self._searches = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def find(self, artifact_id: object) -> ArtifactRef:
        """The artifact that a model means: it may quote more of a summary than the id."""
        found = _ID.search(artifact_id) if isinstance(artifact_id, str) else None
        if found is None:
            raise NotFound
        return await self._store.stat(found[0], tenant_id=self._tenant_id)

    async def read_lines(self, ref: ArtifactRef, lines: str, max_tokens: int) -> str:
        """Some lines, as many of them as fit."""
        wanted = parse_range(lines, "lines", least=1)
        if binary := await self._binary(ref):
            return binary
        if wanted.tail is not None:
            wanted = await self._tail(ref, wanted.tail)
        room = max_tokens - HEAD_TOKENS
        picked, known = await pick_lines(self._chunks(ref), wanted, room * TOKEN_MAX_BYTES, ref.size)
        of_total = f" of {picked.total:,}" if known else ""
        if picked.start is None or not picked.data:
            return f"{_head(ref)} has no line {wanted.first:,}: it has {picked.total:,}."
        text = bytes(picked.data).decode("utf-8", "surrogateescape")
        part = truncate(text, room)
        whole = part if len(part) == len(text) and not _cut(picked.data, room) else part[: part.rfind("\n") + 1]
        if not whole:
            there = picked.start + _size(part)
            return (
                f"{_head(ref)} line {wanted.first:,}{of_total} is longer than fits. "
                f'Go on with bytes="{there}-".\n{_shown(part)}'
            )
        last = wanted.first + whole.count("\n") - whole.endswith("\n")
        more = picked.total > last or not known
        onward = f' Go on with lines="{last + 1}-{2 * last + 1 - wanted.first}".' if more else ""
        return f"{_head(ref)} lines {wanted.first:,}-{last:,}{of_total}.{onward}\n{_shown(whole)}"

    async def read_bytes(self, ref: ArtifactRef, given: str, max_tokens: int) -> str:
        """Some bytes, as text, as many of them as fit."""
        wanted = parse_range(given, "bytes", least=0)
        if binary := await self._binary(ref):
            return binary
        first = wanted.first if wanted.tail is None else max(0, ref.size - wanted.tail)
        if first >= ref.size:
            return f"{_head(ref)} has no byte {first:,}."
        room = max_tokens - HEAD_TOKENS
        end = ref.size if wanted.last is None else min(ref.size, wanted.last + 1)
        length = min(end - first, room * TOKEN_MAX_BYTES)
        data = await self._store.read(ref.artifact_id, first, length, tenant_id=self._tenant_id)
        part = truncate(data.decode("utf-8", "surrogateescape"), room)
        last = first + _size(part) - 1
        onward = f' Go on with bytes="{last + 1}-".' if last + 1 < ref.size else ""
        return f"{_head(ref)} bytes {first:,}-{last:,}.{onward}\n{_shown(part)}"

    async def follow(self, ref: ArtifactRef, path: str, max_tokens: int) -> str:
        """What a JSON path leads to."""
        check_text(path, "json_path", max_bytes=QUERY_MAX_CHARS, allow_empty=False)
        if binary := await self._binary(ref):
            return binary
        if ref.size > JSON_MAX_BYTES:
            return (
                f"{_head(ref)} is too large for a JSON path: the limit is {JSON_MAX_BYTES:,} bytes. Search it instead."
            )
        async with self._searches:
            answers = await ask({"do": "path", "path": path, "limit": JSON_MATCHES_MAX}, self._chunks(ref))
        found, done = _parted(answers)
        if "error" in done:
            return f"{_head(ref)}: {done['error']}."
        if not found:
            return f"{_head(ref)} has nothing at {_label(path)}. Read its first lines to see its shape."
        matches = int(done["matches"])
        text = found[0]["text"] if matches == 1 else "\n".join(f"{one['path']}: {one['text']}" for one in found)
        part = truncate(text, max_tokens - HEAD_TOKENS)
        cut = len(part) < len(text) or matches > len(found)
        onward = " Not all of it fits: use a narrower path, such as one with [0:20]." if cut else ""
        return f"{_head(ref)} {matches:,} value{'s' * (matches > 1)} at {_label(path)}.{onward}\n{_shown(part)}"

    async def search(
        self, ref: ArtifactRef, query: str, regex: bool, context_lines: int, limit: int, max_tokens: int
    ) -> str:
        """The lines that match, with their numbers."""
        check_text(query, "query", max_bytes=QUERY_MAX_CHARS, allow_empty=False)
        if not query.strip():
            raise InvalidInput("must not be empty", where="query")
        if binary := await self._binary(ref):
            return binary
        request = {
            "do": "search",
            "query": query,
            "regex": bool(regex),
            "context": _clamped(context_lines, 0, CONTEXT_LINES_MAX, 0),
            "limit": _clamped(limit, 1, SEARCH_LIMIT_MAX, 20),
        }
        async with self._searches:
            found, done = _parted(await ask(request, self._chunks(ref)))
        if "error" in done:
            return f"{_head(ref)}: {done['error']}."
        lines = [f"{one['line']}{':' if one['hit'] else '-'} {_shown(one['text'])}" for one in found]
        kept = _fitting(lines, max_tokens - HEAD_TOKENS)
        return "\n".join([f"{_head(ref)} {_told(query, found, len(kept), done)}", *kept])

    async def listing(self, limit: int, name_contains: str | None, max_tokens: int) -> str:
        """The newest artifacts, a line each."""
        wanted = None if name_contains is None else check_text(name_contains, "name_contains").casefold()
        most = _clamped(limit, 1, LIST_LIMIT_MAX, 20)
        found: list[ArtifactRef] = []
        for offset in range(0, LIST_SCAN_MAX, LIST_PAGE):
            page = await self._store.list(tenant_id=self._tenant_id, limit=LIST_PAGE, offset=offset)
            found += [ref for ref in page if wanted is None or wanted in (ref.name or "").casefold()]
            if len(found) > most or len(page) < LIST_PAGE:
                break
        if not found:
            return (
                "There are no artifacts." if wanted is None else f"No artifact has {_label(name_contains)} in its name."
            )
        kept = _fitting([_listed(ref) for ref in found[:most]], max_tokens - HEAD_TOKENS)
        more = " There are more: narrow it with name_contains." if len(found) > len(kept) else ""
        return "\n".join([f"{len(kept)} artifact{'s' * (len(kept) > 1)}, newest first.{more}", *kept])

    async def _tail(self, ref: ArtifactRef, lines: int) -> Range:
        if ref.size > COUNT_MAX_BYTES:
            raise InvalidInput(
                f"this artifact is too large to count its lines from the end ({ref.size:,} bytes)",
                where="lines",
                fix='Read its end by bytes instead: bytes="-8000"',
            )
        total = await count_lines(self._chunks(ref))
        return Range(max(1, total - lines + 1), None)

    async def _binary(self, ref: ArtifactRef) -> str | None:
        """What to say of an artifact that is not text."""
        if _TEXT_TYPE.fullmatch(ref.media_type.lower()):
            return None
        start = await self._store.read(ref.artifact_id, 0, SNIFFED_BYTES, tenant_id=self._tenant_id)
        text = start.decode("utf-8", "surrogateescape")
        if not _UNSHOWABLE.search(text[:-3] if len(start) == SNIFFED_BYTES else text):
            return None
        facts = [f"{key} {value}" for key, value in ref.details.items() if isinstance(value, int | float)]
        named = [] if ref.name is None else [f"name {_label(ref.name)}"]
        return f"{_head(ref)}: not text, so there is nothing to read. {', '.join([*named, *facts][:10])}".rstrip()

    def _chunks(self, ref: ArtifactRef) -> Any:
        return self._store.stream(ref.artifact_id, tenant_id=self._tenant_id)


def _head(ref: ArtifactRef) -> str:
    return f"[{ref.artifact_id} {ref.media_type[:LABEL_MAX_CHARS]}, {ref.size:,} bytes]"


def _label(text: str | None) -> str:
    """A text from outside on one line, in quotes, cut short."""
    line = _UNSHOWABLE.sub("\ufffd", " ".join((text or "").split()))
    return json.dumps(line if len(line) <= LABEL_MAX_CHARS else f"{line[:LABEL_MAX_CHARS]}…", ensure_ascii=False)


def _shown(text: str) -> str:
    """What no message can hold shows as the replacement character."""
    return _UNSHOWABLE.sub("\ufffd", text)


def _size(part: str) -> int:
    return len(part.encode("utf-8", "surrogateescape"))


def _cut(data: bytearray, room: int) -> bool:
    return len(data) >= room * TOKEN_MAX_BYTES


def _clamped(value: object, least: int, most: int, otherwise: int) -> int:
    """A number a model gave, brought within bounds; it is not worth an error."""
    return max(least, min(value, most)) if isinstance(value, int) else otherwise


def _parted(answers: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    if not answers or not ("done" in answers[-1] or "error" in answers[-1]):
        return [], {"error": "it ended before it was done: use a simpler pattern or path"}
    return answers[:-1], answers[-1]


def _told(query: str, found: list[dict[str, Any]], kept: int, done: dict[str, Any]) -> str:
    """How many lines match, and whether all of them are here."""
    stopped = f" Stopped at line {done['lines']:,}, which is not the end." if done["stopped"] else ""
    if not found:
        return f"no line matches {_label(query)} in {done['lines']:,} lines.{stopped}"
    if done["partial"]:
        return f"no line has all of {_label(query)}; these have some of it.{stopped}"
    hits = sum(one["hit"] for one in found[:kept])
    all_here = hits == done["matches"]
    shown = "all here" if all_here else f"the first {hits:,} here; narrow the query for others"
    return f"{done['matches']:,} matching line{'s' * (done['matches'] > 1)} for {_label(query)}, {shown}.{stopped}"


def _fitting(lines: list[str], max_tokens: int) -> list[str]:
    """As many lines from the start as fit."""
    kept: list[str] = []
    left = max_tokens
    for line in lines:
        # One more for the line end between two of them.
        left -= count(line) + 1
        if left < 0:
            break
        kept.append(line)
    return kept


def _listed(ref: ArtifactRef) -> str:
    made = ref.created_at.strftime("%Y-%m-%d %H:%M")
    return f"{ref.artifact_id} {ref.media_type[:LABEL_MAX_CHARS]} {ref.size:,} bytes {made} {_label(ref.name)}"

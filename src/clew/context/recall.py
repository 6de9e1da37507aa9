"""`recall_messages`: the way back to what a summary stands for, for programs and as a tool for models."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, Protocol

from clew.artifacts.isolation.calls import reads_back
from clew.errors import ClewError, InvalidInput
from clew.limits import check_count, check_text
from clew.sessions import StoredMessage
from clew.sessions.rows import SESSION_READ_MAX
from clew.tokens import count, truncate

# What one call of the tool may return: so much in all, and so much of one message that words were found in.
RECALL_MAX_TOKENS: Final = 4_000
EXCERPT_MAX_TOKENS: Final = 800
EXCERPT_LEAD_CHARS: Final = 600
RECALL_MAX_MESSAGES: Final = 20
PAGES_MAX: Final = 10_000
POSITIONS_TEXT_MAX_BYTES: Final = 4_096
POSITIONS_LISTED_MAX: Final = 20
_RANGE: Final = re.compile(r"(\d{1,18})(?:\s*[-–]\s*(\d{1,18}))?")

RecallTool = Callable[..., Awaitable[str]]


class Recalls(Protocol):
    """What the tool needs: `Compactor.recall_messages`."""

    async def recall_messages(
        self,
        thread_id: str,
        query: str | None = None,
        *,
        positions: str | Sequence[int] | None = None,
        limit: int = 10,
        tenant_id: str = "default",
    ) -> list[StoredMessage]: ...


def positions_of(value: str | Collection[int]) -> list[int]:
    """Positions from `"3-7, 12"` or from numbers, in order, each once."""
    if isinstance(value, str):
        found = _written_positions(value)
    elif isinstance(value, Collection) and not isinstance(value, bytes | bytearray | Mapping):
        found = {check_count(one, f"positions[{place}]", most=2**63 - 1) for place, one in enumerate(value)}
    else:
        raise InvalidInput(
            f"expected a text or a list of numbers, got {type(value).__name__}",
            where="positions",
            fix='Write "3-7, 12"',
        )
    if not found:
        raise InvalidInput("names no position", where="positions", fix='Write "3-7, 12"')
    if len(found) > SESSION_READ_MAX:
        raise _too_many(len(found))
    return sorted(found)


def _written_positions(text: str) -> set[int]:
    check_text(text, "positions", max_bytes=POSITIONS_TEXT_MAX_BYTES)
    found: set[int] = set()
    total = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise InvalidInput(f"{ascii(part)[:40]} is not a position", where="positions", fix='Write "3-7, 12"')
        first, last = int(match[1]), int(match[2] or match[1])
        total += max(0, last - first + 1)
        if total > SESSION_READ_MAX:
            raise _too_many(total)
        found.update(range(max(1, first), last + 1))
    return found


def _too_many(count: int) -> InvalidInput:
    return InvalidInput(
        f"asks for {count:,} messages; the limit is {SESSION_READ_MAX:,}", where="positions", fix="Ask for fewer"
    )


def recall_tool(recalls: Recalls, *, tenant_id: str, thread_id: str) -> RecallTool:
    """`recall_messages` for a model, bound to one thread: a plain function that every framework takes as a tool.

    Its docstring is short: a model is sent it with every request.
    """

    async def recall_messages(
        query: str | None = None, positions: str | None = None, limit: int = 5, page: int = 1
    ) -> str:
        """Look up earlier messages that are no longer shown, by position or words.

        Args:
            positions: "12" or "3-7, 12".
            page: Of a long message, from 1.
        """
        try:
            check_count(limit, "limit", most=SESSION_READ_MAX)
            check_count(page, "page", most=PAGES_MAX)
            found = await recalls.recall_messages(
                thread_id,
                query or None,
                positions=None if positions is None or positions == "" else positions,
                limit=min(limit, RECALL_MAX_MESSAGES),
                tenant_id=tenant_id,
            )
        except ClewError as error:
            return f"Nothing recalled: {error}"
        return told(found, query=query or "", page=page)

    return reads_back(recall_messages)


def told(found: Sequence[StoredMessage], *, query: str = "", page: int = 1) -> str:
    """Messages as a model reads them, each under its position; what is left out is said, and how to get it."""
    if not found:
        return "No message of this conversation matches."
    if len(found) == 1 and not query:
        return _paged(found[0], page)
    left = RECALL_MAX_TOKENS
    lines: list[str] = []
    for place, row in enumerate(found):
        text = _around(row, query) if query else _excerpt(row, _whole(row), RECALL_MAX_TOKENS // 2)
        if (needed := count(text)) > left:
            lines.append(_rest(found[place:]))
            break
        lines.append(text)
        left -= needed
    return "\n\n".join(lines)


def _head(row: StoredMessage) -> str:
    return f"[{row.position}] {row.message.role}, {row.created_at:%Y-%m-%d %H:%M} UTC:"


def _whole(row: StoredMessage) -> str:
    calls = "".join(f"\n→ {call.name}({call.arguments_text})" for call in row.message.tool_calls)
    return row.message.text + calls


def _paged(row: StoredMessage, page: int) -> str:
    """One message, or the part of it that a page holds."""
    text = _whole(row)
    start = len(truncate(text, RECALL_MAX_TOKENS * (page - 1))) if page > 1 else 0
    part = truncate(text[start:], RECALL_MAX_TOKENS)
    if not part and start:
        return f"{_head(row)}\n[There is no page {page}.]"
    more = start + len(part) < len(text)
    note = f'\n[Goes on: recall_messages(positions="{row.position}", page={page + 1})]' if more else ""
    return f"{_head(row)}\n{part}{note}"


def _around(row: StoredMessage, query: str) -> str:
    """The message, or the part of a long one around the first of the words."""
    text = _whole(row)
    words = filter(None, (word.strip('"') for word in query.split()))
    places = [found.start() for word in words if (found := re.search(re.escape(word), text, re.IGNORECASE))]
    first = max(0, min(places, default=0) - EXCERPT_LEAD_CHARS)
    return _excerpt(row, text[first:], EXCERPT_MAX_TOKENS, begins=first == 0)


def _excerpt(row: StoredMessage, text: str, max_tokens: int, *, begins: bool = True) -> str:
    part = truncate(text, max_tokens)
    if begins and len(part) == len(text):
        return f"{_head(row)}\n{text}"
    note = f'[A part of {row.tokens:,} tokens; recall_messages(positions="{row.position}") returns the whole, by pages]'
    return f"{_head(row)}\n{'' if begins else '… '}{part} …\n{note}"


def _rest(rows: Sequence[Any]) -> str:
    listed = ", ".join(str(row.position) for row in rows[:POSITIONS_LISTED_MAX])
    more = f" and {len(rows) - POSITIONS_LISTED_MAX:,} more" if len(rows) > POSITIONS_LISTED_MAX else ""
    return f"[not shown: messages {listed}{more}. Ask for fewer at a time.]"

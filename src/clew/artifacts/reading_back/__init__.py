"""Tools that a model can call to read what was moved out of its window.

What they return is text, bounded in tokens, that says how to go on; what is wrong comes back as a sentence, not as an
exception. They are marked, so that `isolate_tool` leaves them and what they return alone.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final

from clew.artifacts.isolation.calls import ReadBack, reads_back
from clew.artifacts.reading_back.asking import TookTooLong
from clew.artifacts.reading_back.looking import LIST_SCAN_MAX, SEARCH_LIMIT_MAX, Looker
from clew.artifacts.store import ArtifactStore
from clew.errors import ClewError, InvalidInput, NotFound
from clew.ids import check_tenant_id

__all__ = ["LIST_SCAN_MAX", "READ_DEFAULT_TOKENS", "READ_MAX_TOKENS", "SEARCH_LIMIT_MAX", "read_back_tools"]

READ_DEFAULT_TOKENS: Final = 2_000
READ_MAX_TOKENS: Final = 8_000
READ_LEAST_TOKENS: Final = 200

Tool = Callable[..., Awaitable[str]]


def read_back_tools(store: ArtifactStore, *, tenant_id: str = "default") -> list[Tool]:
    """`read_artifact`, `search_artifact` and `list_artifacts` for a model, on one tenant's artifacts.

    Plain async functions with types and docstrings, as agent frameworks take them. The docstrings are short because a
    model is sent them with every request.
    """
    if not isinstance(store, ArtifactStore):
        raise InvalidInput(f"expected a clew.ArtifactStore, got {type(store).__name__}", where="store")
    looker = Looker(store, check_tenant_id(tenant_id))
    return [_read_artifact(looker), _search_artifact(looker), _list_artifacts(looker)]


def _read_artifact(looker: Looker) -> Tool:
    @_answering
    async def read_artifact(
        artifact_id: str,
        lines: str | None = None,
        bytes: str | None = None,
        json_path: str | None = None,
        max_tokens: int = READ_DEFAULT_TOKENS,
    ) -> str:
        """Read a stored result (art_…), from its first line or a part.

        Args:
            lines: "1-40", "41-", or "-40" for the last 40.
            bytes: "0-4095".
            json_path: "$.items[0].name".
            max_tokens: 200 to 8000.
        """
        if sum(part is not None for part in (lines, bytes, json_path)) > 1:
            return "Give only one of lines, bytes and json_path."
        ref = await looker.find(artifact_id)
        tokens = _within(max_tokens)
        if json_path is not None:
            return await looker.follow(ref, json_path, tokens)
        if bytes is not None:
            return await looker.read_bytes(ref, bytes, tokens)
        return await looker.read_lines(ref, "1-" if lines is None else lines, tokens)

    return read_artifact


def _search_artifact(looker: Looker) -> Tool:
    @_answering
    async def search_artifact(
        artifact_id: str, query: str, regex: bool = False, context_lines: int = 0, limit: int = 20
    ) -> str:
        """Find lines of a stored result (art_…).

        Args:
            query: Words a line must all hold, or a regex.
        """
        ref = await looker.find(artifact_id)
        return await looker.search(ref, query, regex, context_lines, limit, READ_DEFAULT_TOKENS)

    return search_artifact


def _list_artifacts(looker: Looker) -> Tool:
    @_answering
    async def list_artifacts(limit: int = 20, name_contains: str | None = None) -> str:
        """List stored results, newest first."""
        return await looker.listing(limit, name_contains, READ_DEFAULT_TOKENS)

    return list_artifacts


def _answering(tool: Tool) -> Tool:
    """The tool, marked; what goes wrong in it is answered in words that a model can act on."""

    @functools.wraps(tool)
    async def answered(*args: Any, **kwargs: Any) -> str:
        try:
            return ReadBack(await tool(*args, **kwargs))
        except NotFound:
            return ReadBack("There is no artifact of this id. list_artifacts shows those there are.")
        except TookTooLong:
            return ReadBack("This took too long and was stopped. Use a simpler pattern or path, or read by lines.")
        except ClewError as error:
            return ReadBack(f"This did not work: {error}")

    return reads_back(answered)


def _within(max_tokens: object) -> int:
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int):
        return READ_DEFAULT_TOKENS
    return max(READ_LEAST_TOKENS, min(max_tokens, READ_MAX_TOKENS))

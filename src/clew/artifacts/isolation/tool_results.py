"""`ToolResultCache`: every isolated result, whole, until somebody clears the thread it belongs to."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from clew.artifacts.isolation.calls import check_call_id, check_thread, check_tool
from clew.artifacts.isolation.classes import NotExact
from clew.artifacts.isolation.exact import Exact, exactly, restored
from clew.artifacts.isolation.savings import Passed, Savings
from clew.artifacts.objects.checks import PUT_MAX_BYTES, artifact_id_of
from clew.artifacts.ref import ArtifactRef, Lifetime
from clew.artifacts.shapes import media_type_of, rendered
from clew.artifacts.store import ArtifactStore
from clew.errors import InvalidInput, NotFound, Unavailable
from clew.ids import check_tenant_id, new_id
from clew.limits import check_text
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room
from clew.tokens import count

__all__ = ["Savings", "ToolResultCache", "Weighed", "weigh"]

SAVINGS_READ_MAX: Final = 1_000
STREAM_CHUNK_BYTES: Final = 1024 * 1024
_SQL: Final = statements("tool_results")

WriteSummary = Callable[[list[dict[str, Any]]], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A result as it will be kept, what a model would have been shown of it, and what that costs."""

    exact: Exact
    text: str
    full_tokens: int
    artifact_id: str
    """Known before it is stored: it comes from the bytes."""


def weigh(result: Any) -> Weighed:
    """All that must be known of a result before it is isolated; `NotExact` when it can't be kept as it is."""
    exact = exactly(result, media_type_of(result) if isinstance(result, str | bytes) else None)
    text = rendered(result)
    return Weighed(exact, text, count(text), artifact_id_of(exact.media_type, hashlib.sha256(exact.data).digest()))


class ToolResultCache(Room):
    """Tools' full results: durable, a tenant's own, given back exactly as the tool returned them, types too.

        cache = clew.ToolResultCache(engine.artifacts)
        search = clew.isolate_tool(search, cache, tenant_id="acme")       # the model sees a summary
        await cache.get_tool_result("call_42", tenant_id="acme")          # or the artifact's id in the summary

    `artifacts` is the store that holds the bytes; without one, a store on `database` is opened and closed with this.
    `keep` is how long they are kept there (`"forever"`, `"ttl:7d"`, `"last_used:30d"`). `write_summary` is a model that
    writes the summaries: it takes messages in OpenAI form and answers text; without it none is needed.
    """

    def __init__(
        self,
        artifacts: ArtifactStore | None = None,
        *,
        database: str | Database | None = None,
        keep: Lifetime | timedelta | str = "forever",
        write_summary: WriteSummary | None = None,
    ) -> None:
        if not (artifacts is None or isinstance(artifacts, ArtifactStore)):
            raise InvalidInput(f"expected a clew.ArtifactStore, got {type(artifacts).__name__}", where="artifacts")
        if not (write_summary is None or callable(write_summary)):
            raise InvalidInput(f"expected a function, got {type(write_summary).__name__}", where="write_summary")
        self._keep = Lifetime.of(keep)
        self._own_store = artifacts is None
        self.artifacts = ArtifactStore(database) if artifacts is None else artifacts
        self.write_summary = write_summary
        self.passed = Passed()
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop that the database belongs to: where it was last used."""
        super().__init__(self.artifacts)
        if artifacts is not None and database is not None and database is not self._database:
            raise InvalidInput(
                "the artifacts are in another database", where="database", fix="Pass `artifacts`, or `database`, alone"
            )

    async def opened(self) -> Database:
        """The database, open: the one of the artifacts, which the results' rows name."""
        self.loop = asyncio.get_running_loop()
        return await super().opened()

    async def close(self) -> None:
        """Close the store, unless it was given to us."""
        if self._own_store:
            await self.artifacts.close()

    async def put_tool_result(
        self,
        tool_call_id: str,
        result: Any,
        *,
        tool: str,
        tenant_id: str = "default",
        thread_id: str | None = None,
        shown: str = "",
    ) -> ArtifactRef:
        """Keep a result, and count what was `shown` of it; `isolate_tool` does this by itself.

        When it returns, the result is durable. A call's id may come twice: the newest result answers.
        """
        check_text(shown, "shown")
        try:
            weighed = await asyncio.to_thread(weigh, result)
        except NotExact as error:
            raise InvalidInput(f"can't be kept so that it comes back as it was: {error}", where="result") from error
        return await self.keep(
            weighed,
            tool_call_id=tool_call_id,
            tool=tool,
            tenant_id=tenant_id,
            thread_id=thread_id,
            shown_tokens=count(shown),
        )

    async def keep(
        self,
        weighed: Weighed,
        *,
        tool_call_id: str,
        tool: str,
        tenant_id: str,
        thread_id: str | None,
        shown_tokens: int,
    ) -> ArtifactRef:
        """The bytes first, then the row that says whose answer they are."""
        values = {
            "tenant_id": check_tenant_id(tenant_id),
            "result_id": new_id(),
            "tool_call_id": check_call_id(tool_call_id),
            "thread_id": None if thread_id is None else check_thread(thread_id),
            "tool": check_tool(tool),
            "artifact_id": weighed.artifact_id,
            "form": weighed.exact.form,
            "full_tokens": weighed.full_tokens,
            "shown_tokens": shown_tokens,
        }
        database = await self.opened()
        ref = await self._put(weighed.exact, tool, tenant_id)
        async with database.tenant(tenant_id) as connection:
            added = await (await connection.execute(_SQL.add, values)).fetchone()
        if added is None:
            raise Unavailable("the artifact was collected while its result was being recorded", fix="Retry")
        return ref

    async def get_tool_result(self, tool_call_id: str, *, tenant_id: str = "default") -> Any:
        """The full result, exactly as the tool returned it, by the id of the call or of the artifact; `NotFound`."""
        wanted = check_call_id(tool_call_id)
        values = {"tenant_id": check_tenant_id(tenant_id), "wanted": wanted}
        async with (await self.opened()).tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.find, values)).fetchone()
        if row is None or row[0] is None:
            raise NotFound(f"there is no tool result of the id {wanted[:80]!a}")
        data = await self._bytes_of(row[0], tenant_id)
        return await asyncio.to_thread(restored, data, row[1])

    async def savings(self, *, tenant_id: str = "default", thread_id: str | None = None) -> list[Savings]:
        """Per tool, what isolation kept out of the window, in one thread or in all; `Savings.total` adds them up."""
        values = {
            "tenant_id": check_tenant_id(tenant_id),
            "thread_id": None if thread_id is None else check_thread(thread_id),
            "limit": SAVINGS_READ_MAX,
        }
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.savings, values)).fetchall()
        passed = self.passed.by_tool(tenant_id, thread_id)
        found = [
            Savings(tool, isolated + passed.pop(tool, 0), isolated, full, shown) for tool, isolated, full, shown in rows
        ]
        return found + [Savings(tool, calls, 0, 0, 0) for tool, calls in sorted(passed.items())]

    async def _put(self, exact: Exact, tool: str, tenant_id: str) -> ArtifactRef:
        options: dict[str, Any] = {
            "media_type": exact.media_type,
            "name": tool,
            "tenant_id": tenant_id,
            "keep": self._keep,
            "details": {"tool": tool},
        }
        if len(exact.data) <= PUT_MAX_BYTES:
            return await self.artifacts.put(exact.data, **options)
        return await self.artifacts.put_stream(_pieces(exact.data), **options)

    async def _bytes_of(self, artifact_id: str, tenant_id: str) -> bytes:
        if (await self.artifacts.stat(artifact_id, tenant_id=tenant_id)).size <= PUT_MAX_BYTES:
            return (await self.artifacts.get(artifact_id, tenant_id=tenant_id)).data
        return b"".join([piece async for piece in self.artifacts.stream(artifact_id, tenant_id=tenant_id)])


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), STREAM_CHUNK_BYTES):
        yield data[start : start + STREAM_CHUNK_BYTES]

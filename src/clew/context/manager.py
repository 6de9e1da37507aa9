"""`ContextManager`: the three tiers as one. It loads, looks up, compiles; the choices are the compiler's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from clew.context.compiled import Compiled
from clew.context.compiler import WorkingContextCompiler, log_compiled
from clew.context.manifest import OLDER
from clew.context.selecting.selection import PICKING
from clew.context.selecting.selector import Place
from clew.context.speech import Turn
from clew.context.task import Task
from clew.context.window import Sessions, Window, names_of
from clew.context.wiring import Parts
from clew.context.writing_back.write_back import read_or_log, speaker_of
from clew.errors import InvalidInput
from clew.ids import check_tenant_id, new_id
from clew.limits import check_json, check_text

if TYPE_CHECKING:
    from clew.context.compactor import Compactor
    from clew.context.history import SessionMessage
    from clew.context.standing.kept import KeptInstruction
    from clew.memory import MemoryEntry

# The first read of a log takes what its share holds when messages are this short; most are longer, and one read is
# enough. No less than a few, whatever the share.
SHORT_MESSAGE_TOKENS: Final = 64
FIRST_READ_MIN_MESSAGES: Final = 32
# When all of them fit, so many times more are read.
READ_GROWTH: Final = 4
# No message costs less, so a log read this far back cannot hold more that fits; and no store gives more at once.
MESSAGE_MIN_TOKENS: Final = 4
READ_MAX_MESSAGES: Final = 10_000
# How many of the latest messages are read for what the turn wants.
RECENT_MAX_MESSAGES: Final = 6


class Memories(Protocol):
    """What is needed of a memory."""

    async def search(self, tenant_id: str, query: str, limit: int = 10) -> "list[MemoryEntry]": ...

    async def store(self, entry: "MemoryEntry") -> str: ...


@dataclass(frozen=True, slots=True)
class _CaughtUp:
    """Whose the thread is, where that is known, and what could not be learnt."""

    user_id: str | None = None
    notes: tuple[str, ...] = ()


class ContextManager:
    """Sessions, memory and the compiler, wired: one call from a thread and a task to what a model should see."""

    def __init__(
        self,
        session_store: Sessions,
        memory: Memories,
        compiler: WorkingContextCompiler,
        *,
        compactor: "Compactor | None" = None,
        parts: Parts | None = None,
    ) -> None:
        self._session_store = session_store
        self._memory = memory
        self._compiler = compiler
        self._compactor = compactor
        self._parts = Parts.around(session_store, memory) if parts is None else parts

    @property
    def session(self) -> Sessions:
        """The session store."""
        return self._session_store

    async def compile_working_context(
        self,
        tenant_id: str,
        thread_id: str,
        task: Mapping[str, Any] | str,
        system_prompt: str,
        model_tier: str = "reasoning",
        *,
        tools: Iterable[Any] = (),
        user_id: str | None = None,
    ) -> dict[str, Any]:
        """What a model should see of a thread, for a task: the keys that `WorkingContextCompiler.compile` returns."""
        compiled = await self.compiled(
            tenant_id, thread_id, task, system_prompt, model_tier, tools=tools, user_id=user_id
        )
        return compiled.as_dict()

    async def compiled(
        self,
        tenant_id: str,
        thread_id: str,
        task: Mapping[str, Any] | str,
        system_prompt: str,
        model_tier: str = "reasoning",
        *,
        tools: Iterable[Any] = (),
        user_id: str | None = None,
    ) -> Compiled:
        """The same as an object that can be converted to any provider's form.

        What was said since the last time is learnt first. Only the newest stretch of the log is read, as long as the
        budget could hold: the cost does not grow with the thread. Older turns are seen through their summary, where
        there is one; a thread past a threshold is compacted in the background. What is known is looked up where the
        turn wants it, and standing instructions (of the tenant, the thread, and the user it belongs to or `user_id`
        names) are always there. `tools` are those the model has (names, functions or schemas): references are shown
        only to a model that can follow them. When a store is not reachable the context is compiled without it, and the
        manifest's `notes` say so; every other error is the caller's to see.
        """
        check_tenant_id(tenant_id)
        compiler, wanted = self._compiler.for_tier(model_tier), Task.of(task)
        limit = max(FIRST_READ_MIN_MESSAGES, compiler.budget.session // SHORT_MESSAGE_TOKENS)
        most = min(READ_MAX_MESSAGES, compiler.budget.tokens // MESSAGE_MIN_TOKENS + 1)
        window = Window(
            self._session_store, self._compactor, tenant_id, thread_id, names_of(tools), self._parts.standing
        )
        learnt = await self._caught_up(tenant_id, thread_id)
        session, whole = await window.newest(limit)
        instructions = await self._instructions(tenant_id, thread_id, user_id)
        speaker = speaker_of(user_id or learnt.user_id, thread_id)
        place = Place(tenant_id, thread_id, window.hidden_through, speaker)
        selection = await self._parts.selector.select(place, wanted, _recent(session))
        while True:
            compiled = compiler.compiled(
                system_prompt,
                session,
                selection.found,
                wanted,
                notes=(*learnt.notes, *selection.notes),
                instructions=instructions,
                picking=PICKING,
                selection=selection.told,
            )
            if whole or limit >= most or _reaches_beyond(compiled):
                log_compiled(compiled, model_tier=model_tier, tenant_id=tenant_id, thread_id=thread_id)
                await window.compiled(compiled)
                return compiled
            limit = min(limit * READ_GROWTH, most)
            session, whole = await window.newest(limit)

    async def _caught_up(self, tenant_id: str, thread_id: str) -> _CaughtUp:
        if self._parts.write_back is None:
            return _CaughtUp()
        learnt = await read_or_log(self._parts.write_back, tenant_id, thread_id)
        return _CaughtUp(notes=(learnt,)) if isinstance(learnt, str) else _CaughtUp(learnt.user_id)

    async def _instructions(self, tenant_id: str, thread_id: str, user_id: str | None) -> "Sequence[KeptInstruction]":
        if self._parts.standing is None:
            return ()
        return await self._parts.standing.active(tenant_id=tenant_id, thread_id=thread_id, user_id=user_id)

    async def store_memory(
        self, tenant_id: str, agent_id: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remembers a text, and returns its id."""
        from clew.memory import MemoryEntry

        if not (metadata is None or isinstance(metadata, Mapping)):
            raise InvalidInput(f"expected a mapping, got {type(metadata).__name__}", where="metadata")
        check_json(dict(metadata or {}), "metadata")
        now = datetime.now(UTC)
        entry = MemoryEntry(
            memory_id=new_id(),
            tenant_id=check_tenant_id(tenant_id),
            agent_id=check_text(agent_id, "agent_id", allow_empty=False),
            content=check_text(content, "content", allow_empty=False),
            metadata=dict(metadata or {}),
            created_at=now,
            updated_at=now,
        )
        return await self._memory.store(entry)

    async def search_memory(self, tenant_id: str, query: str, limit: int = 10) -> "list[MemoryEntry]":
        """What is known about a question, best first."""
        return await self._memory.search(tenant_id, query, limit)


def _recent(session: "Sequence[SessionMessage]") -> list[Turn]:
    """Who said what lately: no tool's results, and no summary."""
    said = [
        Turn(entry.message.role, entry.message.text)
        for entry in session
        if entry.message.role in ("user", "assistant") and entry.stands_for is None and entry.message.text.strip()
    ]
    return said[-RECENT_MAX_MESSAGES:]


def _reaches_beyond(compiled: Compiled) -> bool:
    """Whether more of the log was read than fits, so that reading further back could change nothing."""
    return any(item.reason == OLDER for item in compiled.manifest.of("session"))

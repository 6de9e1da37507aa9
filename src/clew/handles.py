"""Handles on one tenant and on one of its threads: what a program works with, and all that it can see."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection

from clew.artifacts import Savings
from clew.context import Compiled, Manifest
from clew.context.hierarchy import HierarchicalMemory
from clew.context.recall import recall_tool
from clew.context.standing import Scope
from clew.context.standing.kept import KeptInstruction
from clew.context.views import Compaction, Refusal
from clew.context.writing_back import Refused
from clew.context.writing_back.tools import knowledge_tools
from clew.context.writing_back.write_back import read_or_log
from clew.erasure import ErasureReport
from clew.memory import MemoryChange, MemoryEntry
from clew.memory.knowledge import Change, EpisodeResult, Fact, Undone
from clew.sessions import Forgotten, StoredMessage, ThreadInfo
from clew.sessions.rows import check_thread_id
from clew.sessions.store import Forgets

if TYPE_CHECKING:
    from clew.engine import Clew
    from clew.sessions.checkpointer import Checkpointer

DEFAULT_AGENT: Final = "default"


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant's threads and memories."""

    _engine: "Clew"
    tenant_id: str

    def thread(self, thread_id: str, *, user_id: str | None = None) -> "Thread":
        """A handle on one conversation, and whose it is; it need not exist yet."""
        user = None if user_id is None else check_thread_id(user_id, "user_id")
        return Thread(self._engine, self.tenant_id, check_thread_id(thread_id), user)

    async def threads(self, limit: int = 50, offset: int = 0) -> list[ThreadInfo]:
        """The tenant's conversations, the most recently active first."""
        return await self._engine.sessions.threads(tenant_id=self.tenant_id, limit=limit, offset=offset)

    @property
    def checkpointer(self) -> "Checkpointer":
        """For `graph.compile(checkpointer=…)`: no configuration can make it reach another tenant's threads."""
        return self._engine.sessions.checkpointer_for(self.tenant_id)

    async def remember(
        self, content: str, metadata: Mapping[str, Any] | None = None, *, agent_id: str = DEFAULT_AGENT
    ) -> str:
        """Store something worth knowing later; its id."""
        return await self._engine.context.store_memory(self.tenant_id, agent_id, content, metadata)

    async def recall(
        self, query: str, limit: int = 10, *, agent_id: str | None = None, filters: Any = None
    ) -> list[MemoryEntry]:
        """What is known about a question, best first, each with its score and the reasons for it."""
        return await self._engine.memory.search(self.tenant_id, query, limit, agent_id, filters=filters)

    async def memories(self, limit: int = 50) -> list[MemoryEntry]:
        """What is known, newest first."""
        return await self._engine.memory.list_by_tenant(self.tenant_id, limit)

    def isolate(self, tool: Any, name: str | None = None, **options: Any) -> Any:
        """The tool with big results kept aside: what the model sees is a summary. See `clew.isolate_tool`."""
        from clew.artifacts import isolate_tool

        return isolate_tool(tool, self._engine.tool_results, name, self.tenant_id, **options)

    def tools(self) -> list[Any]:
        """What a model needs to follow references: `read_artifact`, `search_artifact`, `list_artifacts`."""
        from clew.artifacts import read_back_tools

        return list(read_back_tools(self._engine.artifacts, tenant_id=self.tenant_id))

    async def savings(self) -> list[Savings]:
        """What isolation kept out of the tenant's windows, tool by tool."""
        return await self._engine.tool_results.savings(tenant_id=self.tenant_id)

    async def forget(self, memory_id: str) -> bool:
        """Delete one memory; False when the tenant has none of this id."""
        return await self._engine.memory.delete(memory_id, self.tenant_id)

    async def learn(
        self,
        name: str,
        body: Any,
        *,
        source: str = "text",
        source_description: str = "",
        reference_time: datetime | str | None = None,
        user_id: str | None = None,
    ) -> EpisodeResult:
        """Read facts out of a text, messages or JSON; the facts it told, and the facts that it closed."""
        return await self._engine.knowledge.add_episode(
            name,
            body,
            source=source,
            source_description=source_description,
            reference_time=reference_time,
            tenant_id=self.tenant_id,
            user_id=user_id,
        )

    async def facts(
        self,
        query: str,
        limit: int = 5,
        *,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> list[Fact]:
        """The facts that answer best: what holds first, then what was superseded; or as they were at a time."""
        return await self._engine.knowledge.search(
            query, tenant_id=self.tenant_id, limit=limit, as_of=as_of, known_at=known_at
        )

    async def history(self, subject: str) -> list[Fact]:
        """Everything ever held of a subject, oldest first, with its sources."""
        return await self._engine.knowledge.history(subject, tenant_id=self.tenant_id)

    async def undo(self, episode_id: str) -> Undone:
        """Take an episode back: what it closed holds again, what only it told is believed no more."""
        return await self._engine.knowledge.undo(episode_id, tenant_id=self.tenant_id)

    async def changes(self, limit: int = 100) -> list[Change]:
        """Every change to what is believed, newest first, as it was before and after."""
        return await self._engine.knowledge.changes(tenant_id=self.tenant_id, limit=limit)

    async def memory_changes(self, limit: int = 100) -> list[MemoryChange]:
        """Every change to memories, newest first, as they were before and after."""
        return await self._engine.memory.changes(self.tenant_id, limit=limit)

    async def refused(self) -> list[Refused]:
        """What was kept out of memory, counted by its reason."""
        return await self._engine.write_back.refused(tenant_id=self.tenant_id)

    async def instruct(self, text: str, *, user_id: str | None = None) -> KeptInstruction:
        """Want something of every answer, for everybody of the tenant or for one user, until it is revoked."""
        scope: Scope = "tenant" if user_id is None else "user"
        return await self._engine.standing.add(text, scope=scope, user_id=user_id, tenant_id=self.tenant_id)

    async def instructions(self, *, user_id: str | None = None) -> list[KeptInstruction]:
        """What is wanted of every answer, oldest first."""
        return await self._engine.standing.active(tenant_id=self.tenant_id, user_id=user_id)

    async def revoke(self, instruction_id: str) -> bool:
        """Take an instruction back; False when there is none of this id that holds."""
        return await self._engine.standing.revoke(instruction_id, tenant_id=self.tenant_id)

    async def erase_source(
        self,
        *,
        thread_id: str | None = None,
        episode_id: str | None = None,
        memory_id: str | None = None,
        artifact_id: str | None = None,
        dry_run: bool = False,
    ) -> ErasureReport:
        """Remove one source and all that only it supported, everywhere; what went, and the proof.

        With `dry_run` nothing goes, and the report says what would.
        """
        return await self._engine.erasure.source(
            tenant_id=self.tenant_id,
            thread_id=thread_id,
            episode_id=episode_id,
            memory_id=memory_id,
            artifact_id=artifact_id,
            dry_run=dry_run,
        )

    async def erase_user(self, user_id: str, *, dry_run: bool = False) -> ErasureReport:
        """Remove a user's conversations and all that came from them; what went, and the proof."""
        return await self._engine.erasure.user(user_id, tenant_id=self.tenant_id, dry_run=dry_run)

    async def erase(self, *, dry_run: bool = False) -> ErasureReport:
        """Remove everything of the tenant's; what went, and the proof."""
        return await self._engine.erasure.tenant(self.tenant_id, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation of one tenant."""

    _engine: "Clew"
    tenant_id: str
    thread_id: str
    user_id: str | None = None

    async def append(self, messages: Any, *, idempotency_key: str | None = None, pinned: bool = False) -> list[str]:
        """Add one message or several at the end, all or none; their ids. What is pinned never leaves the window.

        What users state in them is known from now on, to every thread of the tenant. Should that fail, the messages
        are stored all the same, and are read the next time.
        """
        ids = await self._engine.sessions.append(
            self.thread_id,
            messages,
            tenant_id=self.tenant_id,
            idempotency_key=idempotency_key,
            pinned=pinned,
            user_id=self.user_id,
        )
        if self._engine.settings.write_back:
            await read_or_log(self._engine.write_back, self.tenant_id, self.thread_id)
        return ids

    async def messages(self, limit: int = 50) -> list[dict[str, Any]]:
        """The last messages in order, in OpenAI form."""
        return await self._engine.sessions.get_session_messages(self.thread_id, limit, tenant_id=self.tenant_id)

    async def read(self, limit: int = 50, *, before: int | None = None) -> list[StoredMessage]:
        """The last messages in order, each with its id, place and tokens."""
        return await self._engine.sessions.read(self.thread_id, limit, before=before, tenant_id=self.tenant_id)

    async def search(self, query: str, limit: int = 10) -> list[StoredMessage]:
        """The messages that hold every word of the query, newest first."""
        return await self._engine.sessions.search(self.thread_id, query, limit, tenant_id=self.tenant_id)

    async def compile(
        self,
        task: Mapping[str, Any] | str,
        system_prompt: str = "",
        *,
        model_tier: str = "reasoning",
        tools: Iterable[Any] = (),
    ) -> "Context":
        """What a model should see of this thread, for a task, within the tier's budget.

        `tools` are those the model has: with `thread.tools()` among them it also sees references.
        """
        compiled = await self._engine.context.compiled(
            self.tenant_id, self.thread_id, task, system_prompt, model_tier, tools=tools, user_id=self.user_id
        )
        return Context(compiled)

    def tools(self) -> list[Any]:
        """What a model needs to follow references: the tenant's read-back tools, and `recall_messages`."""
        recall = recall_tool(self._engine.compactor, tenant_id=self.tenant_id, thread_id=self.thread_id)
        return [*self._engine.tenant(self.tenant_id).tools(), recall]

    def knowledge_tools(self) -> list[Any]:
        """What a model needs to look facts up and to keep them: `query_knowledge_base`, `index_to_knowledge_base`.

        `clew.PERSISTENCE_RULES` belongs into its system prompt.
        """
        engine = self._engine
        return list(
            knowledge_tools(engine.knowledge, engine.write_back, tenant_id=self.tenant_id, thread_id=self.thread_id)
        )

    async def instruct(self, text: str) -> KeptInstruction:
        """Want something of every answer in this thread, until it is revoked."""
        return await self._engine.standing.add(text, scope="thread", thread_id=self.thread_id, tenant_id=self.tenant_id)

    async def instructions(self) -> list[KeptInstruction]:
        """What is wanted of every answer here: the tenant's, the user's and the thread's instructions, oldest first."""
        return await self._engine.standing.active(
            tenant_id=self.tenant_id, thread_id=self.thread_id, user_id=self.user_id
        )

    async def compact(self, *, wait: bool = True) -> Compaction | None:
        """Replace older turns in what a model sees by a summary, if the thread is past a threshold; what changed."""
        return await self._engine.compactor.compact(self.thread_id, tenant_id=self.tenant_id, wait=wait)

    async def compactions(self, limit: int = 50) -> list[Compaction]:
        """The thread's compactions, the newest first."""
        return await self._engine.compactor.compactions(self.thread_id, limit, tenant_id=self.tenant_id)

    async def refusals(self, limit: int = 50) -> list[Refusal]:
        """Compactions that changed nothing, and why; the newest first."""
        return await self._engine.compactor.refusals(self.thread_id, limit, tenant_id=self.tenant_id)

    async def recall_messages(
        self, query: str | None = None, *, positions: str | Sequence[int] | None = None, limit: int = 10
    ) -> list[StoredMessage]:
        """The originals, whatever a model sees of the thread: by their positions, or by the words they hold."""
        return await self._engine.compactor.recall_messages(
            self.thread_id, query, positions=positions, limit=limit, tenant_id=self.tenant_id
        )

    async def savings(self) -> list[Savings]:
        """What isolation kept out of the thread's window, tool by tool."""
        return await self._engine.tool_results.savings(tenant_id=self.tenant_id, thread_id=self.thread_id)

    def hierarchical_memory(self, agent_id: str = DEFAULT_AGENT) -> HierarchicalMemory:
        """The thread's past in three depths: working messages, session summaries, past experience."""
        return HierarchicalMemory(
            self._engine.database,
            thread_id=self.thread_id,
            tenant_id=self.tenant_id,
            agent_id=agent_id,
            memory=self._engine.memory,
            compactor=self._engine.compactor,
        )

    async def _forget_facts(self, connection: AsyncConnection[Any], tenant_id: str, thread_id: str) -> int:
        return len((await self._engine.knowledge.forget_source(connection, tenant_id, thread_id=thread_id)).facts)

    async def clear(self, *, memories: bool = False) -> Forgotten:
        """Forget the conversation, and with `memories` what was remembered and learnt from it; what went."""
        engine = self._engine
        also: dict[str, Forgets] = {"instructions": engine.standing.forget_thread_scope}
        if memories:
            also = {"memories": engine.memory.forget_thread, "facts": self._forget_facts}
            also["instructions"] = engine.standing.forget_thread
        gone = await self._engine.sessions.forget_session(self.thread_id, tenant_id=self.tenant_id, also=also)
        await self._engine.upkeep.cleared(self.tenant_id)
        return gone


@dataclass(frozen=True, slots=True)
class Context:
    """A compiled context: what to send, what it costs, and why it is what it is."""

    compiled: Compiled

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Ready to send to a model, in OpenAI form."""
        return self.compiled.sent_messages

    @property
    def token_usage(self) -> dict[str, int]:
        """`total`, `system`, `session`, `memory` and `task`."""
        return self.compiled.token_usage

    @property
    def manifest(self) -> Manifest:
        """What went in, what stayed out, why, at what token cost."""
        return self.compiled.manifest

    def to(self, form: str) -> Any:
        """Ready to send as `"openai"`, `"anthropic"`, `"langchain"` or `"pydantic_ai"` messages."""
        return self.compiled.to(form)

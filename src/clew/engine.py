"""`clew.open()`: wires the rooms, and hands out handles that see one tenant, or one of its threads. Nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clew.context import Compiled, ContextManager, Manifest, WorkingContextCompiler
from clew.errors import InvalidInput
from clew.ids import check_tenant_id
from clew.memory import LongTermMemory, MemoryEntry
from clew.models.rerank_catalog import open_reranker
from clew.sessions import Forgotten, SessionStore, StoredMessage, ThreadInfo
from clew.sessions.rows import check_thread_id
from clew.settings import Settings
from clew.store.database import Database
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.sessions.checkpointer import Checkpointer

DEFAULT_AGENT = "default"


def open(
    database: str | Database | None = None, models: Mapping[str, Any] | None = None, settings: Settings | None = None
) -> "Clew":
    """The engine, to be entered: `async with clew.open() as engine`.

    `database` is a URL, an open `clew.Database`, or None for `CLEW_DATABASE_URL` and else the embedded server. `models`
    may name `embeddings` (a spec such as `"minilm"`), `reranker` (`"cohere:rerank-v3.5"`) and `tiers`
    (`{"long": 128_000}`).
    """
    return Clew(database, models, settings)


class Clew(Room):
    """Every room, already wired: `sessions`, `memory`, `context`, and `tenant(...)` for a handle on one tenant."""

    def __init__(
        self,
        database: str | Database | None = None,
        models: Mapping[str, Any] | None = None,
        settings: Settings | None = None,
    ) -> None:
        chosen = _models(models)
        super().__init__(database, settings=settings)
        self.database = self._database
        self.settings = self.database.settings
        self.sessions = SessionStore(self.database)
        reranker = open_reranker(chosen.get("reranker", self.settings.reranker), settings=self.settings)
        self.memory = LongTermMemory(self.database, chosen.get("embeddings"), reranker=reranker)
        self.context = ContextManager(self.sessions, self.memory, WorkingContextCompiler(budgets=chosen.get("tiers")))

    def tenant(self, tenant_id: str) -> "Tenant":
        """A handle that can see one tenant only."""
        return Tenant(self, check_tenant_id(tenant_id))


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant's threads and memories."""

    _engine: Clew
    tenant_id: str

    def thread(self, thread_id: str) -> "Thread":
        """A handle on one conversation; it need not exist yet."""
        return Thread(self._engine, self.tenant_id, check_thread_id(thread_id))

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

    async def forget(self, memory_id: str) -> bool:
        """Delete one memory; False when the tenant has none of this id."""
        return await self._engine.memory.delete(memory_id, self.tenant_id)


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation of one tenant."""

    _engine: Clew
    tenant_id: str
    thread_id: str

    async def append(self, messages: Any, *, idempotency_key: str | None = None) -> list[str]:
        """Add one message or several at the end, all or none; their ids."""
        return await self._engine.sessions.append(
            self.thread_id, messages, tenant_id=self.tenant_id, idempotency_key=idempotency_key
        )

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
        self, task: Mapping[str, Any] | str, system_prompt: str = "", *, model_tier: str = "reasoning"
    ) -> "Context":
        """What a model should see of this thread, for a task, within the tier's budget."""
        compiled = await self._engine.context.compiled(self.tenant_id, self.thread_id, task, system_prompt, model_tier)
        return Context(compiled)

    async def clear(self, *, memories: bool = False) -> Forgotten:
        """Forget the conversation, and with `memories` what was remembered from it; what went."""
        also = {"memories": self._engine.memory.forget_thread} if memories else None
        return await self._engine.sessions.forget_session(self.thread_id, tenant_id=self.tenant_id, also=also)


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


def _models(models: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was said of models, when it is something that can be chosen today."""
    if models is None:
        return {}
    if not isinstance(models, Mapping):
        raise InvalidInput(f"expected a mapping, got {type(models).__name__}", where="models")
    for key in models:
        if key not in ("embeddings", "tiers"):
            raise InvalidInput(f"{key!a} can't be chosen", where="models", fix="There are embeddings and tiers")
    return dict(models)

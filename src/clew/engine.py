"""`clew.open()`: wires the rooms, and hands out handles that see one tenant. Nothing else."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from clew.artifacts import ArtifactStore, ToolResultCache
from clew.artifacts.upkeep import Upkeep
from clew.context import ContextManager, WorkingContextCompiler
from clew.context.compactor import Compactor
from clew.context.selecting import Selector
from clew.context.standing.kept import StandingInstructions
from clew.context.wiring import Parts
from clew.context.writing_back import WriteBack
from clew.erasure import Erasure
from clew.errors import InvalidInput
from clew.handles import Tenant
from clew.ids import check_tenant_id
from clew.memory import LongTermMemory
from clew.memory.gate import Gate, Policy
from clew.memory.knowledge import KnowledgeBase
from clew.models.rerank import Reranker
from clew.models.rerank_catalog import open_reranker
from clew.sessions import SessionStore
from clew.settings import Settings
from clew.store.database import Database
from clew.store.jobs import Jobs
from clew.store.room import Room

if TYPE_CHECKING:
    from clew.context.intent.asking_a_model import IntentJudge

CHOICES: Final = ("embeddings", "reranker", "tiers", "summaries", "extraction", "speed")


def open(
    database: str | Database | None = None, models: Mapping[str, Any] | None = None, settings: Settings | None = None
) -> "Clew":
    """The engine, to be entered: `async with clew.open() as engine`.

    `database` is a URL, an open `clew.Database`, or None for `CLEW_DATABASE_URL` and else the embedded server. `models`
    may name `embeddings` (a spec such as `"minilm"`), `reranker` (`"cohere:rerank-v3.5"`), `tiers`
    (`{"long": 128_000}`), `summaries`: a model that writes them, as `async (messages) -> text`, `extraction`: a
    Pydantic AI model, or its name, that reads facts out of texts, and `speed`: one that says what an unclear message
    wants. Without them all of this is done offline.
    """
    return Clew(database, models, settings)


class Clew(Room):
    """Every room, already wired, and `tenant(...)` for a handle on one tenant.

    `sessions`, `memory`, `knowledge`, `standing`, `write_back`, `artifacts`, `tool_results`, `compactor`, `context`,
    `erasure`, and `jobs`, which does background work.
    """

    def __init__(
        self,
        database: str | Database | None = None,
        models: Mapping[str, Any] | None = None,
        settings: Settings | None = None,
    ) -> None:
        chosen = _models(models)
        super().__init__(database, settings=settings)
        self.database = self._database
        self.settings = self.database.settings if settings is None else settings
        self.sessions = SessionStore(self.database)
        reranker = open_reranker(chosen.get("reranker", self.settings.reranker), settings=self.settings)
        self.memory = LongTermMemory(self.database, chosen.get("embeddings"), reranker=reranker, settings=self.settings)
        self.jobs = Jobs(self.database)
        self.artifacts = ArtifactStore(self.database, settings=self.settings)
        self.upkeep = Upkeep(self.artifacts, self.jobs)
        self.tool_results = ToolResultCache(self.artifacts, write_summary=chosen.get("summaries"))
        self.compactor = Compactor(
            self.database,
            threshold_messages=self.settings.compact_messages,
            keep_recent=self.settings.compact_keep_recent,
            threshold_tokens=self.settings.compact_tokens,
            write_summary=chosen.get("summaries"),
            jobs=self.jobs,
        )
        self.knowledge = KnowledgeBase(
            self.database, chosen.get("embeddings"), settings=self.settings, extraction=chosen.get("extraction")
        )
        self.standing = StandingInstructions(self.database)
        selector = self._selector(reranker, chosen.get("speed"))
        self.write_back = self._write_back(selector)
        self.context = ContextManager(
            self.sessions,
            self.memory,
            WorkingContextCompiler(budgets=chosen.get("tiers")),
            compactor=self.compactor,
            parts=Parts(selector, self.standing, self.write_back if self.settings.write_back else None),
        )
        self.erasure = self._erasure(selector)

    def _selector(self, reranker: Reranker | None, speed: Any) -> Selector:
        return Selector(
            self.memory,
            knowledge=self.knowledge,
            sessions=self.sessions,
            room=self.sessions,
            reranker=reranker,
            judge=_judge(speed),
        )

    def _write_back(self, selector: Selector) -> WriteBack:
        policy = Policy(secrets=self.settings.memory_secrets, personal=self.settings.memory_personal_data)
        return WriteBack(
            self.database,
            knowledge=self.knowledge,
            standing=self.standing,
            gate=Gate(policy),
            shown=selector,
            jobs=self.jobs,
        )

    def _erasure(self, selector: Selector) -> Erasure:
        return Erasure(
            self.database,
            sessions=self.sessions,
            memory=self.memory,
            knowledge=self.knowledge,
            artifacts=self.artifacts,
            standing=self.standing,
            caches=(selector.topics, self.compactor),
        )

    async def setup(self) -> None:
        """Open the database; for the embedded one, make it and its tables."""
        await super().setup()
        await self.tool_results.setup()  # it remembers the event loop that tools without one are to use

    async def close(self) -> None:
        """Let running work end, and close the database, unless it was given to us open."""
        await self.jobs.close()
        await super().close()

    def tenant(self, tenant_id: str) -> "Tenant":
        """A handle that can see one tenant only."""
        return Tenant(self, check_tenant_id(tenant_id))


def _judge(speed: Any) -> "IntentJudge | None":
    if speed is None:
        return None
    from clew.context.intent.asking_a_model import IntentJudge  # only who asks a model needs Pydantic AI

    return IntentJudge(speed)


def _models(models: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was said of models, when it is something that can be chosen today."""
    if models is None:
        return {}
    if not isinstance(models, Mapping):
        raise InvalidInput(f"expected a mapping, got {type(models).__name__}", where="models")
    for key in models:
        if key not in CHOICES:
            raise InvalidInput(f"{key!a} can't be chosen", where="models", fix=f"There are {', '.join(CHOICES)}")
    return dict(models)

"""A node's tools: each isolated for one tenant, and the ones that follow references added to them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool

from clew.artifacts import ToolResultCache, read_back_tools
from clew.artifacts.isolation.calls import ToolCall, reads_back
from clew.artifacts.isolation.frameworks.langchain import isolated_tool
from clew.artifacts.isolation.isolate import Isolation
from clew.artifacts.isolation.summaries import Summariser
from clew.context.recall import Recalls, recall_tool
from clew.errors import ClewError, InvalidInput
from clew.integrations.langgraph.lightness import check_light
from clew.integrations.langgraph.place import place_of
from clew.logs import logger

RECALL: Final = "recall_messages"
log: Final = logger("clew.integrations.langgraph")


@dataclass(frozen=True, slots=True)
class Returned:
    """What a tool returned, in full, and which call it answers."""

    tool: str
    args: dict[str, Any]
    tool_call_id: str | None
    tenant_id: str
    thread_id: str | None
    result: Any

    def as_dict(self) -> dict[str, Any]:
        """The same as a dict, for whoever is watching."""
        return {name: getattr(self, name) for name in self.__slots__}


Seen = Callable[[Returned], Awaitable[None]]
# The arguments of the call that is being answered; an isolation is told of the result alone.
calling: Final[ContextVar[dict[str, Any]]] = ContextVar("clew_langgraph_arguments")


@dataclass(frozen=True, slots=True)
class SeenIsolation(Isolation):
    """An isolation that tells of every result before it is made light."""

    seen: Seen

    async def shown(self, result: Any, call: ToolCall | None = None) -> Any:
        call = call or ToolCall()
        returned = Returned(self.tool, calling.get({}), call.tool_call_id, self.tenant_id, call.thread_id, result)
        await self.seen(returned)
        return await Isolation.shown(self, result, call)  # not super(): a class with slots is another one by now


@dataclass(frozen=True, slots=True)
class Isolating:
    """How a node's tools are isolated, whoever the tenant is."""

    cache: ToolResultCache
    summarise: Summariser | None
    max_tokens: int
    recall: Recalls | None
    seen: Seen

    def tools(self, given: Iterable[BaseTool], tenant_id: str) -> list[BaseTool]:
        """The given tools isolated, then those that read back."""
        own = [isolated_tool(one, SeenIsolation(*self._of(one.name, tenant_id), self.seen)) for one in given]
        added = [tool(one) for one in read_back_tools(self.cache.artifacts, tenant_id=tenant_id)]
        if self.recall is not None:
            added.append(_recall_tool(self.recall, tenant_id))
        taken = {one.name for one in own}
        for one in added:
            if one.name in taken:
                raise InvalidInput(
                    f"a tool is called {one.name}, as one that follows references is", where="tools", fix="Rename it"
                )
        return [*own, *added]

    async def light(self, message: ToolMessage, tenant_id: str, thread_id: str | None) -> ToolMessage:
        """The message as the state may hold it: a long error becomes a summary, and a heavy artifact a reference."""
        call, name = ToolCall(message.tool_call_id, thread_id), message.name or "tool"
        changes: dict[str, Any] = {}
        if message.status == "error":
            changes["content"] = await Isolation(*self._of(name, tenant_id)).shown(message.content, call)
        if message.artifact is not None and not _is_light(message.artifact):
            changes["artifact"] = await self._kept(message.artifact, name, tenant_id, call)
        return message.model_copy(update=changes) if changes else message

    async def _kept(self, artifact: Any, tool: str, tenant_id: str, call: ToolCall) -> dict[str, Any] | None:
        try:
            ref = await self.cache.put_tool_result(
                f"{call.tool_call_id}/artifact", artifact, tool=tool, tenant_id=tenant_id, thread_id=call.thread_id
            )
        except ClewError as error:
            log.warning("tool_artifact_not_kept", tool=tool, tenant_id=tenant_id, reason=str(error))
            return None
        return ref.as_dict()

    def _of(self, tool: str, tenant_id: str) -> tuple[ToolResultCache, str, str, Summariser | None, int, bool]:
        return self.cache, tool, tenant_id, self.summarise, self.max_tokens, True


def as_tools(given: Sequence[Any]) -> list[BaseTool]:
    """LangChain tools of functions, and of tools as they are."""
    made = []
    for index, one in enumerate(given):
        if not isinstance(one, BaseTool) and not callable(one):
            raise InvalidInput(f"expected a tool, got {type(one).__name__}", where=f"tools[{index}]")
        try:
            made.append(one if isinstance(one, BaseTool) else tool(one))
        except ValueError as error:
            raise InvalidInput(str(error), where=f"tools[{index}]") from error
    return made


def told(error: Exception) -> str:
    """What a model reads of a tool's error."""
    return getattr(error, "message", None) or f"{type(error).__name__}: {error}"


def _recall_tool(recalls: Recalls, tenant_id: str) -> BaseTool:
    """`recall_messages` for whichever thread the graph runs on."""

    async def recall_messages(
        config: RunnableConfig, query: str | None = None, positions: str | None = None, limit: int = 5
    ) -> str:
        thread_id = place_of(config, tenant_id).thread_id
        if thread_id is None:
            return "This conversation is not kept."
        return await recall_tool(recalls, tenant_id=tenant_id, thread_id=thread_id)(query, positions, limit)

    recall_messages.__doc__ = recall_tool(recalls, tenant_id=tenant_id, thread_id="-").__doc__
    return tool(reads_back(recall_messages))


def _is_light(value: Any) -> bool:
    try:
        check_light(value, "artifact")
    except InvalidInput:
        return False
    return True

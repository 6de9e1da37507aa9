"""A tool node whose results never fill the state: long ones are kept aside, and the model gets a summary to follow."""

import asyncio
import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command

from clew.artifacts import ToolResultCache
from clew.artifacts.isolation.isolate import SUMMARY_LEAST_TOKENS, SUMMARY_MAX_TOKENS, SUMMARY_MOST_TOKENS
from clew.artifacts.isolation.summaries import Summariser
from clew.artifacts.test_results.watching import Watch, shown_to
from clew.context.recall import Recalls
from clew.errors import InvalidInput
from clew.ids import check_tenant_id
from clew.integrations.langgraph.place import DEFAULT_TENANT, Place, place_of
from clew.integrations.langgraph.tools import Isolating, Returned, as_tools, calling, told
from clew.limits import check_count

# The tools are made once a tenant, and kept for so many of them.
TENANTS_MAX: Final = 256

Update = Mapping[str, Any] | None
Note = Callable[[Returned], Update | Awaitable[Update]]


@dataclass(frozen=True, slots=True)
class _Run:
    """One step of the node: for whom, and what its tools returned so far."""

    place: Place
    returned: list[Returned] = field(default_factory=list)


_run: Final[ContextVar[_Run]] = ContextVar("clew_langgraph_run")


class IsolatingToolNode(ToolNode):
    """LangGraph's tool node over tools that isolate by themselves, with those that read back among them.

        node = IsolatingToolNode([search, click], engine.tool_results)
        model = model.bind_tools(node.tools)          # a model that is shown references can follow them
        graph.add_node("tools", node)

    Results come into the state as summaries of at most `max_tokens`, or as they are when that is shorter; calls of one
    message run in parallel, and an error becomes the message that answers its call. The tenant and the thread are those
    of the graph's configuration; a node made with a `tenant_id` refuses every other.

    `watch` gets each full result, as a dict, before a light one goes into the state. `note` makes of each full result
    (`Returned`) an update of other fields of the state, or None. `recall`, a `Compactor`, adds `recall_messages`.
    """

    def __init__(
        self,
        tools: Sequence[Any],
        cache: ToolResultCache,
        *,
        tenant_id: str | None = None,
        watch: Watch | None = None,
        note: Note | None = None,
        recall: Recalls | None = None,
        summarise: Summariser | None = None,
        max_tokens: int = SUMMARY_MAX_TOKENS,
        name: str = "tools",
        messages_key: str = "messages",
        handle_tool_errors: Any = told,
    ) -> None:
        if not isinstance(cache, ToolResultCache):
            raise InvalidInput(f"expected a clew.ToolResultCache, got {type(cache).__name__}", where="cache")
        for where, given in (("watch", watch), ("note", note), ("summarise", summarise)):
            if given is not None and not callable(given):
                raise InvalidInput(f"expected a function, got {type(given).__name__}", where=where)
        check_count(max_tokens, "max_tokens", least=SUMMARY_LEAST_TOKENS, most=SUMMARY_MOST_TOKENS)
        self._tenant_id = None if tenant_id is None else check_tenant_id(tenant_id)
        self._given, self._watch, self._note = as_tools(tools), watch, note
        self._isolating = Isolating(cache, summarise, max_tokens, recall, self._seen)
        self._by_tenant: OrderedDict[str, dict[str, BaseTool]] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._meet_loop()
        super().__init__(self.tools, name=name, messages_key=messages_key, handle_tool_errors=handle_tool_errors)

    @property
    def tools(self) -> list[BaseTool]:
        """What to bind to the model: the tools, and those with which it follows references."""
        return list(self._tools_of(self._tenant_id or DEFAULT_TENANT).values())

    @property
    def tools_by_name(self) -> dict[str, BaseTool]:
        """The tools of the tenant that the node is running for."""
        run = _run.get(None)
        return self._tools_of(run.place.tenant_id if run else self._tenant_id or DEFAULT_TENANT)

    def _tools_of(self, tenant_id: str) -> dict[str, BaseTool]:
        if tenant_id not in self._by_tenant:
            made = self._isolating.tools(self._given, tenant_id)
            self._by_tenant[tenant_id] = {tool.name: tool for tool in made}
            if len(self._by_tenant) > TENANTS_MAX:
                self._by_tenant.popitem(last=False)
        self._by_tenant.move_to_end(tenant_id)
        return self._by_tenant[tenant_id]

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        self._meet_loop()
        run = _Run(place_of(config, self._tenant_id))
        token = _run.set(run)
        try:
            output = await super()._afunc(input, config, runtime)
        finally:
            _run.reset(token)
        # In the order of the calls, whichever was answered first.
        order = {call["id"]: place for place, call in enumerate(self._parse_input(input)[0])}
        returned = sorted(run.returned, key=lambda one: order.get(one.tool_call_id, len(order)))
        return await self._with_notes(output, returned)

    def _func(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        """From another thread than the event loop's, as the checkpointer can be used."""
        loop = self._loop
        if loop is None or not loop.is_running() or loop is _loop_here():
            raise InvalidInput("this node needs an event loop", where=self.name, fix="Use graph.ainvoke or astream")
        return asyncio.run_coroutine_threadsafe(self._afunc(input, config, runtime), loop).result()

    async def _arun_one(self, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        calling.set(dict(call["args"]))
        answer = await super()._arun_one(call, input_type, tool_runtime)
        place = _run.get().place
        if isinstance(answer, ToolMessage):
            return await self._isolating.light(answer, place.tenant_id, place.thread_id)
        return answer

    async def _seen(self, returned: Returned) -> None:
        if self._watch is not None:
            await shown_to(self._watch, returned.as_dict())
        if run := _run.get(None):
            run.returned.append(returned)

    async def _with_notes(self, output: Any, returned: Sequence[Returned]) -> Any:
        """The node's output, and the updates that the full results ask for."""
        if self._note is None:
            return output
        updates = []
        for one in returned:
            update = self._note(one)
            updates.append(await update if inspect.isawaitable(update) else update)
        commands: list[Any] = [Command(update=dict(update)) for update in updates if update]
        if not commands:
            return output
        return [*(output if isinstance(output, list) else [output]), *commands]

    def _meet_loop(self) -> None:
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()


def _loop_here() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

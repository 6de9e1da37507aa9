"""LangChain tools, isolated: the same tool in every respect but for what it returns."""

import asyncio
import functools
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from langchain_core.messages.tool import ToolMessage, ToolOutputMixin
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool

from clew.artifacts.isolation.calls import ToolCall, answering, current_call, is_read_back, known_call
from clew.artifacts.isolation.isolate import Isolation
from clew.artifacts.isolation.waiting import wait_for

# The tool that is running already: its async form may call its sync one, and a result is isolated once.
_running: Final[ContextVar[object]] = ContextVar("clew_running_tool", default=None)
# The event loop that waits while a sync tool runs in a thread.
_loop: Final[ContextVar[asyncio.AbstractEventLoop | None]] = ContextVar("clew_tool_loop", default=None)


def isolated_tool(tool: BaseTool, isolation: Isolation) -> BaseTool:
    """A copy of the tool, of a class under its own: whoever looks at its schema or its function sees the same."""
    if any(is_read_back(getattr(tool, name, None)) for name in ("func", "coroutine")):
        return tool
    kind = type(tool)
    body = {
        "__module__": kind.__module__,
        "__doc__": kind.__doc__,
        "__annotations__": {"clew_isolation": ClassVar[Isolation]},
        "clew_isolation": isolation,
        "_run": _run_of(kind),
        "_arun": _arun_of(kind),
    }
    # A class of the tool's own, since LangChain reads parameters off the signatures of these two.
    isolated = types.new_class(kind.__name__, (_Isolated, kind), exec_body=lambda namespace: namespace.update(body))
    made = tool.model_copy()
    object.__setattr__(made, "__class__", isolated)
    return made


class _Isolated:
    """What an isolated tool does around the tool's own methods: remember which call it answers, and on which loop."""

    __clew_reads_back__: ClassVar[bool] = True

    def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        with _answering(kwargs):
            return super().run(tool_input, *args, **kwargs)  # type: ignore[misc]

    async def arun(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        with _answering(kwargs), _on_this_loop():
            return await super().arun(tool_input, *args, **kwargs)  # type: ignore[misc]

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        # A tool without an async form runs in a thread from here, and its result must come back to this loop.
        with _on_this_loop():
            return await super().ainvoke(input, config, **kwargs)  # type: ignore[misc]


def _run_of(kind: type[BaseTool]) -> Any:
    @functools.wraps(kind._run)
    def _run(self: Any, *args: Any, **kwargs: Any) -> Any:
        inner = functools.partial(kind._run, self, *args, **kwargs)
        if _running.get() is self:
            return inner()
        with _as_running(self):
            response = inner()
        isolation: Isolation = self.clew_isolation
        loop = _loop.get() or isolation.cache.loop
        return wait_for(lambda: _shown(self, response, current_call()), loop, otherwise=response, tool=isolation.tool)

    return _run


def _arun_of(kind: type[BaseTool]) -> Any:
    @functools.wraps(kind._arun if kind._arun is not BaseTool._arun else kind._run)
    async def _arun(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _as_running(self):
            response = await kind._arun(self, *args, **kwargs)
        return await _shown(self, response, current_call())

    return _arun


async def _shown(tool: Any, response: Any, call: ToolCall) -> Any:
    """The response with its content isolated. What a tool says to the graph beside it stays as it is."""
    isolation: Isolation = tool.clew_isolation
    if tool.response_format == "content_and_artifact" and isinstance(response, tuple) and len(response) == 2:
        return await isolation.shown(response[0], call), response[1]
    if isinstance(response, ToolOutputMixin):
        return await _shown_message(isolation, response, call)
    if isinstance(response, list) and response and all(isinstance(item, ToolOutputMixin) for item in response):
        return [await _shown_message(isolation, item, call) for item in response]
    return await isolation.shown(response, call)


async def _shown_message(isolation: Isolation, message: ToolOutputMixin, call: ToolCall) -> ToolOutputMixin:
    """A message's content isolated; a graph's command is for the graph, and stays."""
    if not isinstance(message, ToolMessage):
        return message
    content = await isolation.shown(message.content, call)
    return message if content is message.content else message.model_copy(update={"content": content})


@contextmanager
def _answering(kwargs: Mapping[str, Any]) -> Iterator[None]:
    config = kwargs.get("config") or ensure_config()
    configurable = config.get("configurable") or {}
    with answering(known_call(kwargs.get("tool_call_id"), configurable.get("thread_id"))):
        yield


@contextmanager
def _on_this_loop() -> Iterator[None]:
    token = _loop.set(asyncio.get_running_loop())
    try:
        yield
    finally:
        _loop.reset(token)


@contextmanager
def _as_running(tool: object) -> Iterator[None]:
    token = _running.set(tool)
    try:
        yield
    finally:
        _running.reset(token)

"""`isolate_tool`: the model sees a summary, the full result is one reference away."""

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from clew.artifacts.isolation.calls import ReadBack, ToolCall, check_tool, current_call, is_read_back, reads_back
from clew.artifacts.isolation.classes import NotExact
from clew.artifacts.isolation.summaries import Summariser, model_summary, own_summary, with_reference
from clew.artifacts.isolation.tool_results import ToolResultCache, Weighed, weigh
from clew.artifacts.shapes import summarise as built_in_summary
from clew.errors import ClewError, InvalidInput
from clew.ids import check_tenant_id, new_id
from clew.limits import check_count
from clew.logs import logger
from clew.tokens import count

SUMMARY_MAX_TOKENS: Final = 100
# A reference alone takes about twenty, and a summary that says nothing else is none.
SUMMARY_LEAST_TOKENS: Final = 40
SUMMARY_MOST_TOKENS: Final = 10_000

_log: Final = logger("clew.artifacts")


@dataclass(frozen=True, slots=True)
class Isolation:
    """How the results of a tool are shown."""

    cache: ToolResultCache
    tool: str
    tenant_id: str
    summarise: Summariser | None
    max_tokens: int
    references: bool

    async def shown(self, result: Any, call: ToolCall | None = None) -> Any:
        """What the model sees: a summary of a result that is stored by then, or the result itself when that is shorter.

        Whatever can't be kept or stored is shown as it is: a failing store must not lose a result or stop an agent.
        """
        call = call or current_call()
        if isinstance(result, ReadBack):
            return result
        summary = None
        try:
            summary = await self._stored_summary(result, call)
        except (NotExact, ClewError) as error:
            _log.warning("tool_result_not_isolated", tool=self.tool, tenant_id=self.tenant_id, reason=str(error))
        except Exception:  # noqa: BLE001 - the tool has done its work: no mistake of ours or of a result's class undoes it
            _log.exception("tool_result_not_isolated", tool=self.tool, tenant_id=self.tenant_id)
        if summary is not None:
            return summary
        self.cache.passed.add(self.tenant_id, call.thread_id, self.tool)
        _log.debug("tool_result_passed", tool=self.tool, tenant_id=self.tenant_id, thread_id=call.thread_id)
        return result

    async def _stored_summary(self, result: Any, call: ToolCall) -> str | None:
        """The summary; None when it would be no shorter than the result."""
        # In a thread: a result of megabytes takes a while to write down and count.
        weighed, summary = await asyncio.to_thread(self._prepared, result)
        if count(summary) >= weighed.full_tokens:
            return None
        summary = await self._written(result, weighed) or summary
        shown_tokens = count(summary)
        ref = await self.cache.keep(
            weighed,
            tool_call_id=call.tool_call_id or new_id(),
            tool=self.tool,
            tenant_id=self.tenant_id,
            thread_id=call.thread_id,
            shown_tokens=shown_tokens,
        )
        _log.info(
            "tool_result_isolated",
            tool=self.tool,
            tenant_id=self.tenant_id,
            thread_id=call.thread_id,
            artifact_id=ref.artifact_id,
            full_tokens=weighed.full_tokens,
            shown_tokens=shown_tokens,
            saved_tokens=weighed.full_tokens - shown_tokens,
        )
        return summary

    def _prepared(self, result: Any) -> tuple[Weighed, str]:
        weighed = weigh(result)
        reference = weighed.artifact_id if self.references else None
        return weighed, built_in_summary(result, tool=self.tool, reference=reference, max_tokens=self.max_tokens)

    async def _written(self, result: Any, weighed: Weighed) -> str | None:
        """The summary that the tool's own summariser or a model writes, cut so that it is shorter than the result."""
        reference = weighed.artifact_id if self.references else None
        budget = min(self.max_tokens, weighed.full_tokens - 1)
        room = budget - count(with_reference("", reference, budget))
        if room <= 0:
            return None
        if self.summarise is not None:
            text = await own_summary(self.summarise, result, self.tool)
        elif self.cache.write_summary is not None:
            text = await model_summary(self.cache.write_summary, weighed.text, self.tool, room)
        else:
            return None
        return None if text is None else with_reference(text, reference, budget)


def isolate_tool(
    fn: Any,
    cache: ToolResultCache,
    name: str | None = None,
    tenant_id: str = "default",
    *,
    summarise: Summariser | None = None,
    max_tokens: int = SUMMARY_MAX_TOKENS,
    references: bool = True,
) -> Any:
    """The tool, with the same signature, async, whose long results a model sees as summaries.

    `fn` is a function, sync (it is run in a thread) or async; a LangChain tool, which stays one; or a Pydantic AI
    toolset, which stays one. With the cache of an engine without `await`, the tool has none either. A result comes back
    as a summary of at most `max_tokens` tokens that ends with the id of the full result, or as itself when that is no
    longer. `summarise` is the tool's own summariser: it gets the result and returns text. Without `references` no id is
    shown: for models that have no tool to follow it with. What the tools that read back return is never isolated: they
    are given back as they are, and so is a tool that is isolated already.
    """
    if is_read_back(fn):
        return fn
    if (on_its_loop := getattr(type(cache), "__clew_blocking__", None)) is not None:
        options: dict[str, Any] = {"summarise": summarise, "max_tokens": max_tokens, "references": references}
        return on_its_loop(cache, lambda real: isolate_tool(fn, real, name, tenant_id, **options))
    if not isinstance(cache, ToolResultCache):
        raise InvalidInput(f"expected a clew.ToolResultCache, got {type(cache).__name__}", where="cache")
    if not (summarise is None or callable(summarise)):
        raise InvalidInput(f"expected a function, got {type(summarise).__name__}", where="summarise")
    if name is not None and _is_toolset(fn):
        raise InvalidInput("the tools of a toolset have names of their own", where="name")
    if not isinstance(references, bool):
        raise InvalidInput(f"expected True or False, got {type(references).__name__}", where="references")
    isolation = Isolation(
        cache,
        _name_of(fn) if name is None else check_tool(name),
        check_tenant_id(tenant_id),
        summarise,
        check_count(max_tokens, "max_tokens", least=SUMMARY_LEAST_TOKENS, most=SUMMARY_MOST_TOKENS),
        references,
    )
    return _adapted(fn, isolation)


def _adapted(fn: Any, isolation: Isolation) -> Any:
    # A framework whose tool this is has been imported by whoever made it.
    if _is_a(fn, "langchain_core.tools.base", "BaseTool"):
        from clew.artifacts.isolation.frameworks.langchain import isolated_tool

        return isolated_tool(fn, isolation)
    if _is_toolset(fn):
        from clew.artifacts.isolation.frameworks.pydantic_ai import IsolatedToolset

        return IsolatedToolset(fn, isolation)
    if not callable(fn) or isinstance(fn, type):
        raise InvalidInput(
            f"can't isolate what is of type {type(fn).__name__}",
            where="fn",
            fix="Pass a function, a LangChain tool or a Pydantic AI toolset",
        )
    return _isolated_function(fn, isolation)


def _isolated_function(fn: Callable[..., Any], isolation: Isolation) -> Callable[..., Any]:
    @functools.wraps(fn)
    async def isolated(*args: Any, **kwargs: Any) -> Any:
        return await isolation.shown(await _result_of(fn, args, kwargs))

    # Marked, so that nobody isolates the summary in turn.
    # The schema builders of agent frameworks read the parameters from these. What comes back may be a text instead.
    isolated.__annotations__ = {**getattr(fn, "__annotations__", {}), "return": Any}
    try:
        signature = inspect.signature(fn)
    except (ValueError, TypeError):  # some builtins have none
        return reads_back(isolated)
    isolated.__signature__ = signature.replace(return_annotation=Any)  # type: ignore[attr-defined]
    return reads_back(isolated)


async def _result_of(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None)):  # noqa: B004
        return await fn(*args, **kwargs)

    def run() -> Any:
        try:
            return fn(*args, **kwargs)
        except StopIteration as error:  # no future can hold it: whoever waited would wait for ever
            raise RuntimeError(f"{_name_of(fn)} raised StopIteration") from error

    result = await asyncio.to_thread(run)
    return await result if inspect.isawaitable(result) else result


def _is_toolset(fn: object) -> bool:
    return _is_a(fn, "pydantic_ai.toolsets.abstract", "AbstractToolset")


def _is_a(value: object, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _name_of(fn: Any) -> str:
    name = getattr(fn, "__name__", None) or getattr(fn, "name", None)
    if not isinstance(name, str) and isinstance(fn, functools.partial):
        return _name_of(fn.func)
    return check_tool(name if isinstance(name, str) and name else type(fn).__name__)

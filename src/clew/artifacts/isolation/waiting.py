"""Async work for callers that are not: on the event loop it belongs to, or on one of our own."""

import asyncio
import concurrent.futures
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final

from clew.logs import logger

# A loop that does not even begin is blocked, most likely by the very call that waits for it.
BEGIN_MAX_S: Final = 3.0
# Longer than the database takes to give up.
WAIT_MAX_S: Final = 45.0

_log: Final = logger("clew.artifacts")
_starting: Final = threading.Lock()


def wait_for(
    work: Callable[[], Coroutine[Any, Any, Any]],
    loop: asyncio.AbstractEventLoop | None,
    *,
    otherwise: Any,
    tool: str,
) -> Any:
    """What the work returns; `otherwise` when the loop that would do it is blocked by the caller."""
    if loop is not None and loop.is_running():
        if loop is _this_loop():
            _log.warning("tool_result_not_isolated", tool=tool, reason="a sync call on the event loop: use ainvoke")
            return otherwise
    else:
        loop = _own_loop()
    begun = threading.Event()

    async def begin() -> Any:
        begun.set()
        return await work()

    future = asyncio.run_coroutine_threadsafe(begin(), loop)
    try:
        return future.result(WAIT_MAX_S if begun.wait(BEGIN_MAX_S) else 0)
    except concurrent.futures.TimeoutError:
        future.cancel()
        _log.warning("tool_result_not_isolated", tool=tool, reason="the event loop is blocked: use ainvoke")
        return otherwise


def _this_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _own_loop() -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own, for programs that have none."""
    # One, even when several tools that run at once are the first to ask: a database belongs to one loop.
    with _starting:
        return _started_loop()


@functools.cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="clew-isolate", daemon=True).start()
    return loop

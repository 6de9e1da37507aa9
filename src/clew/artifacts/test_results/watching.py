"""Stream first, store light: whoever is watching gets the full result before a light one is stored."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final

from clew.errors import InvalidInput
from clew.logs import logger

# How long storing waits for whoever is watching.
WATCH_TIMEOUT_S: Final = 5.0
_log: Final = logger("clew.artifacts")

Watch = Callable[[dict[str, Any]], Awaitable[None] | None]


async def shown_to(watch: Watch, full_result: dict[str, Any]) -> None:
    """Hand over the full result and wait until it was taken, up to a limit.

    A watcher that raises or hangs is logged and changes nothing for the one who stores, nor does one that changes what
    it was given: its dicts and lists are copies. A plain function runs in a thread of its own, so that it can't hold up
    the event loop.
    """
    if not callable(watch):
        raise InvalidInput(f"expected a function, got {type(watch).__name__}", where="watch")
    task = asyncio.ensure_future(_called(watch, _copied(full_result, {})))
    try:
        # Not wait_for: it would wait for a watcher that ignores being cancelled.
        await asyncio.wait({task}, timeout=WATCH_TIMEOUT_S)
    finally:
        if not task.done():
            task.cancel()
        task.add_done_callback(_noted)


def _copied(value: Any, known: dict[int, Any]) -> Any:
    """The value with dicts and lists of its own; what they hold is the same, since megabytes of text need no copy."""
    if id(value) in known:
        return known[id(value)]
    if type(value) is dict:
        made: dict[Any, Any] = known.setdefault(id(value), {})
        made.update((key, _copied(item, known)) for key, item in value.items())
        return made
    if type(value) is list:
        items: list[Any] = known.setdefault(id(value), [])
        items.extend(_copied(item, known) for item in value)
        return items
    return value


async def _called(watch: Watch, full_result: dict[str, Any]) -> None:
    if inspect.iscoroutinefunction(watch):
        await watch(full_result)
        return
    answer = await _in_a_thread(watch, full_result)
    if inspect.isawaitable(answer):
        await answer


async def _in_a_thread(watch: Watch, full_result: dict[str, Any]) -> Awaitable[None] | None:
    """Not the event loop's own threads: a program waits for those when it ends, and this one may never."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Awaitable[None] | None] = loop.create_future()

    def settle(value: Awaitable[None] | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(RuntimeError(f"{type(error).__name__} in a watcher"))

    def run() -> None:
        value, error = None, None
        try:
            value = watch(full_result)
        except BaseException as raised:  # noqa: BLE001 - a stranger's code, and nobody above it in this thread
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name="clew-watch", daemon=True).start()
    return await answer


def _noted(task: "asyncio.Future[None]") -> None:
    if task.cancelled():
        _log.warning("a watcher of results was too slow and was left behind")
    elif error := task.exception():
        _log.warning("a watcher of results failed", kind=type(error).__name__)

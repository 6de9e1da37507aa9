"""`clew.open_sync()`: the same surface without `await`, for programs that have no event loop.

The engine lives on an event loop in a thread of its own. What it hands out is wrapped: a call that would be awaited is
run there to its end, and the handles it returns are wrapped in turn. One implementation, so the two can't drift apart.
"""

import asyncio
import contextlib
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self

from clew.context import ContextManager
from clew.engine import Clew
from clew.errors import Misconfigured
from clew.handles import Tenant, Thread
from clew.settings import Settings
from clew.store.database import Database
from clew.store.jobs import Jobs
from clew.store.room import Room

# What has methods to await. Everything else (an id, a list of entries, a compiled context) is returned as it is.
_END: Final = object()
_WRAPPED: Final = (Tenant, Thread, ContextManager, Jobs, Room)


def open_sync(
    database: str | Database | None = None, models: Mapping[str, Any] | None = None, settings: Settings | None = None
) -> "SyncClew":
    """The engine for programs without an event loop: `with clew.open_sync() as engine`."""
    return SyncClew(database, models, settings)


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="clew", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        if self.closed:
            work.close()
            raise Misconfigured("the engine is closed", fix="Open another: `with clew.open_sync() as engine`")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking:
    """A room or a handle whose methods return what they would have been awaited for."""

    def __init__(self, wrapped: Any, loop: _Loop) -> None:
        self._wrapped = wrapped
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        # Read over there: what a property makes may belong to the event loop it is made on.
        value = self._loop.run(_attribute(self._wrapped, name))
        if not inspect.ismethod(value):
            return self._given(value)

        @functools.wraps(value)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = value(*args, **kwargs)
            if inspect.isasyncgen(result):
                return self._each(result)
            return self._given(self._loop.run(result) if inspect.iscoroutine(result) else result)

        return call

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._wrapped) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<Blocking {self._wrapped!r}>"

    def __clew_blocking__(self, make: Callable[[Any], Any]) -> Any:
        """What is made from the wrapped thing, with nothing to await: how `clew.isolate_tool` takes a cache of ours."""
        return self._given(make(self._wrapped))

    def _each(self, items: AsyncGenerator[Any, Any]) -> Iterator[Any]:
        """What an asynchronous iterator gives, one by one; it is closed when the reader stops early."""
        try:
            while (item := self._loop.run(_next(items))) is not _END:
                yield item
        finally:
            self._loop.run(items.aclose())

    def _given(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._given(item) for item in value]
        if inspect.iscoroutinefunction(value):
            return self._waited(value)
        return Blocking(value, self._loop) if isinstance(value, _WRAPPED) else value

    def _waited(self, function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        """An asynchronous function, such as a tool, as one that returns what it would have been awaited for."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._loop.run(function(*args, **kwargs))

        return call


class SyncClew(Blocking):
    """The engine without `await`."""

    def __init__(
        self, database: str | Database | None, models: Mapping[str, Any] | None, settings: Settings | None
    ) -> None:
        super().__init__(Clew(database, models, settings), _Loop())

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as undo:
            undo.callback(self._loop.stop)
            self._loop.run(self._wrapped.setup())
            undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and end the thread; once is enough."""
        if not self._loop.closed:
            self._loop.run(self._wrapped.close())
            self._loop.stop()


async def _next(items: AsyncGenerator[Any, Any]) -> Any:
    return await anext(items, _END)


async def _attribute(wrapped: Any, name: str) -> Any:
    return getattr(wrapped, name)

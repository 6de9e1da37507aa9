"""Clew, a context engine for LLM agents.

Everything promised is importable from here; each name is loaded when it is first used: `import clew` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "clew.errors": (
        "BudgetExceeded",
        "ClewError",
        "Conflict",
        "ContextWindowExhausted",
        "Damaged",
        "InvalidInput",
        "Misconfigured",
        "NotFound",
        "Unavailable",
        "WallDown",
    ),
    "clew.settings": ("Settings",),
    "clew.messages": ("Message",),
    "clew.store.database": ("Database",),
    "clew.sessions": ("Forgotten", "SessionStore", "StoredMessage", "ThreadInfo"),
    "clew.memory": ("BatchResult", "Filter", "LongTermMemory", "MemoryEntry"),
    "clew.context": ("ContextManager", "WorkingContextCompiler"),
    "clew.engine": ("Clew", "Context", "Tenant", "Thread", "open"),
    "clew.blocking": ("open_sync",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from clew.blocking import open_sync
    from clew.context import ContextManager, WorkingContextCompiler
    from clew.engine import Clew, Context, Tenant, Thread, open
    from clew.errors import (
        BudgetExceeded,
        ClewError,
        Conflict,
        ContextWindowExhausted,
        InvalidInput,
        Misconfigured,
        NotFound,
        Unavailable,
        WallDown,
    )
    from clew.memory import BatchResult, Filter, LongTermMemory, MemoryEntry
    from clew.messages import Message
    from clew.sessions import Forgotten, SessionStore, StoredMessage, ThreadInfo
    from clew.settings import Settings
    from clew.store.database import Database

__all__ = [
    "BatchResult",
    "BudgetExceeded",
    "Clew",
    "ClewError",
    "Conflict",
    "Context",
    "ContextManager",
    "ContextWindowExhausted",
    "Damaged",
    "Database",
    "Filter",
    "Forgotten",
    "InvalidInput",
    "LongTermMemory",
    "MemoryEntry",
    "Message",
    "Misconfigured",
    "NotFound",
    "SessionStore",
    "Settings",
    "StoredMessage",
    "Tenant",
    "Thread",
    "ThreadInfo",
    "Unavailable",
    "WallDown",
    "WorkingContextCompiler",
    "__version__",
    "open",
    "open_sync",
]


def __getattr__(name: str) -> Any:
    if home := _HOME_OF.get(name):
        value = globals()[name] = getattr(importlib.import_module(home), name)
        return value
    raise AttributeError(f"module 'clew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

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
    "clew.artifacts": (
        "Artifact",
        "ArtifactRef",
        "ArtifactStore",
        "Lifetime",
        "Savings",
        "ToolResultCache",
        "isolate_tool",
        "read_back_tools",
    ),
    "clew.artifacts.isolation.calls": ("tool_call",),
    "clew.context": ("ContextManager", "WorkingContextCompiler"),
    "clew.context.compactor": ("Compactor",),
    "clew.context.hierarchy": ("HierarchicalMemory",),
    "clew.context.trim": ("trim_messages",),
    "clew.context.views": ("Compaction", "Refusal"),
    "clew.engine": ("Clew", "Context", "Tenant", "Thread", "open"),
    "clew.blocking": ("open_sync",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from clew.artifacts import (
        Artifact,
        ArtifactRef,
        ArtifactStore,
        Lifetime,
        Savings,
        ToolResultCache,
        isolate_tool,
        read_back_tools,
    )
    from clew.artifacts.isolation.calls import tool_call
    from clew.blocking import open_sync
    from clew.context import ContextManager, WorkingContextCompiler
    from clew.context.compactor import Compactor
    from clew.context.hierarchy import HierarchicalMemory
    from clew.context.trim import trim_messages
    from clew.context.views import Compaction, Refusal
    from clew.engine import Clew, Context, Tenant, Thread, open
    from clew.errors import (
        BudgetExceeded,
        ClewError,
        Conflict,
        ContextWindowExhausted,
        Damaged,
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
    "Artifact",
    "ArtifactRef",
    "ArtifactStore",
    "BatchResult",
    "BudgetExceeded",
    "Clew",
    "ClewError",
    "Compaction",
    "Compactor",
    "Conflict",
    "Context",
    "ContextManager",
    "ContextWindowExhausted",
    "Damaged",
    "Database",
    "Filter",
    "Forgotten",
    "HierarchicalMemory",
    "InvalidInput",
    "Lifetime",
    "LongTermMemory",
    "MemoryEntry",
    "Message",
    "Misconfigured",
    "NotFound",
    "Refusal",
    "Savings",
    "SessionStore",
    "Settings",
    "StoredMessage",
    "Tenant",
    "Thread",
    "ThreadInfo",
    "ToolResultCache",
    "Unavailable",
    "WallDown",
    "WorkingContextCompiler",
    "__version__",
    "isolate_tool",
    "open",
    "open_sync",
    "read_back_tools",
    "tool_call",
    "trim_messages",
]


def __getattr__(name: str) -> Any:
    if home := _HOME_OF.get(name):
        value = globals()[name] = getattr(importlib.import_module(home), name)
        return value
    raise AttributeError(f"module 'clew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

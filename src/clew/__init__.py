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
    "clew.memory": ("BatchResult", "Filter", "LongTermMemory", "MemoryChange", "MemoryEntry"),
    "clew.memory.knowledge": ("Change", "Episode", "EpisodeResult", "Fact", "KnowledgeBase", "Source", "Undone"),
    "clew.memory.graphiti": ("GraphitiKnowledgeBase",),
    "clew.memory.gate": ("Gate", "Policy", "Verdict"),
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
    "clew.context.assertions": ("Assertion", "detect_assertion"),
    "clew.context.compactor": ("Compactor",),
    "clew.context.hierarchy": ("HierarchicalMemory",),
    "clew.context.intent": ("Intent", "classify_intent"),
    "clew.context.standing.kept": ("KeptInstruction", "StandingInstructions"),
    "clew.context.trim": ("trim_messages",),
    "clew.context.views": ("Compaction", "Refusal"),
    "clew.context.writing_back": ("PERSISTENCE_RULES", "Refused", "WriteBack"),
    "clew.erasure": ("Erasure", "ErasureReport"),
    "clew.engine": ("Clew", "open"),
    "clew.handles": ("Context", "Tenant", "Thread"),
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
    from clew.context.assertions import Assertion, detect_assertion
    from clew.context.compactor import Compactor
    from clew.context.hierarchy import HierarchicalMemory
    from clew.context.intent import Intent, classify_intent
    from clew.context.standing.kept import KeptInstruction, StandingInstructions
    from clew.context.trim import trim_messages
    from clew.context.views import Compaction, Refusal
    from clew.context.writing_back import PERSISTENCE_RULES, Refused, WriteBack
    from clew.engine import Clew, open
    from clew.erasure import Erasure, ErasureReport
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
    from clew.handles import Context, Tenant, Thread
    from clew.memory import BatchResult, Filter, LongTermMemory, MemoryChange, MemoryEntry
    from clew.memory.gate import Gate, Policy, Verdict
    from clew.memory.graphiti import GraphitiKnowledgeBase
    from clew.memory.knowledge import Change, Episode, EpisodeResult, Fact, KnowledgeBase, Source, Undone
    from clew.messages import Message
    from clew.sessions import Forgotten, SessionStore, StoredMessage, ThreadInfo
    from clew.settings import Settings
    from clew.store.database import Database

__all__ = [
    "PERSISTENCE_RULES",
    "Artifact",
    "ArtifactRef",
    "ArtifactStore",
    "Assertion",
    "BatchResult",
    "BudgetExceeded",
    "Change",
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
    "Episode",
    "EpisodeResult",
    "Erasure",
    "ErasureReport",
    "Fact",
    "Filter",
    "Forgotten",
    "Gate",
    "GraphitiKnowledgeBase",
    "HierarchicalMemory",
    "Intent",
    "InvalidInput",
    "KeptInstruction",
    "KnowledgeBase",
    "Lifetime",
    "LongTermMemory",
    "MemoryChange",
    "MemoryEntry",
    "Message",
    "Misconfigured",
    "NotFound",
    "Policy",
    "Refusal",
    "Refused",
    "Savings",
    "SessionStore",
    "Settings",
    "Source",
    "StandingInstructions",
    "StoredMessage",
    "Tenant",
    "Thread",
    "ThreadInfo",
    "ToolResultCache",
    "Unavailable",
    "Undone",
    "Verdict",
    "WallDown",
    "WorkingContextCompiler",
    "WriteBack",
    "__version__",
    "classify_intent",
    "detect_assertion",
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

"""Big results: where they are kept, what a model is shown of them, and the tools that read them back.

Each name is loaded when it is first used: a program that only stores bytes pays for nothing else.
"""

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "clew.artifacts.ref": ("Artifact", "ArtifactRef", "Collected", "Lifetime"),
    "clew.artifacts.store": ("ArtifactStore",),
    "clew.artifacts.isolation.tool_results": ("Savings", "ToolResultCache"),
    "clew.artifacts.isolation.isolate": ("isolate_tool",),
    "clew.artifacts.reading_back": ("read_back_tools",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from clew.artifacts.isolation.isolate import isolate_tool
    from clew.artifacts.isolation.tool_results import Savings, ToolResultCache
    from clew.artifacts.reading_back import read_back_tools
    from clew.artifacts.ref import Artifact, ArtifactRef, Collected, Lifetime
    from clew.artifacts.store import ArtifactStore

__all__ = [
    "Artifact",
    "ArtifactRef",
    "ArtifactStore",
    "Collected",
    "Lifetime",
    "Savings",
    "ToolResultCache",
    "isolate_tool",
    "read_back_tools",
]


def __getattr__(name: str) -> Any:
    if home := _HOME_OF.get(name):
        value = globals()[name] = getattr(importlib.import_module(home), name)
        return value
    raise AttributeError(f"module 'clew.artifacts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

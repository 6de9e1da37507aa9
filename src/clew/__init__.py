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
        "InvalidInput",
        "Misconfigured",
        "NotFound",
        "Unavailable",
        "WallDown",
    ),
    "clew.settings": ("Settings",),
    "clew.messages": ("Message",),
    "clew.store.database": ("Database",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
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
    from clew.messages import Message
    from clew.settings import Settings
    from clew.store.database import Database

__all__ = [
    "BudgetExceeded",
    "ClewError",
    "Conflict",
    "ContextWindowExhausted",
    "Database",
    "InvalidInput",
    "Message",
    "Misconfigured",
    "NotFound",
    "Settings",
    "Unavailable",
    "WallDown",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if home := _HOME_OF.get(name):
        value = globals()[name] = getattr(importlib.import_module(home), name)
        return value
    raise AttributeError(f"module 'clew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

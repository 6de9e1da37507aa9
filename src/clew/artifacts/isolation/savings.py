"""What isolation has saved, tool by tool."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

# Of so many tools in so many conversations it is remembered how often their results passed untouched.
PASSED_MAX_KEYS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Savings:
    """What one tool's results would have cost in the window, and what was shown instead.

    `isolated`, `full_tokens` and `shown_tokens` are from the database. Results that passed untouched leave no row: a
    write for every small result would cost more than it tells. `calls` has those of them that this cache has seen.
    """

    tool: str
    calls: int
    isolated: int
    full_tokens: int
    shown_tokens: int

    @property
    def saved_tokens(self) -> int:
        """What stayed out of the window."""
        return self.full_tokens - self.shown_tokens

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON."""
        return {**asdict(self), "saved_tokens": self.saved_tokens}

    @classmethod
    def total(cls, savings: "Iterable[Savings]", tool: str = "total") -> "Savings":
        """All of them in one."""
        every = list(savings)
        return cls(
            tool,
            sum(one.calls for one in every),
            sum(one.isolated for one in every),
            sum(one.full_tokens for one in every),
            sum(one.shown_tokens for one in every),
        )


class Passed:
    """How many results passed untouched in this process, by tenant, thread and tool."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str | None, str], int] = OrderedDict()

    def add(self, tenant_id: str, thread_id: str | None, tool: str) -> None:
        """Count one; the key that was longest without one makes room for a new one."""
        key = (tenant_id, thread_id, tool)
        self._counts[key] = self._counts.pop(key, 0) + 1
        if len(self._counts) > PASSED_MAX_KEYS:
            self._counts.popitem(last=False)

    def by_tool(self, tenant_id: str, thread_id: str | None) -> dict[str, int]:
        """The counts of a tenant, or of one of its threads, by tool."""
        found: dict[str, int] = {}
        for (tenant, thread, tool), count in self._counts.items():
            if tenant == tenant_id and thread_id in (None, thread):
                found[tool] = found.get(tool, 0) + count
        return found

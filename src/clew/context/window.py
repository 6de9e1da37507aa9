"""What is read of one thread for one compile: its newest stretch, with older turns as their summary shows them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from clew.context.compiled import Compiled
from clew.context.history import SessionMessage
from clew.context.reading import session_at
from clew.context.references import without_references
from clew.errors import InvalidInput

if TYPE_CHECKING:
    from clew.context.compaction import View
    from clew.context.compactor import Compactor
    from clew.context.standing.kept import StandingInstructions
    from clew.context.views import Current

READS_ARTIFACTS: Final = "read_artifact"
RECALLS_MESSAGES: Final = "recall_messages"


class Sessions(Protocol):
    """What is needed of a session store.

    One that also has `read`, with the same arguments, is asked for its rows instead: they know each message's id.
    """

    async def get_session_messages(
        self, thread_id: str, limit: int = 50, *, tenant_id: str = "default"
    ) -> Sequence[Any]: ...


class Window:
    """One thread as one model may see it."""

    def __init__(
        self,
        sessions: Sessions,
        compactor: "Compactor | None",
        tenant_id: str,
        thread_id: str,
        tools: frozenset[str],
        standing: "StandingInstructions | None" = None,
    ) -> None:
        self._read = getattr(sessions, "read", sessions.get_session_messages)
        self._compactor = compactor
        self._current: Current | None = None
        self._tenant_id, self._thread_id = tenant_id, thread_id
        self._tools = tools
        self._standing = standing
        self.hidden_through = 0
        """The last position of the log that the model is not shown itself."""

    async def newest(self, limit: int) -> tuple[list[SessionMessage], bool]:
        """The newest messages of the view, and whether there are no older ones that reading further could bring."""
        rows = await self._read(self._thread_id, limit, tenant_id=self._tenant_id)
        if self._compactor is not None:
            # After the rows: a thread that is cleared in between has no view any more, never one of other messages.
            self._current = await self._compactor.current(self._thread_id, tenant_id=self._tenant_id)
        if self._compactor is None or self._current is None:
            session, whole = session_at(rows), len(rows) < limit
            self.hidden_through = 0 if whole else getattr(rows[0], "position", 1) - 1
        else:
            session = await self._seen(rows, self._compactor, self._current)
            whole = len(rows) < limit or rows[0].position <= self._current.view.through + 1
            read_from = rows[0].position if rows else 1
            self.hidden_through = max(self._current.view.through, read_from - 1)
        return ([without_references(entry) for entry in session] if self._hides else session), whole

    async def compiled(self, compiled: Compiled) -> None:
        """Have a thread that grew past a threshold compacted, and keep the request for its summary to continue."""
        if self._compactor is None or self._current is None:
            return
        ids = frozenset(item.source_id for item in compiled.manifest.of("session") if item.kept and item.source_id)
        self._compactor.remember_request(self._tenant_id, self._thread_id, compiled.sent_messages, ids)
        await self._compactor.compact_when_due(self._current)

    @property
    def _hides(self) -> bool:
        return READS_ARTIFACTS not in self._tools

    async def _seen(self, rows: Sequence[Any], compactor: "Compactor", current: "Current") -> list[SessionMessage]:
        # Imported here: compiling messages that somebody passes needs none of it.
        from clew.context.compaction import shown
        from clew.context.compactor import entries_of

        view = await self._without_instructions(current.view)
        after = [row for row in rows if row.position > view.through]
        oldest = after[0].position if after else current.messages + 1
        staying = await compactor.staying(current, oldest - 1)
        if view.summary is None and not view.edits:
            return session_at([*staying, *after])
        can_recall = RECALLS_MESSAGES in self._tools
        covered = f"messages {view.summary.covers[0]} to {view.through}" if view.summary else None
        return [
            SessionMessage(item.message, item.tokens, covered if item.position is None else None)
            for item in shown(view, entries_of([*staying, *after]), references=can_recall)
        ]

    async def _without_instructions(self, view: "View") -> "View":
        """The view without the standing instructions that were given here: they have a section of their own."""
        if self._standing is None or view.summary is None:
            return view
        from clew.context.standing.summarised import without_told

        return without_told(view, await self._standing.told(self._thread_id, tenant_id=self._tenant_id))


def names_of(tools: Iterable[Any]) -> frozenset[str]:
    """The names of tools given as names, functions, tool objects, or schemas in OpenAI or Anthropic form."""
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
        raise InvalidInput(f"expected a list of tools, got {type(tools).__name__}", where="tools")
    return frozenset(_name_of(tool, f"tools[{place}]") for place, tool in enumerate(tools))


def _name_of(tool: Any, where: str) -> str:
    if isinstance(tool, Mapping):
        inner = tool.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else tool.get("name")
    else:
        name = tool if isinstance(tool, str) else getattr(tool, "name", getattr(tool, "__name__", None))
    if not isinstance(name, str):
        raise InvalidInput(f"{type(tool).__name__} has no name", where=where, fix="Pass names, functions or schemas")
    return name

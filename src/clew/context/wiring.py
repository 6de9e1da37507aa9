"""The parts that a manager works with beyond sessions, memory and compiler, all on one database."""

from dataclasses import dataclass
from typing import Any

from clew.context.selecting import Selector
from clew.context.standing.kept import StandingInstructions
from clew.context.writing_back import WriteBack
from clew.memory.knowledge import KnowledgeBase
from clew.sessions import SessionStore


@dataclass(frozen=True, slots=True)
class Parts:
    """What is looked up, what is learnt, and what is wanted of every answer."""

    selector: Selector
    standing: StandingInstructions | None = None
    write_back: WriteBack | None = None
    """None where nothing is to be learnt from what is said."""

    @classmethod
    def around(cls, sessions: Any, memory: Any) -> "Parts":
        """All of them where the sessions are in PostgreSQL; with a log of the caller's own, memory alone."""
        if not isinstance(sessions, SessionStore):
            return cls(Selector(memory))
        knowledge = KnowledgeBase(sessions, getattr(memory, "embedding_model", None))
        # What was found before can be read again only from a memory that knows its entries by id.
        room = sessions if hasattr(memory, "fetch") else None
        selector = Selector(memory, knowledge=knowledge, sessions=sessions, room=room)
        standing = StandingInstructions(sessions)
        return cls(selector, standing, WriteBack(sessions, knowledge=knowledge, standing=standing, shown=selector))

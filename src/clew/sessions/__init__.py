"""Tier 1: what was said. The conversation log, and the checkpointer for LangGraph's graphs.

`SessionStore` is the way in. LangGraph is imported when its checkpointer is first used, and not before.
"""

from clew.sessions.rows import Forgotten, StoredMessage, ThreadInfo
from clew.sessions.store import SessionStore

__all__ = ["Forgotten", "SessionStore", "StoredMessage", "ThreadInfo"]

"""Whose thread a graph is running on: what its configuration says."""

from dataclasses import dataclass
from typing import Final

from langchain_core.runnables import RunnableConfig

from clew.errors import InvalidInput
from clew.ids import check_tenant_id
from clew.sessions.checkpointer import Checkpointer
from clew.sessions.rows import check_thread_id

DEFAULT_TENANT: Final = "default"
# Where LangGraph puts the checkpointer of the graph that a node runs in.
_CHECKPOINTER: Final = "__pregel_checkpointer"


@dataclass(frozen=True, slots=True)
class Place:
    """A tenant, and its thread; a graph without a checkpointer has none."""

    tenant_id: str
    thread_id: str | None


def place_of(config: RunnableConfig, tenant_id: str | None) -> Place:
    """The place of a run: `configurable["tenant_id"]`, or the tenant that the graph's checkpointer was made for.

    A node that was made for one tenant refuses every other.
    """
    said = config.get("configurable", {})
    asked = said.get("tenant_id")
    if asked is None:
        asked = _checkpointers_tenant(said.get(_CHECKPOINTER)) or tenant_id or DEFAULT_TENANT
    if tenant_id is not None and asked != tenant_id:
        raise InvalidInput(
            "this node was made for another tenant",
            where="configurable.tenant_id",
            fix="Run the graph for its tenant, or make the node without a tenant_id",
        )
    thread_id = said.get("thread_id")
    # LangGraph takes any object as a thread id and writes it as text.
    thread = None if thread_id is None else check_thread_id(str(thread_id), "configurable.thread_id")
    return Place(check_tenant_id(asked), thread)


def _checkpointers_tenant(checkpointer: object) -> str | None:
    """The tenant whose checkpoints alone it can reach; a node beside it must not write to another's log."""
    bound = isinstance(checkpointer, Checkpointer) and checkpointer._bound
    return checkpointer.tenant_id if bound else None  # type: ignore[attr-defined]

"""Clew in a LangGraph graph: states that stay light, a tool node that isolates, a node that compacts."""

from clew.integrations.langgraph.compaction import compaction_node
from clew.integrations.langgraph.held import pinned
from clew.integrations.langgraph.lightness import check_light
from clew.integrations.langgraph.reducers import (
    append_bounded,
    append_unique,
    current,
    last_wins,
    light_messages,
    merge_by,
    merge_counted,
)
from clew.integrations.langgraph.state import LightState, TestingState
from clew.integrations.langgraph.tool_node import IsolatingToolNode
from clew.integrations.langgraph.tools import Returned

__all__ = [
    "IsolatingToolNode",
    "LightState",
    "Returned",
    "TestingState",
    "append_bounded",
    "append_unique",
    "check_light",
    "compaction_node",
    "current",
    "last_wins",
    "light_messages",
    "merge_by",
    "merge_counted",
    "pinned",
]

"""States to build graphs on that stay small however long the run: each field has its own reducer, and holds references.

    class State(LightState):
        visited: Annotated[list[dict[str, Any]], append_unique("url", most=200)]

    graph = StateGraph(State)

A step's checkpoint holds the whole state, which is why it must be light; in exchange any checkpoint stands alone, and
`checkpointer.aprune` may drop the older ones. For a conversation kept in full there is `clew.sessions.state`.
"""

from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage

from clew.integrations.langgraph.reducers import (
    append_bounded,
    append_unique,
    current,
    last_wins,
    light_messages,
    merge_by,
    merge_counted,
)


class LightState(TypedDict):
    """The base for one's own: the messages, light, and kept few by a `compaction_node`."""

    messages: Annotated[list[AnyMessage], light_messages]


class TestingState(LightState):
    """What an agent that tests an application knows."""

    app_url: Annotated[str, last_wins]
    current_test: Annotated[dict[str, Any], current("name")]
    """The test at hand: `name`, and whatever else its steps write down. Another name begins another test."""
    test_history: Annotated[list[dict[str, Any]], append_bounded()]
    """The tests done, newest last."""
    screenshot_refs: Annotated[list[dict[str, Any]], append_unique("artifact_id")]
    """Where the screenshots are: `ArtifactRef`s, as plain data."""
    failure_patterns: Annotated[dict[str, dict[str, Any]], merge_counted("pattern")]
    """What went wrong, and how often."""
    healing_strategies: Annotated[dict[str, dict[str, Any]], merge_counted("strategy")]
    """What helped, and how often."""
    discovered_elements: Annotated[dict[str, dict[str, Any]], merge_by("selector")]
    """What is on the pages, by selector."""


# The name is the product's; pytest would take it for a class of tests wherever it is imported.
TestingState.__test__ = False  # type: ignore[attr-defined]

"""Graphiti, noting what an episode is about to change before it is changed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge

Ends: TypeAlias = tuple[datetime | None, datetime | None]


class RecordingGraphiti(Graphiti):
    """One tenant's. `before` holds the ends that facts had before the last episode; `writing`, whether it was written.

    An edge that an episode closes is overwritten, and `add_episode` answers with what it became, so that only between
    the two can be seen what it was. The method is a private one: were it gone, `before` would stay empty, and a fact
    that had an end before it was closed would be reopened without one.
    """

    before: dict[str, Ends]
    writing: bool

    def begin(self) -> None:
        self.before, self.writing = {}, False

    async def _process_episode_data(self, episode: Any, nodes: Any, entity_edges: Any, *args: Any, **named: Any) -> Any:
        self.before = await self._ends([edge.uuid for edge in entity_edges])
        self.writing = True
        return await super()._process_episode_data(episode, nodes, entity_edges, *args, **named)

    async def _ends(self, uuids: Sequence[str]) -> dict[str, Ends]:
        edges = await EntityEdge.get_by_uuids(self.driver, list(uuids))
        return {edge.uuid: (edge.invalid_at, edge.expired_at) for edge in edges}

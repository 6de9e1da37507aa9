"""Taking an episode back, and forgetting it, which Graphiti's own `remove_episode` does by halves.

It deletes a fact that others told too, when this episode was the first, and leaves closed what the episode closed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from clew.memory.graphiti import cypher
from clew.memory.graphiti.chains import told_by
from clew.memory.graphiti.graph import TenantGraph
from clew.memory.graphiti.records import Edge, Told
from clew.memory.graphiti.reopening import Reopening
from clew.memory.knowledge.fact import Forgotten, Undone


class Withdrawal:
    """One episode's. The caller holds `graph.writing`. Broken off halfway, it can be done again."""

    def __init__(self, graph: TenantGraph, episode: Told) -> None:
        self._graph = graph
        self._episode = episode

    async def undo(self) -> Undone:
        """What holds again, or longer, and what is believed no more."""
        if self._episode.note.undone_at is not None:
            return Undone(self._episode.uuid)
        now = datetime.now(UTC)
        told = await told_by(self._graph, self._episode)
        tellers = _standing(await self._others(told))
        sole = [edge for edge in told if not tellers[edge.uuid]]
        reopened = await Reopening(self._graph, self._episode, told, tellers).reopen()
        await self._expire(sole, now)
        await self._graph.note(replace(self._episode, note=replace(self._episode.note, undone_at=now)))
        again = await self._graph.facts(await self._graph.edges(reopened))
        gone = await self._graph.facts(await self._graph.edges(edge.uuid for edge in sole), ever=True)
        return Undone(self._episode.uuid, again, gone)

    async def forget(self) -> Forgotten:
        """Remove the episode and what only it told."""
        told = await told_by(self._graph, self._episode)
        others = await self._others(told)
        tellers = _standing(others)
        if self._episode.note.undone_at is None:
            await Reopening(self._graph, self._episode, told, tellers).reopen()
        kept = [edge for edge in told if others[edge.uuid]]
        gone = [edge.uuid for edge in told if not others[edge.uuid]]
        await self._expire([edge for edge in kept if not tellers[edge.uuid]], datetime.now(UTC))
        for edge in kept:
            episodes = [one.uuid for one in others[edge.uuid]]
            await self._graph.run(cypher.SET_EPISODES, uuid=edge.uuid, episodes=episodes)
        await self._graph.run(cypher.DROP_EDGES, uuids=gone)
        await self._drop_mentioned()
        await self._graph.run(cypher.DROP_EPISODE, uuid=self._episode.uuid)
        return Forgotten([self._episode.uuid], gone, [edge.uuid for edge in kept])

    async def _others(self, told: Sequence[Edge]) -> dict[str, list[Told]]:
        """Who else told each fact."""
        episodes = await self._graph.episodes(uuid for edge in told for uuid in edge.episodes)
        episodes.pop(self._episode.uuid, None)
        return {edge.uuid: [episodes[uuid] for uuid in edge.episodes if uuid in episodes] for edge in told}

    async def _expire(self, edges: Sequence[Edge], now: datetime) -> None:
        for edge in edges:
            if edge.expired_at is None:
                await self._graph.set_ends(edge.uuid, (edge.invalid_at, now))

    async def _drop_mentioned(self) -> None:
        """Remove the things that only this episode named; of the others, the summaries that may hold its words."""
        rows: Sequence[Mapping[str, int | str]] = await self._graph.run(cypher.MENTIONED, uuid=self._episode.uuid)
        lone = [row["uuid"] for row in rows if row["mentions"] == 1 and row["facts"] == 0]
        await self._graph.run(cypher.DROP_ENTITIES, uuids=lone)
        await self._graph.run(cypher.BLANK_SUMMARIES, uuids=[row["uuid"] for row in rows if row["uuid"] not in lone])


def _standing(others: Mapping[str, Sequence[Told]]) -> dict[str, list[Told]]:
    """Of those who told each fact, the ones that were not taken back."""
    return {uuid: [one for one in told if one.note.undone_at is None] for uuid, told in others.items()}

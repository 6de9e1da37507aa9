"""Giving what an episode closed the ends that it would have without the episode."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from clew.memory.graphiti import cypher
from clew.memory.graphiti.chains import closers, replaced
from clew.memory.graphiti.graph import TenantGraph
from clew.memory.graphiti.records import Edge, Ends, Told

_OPEN: Final[Ends] = (None, None)
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


class Reopening:
    """One episode's: `told` are its facts, `tellers` who else tells each of them and was not taken back."""

    def __init__(
        self, graph: TenantGraph, episode: Told, told: Sequence[Edge], tellers: Mapping[str, Sequence[Told]]
    ) -> None:
        self._graph = graph
        self._episode = episode
        self._told = told
        self._tellers = tellers
        self._later: dict[str, Told] = {}
        self._noted: dict[str, Told] = {}

    async def reopen(self) -> list[str]:
        """The facts that hold again, or longer."""
        before = dict.fromkeys(self._episode.edges, _OPEN) | dict(self._episode.note.closed)
        edges = [edge for edge in await self._graph.edges(before) if self._closed(edge)]
        uuids = (one.uuid for one in (*edges, *self._told))
        self._later = await closers(self._graph, uuids, after=self._episode.created_at)
        changed = []
        for edge in edges:
            ends, closer = self._without(edge, before[edge.uuid])
            if closer is not None:
                await self._pass_on(closer, edge.uuid, before[edge.uuid])
            if ends != edge.ends:
                await self._graph.set_ends(edge.uuid, ends)
                changed.append(edge.uuid)
        await self._redate()
        return changed

    def _closed(self, edge: Edge) -> bool:
        return edge.uuid in self._episode.note.closed or self._episode.uuid not in edge.episodes

    def _without(self, edge: Edge, before: Ends) -> tuple[Ends, Told | None]:
        """The ends of a fact without the episode, and who closes it then."""
        if edge.uuid in self._later:
            return edge.ends, self._later[edge.uuid]
        for heir in (one for one in self._told if replaced(edge, one, self._told)):
            begun = edge.valid_at or _EARLIEST
            others = [one for one in self._tellers[heir.uuid] if one.reference_time > begun]
            if others:
                first = min(others, key=lambda one: one.reference_time)
                return (first.reference_time, edge.expired_at), first
            if heir.uuid in self._later and not self._tellers[heir.uuid]:
                return heir.ends, self._later[heir.uuid]
        return before, None

    async def _pass_on(self, closer: Told, uuid: str, before: Ends) -> None:
        """Let another episode be the one that closed a fact, with the ends from before this one."""
        known = self._noted.get(closer.uuid, closer)
        note = replace(known.note, closed={**known.note.closed, uuid: before})
        told = replace(known, note=note, edges=tuple(dict.fromkeys([*known.edges, uuid])))
        self._noted[told.uuid] = told
        await self._graph.note(told)

    async def _redate(self) -> None:
        """Let what others tell too begin when the first of them said so, where this one had dated it.

        What they say of the date themselves is not known: Graphiti keeps that of the first.
        """
        for edge in self._told:
            tellers = {one.uuid: one.reference_time for one in self._tellers[edge.uuid]}
            standing = [uuid for uuid in edge.episodes if uuid in tellers or uuid == self._episode.uuid]
            if tellers and standing[:1] == [self._episode.uuid]:
                first = min(tellers.values())
                if edge.valid_at is not None and first > edge.valid_at:
                    await self._graph.run(cypher.SET_BEGIN, uuid=edge.uuid, valid_at=first)

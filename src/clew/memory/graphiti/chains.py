"""Which fact took the place of which, as far as the episodes' notes tell."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from clew.memory.graphiti import cypher
from clew.memory.graphiti.graph import TenantGraph
from clew.memory.graphiti.records import Edge, Told

# So many facts of one thing are looked at in search of what excludes what.
CHAIN_MAX: Final = 200


async def closers(graph: TenantGraph, uuids: Iterable[str], after: datetime | None = None) -> dict[str, Told]:
    """For each fact, the first episode that closed it and was not taken back; of those told after a time, if given."""
    wanted = set(uuids)
    found: dict[str, Told] = {}
    if not wanted:
        return found
    for one in await graph.episodes_by(cypher.EPISODES_ABOUT, uuids=sorted(wanted)):
        if one.note.undone_at is None and (after is None or one.created_at > after):
            for uuid in one.note.closed.keys() & wanted:
                found.setdefault(uuid, one)
    return found


def replaced(edge: Edge, heir: Edge, told: Sequence[Edge]) -> bool:
    """Whether one fact took the place of another: it says the same of the same thing, or is all that was told of it."""
    about = [one for one in told if one.source_uuid == edge.source_uuid]
    return heir in about and (heir.name == edge.name or len(about) == 1)


async def told_by(graph: TenantGraph, episode: Told) -> list[Edge]:
    """The facts that an episode told, and not those that it closed."""
    return [edge for edge in await graph.edges(episode.edges) if episode.uuid in edge.episodes]


async def rivals(graph: TenantGraph, edge: Edge) -> list[Edge]:
    """The open facts that cannot be true together with a fact, or with one that cannot be true together with it.

    It shows in what any episode closed, also one that was taken back: what excludes what is not a matter of who is
    right. Facts are the same here that say the same of the same two things.
    """
    seen, waiting = {edge.said}, [edge]
    standing: list[Edge] = []
    while waiting and len(seen) <= CHAIN_MAX:
        for one in await _excluded(graph, waiting.pop(0)):
            if one.said not in seen:
                seen.add(one.said)
                waiting.append(one)
                standing += [same for same in await same_edges(graph, one) if same.ends == (None, None)]
    return standing


async def _excluded(graph: TenantGraph, edge: Edge) -> list[Edge]:
    """What replaced a fact in some episode, and what it replaced."""
    same = await same_edges(graph, edge)
    found: list[Edge] = []
    for episode in await graph.episodes_by(cypher.EPISODES_ABOUT, uuids=[one.uuid for one in same]):
        told = await told_by(graph, episode)
        closed = await graph.edges(episode.note.closed)
        found += [heir for heir in told for one in same if one in closed and replaced(one, heir, told)]
        found += [one for one in closed for heir in same if heir in told and replaced(one, heir, told)]
    return found


async def same_edges(graph: TenantGraph, edge: Edge) -> list[Edge]:
    """The fact itself, and those that say the same of other times, oldest first."""
    source_uuid, name, target_uuid = edge.said
    rows = await graph.run(cypher.SAME_EDGES, source_uuid=source_uuid, target_uuid=target_uuid, name=name)
    return [Edge.read(row) for row in rows]

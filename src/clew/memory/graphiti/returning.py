"""A fact that is told again after it had ended, or was taken back.

Graphiti takes it for the one that it has, which stays as it is: ended, and what had replaced it stays open
(https://github.com/getzep/graphiti/issues/1865). Here it becomes a fact of its own, which closes what is in its place:
if the model found that the one excludes the other, then the other excludes the one.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from graphiti_core.edges import EntityEdge

from clew.memory.graphiti import cypher
from clew.memory.graphiti.chains import rivals, same_edges
from clew.memory.graphiti.graph import TenantGraph
from clew.memory.graphiti.records import Edge, Ends, Told


def ended(edge: Edge, before: Mapping[str, Ends], said_at: datetime) -> bool:
    """Whether a fact that was told had ended by then; one that held then is only told once more."""
    invalid_at, expired_at = before.get(edge.uuid, (None, None))
    return expired_at is not None and (invalid_at is None or invalid_at <= said_at)


async def bring_back(graph: TenantGraph, episode: Told, edge: Edge) -> tuple[str, dict[str, Ends]]:
    """The fact that says so from now on, and the ends that those had which it closes.

    It begins when the episode was said: the date in its text is lost with what Graphiti took for told already.
    """
    others = [uuid for uuid in edge.episodes if uuid != episode.uuid]
    await graph.run(cypher.SET_EPISODES, uuid=edge.uuid, episodes=others)
    holds = next((one for one in await same_edges(graph, edge) if one.ends == (None, None)), None)
    if holds is not None:
        await graph.run(cypher.SET_EPISODES, uuid=holds.uuid, episodes=[*holds.episodes, episode.uuid])
        return holds.uuid, {}
    standing = await rivals(graph, edge)
    since, now = episode.reference_time, datetime.now(UTC)
    later = [one.valid_at for one in standing if one.valid_at is not None and one.valid_at > since]
    again = EntityEdge(
        source_node_uuid=edge.source_uuid,
        target_node_uuid=edge.target_uuid,
        name=edge.name,
        group_id=graph.group_id,
        fact=edge.fact,
        episodes=[episode.uuid],
        created_at=now,
        valid_at=since,
        invalid_at=min(later, default=None),
        expired_at=now if later else None,
        reference_time=since,
    )
    await again.generate_embedding(graph.graphiti.embedder)
    await again.save(graph.graphiti.driver)
    closed = {one.uuid: one.ends for one in standing if one.valid_at is None or one.valid_at <= since}
    for uuid in closed:
        await graph.set_ends(uuid, (since, now))
    return again.uuid, closed

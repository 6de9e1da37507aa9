"""Telling Graphiti an episode, and noting what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from graphiti_core.nodes import EpisodeType

from clew.memory.graphiti.facts import episode_of
from clew.memory.graphiti.graph import TenantGraph
from clew.memory.graphiti.records import Edge, Ends, Note, Told
from clew.memory.graphiti.returning import bring_back, ended
from clew.memory.knowledge.episodes import Sent
from clew.memory.knowledge.fact import EpisodeResult

_KINDS: Final = {"text": EpisodeType.text, "message": EpisodeType.message, "json": EpisodeType.json}


async def tell(graph: TenantGraph, sent: Sent, note: Note) -> EpisodeResult:
    """What an episode told and closed, read back from the graph. The caller holds `graph.writing`."""
    graphiti = graph.graphiti
    graphiti.begin()
    added = await graphiti.add_episode(
        name=sent.name,
        episode_body=sent.body,
        source_description=sent.source_description,
        reference_time=sent.reference_time,
        source=_KINDS[sent.source],
        group_id=graph.group_id,
    )
    uuid, before = added.episode.uuid, graphiti.before
    edges = await graph.edges(edge.uuid for edge in added.edges)
    changed = [edge for edge in edges if edge.ends != before.get(edge.uuid, (None, None))]
    closed = {one.uuid: before.get(one.uuid, (None, None)) for one in changed if _was_there(one, uuid, before)}
    episode = Told(
        uuid,
        sent.name,
        sent.source,
        sent.source_description,
        sent.body,
        sent.reference_time,
        added.episode.created_at,
        tuple(edge.uuid for edge in edges),
        sent.thread_id,
        replace(note, closed=closed),
    )
    episode = await _with_what_returned(graph, episode, [edge for edge in edges if uuid in edge.episodes])
    await graph.note(episode)
    edges = await graph.edges(episode.edges)
    closed_ones = [edge for edge in edges if edge.uuid in episode.note.closed]
    told = [edge for edge in edges if uuid in edge.episodes and edge not in closed_ones]
    return EpisodeResult(episode_of(episode), await graph.facts(told), await graph.facts(closed_ones))


def _was_there(edge: Edge, uuid: str, before: Mapping[str, Ends]) -> bool:
    """Whether a fact is older than an episode; one that is told late may end as soon as it is told."""
    return uuid not in edge.episodes or edge.uuid in before


async def _with_what_returned(graph: TenantGraph, episode: Told, told: Sequence[Edge]) -> Told:
    """The episode with the facts that it brought back in place of those that had ended."""
    for edge in told:
        if edge.uuid not in episode.note.closed and ended(edge, graph.graphiti.before, episode.reference_time):
            again, closed = await bring_back(graph, episode, edge)
            edges = dict.fromkeys([*(one for one in episode.edges if one != edge.uuid), again, *closed])
            note = replace(episode.note, closed={**episode.note.closed, **closed})
            episode = replace(episode, edges=tuple(edges), note=note)
    return episode

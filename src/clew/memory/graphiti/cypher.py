"""Every statement of ours to the graph. Neo4j and FalkorDB understand each; all name the tenant's group.

What Graphiti has no place for is kept beside its own properties of an episode: `clew_thread`, to forget a thread by,
and `clew_note`, the rest as JSON. It never writes an episode twice, so they stay.
"""

from typing import Final

_EDGE: Final = """
 RETURN e.uuid AS uuid, e.name AS name, e.fact AS fact, e.episodes AS episodes,
        e.valid_at AS valid_at, e.invalid_at AS invalid_at, e.created_at AS created_at, e.expired_at AS expired_at,
        n.uuid AS source_uuid, m.uuid AS target_uuid, n.name AS subject, m.name AS object
"""
_EPISODE: Final = """
 RETURN e.uuid AS uuid, e.name AS name, e.source AS source, e.source_description AS source_description,
        e.content AS content, e.valid_at AS valid_at, e.created_at AS created_at, e.entity_edges AS entity_edges,
        e.clew_thread AS thread, e.clew_note AS note
"""

# With the names of both ends, which Graphiti's own reading of an edge leaves out. The ends have no label: for one,
# FalkorDB looks at every entity for each edge, which takes 40 ms instead of 2 among 120.
EDGES: Final = (
    """
MATCH ()-[e:RELATES_TO]->()
 WHERE e.uuid IN $uuids AND e.group_id = $group_id
  WITH e, startNode(e) AS n, endNode(e) AS m"""
    + _EDGE
)

# Of everything with this very name, in any case.
EDGES_OF: Final = (
    """
MATCH (n:Entity)
 WHERE n.group_id = $group_id AND toLower(n.name) = $name
 MATCH (n)-[e:RELATES_TO]->(m:Entity)
 WHERE m.group_id = $group_id"""
    + _EDGE
    + " ORDER BY created_at, uuid LIMIT $limit"
)

# What says the same of the same two things, of whatever time.
SAME_EDGES: Final = (
    """
MATCH (n:Entity {uuid: $source_uuid})
 WHERE n.group_id = $group_id
 MATCH (n)-[e:RELATES_TO]->(m:Entity {uuid: $target_uuid})
 WHERE m.group_id = $group_id AND e.name = $name"""
    + _EDGE
    + " ORDER BY created_at, uuid"
)

# When nothing has that name: of everything whose name has all of its words.
EDGES_NAMING: Final = (
    """
MATCH (n:Entity)
 WHERE n.group_id = $group_id AND all(word IN $words WHERE toLower(n.name) CONTAINS word)
 MATCH (n)-[e:RELATES_TO]->(m:Entity)
 WHERE m.group_id = $group_id"""
    + _EDGE
    + " ORDER BY created_at, uuid LIMIT $limit"
)

EPISODES: Final = "MATCH (e:Episodic) WHERE e.group_id = $group_id AND e.uuid IN $uuids" + _EPISODE

NEWEST_EPISODES: Final = (
    "MATCH (e:Episodic) WHERE e.group_id = $group_id" + _EPISODE + " ORDER BY created_at DESC, uuid DESC LIMIT $limit"
)

THREAD_EPISODES: Final = (
    "MATCH (e:Episodic) WHERE e.group_id = $group_id AND e.clew_thread = $thread_id"
    + _EPISODE
    + " ORDER BY created_at DESC, uuid DESC"
)

# Which episodes told or closed a fact.
EPISODES_ABOUT: Final = (
    "MATCH (e:Episodic) WHERE e.group_id = $group_id AND any(one IN e.entity_edges WHERE one IN $uuids)"
    + _EPISODE
    + " ORDER BY created_at, uuid"
)

NOTE: Final = """
MATCH (e:Episodic {uuid: $uuid})
 WHERE e.group_id = $group_id
   SET e.clew_thread = $thread, e.clew_note = $note, e.entity_edges = $entity_edges
"""

# Only the ends: Graphiti's own saving of an edge wants its embedding again.
SET_ENDS: Final = """
MATCH ()-[e:RELATES_TO {uuid: $uuid}]->()
 WHERE e.group_id = $group_id
   SET e.invalid_at = $invalid_at, e.expired_at = $expired_at
"""

SET_BEGIN: Final = """
MATCH ()-[e:RELATES_TO {uuid: $uuid}]->()
 WHERE e.group_id = $group_id
   SET e.valid_at = $valid_at
"""

SET_EPISODES: Final = """
MATCH ()-[e:RELATES_TO {uuid: $uuid}]->()
 WHERE e.group_id = $group_id
   SET e.episodes = $episodes
"""

DROP_EDGES: Final = """
MATCH ()-[e:RELATES_TO]->()
 WHERE e.uuid IN $uuids AND e.group_id = $group_id
DELETE e
"""

# What an episode mentioned, how many mention it, and how many facts it has still.
MENTIONED: Final = """
MATCH (:Episodic {uuid: $uuid})-[:MENTIONS]->(n:Entity)
 WHERE n.group_id = $group_id
  WITH DISTINCT n
OPTIONAL MATCH (other:Episodic)-[:MENTIONS]->(n)
  WITH n, count(DISTINCT other.uuid) AS mentions
OPTIONAL MATCH (n)-[e:RELATES_TO]-(:Entity)
RETURN n.uuid AS uuid, mentions, count(DISTINCT e.uuid) AS facts
"""

DROP_ENTITIES: Final = "MATCH (n:Entity) WHERE n.group_id = $group_id AND n.uuid IN $uuids DETACH DELETE n"

# A summary was written from all that was said, also from what is to be forgotten; Graphiti writes it anew in time.
BLANK_SUMMARIES: Final = "MATCH (n:Entity) WHERE n.group_id = $group_id AND n.uuid IN $uuids SET n.summary = ''"

DROP_EPISODE: Final = "MATCH (e:Episodic {uuid: $uuid}) WHERE e.group_id = $group_id DETACH DELETE e"

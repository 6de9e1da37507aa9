"""Knowledge with time in Graphiti's graph, on Neo4j or FalkorDB: the extra `clew[graphiti]`, loaded at first use."""

from clew.memory.graphiti.base import GraphitiKnowledgeBase
from clew.memory.graphiti.groups import group_of, tenant_of

__all__ = ["GraphitiKnowledgeBase", "group_of", "tenant_of"]

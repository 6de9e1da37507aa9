"""Knowledge with time: facts from what was said and read, each with its two clocks and its sources, without a model."""

from clew.memory.knowledge.base import KnowledgeBase
from clew.memory.knowledge.fact import Change, Episode, EpisodeResult, Fact, Forgotten, Source, Undone

__all__ = ["Change", "Episode", "EpisodeResult", "Fact", "Forgotten", "KnowledgeBase", "Source", "Undone"]

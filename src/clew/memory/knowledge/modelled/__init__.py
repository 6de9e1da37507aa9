"""Reading an episode with a model: its statements, each checked against the source, and ours where it fails."""

from clew.memory.knowledge.modelled.reader import ModelReader

__all__ = ["ModelReader"]

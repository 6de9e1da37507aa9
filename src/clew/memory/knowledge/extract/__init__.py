"""From what was said to facts, without a model: pure functions, equal input gives equal facts."""

from clew.memory.knowledge.extract.draft import Alias, Draft
from clew.memory.knowledge.extract.phrases import phrase_key
from clew.memory.knowledge.extract.reader import HEARSAY, Extracted, Passage, extract
from clew.memory.knowledge.extract.records import records
from clew.memory.knowledge.extract.values import same_value

__all__ = ["HEARSAY", "Alias", "Draft", "Extracted", "Passage", "extract", "phrase_key", "records", "same_value"]

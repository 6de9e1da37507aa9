"""Tier 3, what is known: entries that are found again by words, meaning, people and dates, without a model call."""

from clew.memory.entry import BatchResult, FailedEntry, MemoryChange, MemoryEntry
from clew.memory.filters import Filter
from clew.memory.longterm import LongTermMemory

__all__ = ["BatchResult", "FailedEntry", "Filter", "LongTermMemory", "MemoryChange", "MemoryEntry"]

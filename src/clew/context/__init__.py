"""Tier 2, the working context: what a model sees this time, within its budget, and a manifest of why."""

from clew.context.budget import Allocation, Budget
from clew.context.compile import compile_context
from clew.context.compiled import Compiled
from clew.context.compiler import WorkingContextCompiler
from clew.context.history import SessionMessage
from clew.context.manager import ContextManager
from clew.context.manifest import Item, Manifest, Section, SectionUse
from clew.context.retrieved import Memory
from clew.context.task import Task

__all__ = [
    "Allocation",
    "Budget",
    "Compiled",
    "ContextManager",
    "Item",
    "Manifest",
    "Memory",
    "Section",
    "SectionUse",
    "SessionMessage",
    "Task",
    "WorkingContextCompiler",
    "compile_context",
]

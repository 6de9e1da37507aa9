"""Selecting: whether anything is looked up for a turn, what is asked, what is found, and which of it is shown."""

from clew.context.selecting.selection import Selection
from clew.context.selecting.selector import Selector

__all__ = ["Selection", "Selector"]

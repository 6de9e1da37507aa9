"""Erasure: a source, a user or a tenant gone from every store, and the proof of it."""

from clew.erasure.erasure import Erasure
from clew.erasure.report import Check, ErasureReport

__all__ = ["Check", "Erasure", "ErasureReport"]

"""The gate before long-term memory: what is worth keeping, what must not be kept, and what is kept redacted."""

from clew.memory.gate.gate import Gate
from clew.memory.gate.policy import Policy
from clew.memory.gate.verdict import Reason, Source, Verdict

__all__ = ["Gate", "Policy", "Reason", "Source", "Verdict"]

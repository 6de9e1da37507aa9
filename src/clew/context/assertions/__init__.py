"""What a message adds to what is known: corrections, confirmations, new facts, contradictions that a tool found."""

from clew.context.assertions.assertion import Assertion, SourceType
from clew.context.assertions.detect import detect_assertion

__all__ = ["Assertion", "SourceType", "detect_assertion"]

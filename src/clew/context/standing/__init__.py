"""Standing instructions: what the user wants of every answer, recognised when it is said and when it is taken back."""

from clew.context.standing.instruction import Scope, StandingInstruction
from clew.context.standing.recognise import recognise_instruction, recognise_instructions
from clew.context.standing.revoking import revokes

__all__ = ["Scope", "StandingInstruction", "recognise_instruction", "recognise_instructions", "revokes"]

"""Writing back: what people state in a conversation becomes known, without anybody pressing save."""

from clew.context.writing_back.rules import PERSISTENCE_RULES
from clew.context.writing_back.telling import Learnt, Refused
from clew.context.writing_back.write_back import WriteBack

__all__ = ["PERSISTENCE_RULES", "Learnt", "Refused", "WriteBack"]

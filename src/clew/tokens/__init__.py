"""Exact token counts, offline, and what a request's messages, tools and images cost.

Importing this loads nothing: the first count of an encoding reads its table from the package (0.1 to 0.2 s).
"""

from clew.tokens.chat import (
    OPENAI_REPLY_PRIMING_TOKENS,
    count_message,
    count_messages,
    count_priming,
)
from clew.tokens.encodings import encoding_for
from clew.tokens.engine import ENCODINGS
from clew.tokens.images import Format, count_image
from clew.tokens.text import DEFAULT_ENCODING, count, decode, encode
from clew.tokens.tools import count_tools
from clew.tokens.truncation import truncate

__all__ = [
    "DEFAULT_ENCODING",
    "ENCODINGS",
    "OPENAI_REPLY_PRIMING_TOKENS",
    "Format",
    "count",
    "count_image",
    "count_message",
    "count_messages",
    "count_priming",
    "count_tools",
    "decode",
    "encode",
    "encoding_for",
    "truncate",
]

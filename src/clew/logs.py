"""The rooms' loggers: structlog's lines, delivered by the standard library.

Unconfigured, structlog prints every line to standard output, where a program's own output goes. Delivered this way a
line is silent until the program that uses us asks for its level, and takes the form it has configured.
"""

import logging
from typing import Any

import structlog


def logger(room: str) -> Any:
    """The logger of a room, such as `clew.context`."""
    return structlog.wrap_logger(logging.getLogger(room), wrapper_class=structlog.stdlib.BoundLogger)

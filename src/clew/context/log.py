"""The room's logger: structlog's lines, delivered by the standard library's `clew.context`.

Unconfigured, structlog prints every line to standard output, where a program's own output goes. Delivered this way a
line for every compile is silent until the program that uses us asks for `INFO`, and takes the form it has configured.
"""

import logging
from typing import Any, Final

import structlog

log: Final[Any] = structlog.wrap_logger(logging.getLogger("clew.context"), wrapper_class=structlog.stdlib.BoundLogger)

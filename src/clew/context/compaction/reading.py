"""Reading a stored view back: each value is checked, and the error says where it is wrong."""

from collections.abc import Mapping
from typing import Any

from clew.errors import InvalidInput


def object_at(value: object, where: str) -> Mapping[str, Any]:
    """The object itself."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"expected an object, got {type(value).__name__}", where=where)
    return value


def text_at(value: object, where: str) -> str:
    """The text itself."""
    if not isinstance(value, str):
        raise InvalidInput(f"expected text, got {type(value).__name__}", where=where)
    return value


def number_at(value: object, where: str) -> int:
    """The whole number itself, when it is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"expected a whole number from 0, got {ascii(value)[:40]}", where=where)
    return value


def numbers_at(value: object, where: str) -> tuple[int, ...]:
    """A list of whole numbers."""
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"expected a list of numbers, got {type(value).__name__}", where=where)
    return tuple(number_at(item, f"{where}[{index}]") for index, item in enumerate(value))

"""What careless and hostile callers send, and the only two ways Clew may take it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import clew


def nested(levels: int) -> Any:
    """A list in a list in a list…"""
    value: Any = "the bottom"
    for _ in range(levels):
        value = [value]
    return value


def endless() -> dict[str, Any]:
    """A dict that holds itself."""
    value: dict[str, Any] = {}
    value["itself"] = value
    return value


class Rude:
    """An object that does not like to be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("do not look at me")


UNSTORABLE_TEXTS = {"NUL": "before\0after", "a lone surrogate": "half \ud83d of it", "only a NUL": "\0"}
NOT_TEXTS = {"None": None, "a number": 5, "bytes": b"bytes", "a list": ["text"], "a dict": {}, "a rude object": Rude()}

BAD_TENANTS = {
    **NOT_TEXTS,
    "empty": "",
    "a space": "not a tenant",
    "a slash": "acme/globex",
    "a quote": "acme'; --",
    "a newline at the end": "acme\n",
    "NUL": "acme\0",
    "a lone surrogate": "acme\ud800",
    "other letters": "ácme",
    "too long": "a" * 1_000,
}
BAD_THREADS = {**NOT_TEXTS, **UNSTORABLE_TEXTS, "empty": "", "too long": "t" * 10_000}
BAD_LIMITS = {
    "zero": 0,
    "negative": -1,
    "huge": 2**70,
    "None": None,
    "text": "ten",
    "a fraction": 2.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a list": [10],
}
BAD_METADATA = {
    "NaN": {"x": float("nan")},
    "1e400": {"x": 1e400},
    "minus infinity": {"deep": [{"x": float("-inf")}]},
    "NUL": {"x": "a\0b"},
    "NUL in a key": {"a\0b": 1},
    "a lone surrogate": {"x": "\udfff"},
    "a lone surrogate in a key": {"\udfff": 1},
    "an object": {"x": object()},
    "a rude object": {"x": Rude()},
    "bytes": {"x": b"bytes"},
    "a set": {"x": {1, 2}},
    "too deep": {"x": nested(50_000)},
    "endless": endless(),
    "an integer of 6,000 digits": {"x": 10**6_000},
    "not a dict": ["x"],
    "text": "x",
}


def ids(values: dict[str, Any]) -> dict[str, Any]:
    """For parametrize: the values, each named by its key."""
    return {"argvalues": list(values.values()), "ids": list(values)}


async def refused(call: Callable[[], Awaitable[Any]], kind: type[Exception] = clew.InvalidInput) -> str:
    """What the error says. Its kind is what was promised and its text is a sentence that people can read."""
    with pytest.raises(kind) as caught:
        await call()
    said = str(caught.value)
    assert said.strip(), "an error without a word"
    assert len(said) < 2_000, "an error that quotes all it was sent"
    assert said.encode(), "an error that can't be printed"
    return said


async def answered_or_refused(call: Callable[[], Awaitable[Any]]) -> Any:
    """What it answers, or the ClewError that it raises; any other exception fails the test."""
    try:
        return await call()
    except clew.ClewError as error:
        return error

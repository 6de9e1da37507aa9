"""Any value at all gives a summary: within its tokens, the same each time, whole in its reference, fit to be shown."""

import json
import time
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.artifacts.shapes import kind_of, media_type_of, rendered, summarise
from clew.tokens import ENCODINGS, count

REFERENCE = "art_abcdefgh23456727"
SECONDS_MAX = 5.0
HUGE = 10_000_000

ANY_TEXT = st.text(st.characters(), max_size=400)
KEYS = st.sampled_from(["id", "status", "price", "text", "score", "name", "passed", "tests", "A1", "url"]) | st.text(
    max_size=12
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | ANY_TEXT
    | st.binary(max_size=300)
    | st.dates()
    | st.uuids()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(KEYS, inner, max_size=8) | st.tuples(inner, inner),
    max_leaves=40,
)
LINES = st.lists(
    st.sampled_from(
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 3, in f',
            "ValueError: bad",
            "diff --git a/x b/x",
            "--- a/x",
            "+++ b/x",
            "@@ -1 +1 @@",
            "+new",
            "<html><body>",
            "<a href='x'>",
            "2026-01-01 10:00:00 ERROR no",
            "id,name,price",
            "1,Bolt,3",
            "|---|---|",
            "| a | b |",
            "=== 1 failed, 2 passed in 0.1s ===",
            "Ran 2 tests in 0.1s",
            "[File: a.py (3 lines total)]",
            "1:def f():",
            '{"id": 1}',
            "\x1b[31mred\x1b[0m\x07",
            "word " * 40,
            "\ud83d",
            "",
        ]
    ),
    max_size=30,
).map("\n".join)


def fit_to_show(text: str) -> bool:
    return not any(unicodedata.category(char) in ("Cc", "Cs") for char in text)


def check(result: Any, max_tokens: int = 100, encoding: str = "o200k_base") -> str:
    text = summarise(result, tool="a_tool", reference=REFERENCE, max_tokens=max_tokens, encoding=encoding)
    assert count(text, encoding) <= max_tokens
    assert text.count(REFERENCE) >= 1
    assert fit_to_show(text)
    assert text == summarise(result, tool="a_tool", reference=REFERENCE, max_tokens=max_tokens, encoding=encoding)
    assert isinstance(rendered(result), str)
    assert kind_of(result)
    assert "/" in media_type_of(result)
    return text


@settings(deadline=None, max_examples=300)
@given(VALUES, st.integers(16, 200), st.sampled_from(ENCODINGS))
def test_any_value_is_summarised_within_its_tokens(value: Any, max_tokens: int, encoding: str) -> None:
    check(value, max_tokens, encoding)


@settings(deadline=None, max_examples=300)
@given(LINES | ANY_TEXT, st.integers(16, 120))
def test_any_text_is_summarised_within_its_tokens(text: str, max_tokens: int) -> None:
    check(text, max_tokens)


@settings(deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_text_reads_like_its_value(value: Any) -> None:
    if isinstance(value, dict | list):
        assert kind_of(json.dumps(value)) == kind_of(value)


@settings(deadline=None, max_examples=100)
@given(st.text(st.characters(), max_size=200), st.integers(1, 60))
def test_any_name_of_a_tool_will_do(tool: str, max_tokens: int) -> None:
    text = summarise({"id": 7}, tool=tool, reference=None, max_tokens=max_tokens)
    assert count(text) <= max_tokens
    assert fit_to_show(text)


class Silent:
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Plain:
    pass


def deep(levels: int, wrap: Callable[[Any], Any]) -> Any:
    value = wrap(0)
    for _ in range(levels):
        value = wrap(value)
    return value


def cycles() -> list[Any]:
    ring: list[Any] = [1]
    ring.append(ring)
    loop: dict[str, Any] = {}
    loop["self"] = loop
    return [ring, loop]


HOSTILE: dict[str, Callable[[], Any]] = {
    "deep lists": lambda: deep(100_000, lambda inner: [inner]),
    "deep mappings": lambda: deep(100_000, lambda inner: {"a": inner}),
    "deep text": lambda: "[" * 100_000 + "]" * 100_000,
    "deep half text": lambda: '{"a":' * 100_000,
    "cycles": cycles,
    "no str": Silent,
    "no str inside": lambda: {"a": Silent(), "b": [Silent()] * 3},
    "not a number": lambda: [{"score": float("nan"), "text": "x"}, {"score": float("inf"), "text": "y"}],
    "long integers": lambda: {"n": 10**6000, "list": [10**6000]},
    "one letter": lambda: "a" * HUGE,
    "spaces": lambda: " " * HUGE,
    "newlines": lambda: "x\n" * (HUGE // 2),
    "brackets": lambda: "<" * HUGE,
    "comments": lambda: "<html>" + "<!--" * (HUGE // 4),
    "open tags": lambda: "<html>" + "<a href=" * (HUGE // 8),
    "equals": lambda: "=" * HUGE,
    "escapes": lambda: "\x1b[" * (HUGE // 2),
    "surrogates": lambda: "\ud800" * 1_000_000,
    "paths": lambda: "a/" * (HUGE // 2),
    "dots": lambda: ("1" * 50 + ".") * 100_000,
    "rules": lambda: "a|b\n" + "|-- " * 20_000 + "!\nx|y",
    "frames": lambda: "Traceback (most recent call last):\n" + '  File "a.py", line 3, in f\n' * 200_000,
    "records": lambda: [{"id": n, "price": n * 2} for n in range(300_000)],
    "keys": lambda: {f"k{n}": n for n in range(300_000)},
    "json lines": lambda: '{"a": 1}\n' * 300_000,
    "rows": lambda: [[1, 2, 3]] * 300_000,
    "bytes": lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * HUGE,
    "cut data": lambda: "data:image/png;base64," + "A" * HUGE,
    "odd keys": lambda: {(1, 2): 3, None: 4, b"x": 5, 1.5: Plain()},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_are_summarised_and_soon(name: str) -> None:
    value = HOSTILE[name]()
    count("warm")
    began = time.perf_counter()
    text = summarise(value, tool="a_tool", reference=REFERENCE)
    assert time.perf_counter() - began < SECONDS_MAX
    assert count(text) <= 100
    assert text.endswith(f"(full result: artifact {REFERENCE})")
    assert fit_to_show(text)


def test_control_characters_never_get_through() -> None:
    dirty = "\x1b[31mERROR\x1b[0m bad\x07 thing\x00 \u202eevil\u202c \ud800 end"
    text = check({"status": dirty, "\x1b[1mkey": dirty})
    assert "ERROR bad thing" in text
    assert not {"\x1b", "\x07", "\x00", "\u202e", "\ud800"} & set(text)


def test_counts_are_those_of_the_whole_however_little_is_looked_at() -> None:
    assert "300,000 records" in check([{"id": n} for n in range(300_000)])
    assert "1,000,000 lines" in check("some output here\n" * 1_000_000)
    assert "300,000 records" in check('{"a": 1}\n' * 300_000)
    assert "+100000 -100000" in check("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n" + "+a\n-b\n" * 100_000)


def test_objects_in_memory_are_summarised_without_their_address() -> None:
    assert " at 0x" in str(Plain())
    assert check(Plain()) == check(Plain())

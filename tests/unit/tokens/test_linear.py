"""Time grows with the text and with nothing else. The benchmark prints the ratios; here only an explosion fails."""

import time

import pytest

from clew import tokens

from .conftest import prose

TEN_MEGABYTES = 10_000_000
# A quadratic engine would be thousands of times slower per byte; a busy machine is not.
RATIO_MAX = 20


def ns_per_byte(text: str) -> float:
    taken = []
    for _ in range(2):
        started = time.process_time_ns()
        tokens.count(text)
        taken.append(time.process_time_ns() - started)
    return min(taken) / len(text.encode())


@pytest.fixture(scope="module")
def prose_ns_per_byte() -> float:
    tokens.count("warm")
    return ns_per_byte(prose(2_000_000))


@pytest.mark.parametrize("unit", ["a", " ", "\n", "\t", "=", "/", "ab", "7", "中", "\0"])
def test_ten_megabytes_of_one_thing_cost_per_byte_what_prose_costs(unit, prose_ns_per_byte):
    text = unit * (TEN_MEGABYTES // len(unit.encode()))
    assert ns_per_byte(text) < RATIO_MAX * prose_ns_per_byte


def test_a_short_beginning_of_ten_megabytes_costs_little(prose_ns_per_byte):
    text = prose(TEN_MEGABYTES)
    started = time.process_time_ns()
    tokens.truncate(text, 100)
    tokens.truncate(text, 100, keep="end")
    assert time.process_time_ns() - started < RATIO_MAX * prose_ns_per_byte * 100_000

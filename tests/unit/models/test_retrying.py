"""Asking again, and when to stop."""

import asyncio
import time

import pytest

from clew.errors import Unavailable
from clew.models.retrying import Transient, may_pass, persist


class Flaky:
    def __init__(self, failures: int, retry_after_s: float | None = None) -> None:
        self.failures = failures
        self.retry_after_s = retry_after_s
        self.asked = 0

    async def __call__(self) -> str:
        self.asked += 1
        if self.asked <= self.failures:
            raise Transient("the provider answers 503", retry_after_s=self.retry_after_s)
        return "answer"


async def test_a_failure_that_passes_is_not_seen() -> None:
    flaky = Flaky(failures=3)
    assert await persist(flaky, where="test", max_attempts=4, first_wait_s=0.001) == "answer"
    assert flaky.asked == 4


async def test_a_failure_that_stays_is_unavailable_after_the_last_attempt() -> None:
    flaky = Flaky(failures=99)
    with pytest.raises(Unavailable, match=r"^test: the provider answers 503; asked 4 times$") as caught:
        await persist(flaky, where="test", max_attempts=4, first_wait_s=0.001)
    assert flaky.asked == 4
    assert caught.value.retryable


async def test_the_wait_that_the_provider_asks_for_is_kept() -> None:
    start = time.monotonic()
    assert await persist(Flaky(failures=1, retry_after_s=0.3), where="test", first_wait_s=0.001) == "answer"
    assert time.monotonic() - start >= 0.29


async def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    flaky = Flaky(failures=1, retry_after_s=3600)
    with pytest.raises(Unavailable, match="asked once"):
        await persist(flaky, where="test", timeout_s=5)
    assert flaky.asked == 1


async def test_a_call_that_hangs_ends_at_the_deadline() -> None:
    async def hang() -> None:
        await asyncio.sleep(3600)

    with pytest.raises(Unavailable, match=r"no answer in 0.05 s"):
        await persist(hang, where="test", timeout_s=0.05)


@pytest.mark.parametrize(
    ("status", "expected"), [(400, False), (401, False), (404, False), (408, True), (429, True), (500, True)]
)
def test_which_statuses_may_pass(status: int, expected: bool) -> None:
    assert may_pass(status) is expected

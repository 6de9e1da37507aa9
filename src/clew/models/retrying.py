"""Asking a provider again when it may yet answer, for as long as a batch is worth waiting for."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from clew.errors import Unavailable
from clew.limits import EMBED_MAX_ATTEMPTS, EMBED_TIMEOUT_S

FIRST_WAIT_S: Final = 0.5
TRANSIENT_STATUSES: Final = frozenset({408, 409, 425, 429})
_jitter: Final = random.SystemRandom()

Answer = TypeVar("Answer")


class Transient(Exception):
    """The provider failed in a way that may pass; `retry_after_s` is how long it asked us to wait."""

    def __init__(self, what: str, *, retry_after_s: float | None = None) -> None:
        self.what = what
        self.retry_after_s = retry_after_s
        super().__init__(what)


def may_pass(status: int) -> bool:
    """Whether the same request may be answered later."""
    return status in TRANSIENT_STATUSES or status >= 500


async def persist(
    ask: Callable[[], Awaitable[Answer]],
    *,
    where: str,
    max_attempts: int = EMBED_MAX_ATTEMPTS,
    timeout_s: float = EMBED_TIMEOUT_S,
    first_wait_s: float = FIRST_WAIT_S,
) -> Answer:
    """What `ask` answers, asked again while it raises `Transient`; then `Unavailable`.

    `timeout_s` bounds the whole: every attempt and every wait, so a caller knows when it is over. Waits double, with
    jitter so that many callers who were refused at once do not come back at once.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout_s
    for attempt in range(1, max_attempts + 1):
        try:
            async with asyncio.timeout_at(deadline):
                return await ask()
        except TimeoutError:
            raise Unavailable(f"no answer in {timeout_s:g} s", where=where) from None
        except Transient as failure:
            wait_s = failure.retry_after_s
            if wait_s is None:
                wait_s = first_wait_s * 2 ** (attempt - 1) * _jitter.uniform(0.5, 1.5)
            if attempt == max_attempts or clock() + wait_s >= deadline:
                times = "once" if attempt == 1 else f"{attempt} times"
                raise Unavailable(f"{failure.what}; asked {times}", where=where) from None
        await asyncio.sleep(wait_s)
    raise AssertionError("unreachable: the last attempt returns or raises")

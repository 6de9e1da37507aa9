"""What this process keeps of tenants' words."""

import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from typing import Any, Final, Protocol, runtime_checkable

from clew.erasure.report import Check

_PACKAGE: Final = __name__.partition(".")[0]


@runtime_checkable
class Cache(Protocol):
    """Something that keeps words of tenants from one call to the next, and can let go of them."""

    def forget_tenant(self, tenant_id: str) -> None: ...


@runtime_checkable
class CountedCache(Cache, Protocol):
    """One that can tell how much it keeps."""

    def remembers(self, tenant_id: str) -> int: ...


class WordCaches:
    """What our functions remember of their arguments: every bounded `lru_cache` of the package.

    They hold words of whichever tenant was read last, and don't know whose: all of them are emptied. One without a
    bound is for our own tables and settings, which nobody outside can grow.
    """

    def forget_tenant(self, tenant_id: str) -> None:
        """Empty them; what they held is worked out again when it is needed."""
        for cached in word_caches():
            cached.cache_clear()


def word_caches() -> "Iterator[_lru_cache_wrapper[Any]]":
    """Found and not listed: a new one can't be forgotten."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _PACKAGE:
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper) and value.cache_parameters()["maxsize"] is not None:
                    yield value


def check(cache: CountedCache, tenant_id: str) -> Check:
    """Whether a cache still has something of a tenant."""
    return Check(f"{type(cache).__name__}, in this process", "words", cache.remembers(tenant_id))

"""Collecting without being asked: after a lifetime ends, and after a thread was cleared."""

import time
from typing import Final

from clew.artifacts.store import ArtifactStore
from clew.errors import Unavailable
from clew.logs import logger
from clew.store.jobs import DELAY_MAX_S, Jobs

TASK: Final = "collect"
# What is past its lifetime and still named somewhere is looked at again a day later.
LOOK_AGAIN_S: Final = 86_400
# A tenant that stores much with a lifetime needs one job, and is asked about it no more often than this.
ASKED_EVERY_S: Final = 60.0
TENANTS_REMEMBERED: Final = 10_000
_log: Final = logger("clew.artifacts")


class Upkeep:
    """Leaves the collection of a tenant's artifacts to a background job, when there is something to collect."""

    def __init__(self, artifacts: ArtifactStore, jobs: Jobs) -> None:
        self._artifacts, self._jobs = artifacts, jobs
        self._asked: dict[str, float] = {}
        jobs.task(TASK, self._collect)
        artifacts.on_lifetime = self._stored

    async def cleared(self, tenant_id: str) -> None:
        """A thread of the tenant was cleared, which may have freed what only its tool results kept."""
        if await self._artifacts.next_ending_s(tenant_id=tenant_id) is not None:
            await self._collect_in(tenant_id, 0)

    async def _stored(self, tenant_id: str, seconds: int) -> None:
        now = time.monotonic()
        if now - self._asked.get(tenant_id, -ASKED_EVERY_S) < ASKED_EVERY_S:
            return
        if len(self._asked) >= TENANTS_REMEMBERED:
            self._asked.clear()
        self._asked[tenant_id] = now
        await self._collect_in(tenant_id, seconds)

    async def _collect_in(self, tenant_id: str, seconds: int) -> None:
        key = f"{TASK}/{tenant_id}"
        delay_s = min(seconds + self._artifacts.grace_s, DELAY_MAX_S)
        try:
            await self._jobs.defer(TASK, once=key, lock=key, delay_s=delay_s or None, tenant_id=tenant_id)
        except Unavailable as error:
            # Nothing is lost: what is past its lifetime waits for the next collection.
            _log.warning("collection_not_queued", tenant_id=tenant_id, error=str(error))

    async def _collect(self, *, tenant_id: str) -> None:
        await self._artifacts.collect(tenant_id=tenant_id)
        seconds = await self._artifacts.next_ending_s(tenant_id=tenant_id)
        if seconds is not None:
            await self._collect_in(tenant_id, seconds or LOOK_AGAIN_S)

"""What is past its lifetime goes by itself, in the background."""

import pytest

from clew import Database
from clew.artifacts import ArtifactStore, ToolResultCache
from clew.artifacts.upkeep import Upkeep
from clew.errors import NotFound
from clew.sessions import SessionStore
from clew.store.jobs import Jobs


@pytest.fixture
async def database(scratch, settings):
    """Of these tests alone: no other worker takes their jobs."""
    async with Database(scratch.app_url, settings=settings) as database:
        yield database


@pytest.fixture
async def jobs(database):
    jobs = Jobs(database, in_process=False)
    yield jobs
    await jobs.close()


@pytest.fixture
def kept(database, tmp_path, jobs):
    store = ArtifactStore(database, url=str(tmp_path), grace_s=0)
    return store, Upkeep(store, jobs)


async def test_a_short_lifetime_ends_by_itself_and_a_long_one_does_not(kept, jobs, tenant):
    store, _ = kept
    short = await store.put("short", media_type="text/plain", keep="ttl:0s", tenant_id=tenant)
    long = await store.put("long", media_type="text/plain", keep="ttl:1d", tenant_id=tenant)
    assert await store.stat(short.artifact_id, tenant_id=tenant)
    await jobs.run(until_idle=True)
    with pytest.raises(NotFound):
        await store.stat(short.artifact_id, tenant_id=tenant)
    assert (await store.get(long.artifact_id, tenant_id=tenant)).text == "long"
    assert 0 < await store.next_ending_s(tenant_id=tenant) <= 86_400


async def test_nothing_is_queued_for_what_is_kept_for_ever(kept, jobs, tenant):
    store, upkeep = kept
    await store.put("kept", media_type="text/plain", tenant_id=tenant)
    await upkeep.cleared(tenant)
    assert await store.next_ending_s(tenant_id=tenant) is None
    async with store._database.jobs() as connection:
        row = await (
            await connection.execute("SELECT count(*) FROM procrastinate_jobs WHERE args->>'tenant_id' = %s", [tenant])
        ).fetchone()
    assert row == (0,)


async def test_clearing_a_thread_frees_what_only_its_results_kept(kept, jobs, database, tenant):
    store, upkeep = kept
    cache, sessions = ToolResultCache(store), SessionStore(database)
    ref = await cache.put_tool_result("call", "only here", tool="t", tenant_id=tenant, thread_id="t")
    await sessions.append("t", {"role": "user", "content": f"see {ref.artifact_id}"}, tenant_id=tenant)
    await sessions.clear_session("t", tenant_id=tenant)
    assert await store.stat(ref.artifact_id, tenant_id=tenant), "not before somebody collects"
    await upkeep.cleared(tenant)
    await jobs.run(until_idle=True)
    with pytest.raises(NotFound):
        await store.stat(ref.artifact_id, tenant_id=tenant)

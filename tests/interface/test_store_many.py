"""A batch answers what was stored and what failed, and the two add up to what was sent."""

import pytest

import clew

from .conftest import entry
from .hostile import refused


def _bad(tenant: str, **fields: object) -> clew.MemoryEntry:
    """What a model would not let through, as it arrives from code that skips validation."""
    return entry(tenant, "fine").model_copy(update=fields)


async def test_three_bad_entries_of_two_thousand_fail_alone(memory, tenant):
    entries = [entry(tenant, f"Entry {number} of the batch", memory_id=f"m{number}") for number in range(2_000)]
    entries[3] = _bad(tenant, memory_id="m3", content="NUL \0")
    entries[1_200] = _bad(tenant, memory_id="m1200", content="half \ud800")
    entries[1_999] = _bad(tenant, memory_id="m1999", metadata={"x": 1e400})
    batch = await memory.store_many(entries)
    assert isinstance(batch, clew.BatchResult)
    assert (len(batch.stored), len(batch.failed)) == (1_997, 3)
    assert [failure.index for failure in batch.failed] == [3, 1_200, 1_999]
    assert all(str(failure.error) for failure in batch.failed)
    assert batch.stored == [f"m{number}" for number in range(2_000) if number not in {3, 1_200, 1_999}]
    assert (await memory.search(tenant, "Entry 1500 of the batch"))[0].memory_id == "m1500"
    assert len(await memory.list_by_tenant(tenant, 1_000)) == 1_000


async def test_an_empty_batch_is_empty(memory):
    batch = await memory.store_many([])
    assert (list(batch.stored), list(batch.failed)) == ([], [])


async def test_any_iterable_will_do(memory, tenant):
    batch = await memory.store_many(entry(tenant, f"From a generator: {number}") for number in range(3))
    assert (len(batch.stored), len(batch.failed)) == (3, 0)


async def test_things_that_are_no_entries_fail_alone(memory, tenant):
    sent = [None, 5, "text", entry(tenant, "the good one"), object()]
    batch = await memory.store_many(sent)
    assert len(batch.stored) + len(batch.failed) == len(sent)
    assert len(batch.stored) == 1
    assert [entry.content for entry in await memory.list_by_tenant(tenant)] == ["the good one"]


async def test_a_batch_of_two_tenants_goes_to_each_its_own(memory, tenant, other):
    batch = await memory.store_many(
        [entry(tenant, "ours"), entry(other, "theirs"), _bad("x", tenant_id="not a tenant")]
    )
    assert (len(batch.stored), len(batch.failed)) == (2, 1)
    assert [entry.content for entry in await memory.list_by_tenant(tenant)] == ["ours"]
    assert [entry.content for entry in await memory.list_by_tenant(other)] == ["theirs"]


async def test_duplicates_within_a_batch_count_as_sent(memory, tenant):
    batch = await memory.store_many([entry(tenant, "the same words") for _ in range(4)])
    assert len(batch.stored) + len(batch.failed) == 4
    assert len(await memory.list_by_tenant(tenant)) == 1


async def test_the_same_id_twice_in_a_batch_ends_with_the_last(memory, tenant):
    sent = [entry(tenant, "the first", memory_id="m"), entry(tenant, "the last", memory_id="m")]
    batch = await memory.store_many(sent)
    assert len(batch.stored) + len(batch.failed) == 2
    assert [entry.content for entry in await memory.list_by_tenant(tenant)] == ["the last"]


@pytest.mark.parametrize("entries", [None, 5, True])
async def test_what_is_no_batch_is_refused(memory, entries):
    await refused(lambda: memory.store_many(entries))

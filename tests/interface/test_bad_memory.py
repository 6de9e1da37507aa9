"""Whatever is sent to memory, the answer is an answer or a ClewError."""

from datetime import datetime
from typing import Any

import pytest

import clew

from .conftest import entry
from .hostile import (
    BAD_LIMITS,
    BAD_METADATA,
    BAD_TENANTS,
    NOT_TEXTS,
    UNSTORABLE_TEXTS,
    Rude,
    answered_or_refused,
    ids,
    refused,
)

BAD_ENTRIES = {"None": None, "text": "x", "a number": 5, "a list": [], "an object": object(), "a rude object": Rude()}
BAD_EMBEDDINGS = {
    "too short": [1.0],
    "empty": [],
    "too long": [0.5] * 5_000,
    "NaN": [float("nan")] * 256,
    "infinite": [1e400] * 256,
    "zeros": [0.0] * 256,
    "texts": ["x"] * 256,
    "text": "x",
}
ODD_METADATA = {
    "a position that is text": {"thread_id": "t", "position": "third"},
    "a position that is huge": {"thread_id": "t", "position": 10**300},
    "a negative position": {"thread_id": "t", "position": -1.5},
    "a thread that is a list": {"thread_id": ["t"], "position": 1},
    "a date that is none": {"occurred_at": "yesterday-ish"},
    "a date out of range": {"occurred_at": "9999-99-99"},
    "a date at the end of time": {"occurred_at": "9999-12-31T23:59:59-12:00"},
    "a date before time": {"occurred_at": "0001-01-01T00:00:00+12:00"},
    "a date that is a number": {"occurred_at": 1e18},
    "a speaker that is a dict": {"speaker": {"name": "Ana"}},
    "a speaker that is empty": {"speaker": "", "source": ""},
    "a number of many digits": {"x": 10**300},
    "nulls": {"thread_id": None, "position": None, "speaker": None, "occurred_at": None, "source": None},
}


def _raw(tenant: str, **fields: Any) -> clew.MemoryEntry:
    """An entry that nothing has validated."""
    return entry(tenant, "fine").model_copy(update=fields)


async def _refused_alone_and_in_a_batch(memory: Any, tenant: str, bad: Any) -> None:
    await refused(lambda: memory.store(bad))
    batch = await memory.store_many([bad, entry(tenant, "the good one")])
    assert (len(batch.stored), len(batch.failed)) == (1, 1)
    assert [found.content for found in await memory.list_by_tenant(tenant)] == ["the good one"]


@pytest.mark.parametrize("bad", **ids(BAD_ENTRIES))
async def test_what_is_no_entry_is_refused(memory, tenant, bad):
    await _refused_alone_and_in_a_batch(memory, tenant, bad)


@pytest.mark.parametrize("content", **ids({**UNSTORABLE_TEXTS, **NOT_TEXTS, "empty": "", "too long": "x" * 20_000_000}))
async def test_content_that_cannot_be_is_refused(memory, tenant, content):
    await _refused_alone_and_in_a_batch(memory, tenant, _raw(tenant, content=content))


@pytest.mark.parametrize("metadata", **ids(BAD_METADATA))
async def test_metadata_that_cannot_be_is_refused(memory, tenant, metadata):
    await _refused_alone_and_in_a_batch(memory, tenant, _raw(tenant, metadata=metadata))


@pytest.mark.parametrize("metadata", **ids(BAD_METADATA))
async def test_the_manager_refuses_such_metadata_too(manager, memory, tenant, metadata):
    await refused(lambda: manager.store_memory(tenant, "helper", "x", metadata))
    assert await memory.list_by_tenant(tenant) == []


@pytest.mark.parametrize("metadata", **ids(ODD_METADATA))
async def test_metadata_of_another_form_is_kept_and_searching_goes_on(memory, tenant, metadata):
    await memory.store(entry(tenant, "Ana said something odd in May 2024", metadata=metadata))
    await memory.store(entry(tenant, "Bob answered", metadata={"thread_id": "t", "position": 2, "speaker": "Bob"}))
    found = await memory.search(tenant, "What did Ana say in May 2024?")
    assert metadata in [entry.metadata for entry in found]
    assert len(found) == 2


@pytest.mark.parametrize("embedding", **ids(BAD_EMBEDDINGS))
async def test_a_vector_that_cannot_be_is_refused(memory, tenant, embedding):
    await memory.store(entry(tenant, "the good one"))
    await refused(lambda: memory.store(_raw(tenant, content="other", embedding=embedding)))
    assert len(await memory.list_by_tenant(tenant)) == 1


@pytest.mark.parametrize("field", ["memory_id", "agent_id"])
@pytest.mark.parametrize("value", **ids({**UNSTORABLE_TEXTS, "a number": 5, "too long": "m" * 10_000}))
async def test_an_id_that_cannot_be_is_refused(memory, tenant, field, value):
    await _refused_alone_and_in_a_batch(memory, tenant, _raw(tenant, **{field: value}))


@pytest.mark.parametrize("moment", ["yesterday", 5, datetime(2024, 5, 3), datetime.max, None])
async def test_a_time_that_cannot_be_is_refused_or_made_aware(memory, tenant, moment):
    await answered_or_refused(lambda: memory.store(_raw(tenant, created_at=moment, updated_at=moment)))
    for found in await memory.list_by_tenant(tenant):
        assert found.created_at.tzinfo is not None


@pytest.mark.parametrize("tenant_id", **ids(BAD_TENANTS))
async def test_a_tenant_that_cannot_be_is_refused_by_every_method(memory, manager, tenant_id):
    await refused(lambda: memory.store(_raw("x", tenant_id=tenant_id)))
    await refused(lambda: memory.search(tenant_id, "x"))
    await refused(lambda: memory.delete("x", tenant_id))
    await refused(lambda: memory.list_by_tenant(tenant_id))
    await refused(lambda: manager.store_memory(tenant_id, "helper", "x"))
    await refused(lambda: manager.search_memory(tenant_id, "x"))
    batch = await memory.store_many([_raw("x", tenant_id=tenant_id)])
    assert (len(batch.stored), len(batch.failed)) == (0, 1)


@pytest.mark.parametrize("limit", **ids(BAD_LIMITS))
async def test_a_limit_that_cannot_be_is_refused_by_every_method(memory, manager, tenant, limit):
    await refused(lambda: memory.search(tenant, "x", limit))
    await refused(lambda: memory.list_by_tenant(tenant, limit))
    await refused(lambda: manager.search_memory(tenant, "x", limit))


@pytest.mark.parametrize("query", **ids({**NOT_TEXTS, **UNSTORABLE_TEXTS}))
async def test_a_query_that_cannot_be_is_refused(memory, manager, tenant, query):
    await refused(lambda: memory.search(tenant, query))
    await refused(lambda: manager.search_memory(tenant, query))


@pytest.mark.parametrize("query", **ids({"empty": "", "spaces": "  \n", "5 MB": "revenue of Q3 " * 360_000}))
async def test_a_query_without_or_with_too_many_words_is_answered_or_refused(memory, tenant, query):
    await memory.store(entry(tenant, "revenue of Q3"))
    found = await answered_or_refused(lambda: memory.search(tenant, query))
    assert isinstance(found, list | clew.InvalidInput)


@pytest.mark.parametrize("agent_id", ["a\0", "\ud800", 5, b"a", ["a"]])
async def test_an_agent_that_cannot_be_is_refused(memory, manager, tenant, agent_id):
    await refused(lambda: memory.search(tenant, "x", agent_id=agent_id))
    await refused(lambda: manager.store_memory(tenant, agent_id, "x"))


@pytest.mark.parametrize("memory_id", [None, 5, b"m", ["m"], "a\0", "\ud800", ""])
async def test_deleting_an_id_that_cannot_be_is_refused_or_false(memory, tenant, memory_id):
    answer = await answered_or_refused(lambda: memory.delete(memory_id, tenant))
    assert answer is False or isinstance(answer, clew.InvalidInput)


async def test_five_megabytes_are_remembered_whole_and_found(memory, tenant):
    large = "The lighthouse keeper wrote it all down. " * 125_000
    stored = await memory.store(entry(tenant, large))
    [found] = await memory.search(tenant, "lighthouse keeper", 1)
    assert (found.memory_id, found.content == large) == (stored, True)


async def test_an_unknown_embedding_model_is_refused(database, tenant):
    async def use() -> None:
        memory = clew.LongTermMemory(database, "no-such-model")
        await memory.setup()
        await memory.store(entry(tenant, "x"))

    await refused(use)


@pytest.mark.parametrize("model", [5, "", b"static", ["static"]])
async def test_an_embedding_model_that_cannot_be_is_refused(database, tenant, model):
    async def use() -> None:
        await clew.LongTermMemory(database, model).store(entry(tenant, "x"))

    await refused(use)

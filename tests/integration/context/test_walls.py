"""Another tenant sees nothing of a thread: no compaction, no refusal, no summary, no pin."""

import asyncio
from typing import Any

import pytest

import clew
from clew.context.views import Views

from .conftest import engine_with, fact, jobs_of, said, shown_texts, talk


async def nothing(messages: list[dict[str, Any]]) -> str:
    return ""


async def test_the_same_name_is_another_thread_for_another_tenant(engine, database, tenant, other_tenant):
    ours, theirs = engine.tenant(tenant).thread("t"), engine.tenant(other_tenant).thread("t")
    await ours.append({"role": "user", "content": "our pin"}, pinned=True)
    await ours.append(talk(2, 22))
    assert await ours.compact() is not None
    await ours.append(talk(23, 40))
    refused = engine_with(database, write_summary=nothing)
    assert await refused.tenant(tenant).thread("t").compact() is None
    assert (len(await ours.compactions()), len(await ours.refusals())) == (1, 1)
    for empty in (True, False):
        assert (await theirs.compactions(), await theirs.refusals()) == ([], [])
        texts = " ".join(await shown_texts(theirs, tools=theirs.tools()))
        assert "Valve V-10" not in texts
        assert "our pin" not in texts
        assert await theirs.recall_messages(positions="1-40") == ([] if empty else await theirs.read(50))
        views = Views(database)
        assert await views.summaries(tenant_id=other_tenant) == []
        current = await engine.compactor.current("t", tenant_id=other_tenant)
        assert (current is None) if empty else (current.generation, current.pinned, current.refused_at) == (0, (), 0)
        await theirs.append({"role": "user", "content": "ours"})
    (summary,) = await views.summaries(tenant_id=tenant)
    assert "V-1003" in summary.text


async def test_two_tenants_compact_the_same_name_at_once_each_with_their_own(engine, tenant, other_tenant):
    handles = [engine.tenant(one).thread("t") for one in (tenant, other_tenant)]
    await handles[0].append(talk(1, 21))
    await handles[1].append(talk(101, 121))
    first, second = await asyncio.gather(*(handle.compact() for handle in handles))
    assert "V-1003" in first.summary
    assert "V-1003" not in second.summary
    assert "V-1103" in second.summary


async def test_a_job_of_one_tenant_does_not_stand_for_another_s(engine, database, tenant, other_tenant):
    for one in (tenant, other_tenant):
        thread = engine.tenant(one).thread("t/a")
        await thread.append(talk(1, 21))
        await thread.compile("go on")
    assert [await jobs_of(database, one) for one in (tenant, other_tenant)] == [1, 1]


async def test_a_cleared_thread_takes_its_compactions_and_refusals_along(thread, engine, database, tenant):
    await thread.append(talk(1, 21))
    await thread.compact()
    await thread.append(talk(22, 40))
    await engine_with(database, write_summary=nothing).tenant(tenant).thread("t").compact()
    assert (len(await thread.compactions()), len(await thread.refusals())) == (1, 1)
    await thread.clear()
    assert (await thread.compactions(), await thread.refusals()) == ([], [])
    assert await Views(database).summaries(tenant_id=tenant) == []
    await thread.append(said(1))
    assert fact(1) in " ".join(await shown_texts(thread))
    assert not any("Summary" in text for text in await shown_texts(thread))


BAD_THREADS = ["", "\0", "\ud800", "x" * 257, 5, None, b"t", ["t"]]
BAD_TENANTS = ["", "a/b", "é", "x" * 129, 5, None, "a\n"]


@pytest.mark.parametrize(
    "named",
    [*({"thread_id": one} for one in BAD_THREADS), *({"thread_id": "t", "tenant_id": one} for one in BAD_TENANTS)],
    ids=lambda named: ascii(named)[:40],
)
async def test_bad_names_are_refused_everywhere(engine, named):
    thread_id, options = named["thread_id"], {key: value for key, value in named.items() if key == "tenant_id"}
    compactor = engine.compactor
    for asked in (
        compactor.compact(thread_id, **options),
        compactor.compact(thread_id, wait=False, **options),
        compactor.current(thread_id, **options),
        compactor.compactions(thread_id, **options),
        compactor.refusals(thread_id, **options),
        compactor.recall_messages(thread_id, "x", **options),
        compactor.recall_messages(thread_id, positions="1", **options),
    ):
        with pytest.raises(clew.InvalidInput):
            await asked

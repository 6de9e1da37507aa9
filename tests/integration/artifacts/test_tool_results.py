"""Full results: exact, durable, a tenant's own, and counted."""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from clew import Database, InvalidInput, Misconfigured, NotFound, SessionStore, Settings
from clew.artifacts import ArtifactStore, Savings, ToolResultCache
from clew.artifacts.store import ArtifactStore as Store

from .conftest import Objects

ROWS = [{"id": n, "name": f"row {n}", "score": n / 7} for n in range(200)]


@pytest.fixture
def cache(store: ArtifactStore) -> ToolResultCache:
    return ToolResultCache(store)


async def test_a_result_is_given_back_exactly_by_the_calls_id_and_by_the_artifacts(cache: ToolResultCache, tenant: str):
    result = {"rows": ROWS, "at": datetime(2025, 1, 1, tzinfo=UTC), "price": (Decimal("1.10"), b"\xff")}
    ref = await cache.put_tool_result("call_1", result, tool="query", tenant_id=tenant)
    for wanted in ("call_1", ref.artifact_id):
        back = await cache.get_tool_result(wanted, tenant_id=tenant)
        assert back == result
        assert isinstance(back["price"], tuple)


async def test_the_newest_result_of_a_call_answers(cache: ToolResultCache, tenant: str):
    first = await cache.put_tool_result("call_0", "first " * 50, tool="t", tenant_id=tenant)
    await cache.put_tool_result("call_0", "second " * 50, tool="t", tenant_id=tenant)
    assert await cache.get_tool_result("call_0", tenant_id=tenant) == "second " * 50
    assert await cache.get_tool_result(first.artifact_id, tenant_id=tenant) == "first " * 50


async def test_the_same_bytes_as_text_and_as_a_value_stay_apart(cache: ToolResultCache, tenant: str):
    text = await cache.put_tool_result("text", '{"a": 1}', tool="t", tenant_id=tenant)
    value = await cache.put_tool_result("value", {"a": 1}, tool="t", tenant_id=tenant)
    assert await cache.get_tool_result(text.artifact_id, tenant_id=tenant) == '{"a": 1}'
    assert await cache.get_tool_result(value.artifact_id, tenant_id=tenant) == {"a": 1}


async def test_a_call_id_that_looks_like_an_artifacts_hides_no_artifact(cache: ToolResultCache, tenant: str):
    ref = await cache.put_tool_result("call", "one", tool="t", tenant_id=tenant)
    await cache.put_tool_result(ref.artifact_id, "two", tool="t", tenant_id=tenant)
    assert await cache.get_tool_result(ref.artifact_id, tenant_id=tenant) == "one"


async def test_another_tenants_ids_are_as_unknown_as_ids_that_nobody_has(
    cache: ToolResultCache, tenant: str, other: str
):
    ref = await cache.put_tool_result("call_theirs", "secret", tool="t", tenant_id=other)
    assert await cache.get_tool_result("call_theirs", tenant_id=other) == "secret"
    said = []
    for wanted in ("call_theirs", ref.artifact_id, "call_nobodys", "art_aaaaaaaaaaaaaaaa"):
        with pytest.raises(NotFound) as caught:
            await cache.get_tool_result(wanted, tenant_id=tenant)
        said.append(str(caught.value).replace(wanted, "…"))
    assert len(set(said)) == 1
    assert await cache.savings(tenant_id=tenant) == []
    assert len(await cache.savings(tenant_id=other)) == 1


async def test_after_a_restart_the_result_is_the_same(
    settings: Settings, store: ArtifactStore, folder: Path, tenant: str
):
    await ToolResultCache(store).put_tool_result("call_1", ROWS, tool="t", tenant_id=tenant)
    async with Database(settings=settings) as another, ArtifactStore(another, url=str(folder)) as artifacts:
        assert await ToolResultCache(artifacts).get_tool_result("call_1", tenant_id=tenant) == ROWS


KILLED = """
import asyncio, sys
from clew import Database
from clew.artifacts import ArtifactStore, ToolResultCache, isolate_tool
from clew.artifacts.isolation.calls import tool_call

async def rows():
    return [{"id": n, "name": f"row {n}", "score": n / 7} for n in range(200)]

async def main(url, folder, tenant):
    async with Database(url) as database:
        tool = isolate_tool(rows, ToolResultCache(ArtifactStore(database, url=folder)), tenant_id=tenant)
        with tool_call("call_1"):
            print(await tool(), flush=True)
        await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_process_killed_right_after_it_had_the_summary_leaves_the_result(
    scratch: Any, folder: Path, tenant: str
):
    child = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-c", KILLED, scratch.app_url, str(folder), tenant],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        summary = await asyncio.to_thread(child.stdout.readline)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert summary.startswith("[rows]")
    async with Database(scratch.app_url) as database, ArtifactStore(database, url=str(folder)) as artifacts:
        cache = ToolResultCache(artifacts)
        assert await cache.get_tool_result("call_1", tenant_id=tenant) == ROWS
        assert summary.split("artifact ")[1].startswith(
            tuple(ref.artifact_id for ref in await artifacts.list(tenant_id=tenant))
        )


async def test_savings_are_told_per_tool_per_thread_and_in_total(cache: ToolResultCache, tenant: str):
    for thread, tool in (("a", "search"), ("a", "search"), ("b", "search"), ("b", "query"), (None, "query")):
        await cache.put_tool_result("c", ROWS, tool=tool, tenant_id=tenant, thread_id=thread, shown="200 rows")
    every = await cache.savings(tenant_id=tenant)
    assert {one.tool: (one.calls, one.isolated) for one in every} == {"search": (3, 3), "query": (2, 2)}
    assert all(one.shown_tokens == one.isolated * 2 for one in every)
    assert every[0].full_tokens > 3 * 1_000
    only = await cache.savings(tenant_id=tenant, thread_id="b")
    assert {one.tool: one.isolated for one in only} == {"search": 1, "query": 1}
    total = Savings.total(every)
    assert total.saved_tokens == sum(one.full_tokens - one.shown_tokens for one in every) > 0
    assert total.as_dict() == {
        "tool": "total",
        "calls": 5,
        "isolated": 5,
        "full_tokens": total.full_tokens,
        "shown_tokens": 10,
        "saved_tokens": total.full_tokens - 10,
    }


async def test_clearing_a_thread_forgets_its_results(
    database: Database, cache: ToolResultCache, eager: ArtifactStore, objects: Objects, tenant: str
):
    sessions = SessionStore(database)
    await sessions.append("t", {"role": "user", "content": "hello"}, tenant_id=tenant)
    for thread, text in (("t", "theirs " * 40), ("u", "others " * 40)):
        await cache.put_tool_result(thread, text, tool="t", tenant_id=tenant, thread_id=thread)
    assert len(objects()) == 2
    await sessions.clear_session("t", tenant_id=tenant)
    with pytest.raises(NotFound):
        await cache.get_tool_result("t", tenant_id=tenant)
    assert await cache.get_tool_result("u", tenant_id=tenant) == "others " * 40
    await eager.collect(tenant_id=tenant)
    assert len(objects()) == 1


async def test_a_result_whose_artifact_was_collected_is_not_found_and_still_counted(
    database: Database, eager: ArtifactStore, tenant: str
):
    cache = ToolResultCache(eager, keep="ttl:0s")
    await cache.put_tool_result("call", "gone " * 40, tool="t", tenant_id=tenant)
    assert await cache.get_tool_result("call", tenant_id=tenant) == "gone " * 40
    await eager.collect(tenant_id=tenant)
    with pytest.raises(NotFound):
        await cache.get_tool_result("call", tenant_id=tenant)
    assert (await cache.savings(tenant_id=tenant))[0].isolated == 1


async def test_a_cache_of_its_own_opens_and_closes_its_store(
    scratch: Any, tmp_path: Path, monkeypatch: Any, tenant: str
):
    monkeypatch.setenv("CLEW_ARTIFACTS_URL", str(tmp_path / "own"))
    async with ToolResultCache(database=scratch.app_url) as cache:
        await cache.put_tool_result("c", "kept", tool="t", tenant_id=tenant)
        assert await cache.get_tool_result("c", tenant_id=tenant) == "kept"
    async with ToolResultCache(database=scratch.app_url) as cache:
        assert await cache.get_tool_result("c", tenant_id=tenant) == "kept"


BAD_IDS: dict[str, Any] = {
    "empty": "",
    "NUL": "a\0b",
    "a surrogate": "\ud800",
    "too long": "x" * 513,
    "None": None,
    "a number": 7,
    "bytes": b"x",
}


@pytest.mark.parametrize("bad", BAD_IDS.values(), ids=BAD_IDS)
async def test_bad_input_is_refused_in_words(cache: ToolResultCache, tenant: str, bad: Any):
    with pytest.raises(InvalidInput, match="tool_call_id"):
        await cache.get_tool_result(bad, tenant_id=tenant)
    with pytest.raises(InvalidInput, match="tool_call_id"):
        await cache.put_tool_result(bad, "x", tool="t", tenant_id=tenant)
    with pytest.raises(InvalidInput, match="tool:"):
        await cache.put_tool_result("c", "x", tool=bad, tenant_id=tenant)
    if bad is not None:
        with pytest.raises(InvalidInput, match="thread_id"):
            await cache.put_tool_result("c", "x", tool="t", tenant_id=tenant, thread_id=bad)
        with pytest.raises(InvalidInput, match="thread_id"):
            await cache.savings(tenant_id=tenant, thread_id=bad)
    for call in (cache.get_tool_result("c", tenant_id=bad), cache.savings(tenant_id=bad)):
        with pytest.raises(InvalidInput, match="tenant"):
            await call


async def test_what_cannot_be_kept_is_refused_by_name(cache: ToolResultCache, tenant: str):
    with pytest.raises(InvalidInput, match="result: can't be kept so that it comes back as it was: object is not"):
        await cache.put_tool_result("c", [object()], tool="t", tenant_id=tenant)


async def test_a_class_that_is_gone_is_told_from_a_result_that_is_not_there(
    cache: ToolResultCache, tenant: str, monkeypatch: pytest.MonkeyPatch
):
    await cache.put_tool_result("c", Savings("t", 1, 1, 1, 1), tool="t", tenant_id=tenant)
    assert await cache.get_tool_result("c", tenant_id=tenant) == Savings("t", 1, 1, 1, 1)
    monkeypatch.delitem(sys.modules, "clew.artifacts.isolation.savings")
    with pytest.raises(Misconfigured, match=r"Import 'clew\.artifacts\.isolation\.savings' first"):
        await cache.get_tool_result("c", tenant_id=tenant)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [({"artifacts": "x"}, "artifacts"), ({"keep": "weekly"}, "keep"), ({"write_summary": 5}, "write_summary")],
)
def test_a_cache_that_cannot_be_is_refused(arguments: Any, where: str):
    with pytest.raises(InvalidInput, match=f"^{where}"):
        ToolResultCache(**arguments)


def test_a_store_in_one_database_and_results_in_another_are_refused(store: Store, settings: Settings):
    with pytest.raises(InvalidInput, match="another database"):
        ToolResultCache(store, database=Database(settings=settings))

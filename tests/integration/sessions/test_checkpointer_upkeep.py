"""Copying, deleting by run and pruning: what is left is whole, and what is not needed is gone."""

import itertools
from typing import Any

import pytest
from langgraph.graph import MessagesState

from clew import Conflict, Database, InvalidInput
from clew.sessions import SessionStore
from clew.sessions.state import SessionState

from .conftest import echo_graph, on, user


async def run(graph: Any, thread: str, text: str, run_id: str) -> None:
    await graph.ainvoke({"messages": [user(text)]}, {**on(thread), "metadata": {"run_id": run_id}})


async def contents(graph: Any, thread: str) -> list[str]:
    return [message.content for message in (await graph.aget_state(on(thread))).values.get("messages", [])]


async def count(database: Database, tenant: str, table: str) -> int:
    async with database.tenant(tenant) as connection:
        row = await (await connection.execute(f"SELECT count(*) FROM clew_lg_00.{table}")).fetchone()
    return row[0]


@pytest.mark.parametrize("state", [MessagesState, SessionState])
async def test_a_copied_thread_has_its_whole_history_and_goes_its_own_way(
    store: SessionStore, tenant: str, state: type
):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(state, checkpointer)
    for text in "abc":
        await run(graph, "t", text, text)
    await checkpointer.acopy_thread("t", "copy")
    assert await contents(graph, "copy") == await contents(graph, "t")
    history = [len(s.values.get("messages", ())) async for s in graph.aget_state_history(on("copy"))]
    assert history == [len(s.values.get("messages", ())) async for s in graph.aget_state_history(on("t"))]
    await run(graph, "copy", "d", "d")
    assert len(await contents(graph, "copy")) == 8
    assert len(await contents(graph, "t")) == 6
    with pytest.raises(Conflict, match="target_thread_id: the target thread has checkpoints already"):
        await checkpointer.acopy_thread("t", "copy")


async def test_deleting_a_run_in_the_middle_keeps_the_others_linked(
    database: Database, store: SessionStore, tenant: str
):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(MessagesState, checkpointer)
    for text in "abcd":
        await run(graph, "t", text, f"run-{text}")
    await run(graph, "u", "x", "run-x")
    blobs = await count(database, tenant, "checkpoint_blobs")
    await checkpointer.adelete_for_runs(["run-b", "run-c"])
    left = [item async for item in checkpointer.alist(on("t"))]
    assert {item.metadata["run_id"] for item in left} == {"run-a", "run-d"}
    for item, parent in itertools.pairwise(left):
        assert item.parent_config == parent.config
    assert left[-1].parent_config is None
    assert len(await contents(graph, "t")) == 8, "a plain channel's latest value holds everything"
    assert await count(database, tenant, "checkpoint_blobs") < blobs
    assert len(await contents(graph, "u")) == 2


async def test_blobs_that_others_share_stay_and_all_others_go(database: Database, store: SessionStore, tenant: str):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(MessagesState, checkpointer)
    await run(graph, "t", "a", "run-a")
    await run(graph, "t", "b", "run-b")
    await checkpointer.adelete_for_runs(["run-b"])
    assert await contents(graph, "t") == ["a", "1: a"]
    await checkpointer.adelete_for_runs(["run-a"])
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        assert await count(database, tenant, table) == 0


async def test_a_run_that_later_ones_are_built_on_is_not_torn_out(store: SessionStore, tenant: str):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(SessionState, checkpointer)
    for text in "abc":
        await run(graph, "t", text, f"run-{text}")
    before = await contents(graph, "t")
    with pytest.raises(InvalidInput, match="run_ids: later runs of a thread with a DeltaChannel are built on one"):
        await checkpointer.adelete_for_runs(["run-b"])
    assert await contents(graph, "t") == before
    await checkpointer.adelete_for_runs(["run-c", "run-b"])
    assert await contents(graph, "t") == ["a", "1: a"]
    await run(graph, "t", "d", "run-d")
    assert await contents(graph, "t") == ["a", "1: a", "d", "3: d"]


async def test_pruning_keeps_the_latest_checkpoint_and_only_what_it_needs(
    database: Database, store: SessionStore, tenant: str
):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(MessagesState, checkpointer)
    for text in "abc":
        await run(graph, "t", text, text)
        await run(graph, "u", text, text)
    await checkpointer.aprune(["t"])
    assert len([item async for item in checkpointer.alist(on("t"))]) == 1
    assert len([item async for item in checkpointer.alist(on("u"))]) == 9
    assert len(await contents(graph, "t")) == 6
    await run(graph, "t", "d", "d")
    assert len(await contents(graph, "t")) == 8
    await checkpointer.aprune(["t", "u"], strategy="delete")
    assert await count(database, tenant, "checkpoints") == 0
    for bad, error in (("t", TypeError), (["t"], ValueError)):
        with pytest.raises(error):
            await checkpointer.aprune(bad, strategy="some")


async def test_a_thread_that_lives_off_its_ancestors_is_not_pruned(store: SessionStore, tenant: str):
    checkpointer = store.checkpointer_for(tenant)
    graph = echo_graph(SessionState, checkpointer)
    for text in "ab":
        await run(graph, "t", text, text)
    with pytest.raises(InvalidInput, match="thread_ids: a thread with a DeltaChannel is rebuilt from") as caught:
        await checkpointer.aprune(["t"])
    assert tenant not in str(caught.value)
    assert len(await contents(graph, "t")) == 4


async def test_every_thread_of_the_tenant_can_be_listed(store: SessionStore, tenant: str, other_tenant: str):
    for who in (tenant, other_tenant):
        graph = echo_graph(MessagesState, store.checkpointer_for(who))
        await run(graph, "t", who, "r1")
        await run(graph, "u", who, "r2")
    checkpointer = store.checkpointer_for(tenant)
    listed = [item async for item in checkpointer.alist(None)]
    assert {item.config["configurable"]["thread_id"] for item in listed} == {"t", "u"}
    assert len(listed) == 6
    filtered = [item async for item in checkpointer.alist(None, filter={"run_id": "r1"}, limit=2)]
    assert [item.metadata["run_id"] for item in filtered] == ["r1", "r1"]

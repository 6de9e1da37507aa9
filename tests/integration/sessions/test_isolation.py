"""Two tenants with the same thread ids, through every method: nothing crosses, whatever a caller writes as an id."""

import itertools
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import MessagesState

from clew import Database, InvalidInput, NotFound
from clew.sessions import SessionStore
from clew.sessions.state import SessionState

from .conftest import echo_graph, on, texts, user

THREADS = ("t", "support/42")


async def everything(store: SessionStore, tenant: str) -> dict[str, Any]:
    """All that a tenant can see, by every way of looking."""
    checkpointer = store.checkpointer_for(tenant)
    seen: dict[str, Any] = {"threads": [(t.thread_id, t.message_count) for t in await store.threads(tenant_id=tenant)]}
    for thread in (*THREADS, "graph"):
        seen[f"messages {thread}"] = await store.get_session_messages(thread, tenant_id=tenant)
        seen[f"rows {thread}"] = await store.read(thread, tenant_id=tenant)
        seen[f"search {thread}"] = await store.search(thread, "secret", tenant_id=tenant)
        seen[f"state {thread}"] = await checkpointer.aget_tuple(on(thread))
        seen[f"list {thread}"] = [item async for item in checkpointer.alist(on(thread))]
        seen[f"delta {thread}"] = await checkpointer.aget_delta_channel_history(
            config=on(thread), channels=["messages"]
        )
    seen["list"] = [item async for item in checkpointer.alist(None)]
    return seen


async def fill(store: SessionStore, tenant: str) -> list[str]:
    ids = []
    for thread in THREADS:
        ids += await store.append(thread, user(f"secret of {tenant}"), tenant_id=tenant, idempotency_key="k")
    for state, thread in ((MessagesState, "graph"), (SessionState, "graph delta")):
        graph = echo_graph(state, store.checkpointer_for(tenant))
        await graph.ainvoke({"messages": [user(f"secret of {tenant}")]}, {**on(thread), "metadata": {"run_id": "run"}})
    return ids


@pytest.fixture
async def two(store: SessionStore, tenant: str, other_tenant: str) -> tuple[str, str]:
    for who in (tenant, other_tenant):
        await fill(store, who)
    return tenant, other_tenant


async def test_each_sees_its_own_and_nothing_else(store: SessionStore, two: tuple[str, str]):
    for me, other in itertools.permutations(two):
        seen = repr(await everything(store, me))
        assert f"secret of {me}" in seen
        assert f"secret of {other}" not in seen
        assert other not in seen


async def test_what_one_does_to_its_threads_leaves_the_others_as_they_were(store: SessionStore, two: tuple[str, str]):
    me, other = two
    before = await everything(store, other)
    mine = store.checkpointer_for(me)
    await store.append("t", user("more"), tenant_id=me)
    await mine.aput_writes((await mine.aget_tuple(on("graph"))).config, [("note", "x")], "task")
    await mine.acopy_thread("graph", "copy")
    await mine.adelete_for_runs(["run"])
    await mine.aprune(["graph", "copy"], strategy="delete")
    await mine.adelete_thread("graph delta")
    for thread in (*THREADS, "graph", "graph delta"):
        await store.clear_session(thread, tenant_id=me)
    assert await everything(store, other) == before
    assert [item async for item in mine.alist(None)] == []


async def test_a_tenant_that_has_nothing_sees_what_one_that_does_not_exist_sees(
    store: SessionStore, two: tuple[str, str]
):
    nobody, newcomer = await everything(store, "nobody"), await everything(store, "newcomer")
    assert nobody == newcomer
    assert nobody["state graph"] is None


async def test_another_tenants_message_is_not_found_by_its_id(store: SessionStore, tenant: str, other_tenant: str):
    theirs = (await fill(store, other_tenant))[0]
    assert (await store.get_message(theirs, tenant_id=other_tenant)).message.text == f"secret of {other_tenant}"
    with pytest.raises(NotFound):
        await store.get_message(theirs, tenant_id=tenant)


@pytest.mark.parametrize(
    "spelling", ["{other}/graph", "/{other}/graph", "../{other}/graph", "{other}0graph", "%", "graph%"]
)
async def test_a_thread_id_that_spells_another_tenant_is_a_thread_of_ones_own(
    store: SessionStore, two: tuple[str, str], spelling: str
):
    me, other = two
    thread = spelling.format(other=other)
    graph = echo_graph(MessagesState, store.checkpointer_for(me))
    assert (await graph.aget_state(on(thread))).values == {}
    assert await store.get_session_messages(thread, tenant_id=me) == []
    await graph.ainvoke({"messages": [user("planted")]}, on(thread))
    await store.append(thread, user("planted"), tenant_id=me)
    assert texts(await store.get_session_messages(thread, tenant_id=me)) == ["planted"]
    theirs = repr(await everything(store, other))
    assert "planted" not in theirs
    assert f"secret of {other}" in theirs


async def test_a_checkpointer_for_one_tenant_refuses_another(store: SessionStore, two: tuple[str, str]):
    me, other = two
    mine = store.checkpointer_for(me)
    config = on("graph", tenant_id=other)
    refused = pytest.raises(
        InvalidInput, match=r"configurable\.tenant_id: this checkpointer was made for another tenant"
    )
    with refused:
        await mine.aget_tuple(config)
    with refused:
        await mine.aput(on("graph", tenant_id=other, checkpoint_ns=""), empty_checkpoint(), {}, {})
    with refused:
        await mine.aput_writes(config, [("a", 1)], "task")
    with refused:
        await mine.aget_delta_channel_history(config=config, channels=["messages"])
    with refused:
        [item async for item in mine.alist(config)]
    assert (await mine.aget_tuple(on("graph", tenant_id=me))) is not None


@pytest.mark.parametrize("bad", ["a/b", "", "a b", 7, "a\0"])
async def test_a_tenant_that_cannot_be_one_is_refused(store: SessionStore, bad: Any):
    with pytest.raises(InvalidInput, match="tenant_id"):
        await store.checkpointer.aget_tuple(on("t", tenant_id=bad))
    with pytest.raises(InvalidInput, match="tenant_id"):
        store.checkpointer_for(bad)


@pytest.mark.parametrize(("bad", "words"), [("", "must not be empty"), ("x" * 257, "limit is 256"), ("a\0", "NUL")])
async def test_a_thread_that_cannot_be_one_is_refused(store: SessionStore, bad: str, words: str):
    with pytest.raises(InvalidInput, match=rf"configurable\.thread_id: .*{words}"):
        await store.checkpointer.aget_tuple(on(bad))
    with pytest.raises(InvalidInput, match=r"configurable\.thread_id: is missing"):
        await store.checkpointer.aget_tuple({"configurable": {}})


async def test_the_tables_hold_both_tenants_and_the_policy_parts_them(
    database: Database, store: SessionStore, two: tuple[str, str], server: Any
):
    me, other = two
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    count = "SELECT count(*) FROM clew_lg_00.{} WHERE starts_with(thread_id, %s)"
    with psycopg.connect(server.conninfo(server.ensure(), "clew_admin")) as admin:
        assert all(admin.execute(count.format(table), [f"{other}/"]).fetchone()[0] for table in tables)
    for table in tables:
        async with database.tenant(me) as connection:
            assert await (await connection.execute(count.format(table), [f"{other}/"])).fetchone() == (0,)
            row = await (await connection.execute(count.format(table), [f"{me}/"])).fetchone()
            assert row[0] > 0
            removed = await connection.execute(
                f"DELETE FROM clew_lg_00.{table} WHERE thread_id LIKE %s", [f"{other}/%"]
            )
            assert removed.rowcount == 0
        with pytest.raises(Exception, match="row-level security policy"):
            async with database.tenant(me) as connection:
                await connection.execute(
                    "INSERT INTO clew_lg_00.checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%s, 'x', '{}')",
                    [f"{other}/graph"],
                )

"""The collector: what is past its lifetime goes, what anything names stays, and leftovers are found."""

import asyncio
import os
import time
from contextlib import suppress

import pytest

from clew import Database
from clew.artifacts import ArtifactStore
from clew.artifacts.objects.rows import tenant_folder
from clew.errors import Damaged, NotFound, Unavailable
from clew.ids import new_id
from clew.sessions import SessionStore


async def _aged(database, tenant, artifact_id, *, created="0 s", used="0 s"):
    async with database.owner() as connection, connection.transaction():
        await connection.execute("SELECT set_config('clew.tenant_id', %s, true)", (tenant,))
        await connection.execute(
            "UPDATE clew.artifacts SET created_at = created_at - %s::interval, used_at = used_at - %s::interval "
            "WHERE artifact_id = %s",
            (created, used, artifact_id),
        )


async def _rows(database, tenant):
    async with database.tenant(tenant) as connection:
        blobs = await (await connection.execute("SELECT count(*) FROM clew.blobs")).fetchone()
        artifacts = await (await connection.execute("SELECT count(*) FROM clew.artifacts")).fetchone()
        return artifacts[0], blobs[0]


@pytest.mark.parametrize(
    ("keep", "created", "used", "goes"),
    [
        ("forever", "1000 days", "1000 days", False),
        ("ttl:7d", "8 days", "2 hours", True),
        ("ttl:7d", "6 days", "6 days", False),
        ("ttl:7d", "8 days", "30 minutes", False),
        ("last_used:7d", "80 days", "8 days", True),
        ("last_used:7d", "80 days", "6 days", False),
        ("ttl:0s", "2 hours", "2 hours", True),
        ("ttl:0s", "10 minutes", "10 minutes", False),
    ],
)
async def test_what_is_past_its_lifetime_and_not_used_of_late_goes(
    store, tenant, database, objects, keep, created, used, goes
):
    ref = await store.put(b"x" * 1000, media_type="text/plain", tenant_id=tenant, keep=keep)
    await _aged(database, tenant, ref.artifact_id, created=created, used=used)
    expected = (ref.artifact_id,) if goes else ()
    rehearsal = await store.collect(tenant_id=tenant, dry_run=True)
    assert (rehearsal.dry_run, rehearsal.expired, rehearsal.bytes) == (True, expected, 1000 * goes)
    assert len(objects()) == 1, "a dry run removes nothing"
    done = await store.collect(tenant_id=tenant)
    assert (done.dry_run, done.expired, done.bytes) == (False, expected, 1000 * goes)
    assert len(objects()) == (0 if goes else 1)
    assert await _rows(database, tenant) == ((0, 0) if goes else (1, 1))
    assert (await store.collect(tenant_id=tenant)).expired == (), "and it has gone once"


async def test_what_a_message_names_stays_until_the_conversation_is_cleared(store, eager, tenant, database):
    sessions = SessionStore(database)
    ref = await store.put(b"named", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    free = await store.put(b"not named", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    await sessions.append(
        "t", {"role": "user", "content": f"see (full result: artifact {ref.artifact_id})."}, tenant_id=tenant
    )
    rehearsal = await eager.collect(tenant_id=tenant, dry_run=True)
    done = await eager.collect(tenant_id=tenant)
    assert done.expired == rehearsal.expired == (free.artifact_id,), "the control: unnamed, it goes"
    assert done.in_use == rehearsal.in_use == 1
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b"named"
    await sessions.clear_session("t", tenant_id=tenant)
    assert (await eager.collect(tenant_id=tenant)).expired == (ref.artifact_id,)


async def test_a_message_of_another_tenant_keeps_nothing(store, eager, tenant, other, database):
    ref = await store.put(b"named", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    await SessionStore(database).append("t", {"role": "user", "content": ref.artifact_id}, tenant_id=other)
    assert (await eager.collect(tenant_id=tenant)).expired == (ref.artifact_id,)


@pytest.mark.parametrize("where", ["messages", "plan", "metadata"])
async def test_what_a_graphs_state_holds_stays(store, eager, tenant, other, database, where):
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, StateGraph

    from clew.sessions.state import SessionState

    class State(SessionState):
        plan: dict

    ref = await store.put(b"held", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    free = await store.put(b"free", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    said = {
        "messages": {"messages": [AIMessage(f"ünder {ref.artifact_id}✓")]},
        "plan": {"plan": {"shots": [f"\x00{ref.artifact_id}"]}},
        "metadata": {"plan": {}},
    }[where]
    graph = StateGraph(State)
    graph.add_node("say", lambda state: said)
    graph.add_edge(START, "say")
    graph.add_edge("say", END)
    sessions = SessionStore(database)
    agent = graph.compile(checkpointer=sessions.checkpointer)
    config = {"configurable": {"thread_id": "g", "tenant_id": tenant}, "metadata": {"ref": ref.artifact_id}}
    await agent.ainvoke({"messages": []}, config if where == "metadata" else {"configurable": config["configurable"]})
    done = await eager.collect(tenant_id=tenant)
    assert (done.expired, done.in_use) == ((free.artifact_id,), 1)
    await sessions.clear_session("g", tenant_id=tenant)
    assert (await eager.collect(tenant_id=tenant)).expired == (ref.artifact_id,)


async def test_an_object_stays_while_another_artifact_names_it(store, eager, tenant, objects, database):
    gone = await store.put(b"<p>", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    stays = await store.put(b"<p>", media_type="text/html", tenant_id=tenant)
    rehearsal = await eager.collect(tenant_id=tenant, dry_run=True)
    done = await eager.collect(tenant_id=tenant)
    assert done.expired == rehearsal.expired == (gone.artifact_id,)
    assert done.bytes == rehearsal.bytes == 0
    assert len(objects()) == 1
    assert (await store.get(stays.artifact_id, tenant_id=tenant)).data == b"<p>"


async def test_a_message_that_is_being_written_keeps_what_it_names(store, eager, tenant, database):
    """The message's transaction is open while the collector runs: the collector passes over what it holds."""
    ref = await store.put(b"raced", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    sessions = SessionStore(database)
    await sessions.append("t", {"role": "user", "content": "first"}, tenant_id=tenant)
    async with database.tenant(tenant) as connection:
        await connection.execute(
            "INSERT INTO clew.messages (tenant_id, thread_id, position, message_id, tokens, words, message) "
            "VALUES (%s, 't', 2, %s, 1, '', json_build_object('content', %s::text))",
            (tenant, new_id(), ref.artifact_id),
        )
        assert (await eager.collect(tenant_id=tenant)).expired == ()
    assert (await eager.collect(tenant_id=tenant)).in_use == 1
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b"raced"


async def test_putting_and_collecting_the_same_bytes_at_once_never_leaves_a_dead_reference(eager, tenant, objects):
    """Without grace, which in earnest keeps the two an hour apart: an acknowledged put may be collected at once, but
    whatever still has a row can be read."""
    data = b"contended"
    stop = time.monotonic() + 4

    async def put(media_type):
        count = 0
        while time.monotonic() < stop:
            # Its unfinished write was collected, which happens without grace only.
            with suppress(Unavailable):
                await eager.put(data, media_type=media_type, tenant_id=tenant, keep="last_used:0s")
                count += 1
        return count

    async def collect():
        count = 0
        while time.monotonic() < stop:
            count += len((await eager.collect(tenant_id=tenant)).expired)
        return count

    puts = put("text/plain"), put("text/plain"), put("text/html")
    *stored, first, second = await asyncio.gather(*puts, collect(), collect())
    assert min(stored) > 3
    assert first + second > 3, "they did meet"
    kept = await eager.list(tenant_id=tenant)
    for ref in kept:
        assert (await eager.get(ref.artifact_id, tenant_id=tenant)).data == data
    await eager.collect(tenant_id=tenant)
    assert objects() == []


async def test_an_unfinished_write_is_an_orphan_only_when_it_is_old(store, eager, tenant, database, folder, objects):
    blob_id = new_id()
    async with database.tenant(tenant) as connection:
        await connection.execute("INSERT INTO clew.blobs (tenant_id, blob_id) VALUES (%s, %s)", (tenant, blob_id))
    (folder / tenant_folder(tenant)).mkdir(parents=True)
    (folder / tenant_folder(tenant) / blob_id).write_bytes(b"half a thing")
    assert (await store.collect(tenant_id=tenant)).orphans == 0
    assert len(objects()) == 1
    rehearsal = await eager.collect(tenant_id=tenant, dry_run=True)
    assert (rehearsal.orphans, rehearsal.bytes, len(objects())) == (1, 12, 1)
    done = await eager.collect(tenant_id=tenant)
    assert (done.orphans, done.bytes, objects()) == (1, 12, [])
    assert await _rows(database, tenant) == (0, 0)


async def test_a_deep_collection_finds_objects_without_a_row_once_they_are_old(store, tenant, folder, objects):
    ref = await store.put(b"mine", media_type="text/plain", tenant_id=tenant)
    place = folder / tenant_folder(tenant)
    old, new, staged = place / new_id(), place / new_id(), place / f"{new_id()}#1"
    for path in (old, new, staged):
        path.write_bytes(b"stray")
    (place / "notes.txt").write_bytes(b"somebody's own")
    for path in (old, staged, place / "notes.txt", objects()[0]):
        os.utime(path, (time.time() - 7200,) * 2)
    assert (await store.collect(tenant_id=tenant)).orphans == 0, "only a deep one looks"
    rehearsal = await store.collect(tenant_id=tenant, deep=True, dry_run=True)
    assert (rehearsal.orphans, rehearsal.bytes, old.exists()) == (2, 10, True)
    done = await store.collect(tenant_id=tenant, deep=True)
    assert (done.orphans, done.bytes, done.damaged) == (2, 10, ())
    assert (old.exists(), staged.exists(), new.exists(), (place / "notes.txt").exists()) == (False, False, True, True)
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b"mine"


async def test_a_deep_collection_tells_which_artifacts_have_lost_their_object(store, tenant, objects):
    fine = await store.put(b"fine", media_type="text/plain", tenant_id=tenant)
    before = set(objects())
    lost = await store.put(b"lost", media_type="text/plain", tenant_id=tenant)
    [path] = set(objects()) - before
    assert (await store.collect(tenant_id=tenant, deep=True)).damaged == ()
    path.write_bytes(b"los")
    assert (await store.collect(tenant_id=tenant, deep=True)).damaged == (lost.artifact_id,)
    path.unlink()
    assert (await store.collect(tenant_id=tenant, deep=True)).damaged == (lost.artifact_id,)
    with pytest.raises(Damaged):
        await store.get(lost.artifact_id, tenant_id=tenant)
    assert (await store.get(fine.artifact_id, tenant_id=tenant)).data == b"fine"


async def test_a_deep_collection_leaves_alone_what_may_be_another_databases(
    scratch, eager, store, tenant, folder, objects
):
    """One folder, two databases: to either, the other's objects have no row."""
    mine = await store.put(b"mine", media_type="text/plain", tenant_id=tenant)
    async with Database(scratch.app_url) as another:
        elsewhere = ArtifactStore(another, url=str(folder), grace_s=0)
        alone = await elsewhere.collect(tenant_id=tenant, deep=True)
        assert (alone.orphans, alone.foreign) == (0, 1)
        theirs = await elsewhere.put(b"theirs", media_type="text/plain", tenant_id=tenant)
        done = await eager.collect(tenant_id=tenant, deep=True)
        assert (done.orphans, done.foreign) == (0, 1)
        assert (await elsewhere.get(theirs.artifact_id, tenant_id=tenant)).data == b"theirs"
    assert (await store.get(mine.artifact_id, tenant_id=tenant)).data == b"mine"
    for mark in (folder / "databases").iterdir():
        mark.unlink()
    assert (await eager.collect(tenant_id=tenant, deep=True)).orphans == 1, "without the marks it would have gone"


async def test_a_server_that_hides_its_number_is_no_reason_to_store_nothing(store, tenant, folder, monkeypatch):
    class Hidden:
        def __getattr__(self, name):
            return "SELECT pg_read_file('/etc/hostname')"

    monkeypatch.setattr("clew.artifacts.objects.owners._SQL", Hidden())
    ref = await store.put(b"x", media_type="text/plain", tenant_id=tenant)
    assert (await store.get(ref.artifact_id, tenant_id=tenant)).data == b"x"
    assert [mark.name for mark in (folder / "databases").iterdir()] == ["unnumbered"]


async def test_more_than_one_batch_goes_in_one_collection(eager, tenant, monkeypatch, objects):
    monkeypatch.setattr("clew.artifacts.objects.collecting.BATCH", 3)
    for number in range(10):
        await eager.put(f"{number}", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    assert len((await eager.collect(tenant_id=tenant, dry_run=True)).expired) == 10
    assert len((await eager.collect(tenant_id=tenant)).expired) == 10
    assert objects() == []


async def test_a_tenant_with_nothing_has_nothing_to_collect(store, tenant):
    done = await store.collect(tenant_id=tenant, deep=True)
    assert (done.expired, done.orphans, done.damaged) == ((), 0, ())
    with pytest.raises(NotFound):
        await store.get("art_" + "b" * 16, tenant_id=tenant)

"""A thread, an episode, a memory, an artifact: what goes with each, and what stays."""

import psycopg
import pytest

from clew import InvalidInput, MemoryEntry, NotFound
from clew.errors import Unavailable
from clew.ids import new_id

from .conftest import Rooms
from .planting import Canary, plant_thread, plant_user
from .scanning import bytes_of, columns_with

OURS = Canary("zyxourbird", "idxourbird")
UNKNOWN = "art_aaaaaaaaaaaaaaaa"


async def kept_result(rooms: Rooms, thread_id: str | None, text: str = "many rows " * 500) -> str:
    ref = await rooms.tool_results.put_tool_result(
        new_id(), text, tool="look", tenant_id="acme", thread_id=thread_id, shown="rows"
    )
    return ref.artifact_id


async def say(rooms: Rooms, thread_id: str, text: str) -> None:
    await rooms.sessions.append(thread_id, {"role": "user", "content": text}, tenant_id="acme")


async def test_a_memory_goes_with_its_words_and_its_vectors(rooms: Rooms):
    entry = MemoryEntry(tenant_id="acme", agent_id="a", content=f"{OURS.word} likes tea")
    other = MemoryEntry(tenant_id="acme", agent_id="a", content="Ana likes coffee")
    memory_id, stays = await rooms.memory.store(entry), await rooms.memory.store(other)
    report = await rooms.erasure.source("acme", memory_id=memory_id)
    assert report.complete
    assert (report.scope, report.subject, report.ids["memories"]) == ("memory", memory_id, [memory_id])
    assert (report.removed["memories"], report.removed["memory_vectors"]) == (1, 1)
    assert report.removed["memory_terms"] >= 2
    assert list(columns_with(rooms.admin_url, OURS.word)) == []
    with psycopg.connect(rooms.admin_url) as connection:
        [(vectors, entries)] = connection.execute(
            "SELECT (SELECT count(*) FROM clew.memory_vectors), (SELECT sum(entries) FROM clew.memory_totals)"
        ).fetchall()
    assert (vectors, entries) == (1, 1)
    assert [found.memory_id for found in await rooms.memory.search("acme", "who likes what?")] == [stays]


async def test_an_episode_goes_with_the_facts_that_only_it_told(rooms: Rooms):
    told = await rooms.knowledge.add_episode("a", "Acme has 40 employees. Acme sells pumps.", tenant_id="acme")
    again = await rooms.knowledge.add_episode("b", "Acme has 40 employees.", tenant_id="acme")
    report = await rooms.erasure.source("acme", episode_id=told.episode.episode_id)
    assert report.complete
    assert report.kept["facts"] == [again.facts[0].fact_id]
    assert report.removed["episodes"] == 1
    assert {*report.ids["facts"]} == {fact.fact_id for fact in told.facts} - {again.facts[0].fact_id}
    with psycopg.connect(rooms.admin_url) as connection:
        query = (
            "SELECT count(*) FROM clew.fact_vectors v WHERE NOT EXISTS (SELECT FROM clew.facts f WHERE f.seq = v.seq)"
        )
        assert connection.execute(query).fetchall() == [(0,)]


async def test_an_artifact_goes_with_its_bytes_and_the_threads_that_name_it_are_told(rooms: Rooms):
    artifact_id = await kept_result(rooms, "t", f"{OURS.word} " * 500)
    await say(rooms, "t", f"see {artifact_id}")
    assert any(OURS.word.encode() in data for data in bytes_of(rooms.objects))
    report = await rooms.erasure.source("acme", artifact_id=artifact_id)
    assert report.complete
    assert report.removed == {"artifacts": 1, "artifact_uses": 1, "tool_results": 1, "objects": 1}
    assert report.kept == {"threads": ["t"]}
    assert not any(OURS.word.encode() in data for data in bytes_of(rooms.objects))
    with pytest.raises(NotFound):
        await rooms.artifacts.stat(artifact_id, tenant_id="acme")


async def test_bytes_that_another_artifact_names_too_stay(rooms: Rooms):
    one = await rooms.artifacts.put("same bytes", media_type="text/plain", tenant_id="acme")
    other = await rooms.artifacts.put("same bytes", media_type="text/markdown", tenant_id="acme")
    report = await rooms.erasure.source("acme", artifact_id=one.artifact_id)
    assert report.complete
    assert report.removed == {"artifacts": 1}
    assert (await rooms.artifacts.get(other.artifact_id, tenant_id="acme")).data == b"same bytes"


async def test_with_a_thread_go_the_results_that_only_it_kept(rooms: Rooms):
    own, unthreaded = await kept_result(rooms, "t", "own " * 999), await kept_result(rooms, None, "no thread " * 999)
    shared, stored = (
        await kept_result(rooms, "t", "shared " * 999),
        await rooms.artifacts.put(b"a program's own", media_type="text/plain", tenant_id="acme"),
    )
    await say(rooms, "t", f"{own} {unthreaded} {shared} {stored.artifact_id}")
    await say(rooms, "other", f"look at {shared}")
    report = await rooms.erasure.source("acme", thread_id="t")
    assert report.complete
    assert {*report.ids["artifacts"]} == {own, unthreaded}
    assert {*report.kept["artifacts"]} == {shared, stored.artifact_id}
    assert await rooms.artifacts.read(shared, 0, 6, tenant_id="acme") == b"shared"


async def test_a_result_that_another_graph_s_state_names_stays(rooms: Rooms):
    artifact_id = await kept_result(rooms, "t")
    await say(rooms, "t", artifact_id)
    with psycopg.connect(rooms.admin_url) as connection:
        connection.execute(
            "INSERT INTO clew_lg_00.checkpoint_blobs (thread_id, channel, version, type, blob)"
            " VALUES ('acme/graph', 'messages', '1', 'bytes', %s)",
            (artifact_id.encode(),),
        )
    report = await rooms.erasure.source("acme", thread_id="t")
    assert report.complete
    assert (report.kept["artifacts"], report.ids.get("artifacts")) == ([artifact_id], None)


async def test_what_a_message_told_goes_with_its_thread_though_nobody_named_the_thread(rooms: Rooms):
    [message_id] = await rooms.sessions.append("t", {"role": "user", "content": OURS.word}, tenant_id="acme")
    told = await rooms.knowledge.add_episode("a", f"{OURS.word} sells pumps.", tenant_id="acme", message_id=message_id)
    report = await rooms.erasure.source("acme", thread_id="t")
    assert report.complete
    assert report.ids["episodes"] == [told.episode.episode_id]


async def test_a_thread_that_only_a_graph_has_written_goes_too_and_is_its_user_s(rooms: Rooms):
    await plant_user(rooms, "acme", OURS)
    with psycopg.connect(rooms.admin_url) as connection:
        connection.execute(
            "INSERT INTO clew_lg_00.checkpoints (thread_id, checkpoint_id, checkpoint, metadata)"
            """ VALUES ('acme/graph', '1', '{}', '{"user_id": "idxourbird-user"}'), ('acme/theirs', '1', '{}', '{}')"""
        )
    report = await rooms.erasure.user(OURS.user_id, tenant_id="acme")
    assert report.complete
    assert report.ids["threads"] == ["graph", OURS.thread_id]
    with psycopg.connect(rooms.admin_url) as connection:
        rest = connection.execute("SELECT DISTINCT thread_id FROM clew_lg_00.checkpoints").fetchall()
    assert rest == [("acme/theirs",)]


async def test_again_removes_nothing_more(rooms: Rooms):
    await plant_thread(rooms, "acme", OURS)
    first = await rooms.erasure.source("acme", thread_id=OURS.thread_id)
    again = await rooms.erasure.source("acme", thread_id=OURS.thread_id)
    assert first.removed
    assert (again.removed, again.ids, again.kept, again.complete) == ({}, {}, {}, True)


async def test_a_dry_run_counts_what_would_go_and_removes_nothing(rooms: Rooms):
    await plant_user(rooms, "acme", OURS)
    before = set(columns_with(rooms.admin_url, OURS.word))
    thread = await rooms.erasure.source("acme", thread_id=OURS.thread_id, dry_run=True)
    user = await rooms.erasure.user(OURS.user_id, tenant_id="acme", dry_run=True)
    tenant = await rooms.erasure.tenant("acme", dry_run=True)
    assert set(columns_with(rooms.admin_url, OURS.word)) == before
    assert any(OURS.word.encode() in data for data in bytes_of(rooms.objects))
    assert [thread.complete, user.complete, tenant.complete] == [False] * 3, "nothing was erased, so nothing is proved"
    assert (await rooms.erasure.source("acme", thread_id=OURS.thread_id)).removed == thread.removed
    assert user.removed["memories"] == thread.removed["memories"] + 1
    assert tenant.removed["memories"] == user.removed["memories"]


async def test_another_tenant_s_ids_and_unknown_ones_give_the_same_empty_report(rooms: Rooms):
    artifact_id = await plant_thread(rooms, "acme", OURS, user_id=OURS.user_id)
    memory_id = (await rooms.memory.list_by_tenant("acme"))[0].memory_id
    episode_id = (await rooms.knowledge.episodes(tenant_id="acme"))[0].episode_id
    before = set(columns_with(rooms.admin_url, OURS.word))
    theirs = {
        "thread_id": (OURS.thread_id, "never"),
        "memory_id": (memory_id, "never"),
        "episode_id": (episode_id, new_id()),
        "artifact_id": (artifact_id, UNKNOWN),
    }
    for kind, (known, unknown) in theirs.items():
        reports = [await rooms.erasure.source("globex", **{kind: one}) for one in (known, unknown)]
        assert _anonymous(reports[0]) == _anonymous(reports[1]), kind
        assert not reports[0].removed
    users = [await rooms.erasure.user(one, tenant_id="globex") for one in (OURS.user_id, "never")]
    assert _anonymous(users[0]) == _anonymous(users[1])
    assert set(columns_with(rooms.admin_url, OURS.word)) == before, "and nothing of the owner's went"
    assert (await rooms.erasure.source("acme", memory_id=memory_id)).removed, "which its owner could remove"


def _anonymous(report):
    return {key: value for key, value in report.as_dict().items() if key != "subject"}


async def test_an_object_store_that_fails_is_told_and_the_next_call_ends_the_work(rooms: Rooms, monkeypatch):
    await plant_thread(rooms, "acme", OURS)
    blobs = rooms.artifacts._opened_blobs()

    async def refuse(key: str) -> None:
        raise Unavailable("the object store can't do this now", fix="Retry")

    with monkeypatch.context() as broken:
        broken.setattr(blobs, "delete", refuse)
        with pytest.raises(Unavailable):
            await rooms.erasure.source("acme", thread_id=OURS.thread_id)
    assert any(OURS.word.encode() in data for data in bytes_of(rooms.objects))
    assert (await rooms.erasure.source("acme", thread_id=OURS.thread_id)).complete
    assert not any(OURS.word.encode() in data for data in bytes_of(rooms.objects))
    assert list(columns_with(rooms.admin_url, OURS.word)) == []


@pytest.mark.parametrize(
    "named", [{}, {"thread_id": "a", "memory_id": "b"}, {"thread_id": ""}, {"episode_id": "x"}, {"artifact_id": "x"}]
)
async def test_what_names_no_source_is_refused(rooms: Rooms, named):
    with pytest.raises(InvalidInput):
        await rooms.erasure.source("acme", **named)

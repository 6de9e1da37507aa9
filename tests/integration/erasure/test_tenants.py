"""A whole tenant, in whatever tables there are."""

import psycopg
import pytest

from clew import Database, InvalidInput
from clew.erasure.indexes import drop_indexes

from ...isolation.rows import fill, tenant_tables
from .conftest import Rooms
from .planting import Canary, plant_thread

OURS = Canary("zyxourbird", "idxourbird")


def counted(rooms: Rooms, tenant_id: str) -> dict[str, int]:
    with psycopg.connect(rooms.admin_url) as connection:
        return {table: _count(connection, table, tenant_id) for table in tenant_tables(connection)}


def _count(connection: psycopg.Connection, table: str, tenant_id: str) -> int:
    whose = "tenant_id" if table.startswith("clew.") else "split_part(thread_id, '/', 1)"
    [(count,)] = connection.execute(f"SELECT count(*) FROM {table} WHERE {whose} = %s", (tenant_id,)).fetchall()
    return count


async def test_every_table_with_tenants_is_emptied_of_one_and_of_no_other(rooms: Rooms):
    with psycopg.connect(rooms.admin_url) as connection:
        fill(connection, ("alice", "bob"))
    before = counted(rooms, "bob")
    assert all(before.values())
    report = await rooms.erasure.tenant("alice")
    assert report.left == ()
    assert report.complete
    assert {table.partition(".")[2] for table in before} <= {*report.removed}
    assert not any(counted(rooms, "alice").values())
    assert counted(rooms, "bob") == before


async def test_a_table_of_a_later_release_is_emptied_too(rooms: Rooms):
    with psycopg.connect(rooms.admin_url) as connection:
        connection.execute("CREATE TABLE clew.later (tenant_id text, words text)")
        connection.execute("GRANT SELECT, INSERT, DELETE ON clew.later TO clew_app")
        connection.execute("INSERT INTO clew.later VALUES ('acme', 'ours'), ('globex', 'theirs')")
    report = await rooms.erasure.tenant("acme")
    assert (report.removed["later"], report.complete) == (1, True)
    with psycopg.connect(rooms.admin_url) as connection:
        assert connection.execute("SELECT words FROM clew.later").fetchall() == [("theirs",)]


async def test_a_table_that_can_t_be_emptied_makes_the_report_incomplete_and_is_named(rooms: Rooms):
    with psycopg.connect(rooms.admin_url) as connection:
        connection.execute("CREATE TABLE clew.later (tenant_id text, words text)")
        connection.execute("GRANT SELECT ON clew.later TO clew_app")
        connection.execute("INSERT INTO clew.later VALUES ('acme', 'ours')")
    report = await rooms.erasure.tenant("acme")
    assert not report.complete
    assert [(check.store, check.found) for check in report.left] == [("clew.later", 1)]
    assert report.as_dict()["complete"] is False


async def test_a_job_that_runs_does_not_outlive_its_tenant(rooms: Rooms, monkeypatch):
    monkeypatch.setattr("clew.erasure.queue.WAIT_S", 0.3)
    await rooms.jobs.defer("nothing", tenant_id="acme", thread_id="t")
    await rooms.jobs.defer("nothing", tenant_id="globex", thread_id="t")
    with psycopg.connect(rooms.admin_url) as connection:
        connection.execute("SET search_path = clew_jobs")
        connection.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    report = await rooms.erasure.tenant("acme")
    assert (report.removed["jobs"], report.complete) == (1, True)
    with psycopg.connect(rooms.admin_url) as connection:
        left = connection.execute("SELECT args ->> 'tenant_id' FROM clew_jobs.procrastinate_jobs").fetchall()
    assert left == [("globex",)]


async def test_jobs_of_other_threads_stay(rooms: Rooms):
    for thread_id in ("t", "other"):
        await rooms.jobs.defer("nothing", tenant_id="acme", thread_id=thread_id)
    await rooms.memory.store({"tenant_id": "acme", "agent_id": "a", "content": "tea", "memory_id": "m"})
    assert (await rooms.erasure.source("acme", memory_id="m")).removed.get("jobs") is None
    assert (await rooms.erasure.source("acme", thread_id="t")).removed["jobs"] == 1
    with psycopg.connect(rooms.admin_url) as connection:
        left = connection.execute("SELECT args ->> 'thread_id' FROM clew_jobs.procrastinate_jobs").fetchall()
    assert left == [("other",)]


async def test_an_index_of_the_tenant_s_own_is_dropped_where_the_login_may_and_told_where_not(rooms: Rooms):
    with psycopg.connect(rooms.admin_url) as connection:
        for tenant_id in ("acme", "acme2"):
            connection.execute(
                f"CREATE INDEX memory_vectors_{tenant_id} ON clew.memory_vectors"
                " USING hnsw ((embedding::halfvec(2)) halfvec_ip_ops)"
                f" WHERE tenant_id = '{tenant_id}' AND space = 's'"
            )
    report = await rooms.erasure.tenant("acme")
    assert [(check.store, check.found) for check in report.left] == [("indexes", 1)]
    async with Database(rooms.admin_url, settings=rooms.database.settings) as database:
        await drop_indexes(database, "acme")
    assert (await rooms.erasure.tenant("acme")).complete
    assert not (await rooms.erasure.tenant("acme2")).complete, "the other's is still there"


async def test_a_tenant_that_was_erased_begins_anew(rooms: Rooms):
    await plant_thread(rooms, "acme", OURS)
    assert (await rooms.erasure.tenant("acme")).complete
    again = await rooms.erasure.tenant("acme")
    assert (again.removed, again.complete) == ({}, True)
    await plant_thread(rooms, "acme", OURS)
    assert await rooms.memory.search("acme", OURS.word)


async def test_a_tenant_s_name_is_checked(rooms: Rooms):
    with pytest.raises(InvalidInput):
        await rooms.erasure.tenant("a/b")

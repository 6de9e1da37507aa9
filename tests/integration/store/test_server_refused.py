"""Servers that won't do are refused at the start, with what is there, what is needed and how to get it."""

import time

import pytest

from clew import Database, Misconfigured, Settings, Unavailable
from clew.store.server_check import Versions, refuse_old_server

SETTINGS = Settings()
GOOD = Versions(180004, "18.4", None, "0.8.5", False, None, True)


@pytest.mark.parametrize("with_role", [False, True])
async def test_an_older_postgresql_is_refused_with_both_versions(postgres_15, with_role):
    """With the role, as on a server whose dump came from a newer one."""
    postgres_15.admin("DROP ROLE IF EXISTS clew_app")
    if with_role:
        postgres_15.admin("CREATE ROLE clew_app")
    database = Database(postgres_15.url(), settings=SETTINGS)
    for attempt in (database.open, database.migrate):
        with pytest.raises(Misconfigured, match=r"PostgreSQL 15\.\d+.*; Clew works with 16 to 18"):
            await attempt()
    assert postgres_15.admin("SELECT count(*) FROM pg_namespace WHERE nspname = 'clew'") == [(0,)]


def test_what_clew_works_with_is_not_refused():
    refuse_old_server(GOOD)
    refuse_old_server(GOOD._replace(server_version_num=160000, vector_installed="0.8.0"))
    refuse_old_server(GOOD._replace(vector_available="0.10.0"))
    refuse_old_server(GOOD._replace(vector_available="1.0"))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (GOOD._replace(server_version_num=150012, server_version="15.12"), "15.12; Clew works with 16 to 18"),
        (GOOD._replace(server_version_num=190000, server_version="19.0"), "19.0; Clew works with 16 to 18"),
        (GOOD._replace(vector_available=None), "no pgvector.*Install pgvector 0.8"),
        (GOOD._replace(vector_available="0.7.4"), "pgvector 0.7.4; Clew needs 0.8"),
        # What is installed in the database counts, not what could be.
        (GOOD._replace(vector_installed="0.5.1"), "pgvector 0.5.1.*ALTER EXTENSION vector UPDATE"),
    ],
)
def test_what_is_too_old_too_new_or_missing_is_named(found, told):
    with pytest.raises(Misconfigured, match=told):
        refuse_old_server(found)


async def test_a_server_without_pgvector_is_refused_before_anything_is_made(restartable, tmp_path):
    """Extensions are looked for where the server says; this one looks in an empty place."""
    empty = tmp_path / "extensions"
    (empty / "extension").mkdir(parents=True)
    restartable.admin(f"ALTER SYSTEM SET extension_control_path = '{empty}'")
    restartable.restart()
    assert restartable.admin("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == [(0,)]
    with pytest.raises(Misconfigured, match="no pgvector"):
        await Database(restartable.url(), settings=SETTINGS).migrate()
    assert restartable.admin("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'clew%'") == [(0,)]


async def test_a_migrated_database_whose_pgvector_is_old_is_refused(postgres_18):
    dbname = postgres_18.new_database()
    database = Database(postgres_18.url(dbname=dbname), settings=SETTINGS)
    await database.migrate()
    async with database:
        pass
    postgres_18.admin("UPDATE pg_extension SET extversion = '0.7.0' WHERE extname = 'vector'", dbname)
    with pytest.raises(Misconfigured, match=r"pgvector 0\.7\.0"):
        await database.open()


@pytest.mark.parametrize("address", ["127.0.0.1:{port}/nobody", "/nobody?host={folder}"])
async def test_nothing_listening_is_unavailable_within_seconds(address, tmp_path, unused_tcp_port):
    url = f"postgresql://me@{address.format(port=unused_tcp_port, folder=tmp_path)}"
    for attempt in (Database(url, settings=SETTINGS).open, Database(url, settings=SETTINGS).migrate):
        started = time.monotonic()
        with pytest.raises(Unavailable, match="CLEW_DATABASE_URL") as caught:
            await attempt()
        assert time.monotonic() - started < 20
        assert caught.value.retryable
        assert not caught.value.outcome_unknown


async def test_a_database_that_does_not_exist_is_named(postgres_18):
    with pytest.raises(Unavailable, match="no_such_database"):
        await Database(postgres_18.url(dbname="no_such_database"), settings=SETTINGS).open()

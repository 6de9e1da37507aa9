"""A PostgreSQL that others run, oldest and newest: migrated and opened by each kind of login people have."""

import pytest

from clew import Database, Misconfigured, Settings
from clew.store.journal import Journal
from clew.store.server_check import newest

SETTINGS = Settings()


async def stores_and_reads(url):
    """Whether a row of one tenant arrives, and is another's secret."""
    async with Database(url, settings=SETTINGS) as database:
        journal = Journal(database)
        entry_id = await journal.add("acme", "arrived", {"n": 1})
        mine, theirs = await journal.newest("acme"), await journal.newest("other")
    return [entry.entry_id for entry in mine] == [entry_id] and theirs == []


async def test_a_superuser_migrates_and_opens(plain_server):
    url = plain_server.url(dbname=plain_server.new_database())
    assert await Database(url, settings=SETTINGS).migrate() == (None, newest())
    assert await stores_and_reads(url)


@pytest.mark.parametrize("inherits", ["INHERIT", "NOINHERIT"])
async def test_a_plain_login_that_is_a_member_of_the_application_role_opens(plain_server, inherits):
    dbname = plain_server.new_database()
    await Database(plain_server.url(dbname=dbname), settings=SETTINGS).migrate()
    login = f"member_{inherits.lower()}"
    plain_server.admin(f"DROP ROLE IF EXISTS {login}")
    plain_server.admin(f"CREATE ROLE {login} LOGIN {inherits} IN ROLE clew_app")
    assert await stores_and_reads(plain_server.url(login, dbname))


async def test_a_database_owner_who_may_create_roles_but_is_no_superuser_migrates_and_opens(plain_server):
    """As on managed clouds, where an administrator made pgvector available beforehand."""
    with_roles_of_their_own(plain_server)
    dbname = plain_server.new_database("cloud_owner")
    plain_server.admin("CREATE EXTENSION vector", dbname)
    url = plain_server.url("cloud_owner", dbname)
    assert await Database(url, settings=SETTINGS).migrate() == (None, newest())
    assert await Database(url, settings=SETTINGS).migrate() == (newest(), newest())
    assert await stores_and_reads(url)
    plain_server.admin(f"DROP DATABASE {dbname}")


def with_roles_of_their_own(server):
    """A server on which no one has migrated yet: only the maker of a role may hand it out."""
    for (name,) in server.admin("SELECT datname FROM pg_database WHERE datname LIKE 'db\\_%'"):
        server.admin(f"DROP DATABASE {name} WITH (FORCE)")
    for role in ("clew_app", "clew_owner", "cloud_owner"):
        server.admin(f"DROP ROLE IF EXISTS {role}")
    server.admin("CREATE ROLE cloud_owner LOGIN CREATEROLE CREATEDB")


async def test_a_database_that_is_not_migrated_names_the_command(plain_server):
    url = plain_server.url(dbname=plain_server.new_database())
    with pytest.raises(Misconfigured, match="clew migrate"):
        await Database(url, settings=SETTINGS).open()


async def test_a_login_outside_the_application_role_is_told_what_to_grant(plain_server):
    dbname = plain_server.new_database()
    await Database(plain_server.url(dbname=dbname), settings=SETTINGS).migrate()
    plain_server.admin("DROP ROLE IF EXISTS stranger")
    plain_server.admin("CREATE ROLE stranger LOGIN")
    with pytest.raises(Misconfigured, match="GRANT clew_app TO"):
        await Database(plain_server.url("stranger", dbname), settings=SETTINGS).open()


async def test_a_login_that_may_not_migrate_is_told_who_may(plain_server):
    dbname = plain_server.new_database()
    plain_server.admin("DROP ROLE IF EXISTS powerless")
    plain_server.admin("CREATE ROLE powerless LOGIN")
    with pytest.raises(Misconfigured, match="clew migrate --database"):
        await Database(plain_server.url("powerless", dbname), settings=SETTINGS).migrate()
    rows = plain_server.admin("SELECT count(*) FROM pg_namespace WHERE nspname = 'clew'", dbname)
    assert rows == [(0,)]


async def test_a_port_of_127_0_0_1_does_as_well_as_a_socket(postgres_18):
    dbname = postgres_18.new_database()
    url = f"postgresql://postgres@127.0.0.1:{postgres_18.port}/{dbname}"
    await Database(url, settings=SETTINGS).migrate()
    assert await stores_and_reads(url)

"""Migrations: up and down, clear refusals, and walls that come back up."""

import psycopg
import pytest

from clew import Database, InvalidInput, Misconfigured, Settings, WallDown
from clew.store.journal import Journal
from clew.store.migrate import migrate
from clew.store.server_check import newest


def tables(url):
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'clew'::regnamespace AND relkind = 'r'"
        )
        return {name for (name,) in rows}


def run(url, statement):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


async def opens(url):
    async with Database(url, settings=Settings()) as database:
        await Journal(database).add("t", "k", {})
        return True


async def test_up_down_and_up_again(scratch):
    full = tables(scratch.admin_url)
    assert "journal" in full
    assert await opens(scratch.app_url)
    assert migrate(scratch.admin_url, "base") == (newest(), None)
    assert tables(scratch.admin_url) <= {"alembic_version"}
    with pytest.raises(Misconfigured, match="clew migrate"):
        await opens(scratch.app_url)
    assert migrate(scratch.admin_url) == (None, newest())
    assert tables(scratch.admin_url) == full
    assert await opens(scratch.app_url)


def test_migrating_what_is_migrated_changes_nothing(scratch):
    assert migrate(scratch.admin_url) == (newest(), newest())
    assert migrate(scratch.admin_url, newest()) == (newest(), newest())
    assert migrate(scratch.admin_url, "base") == (newest(), None)
    assert migrate(scratch.admin_url, "base") == (None, None)


@pytest.mark.parametrize("target", ["9999", "zzzz", "0000", "", "head; DROP TABLE clew.journal", "Ω", "-x"])
def test_a_target_that_is_none_is_invalid_input_and_changes_nothing(scratch, target):
    before = tables(scratch.admin_url)
    with pytest.raises(InvalidInput, match=r"target.*Use head, base, or 0001"):
        migrate(scratch.admin_url, target)
    assert tables(scratch.admin_url) == before
    assert migrate(scratch.admin_url) == (newest(), newest())


@pytest.mark.parametrize(
    "lowered",
    [
        "ALTER TABLE clew.journal DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE clew.journal NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY tenant_wall ON clew.journal",
    ],
)
async def test_migrate_raises_a_wall_that_was_lowered(scratch, lowered):
    run(scratch.admin_url, lowered)
    with pytest.raises(WallDown, match=r"clew\.journal"):
        await opens(scratch.app_url)
    migrate(scratch.admin_url)
    assert await opens(scratch.app_url)


async def test_a_database_from_a_newer_clew_is_refused_and_left_alone(scratch):
    run(scratch.admin_url, "UPDATE clew.alembic_version SET version_num = '9999'")
    with pytest.raises(Misconfigured, match=r"9999.*pip install --upgrade clew"):
        await opens(scratch.app_url)
    for target in ("head", "base"):
        with pytest.raises(Misconfigured, match=r"9999.*pip install --upgrade clew"):
            migrate(scratch.admin_url, target)
    assert "journal" in tables(scratch.admin_url)


async def test_the_embedded_server_migrates_by_itself(folder):
    settings = Settings(data_dir=folder.data_dir)
    assert await Database(settings=settings).migrate("base") == (None, None)
    async with Database(settings=settings) as database:
        await Journal(database).add("t", "k", {})
        assert await database.migrate() == (newest(), newest())


async def test_migrating_an_embedded_server_that_is_not_open_lets_go_of_it(folder, wait_until):
    assert await Database(settings=Settings(data_dir=folder.data_dir)).migrate() == (None, newest())
    wait_until(folder.is_idle, "the server has ended")

"""Many processes migrate at once, and some are killed half-way: the database ends migrated, once."""

import multiprocessing
import random

import psycopg
import pytest

from clew.store.migrate import migrate
from clew.store.server_check import newest

KILLS = 12
# From before the first statement to after the last one.
KILL_DELAY_MAX_S = 0.2
KILLED = -9


@pytest.fixture
def start_migration():
    """Starts processes that migrate; what is left of them is killed.

    They are forked from one that has imported everything already, so that those started together also work together.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["clew.store.migrate", "alembic.command", "sqlalchemy.dialects.postgresql.psycopg"])
    processes = []

    def start(url):
        processes.append(context.Process(target=migrate, args=(url,)))
        processes[-1].start()
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.join()


def ended(process):
    process.join(120)
    return process.exitcode


def revisions(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT version_num FROM clew.alembic_version").fetchall()


@pytest.mark.parametrize("count", [2, 8])
def test_processes_that_migrate_a_new_database_at_once_all_succeed(postgres_18, start_migration, count):
    url = postgres_18.url(dbname=postgres_18.new_database())
    processes = [start_migration(url) for _ in range(count)]
    assert [ended(process) for process in processes] == [0] * count
    assert revisions(url) == [(newest(),)]


def test_different_new_databases_of_one_new_server_migrate_at_once(restartable, start_migration):
    """Roles belong to the server, so these meet although their databases differ; and the login is no superuser."""
    restartable.admin("CREATE ROLE cloud LOGIN CREATEROLE CREATEDB")
    urls = []
    for _ in range(4):
        dbname = restartable.new_database("cloud")
        restartable.admin("CREATE EXTENSION vector", dbname)
        urls.append(restartable.url("cloud", dbname))
    processes = [start_migration(url) for url in urls]
    assert [ended(process) for process in processes] == [0] * len(urls)
    assert [revisions(url) for url in urls] == [[(newest(),)]] * len(urls)


def test_migrations_killed_half_way_leave_nothing_half_done_and_the_next_one_converges(postgres_18, start_migration):
    url = postgres_18.url(dbname=postgres_18.new_database())
    moments = random.Random(7)
    endings = []
    for number in range(KILLS):
        process = start_migration(url)
        process.join(moments.uniform(0, KILL_DELAY_MAX_S))
        process.kill()
        endings.append(ended(process))
        with psycopg.connect(url) as connection:
            made = connection.execute(
                "SELECT to_regclass('clew.alembic_version') IS NOT NULL, to_regclass('clew.journal') IS NOT NULL"
            ).fetchone()
        assert made in [(False, False), (True, True)]
        if made == (True, True) and number < KILLS - 1:
            migrate(url, "base")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA clew CASCADE")
    assert KILLED in endings
    migrate(url)
    assert revisions(url) == [(newest(),)]

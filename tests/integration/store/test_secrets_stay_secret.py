"""A password in a URL appears in no error, no traceback, no log and no representation."""

import logging
import traceback

import pytest

from clew import ClewError, Database, Settings

PASSWORD = "hunter2-correct-horse"


def everything_said(error, caplog):
    chain = []
    while error is not None:
        chain += [str(error), repr(error), *traceback.format_exception(error)]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join([*chain, *(f"{record.getMessage()} {record.args}" for record in caplog.records)])


async def attempts(url, caplog):
    """All that is said when a database is opened, and migrated, at a place where that fails with an error of ours."""
    said = []
    with caplog.at_level(logging.DEBUG, "psycopg"):
        for method in ("open", "migrate"):
            with pytest.raises(ClewError) as caught:
                await getattr(Database(url, settings=Settings()), method)()
            said.append(everything_said(caught.value, caplog) + str(caught.value.as_dict()))
    return "\n".join(said)


async def test_no_server_no_password(caplog, unused_tcp_port):
    said = await attempts(f"postgresql://me:{PASSWORD}@127.0.0.1:{unused_tcp_port}/db", caplog)
    assert f"port {unused_tcp_port}" in said
    assert PASSWORD not in said


async def test_a_refused_password_is_not_repeated(caplog, postgres_18):
    url = f"postgresql://nobody_here:{PASSWORD}@127.0.0.1:{postgres_18.port}/db"
    said = await attempts(url, caplog)
    assert "nobody_here" in said
    assert PASSWORD not in said


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:%zz{PASSWORD}@127.0.0.1:5/db",
        f"postgresql://me:{PASSWORD}@127.0.0.1:notaport/db",
        f"postgresql://me:a@{PASSWORD}@127.0.0.1:1/db",
        f"postgresql://me:a/{PASSWORD}@127.0.0.1:1/db",
        f"postgresql://me@127.0.0.1:1/db?password={PASSWORD}&nonsense",
        f"postgresql://me@127.0.0.1:1/db?pasword={PASSWORD}",
    ],
)
async def test_a_malformed_url_is_an_error_of_ours_that_does_not_repeat_it(caplog, url):
    assert PASSWORD not in await attempts(url, caplog)


async def test_a_pool_that_loses_its_server_logs_no_password(caplog, restartable):
    url = f"postgresql://postgres:{PASSWORD}@127.0.0.1:{restartable.port}/postgres"
    await Database(url, settings=Settings()).migrate()
    with caplog.at_level(logging.DEBUG, "psycopg"):
        async with Database(url, settings=Settings()) as database:
            assert PASSWORD not in repr(database)
            restartable.restart()
            async with database.tenant("t") as connection:
                assert PASSWORD not in repr(connection)
    assert [record for record in caplog.records if record.name == "psycopg.pool"], "the pool said nothing at all"
    assert PASSWORD not in "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)


def test_settings_do_not_show_the_password_when_printed():
    settings = Settings(database_url=f"postgresql://me:{PASSWORD}@db.example/clew")
    assert PASSWORD in settings.database_url
    assert PASSWORD not in f"{settings} {settings!r}"

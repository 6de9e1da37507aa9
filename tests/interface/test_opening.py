"""A database is None for the embedded server, a URL, or an open Database; here each part is opened in each way."""

import inspect
from typing import Any

import pytest

import clew
from clew import Database, Settings
from clew.store.embedded.cluster import APP_ROLE

from ..conftest import url_of
from .conftest import entry, texts, user


@pytest.fixture
def url(server) -> str:
    """The embedded server's address, as a user of any PostgreSQL would write it."""
    return url_of(server.conninfo(server.ensure(), APP_ROLE))


async def _used_as_session_store(argument: Any, tenant: str) -> list[str]:
    store = clew.SessionStore(argument)
    await store.setup()
    await store.append("opened", user("said"), tenant_id=tenant)
    found = texts(await store.get_session_messages("opened", tenant_id=tenant))
    await _closed(store)
    return found


async def _used_as_memory(argument: Any, tenant: str) -> list[str]:
    memory = clew.LongTermMemory(argument)
    await memory.setup()
    await memory.store(entry(tenant, "said"))
    found = [found.content for found in await memory.search(tenant, "said")]
    await _closed(memory)
    return found


async def _used_as_engine(argument: Any, tenant: str) -> list[str]:
    async with clew.open(database=argument) as engine:
        await engine.tenant(tenant).thread("opened").append(user("said"))
        return texts(await engine.sessions.get_session_messages("opened", tenant_id=tenant))


async def _closed(part: Any) -> None:
    """The promise is silent about giving back a database one opened; close() is what a Python user tries."""
    closed = part.close()
    if inspect.isawaitable(closed):
        await closed


USES = pytest.mark.parametrize("use", [_used_as_session_store, _used_as_memory, _used_as_engine])


@USES
async def test_none_is_the_embedded_server(use, server, environment, tenant):
    assert await use(None, tenant) == ["said"]


@USES
async def test_a_url_is_connected_to(use, url, environment, tenant):
    assert await use(url, tenant) == ["said"]


@USES
async def test_an_open_database_is_used_and_left_open(use, database, tenant):
    assert await use(database, tenant) == ["said"]
    async with database.tenant(tenant) as connection:
        assert await (await connection.execute("SELECT 1")).fetchone() == (1,)


@USES
@pytest.mark.parametrize("argument", [5, "", "not a url", b"postgresql://", ["postgresql://h/d"], "mysql://h/d"])
async def test_what_is_no_database_is_refused(use, argument, environment, tenant):
    with pytest.raises(clew.ClewError) as caught:
        await use(argument, tenant)
    assert str(caught.value)


@USES
async def test_a_server_that_is_not_there_is_unavailable_and_its_password_is_not_told(use, environment, tenant):
    with pytest.raises(clew.Unavailable) as caught:
        await use("postgresql://app:hunter2@127.0.0.1:1/clew", tenant)
    assert "hunter2" not in str(caught.value)


async def test_the_engines_parts_are_the_promised_classes(engine):
    assert isinstance(engine, clew.Clew)
    assert isinstance(engine.sessions, clew.SessionStore)
    assert isinstance(engine.memory, clew.LongTermMemory)
    assert isinstance(engine.context, clew.ContextManager)
    assert engine.context.session is engine.sessions


async def test_settings_say_where_the_embedded_server_lives(server, settings, tenant, monkeypatch, tmp_path):
    monkeypatch.setenv("CLEW_DATA_DIR", str(tmp_path / "not-this-one"))
    async with clew.open(settings=Settings(data_dir=settings.data_dir)) as engine:
        await engine.sessions.append("t", user("here"), tenant_id=tenant)
    assert not (tmp_path / "not-this-one").exists()


@pytest.mark.parametrize("argument", [5, "settings", {"data_dir": "/tmp"}])
async def test_settings_that_are_none_are_refused(argument):
    with pytest.raises(clew.ClewError):
        async with clew.open(settings=argument):
            pass


async def test_setting_up_twice_is_setting_up_once(sessions, memory):
    assert await sessions.setup() is None
    assert await memory.setup() is None


async def test_two_engines_at_once_see_the_same(database: Database, engine, tenant):
    async with clew.open(database=database) as second:
        await second.tenant(tenant).thread("shared").append(user("from the second"))
    assert texts(await engine.sessions.get_session_messages("shared", tenant_id=tenant)) == ["from the second"]


async def test_an_engine_that_was_closed_leaves_the_callers_database_open(database: Database, engine, tenant):
    async with clew.open(database=database) as closing:
        await closing.tenant(tenant).thread("early").append(user("before the end"))
    assert texts(await engine.sessions.get_session_messages("early", tenant_id=tenant)) == ["before the end"]


async def test_an_engine_with_a_database_of_its_own_says_so_when_it_is_closed(server, settings, tenant):
    async with clew.open(settings=settings) as engine:
        thread = engine.tenant(tenant).thread("late")
    with pytest.raises(clew.ClewError):
        await thread.append(user("after the end"))

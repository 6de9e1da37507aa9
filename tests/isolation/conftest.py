"""Databases with two tenants in them: one whose walls stand, and the means to look past a check that would refuse."""

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import psycopg
import pytest

from clew import Database
from clew.store import database as door_module
from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.migrate import migrate

from ..conftest import Scratch, url_of
from .rows import WRITER, fill, tenant_tables

_numbers: Final = itertools.count(1)


class OpenAnyway(Protocol):
    """Opens a database without asking whether its walls are up, to see what would have leaked."""

    def __call__(self, url: str, pool_size: int = 2) -> AbstractAsyncContextManager[Database]: ...


@pytest.fixture(scope="module", autouse=True)
def quick_disk(server: EmbeddedServer) -> Iterator[None]:
    """Dropping a scratch database waits for the disk, up to a second when that is busy; nothing here needs to last."""
    with psycopg.connect(server.conninfo(server.ensure(), ADMIN_ROLE), autocommit=True) as connection:
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"):
            connection.execute(statement)
        yield
        for statement in ("ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()"):
            connection.execute(statement)


@pytest.fixture(scope="session")
def template(server: EmbeddedServer) -> Iterator[str]:
    """A migrated database with two tenants' rows in every table, to be copied: 0.07 s, where migrating takes 0.18."""
    conninfo = server.conninfo(server.ensure(), ADMIN_ROLE)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("CREATE DATABASE walls")
        migrate(url_of(conninfo, dbname="walls"))
        with psycopg.connect(url_of(conninfo, dbname="walls"), autocommit=True) as admin:
            fill(admin)
        yield "walls"
        connection.execute("DROP DATABASE walls WITH (FORCE)")


@contextmanager
def copied(server: EmbeddedServer, template: str, name: str) -> Iterator[Scratch]:
    """A copy of the template, for as long as the block."""
    host = server.ensure()
    with psycopg.connect(server.conninfo(host, ADMIN_ROLE), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield Scratch(*(url_of(server.conninfo(host, role), dbname=name) for role in (ADMIN_ROLE, APP_ROLE)))
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@dataclass(frozen=True)
class Standing(Scratch):
    """A database that keeps its walls, with two tenants' rows: for tests that read, or put back what they change.

    A third tenant, WRITER, is there for tests that add rows for good.
    """

    admin: psycopg.Connection


@pytest.fixture(scope="session")
def standing(server: EmbeddedServer, template: str) -> Iterator[Standing]:
    with (
        copied(server, template, "standing") as scratch,
        psycopg.connect(scratch.admin_url, autocommit=True) as admin,
    ):
        fill(admin, [WRITER])
        yield Standing(scratch.admin_url, scratch.app_url, admin)


@pytest.fixture
def scratch(server: EmbeddedServer, template: str) -> Iterator[Scratch]:
    """A database with two tenants' rows in every table, for tests that break things."""
    with copied(server, template, f"scratch_walls_{next(_numbers)}") as scratch:
        yield scratch


@pytest.fixture
def admin(scratch: Scratch) -> Iterator[psycopg.Connection]:
    """A superuser's connection to the scratch database."""
    with psycopg.connect(scratch.admin_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def tables(admin: psycopg.Connection) -> list[str]:
    return tenant_tables(admin)


@pytest.fixture
def every_verb(admin: psycopg.Connection, tables: list[str]) -> None:
    """The application may also change and delete, in every table: what the policies refuse, no grant hides."""
    for table in tables:
        admin.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO clew_app")


@pytest.fixture
async def walled(scratch: Scratch, every_verb: None) -> AsyncIterator[Database]:
    """The scratch database, opened by the application, walls and all."""
    async with Database(scratch.app_url, pool_size=2) as database:
        yield database


@pytest.fixture
def open_anyway(monkeypatch: pytest.MonkeyPatch) -> OpenAnyway:
    @asynccontextmanager
    async def opened(url: str, pool_size: int = 2) -> AsyncIterator[Database]:
        async def look_away(_: object) -> None: ...

        with monkeypatch.context() as patch:
            patch.setattr(door_module, "refuse_if_down", look_away)
            database = await Database(url, pool_size=pool_size).open()
        try:
            yield database
        finally:
            await database.close()

    return opened

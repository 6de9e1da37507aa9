"""Databases with two tenants in them: one whose walls stand, and the means to look past a check that would refuse."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from clew import Database
from clew.store import database as door_module
from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.migrate import migrate

from .rows import fill, tenant_tables

if TYPE_CHECKING:
    from ..conftest import Scratch


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


@dataclass(frozen=True)
class Standing:
    """A database that keeps its walls, with two tenants' rows: for tests that read, or put back what they change."""

    admin: psycopg.Connection
    admin_url: str
    app_url: str


@pytest.fixture(scope="session")
def standing(server: EmbeddedServer) -> Iterator[Standing]:
    host = server.ensure()

    def address(role: str, database: str) -> str:
        part = conninfo_to_dict(server.conninfo(host, role))
        return f"postgresql://{part['user']}:{part['password']}@/{database}?host={part['host']}"

    with psycopg.connect(server.conninfo(host, ADMIN_ROLE), autocommit=True) as connection:
        connection.execute("CREATE DATABASE standing")
        migrate(address(ADMIN_ROLE, "standing"))
        with psycopg.connect(address(ADMIN_ROLE, "standing"), autocommit=True) as admin:
            fill(admin)
            yield Standing(admin, address(ADMIN_ROLE, "standing"), address(APP_ROLE, "standing"))
        connection.execute("DROP DATABASE standing WITH (FORCE)")


@pytest.fixture
def admin(scratch: "Scratch") -> Iterator[psycopg.Connection]:
    """A superuser's connection to a scratch database with two tenants' rows in every table."""
    with psycopg.connect(scratch.admin_url, autocommit=True) as connection:
        fill(connection)
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
async def walled(scratch: "Scratch", every_verb: None) -> AsyncIterator[Database]:
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

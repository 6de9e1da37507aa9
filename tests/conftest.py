"""A real PostgreSQL for every test that wants one: the embedded server, in a folder of its own."""

import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from clew import Database, Settings
from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.migrate import migrate

_numbers = itertools.count(1)


def url_of(conninfo: str, **changes: str) -> str:
    """The same address as a URL, which is what people write in CLEW_DATABASE_URL."""
    part = {**conninfo_to_dict(conninfo), **changes}
    return f"postgresql://{part['user']}:{part['password']}@/{part['dbname']}?host={part['host']}"


@dataclass(frozen=True)
class Scratch:
    """A migrated database of a test's own: reached as the administrator, and as the application."""

    admin_url: str
    app_url: str


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(data_dir=tmp_path_factory.mktemp("clew"))


@pytest.fixture(scope="session")
def server(settings: Settings) -> Iterator[EmbeddedServer]:
    """The embedded server, up for the whole run."""
    server = EmbeddedServer(settings.data_dir)
    server.acquire()
    yield server
    server.release()


@pytest.fixture(scope="session")
async def database(server: EmbeddedServer, settings: Settings) -> AsyncIterator[Database]:
    """An open database, shared by all tests: use tenant ids of your own."""
    async with Database(settings=settings) as database:
        yield database


@pytest.fixture
def scratch(server: EmbeddedServer) -> Iterator[Scratch]:
    """A new, migrated database for tests that break things; roles are the server's, so put those back yourself."""
    name = f"scratch_{next(_numbers)}"
    host = server.ensure()
    admin = server.conninfo(host, ADMIN_ROLE)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    admin_url = url_of(admin, dbname=name)
    migrate(admin_url)
    yield Scratch(admin_url, url_of(server.conninfo(host, APP_ROLE), dbname=name))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def shared_data() -> Path:
    """Public data to measure on, when it lies beside the repository."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no public data at {folder}")
    return folder

"""A database of this folder's own, since background jobs are nobody's tenant's; and conversations to compact."""

import dataclasses
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import psycopg
import pytest

import clew
from clew import Database, Settings
from clew.context import ContextManager, WorkingContextCompiler
from clew.context.selecting import Selector
from clew.context.wiring import Parts
from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.jobs import Jobs
from clew.store.migrate import migrate

from ...conftest import Scratch, url_of

_numbers = itertools.count(1)
FACT = re.compile(r"Valve V-\d+ holds \d+ bar\.")
# Words without a detail in them: what a summary may leave out.
TALK = (
    "and apart from that nothing was noticed on the way along the pipes, which all looked clean and dry as they should"
)
RULE = "Never open the drain before the foreman says so."


@pytest.fixture(scope="session")
def place(server: EmbeddedServer) -> Iterator[str]:
    host = server.ensure()
    admin = server.conninfo(host, ADMIN_ROLE)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE DATABASE compacted")
    migrate(url_of(admin, dbname="compacted"))
    yield url_of(server.conninfo(host, APP_ROLE), dbname="compacted")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("DROP DATABASE compacted WITH (FORCE)")


@pytest.fixture(scope="session")
async def database(place: str, settings: Settings) -> AsyncIterator[Database]:
    """Open, and nothing is done in the background unless a test does it, nor learnt from what is said."""
    of = {"worker": "separate", "write_back": False}
    async with Database(place, settings=dataclasses.replace(settings, **of)) as database:
        yield database


@pytest.fixture
async def own(scratch: Scratch, settings: Settings) -> AsyncIterator[Database]:
    """A database that no other worker looks at."""
    async with Database(scratch.app_url, settings=dataclasses.replace(settings, worker="in-process")) as database:
        yield database


@pytest.fixture
def tenant() -> str:
    return f"compaction-{next(_numbers)}"


@pytest.fixture
def other_tenant() -> str:
    return f"compaction-{next(_numbers)}"


@pytest.fixture
def engine(database: Database) -> clew.Clew:
    return engine_with(database)


@pytest.fixture
def thread(engine: clew.Clew, tenant: str) -> Any:
    return engine.tenant(tenant).thread("t")


def engine_with(database: Database, jobs: Jobs | None = None, **options: Any) -> clew.Clew:
    """An engine whose compactor has these options."""
    engine = clew.open(database)
    if options or jobs:
        # Its own compactor has given its jobs their task already.
        jobs = Jobs(database, in_process=False) if jobs is None else jobs
        engine.compactor = clew.Compactor(database, jobs=jobs, **options)
        engine.context = ContextManager(
            engine.sessions,
            engine.memory,
            WorkingContextCompiler(),
            compactor=engine.compactor,
            parts=Parts(Selector(engine.memory), engine.standing),
        )
    return engine


def fact(n: int) -> str:
    return f"Valve V-{1000 + n} holds {200 + n} bar."


def said(n: int) -> dict[str, Any]:
    """The nth message: something worth keeping, and talk."""
    return {"role": "user" if n % 2 else "assistant", "content": f"{fact(n)} Round {'abcdefgh'[n % 8]} {TALK}."}


def talk(first: int, last: int) -> list[dict[str, Any]]:
    return [said(n) for n in range(first, last + 1)]


def facts_in(messages: list[dict[str, Any]]) -> list[str]:
    found = (FACT.findall(str(message.get("content") or "")) for message in messages)
    return list(dict.fromkeys(itertools.chain.from_iterable(found)))


async def good(messages: list[dict[str, Any]]) -> str:
    """A model that keeps every fact."""
    rules = [RULE] if any(RULE in str(message.get("content")) for message in messages) else []
    return "\n".join(["Key facts:", *(f"- {one}" for one in facts_in(messages[:-1])), *rules])


class Asked:
    """A model that remembers what it was asked."""

    def __init__(self, answer: Callable[[list[dict[str, Any]]], Any] = good) -> None:
        self.requests: list[list[dict[str, Any]]] = []
        self.answer = answer

    async def __call__(self, messages: list[dict[str, Any]]) -> str:
        self.requests.append(messages)
        return await self.answer(messages)


async def sent(thread: Any, **options: Any) -> bytes:
    """What a model would get, as bytes."""
    return json.dumps((await thread.compile("go on", "You tend pumps.", **options)).messages).encode()


async def shown_texts(thread: Any, **options: Any) -> list[str]:
    context = await thread.compile("go on", **options)
    return [str(message.get("content")) for message in context.messages]


async def counted(database: Database, statement: str, *values: Any) -> int:
    async with database.jobs() as connection:
        row = await (await connection.execute(statement, values)).fetchone()
    return row[0]


async def jobs_of(database: Database, tenant: str) -> int:
    """Jobs that are stored for a tenant."""
    return await counted(database, "SELECT count(*) FROM procrastinate_jobs WHERE args->>'tenant_id' = %s", tenant)

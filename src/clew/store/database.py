"""`Database`: the pool, and the one door through which a tenant's rows are reached."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool

from clew.errors import ClewError, InvalidInput, Misconfigured, Unavailable
from clew.ids import check_tenant_id
from clew.limits import CONNECT_TIMEOUT_S, IDLE_TRANSACTION_TIMEOUT_MS, POOL_WAIT_TIMEOUT_S, STATEMENT_TIMEOUT_MS
from clew.settings import Settings, postgresql_url
from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.migrate import migrate
from clew.store.server_check import NotMigrated, refuse_unready
from clew.store.translate import translated, unreachable
from clew.store.walls import refuse_if_down

# One round trip. All of it ends with the transaction, so that neither our pool nor pgbouncer can carry one tenant's
# setting into the next one's request. SET, because on a distributed PostgreSQL set_config() stays on one machine.
_ENTER: Final = sql.SQL(
    "SET LOCAL ROLE {role}; SET LOCAL clew.tenant_id = {tenant}; SET LOCAL statement_timeout = {statement}; "
    "SET LOCAL idle_in_transaction_session_timeout = {idle}"
)

# The queue names its tables plainly. PostgreSQL looks into pg_temp first unless it is told otherwise.
_JOBS_PATH: Final = sql.SQL("; SET LOCAL search_path = clew_jobs, pg_catalog, pg_temp")

# What a session could keep for its next user, put away; and the application's role even for code that forgets the door.
_CLEAN: Final = sql.SQL("CLOSE ALL; RESET ALL; DISCARD TEMP; SET ROLE {role}").format(role=sql.Identifier(APP_ROLE))

_RETRY_S: Final = 0.1


class Database:
    """PostgreSQL, with a wall between every two tenants.

        async with clew.Database() as db:                 # embedded, or CLEW_DATABASE_URL, or a URL
            async with db.tenant("acme") as connection:   # a transaction that sees acme's rows and no others
                await connection.execute(...)

    It belongs to the event loop that opened it, and survives the server's restarts.
    """

    def __init__(
        self, url: str | None = None, *, settings: Settings | None = None, pool_size: int | None = None
    ) -> None:
        if not (settings is None or isinstance(settings, Settings)):
            raise InvalidInput(f"expected clew.Settings, got {type(settings).__name__}", where="settings")
        self.settings = Settings.load() if settings is None else settings
        given = self.settings.database_url if url is None else url
        self.url = None if given is None else _checked_url(given)
        self._pool_size = self.settings.pool_size if pool_size is None else pool_size
        self._server = None if self.url else EmbeddedServer(self.settings.data_dir)
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._opening = asyncio.Lock()
        self._direct = False

    @property
    def embedded(self) -> bool:
        """Whether this is the server that Clew runs itself."""
        return self._server is not None

    async def open(self) -> Self:
        """Connect, and refuse to go on unless the server is right, migrated, and every wall is up."""
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    self._pool = await self._opened_pool()
        return self

    async def _opened_pool(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        async with AsyncExitStack() as undo:
            if self._server is not None:
                await asyncio.to_thread(self._server.acquire)
                undo.callback(self._server.release)
            await self._refuse_unfit()
            pool = self._make_pool()
            await pool.open()
            undo.pop_all()
        return pool

    async def close(self) -> None:
        """Give every connection back, and the embedded server, if we held it."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.close()
        if self._server is not None:
            self._server.release()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @asynccontextmanager
    async def tenant(self, tenant_id: str) -> AsyncIterator[AsyncConnection[Any]]:
        """A transaction that sees one tenant's rows and no others; what it did is stored when the block ends."""
        async with self._transaction(_entered(check_tenant_id(tenant_id))) as connection:
            yield connection

    @asynccontextmanager
    async def jobs(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A transaction on the tables of background work, which no tenant sees, and which sees no tenant's rows."""
        async with self._transaction(_entered("") + _JOBS_PATH) as connection:
            yield connection

    @asynccontextmanager
    async def _transaction(self, enter: sql.Composed) -> AsyncIterator[AsyncConnection[Any]]:
        async with self._connection() as connection:
            committing = False
            try:
                async with connection.transaction():
                    await connection.execute(enter)
                    yield connection
                    _refuse_swallowed_error(connection)
                    committing = True
            except psycopg.Error as error:
                raise translated(error, lost=connection.closed, committing=committing) from error

    async def migrate(self, target: str = "head") -> tuple[str | None, str | None]:
        """Migrate, up or down; the revision before and after. The database need not be open."""
        async with self._lease():
            return await asyncio.to_thread(migrate, await self._conninfo(ADMIN_ROLE), target)

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection as the owner of the tables, for the rare work that the application's role may not do."""
        async with self._lease():
            try:
                async with await self._connect(ADMIN_ROLE) as connection:
                    await connection.execute("SET ROLE clew_owner")
                    yield connection
            except psycopg.OperationalError as error:
                raise unreachable(error) from error
            except psycopg.errors.InsufficientPrivilege as error:
                raise Misconfigured(
                    "this login may not act as the owner of the tables", fix="Use the login that runs `clew migrate`"
                ) from error

    @asynccontextmanager
    async def inspect(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection that sees no tenant's rows, to look at the server itself. The database need not be open."""
        async with self._lease():
            try:
                async with await self._connect() as connection:
                    yield connection
            except psycopg.OperationalError as error:
                raise unreachable(error) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        # Kept here: whoever closes the database meanwhile must not leave this connection with nobody.
        if (pool := self._pool) is None:
            raise Misconfigured("the database is not open", fix="Open it first: `async with clew.Database() as db`")
        try:
            connection = await pool.getconn()
        except psycopg.Error as error:
            raise translated(error, lost=False, committing=False) from error
        try:
            yield connection
        finally:
            await pool.putconn(connection)

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[None]:
        """The embedded server up for the block, and for no longer than that unless we held it already."""
        if self._server is None or self._server.held:
            yield
            return
        await asyncio.to_thread(self._server.acquire)
        try:
            yield
        finally:
            self._server.release()

    async def _conninfo(self, role: str = APP_ROLE) -> str:
        """Where to connect now. Asked for every new connection, so that a lost embedded server is started again."""
        if self._server is None:
            return self.url or ""
        host = await asyncio.to_thread(self._server.ensure)
        return self._server.conninfo(host, role)

    def _make_pool(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        return AsyncConnectionPool(
            self._conninfo,
            open=False,
            min_size=1,
            max_size=self._pool_size,
            timeout=POOL_WAIT_TIMEOUT_S,
            # A round trip before each use: a connection that died unnoticed is replaced.
            check=_clean if self._direct else AsyncConnectionPool.check_connection,
            kwargs={
                "autocommit": True,
                # Named statements live in a session; behind pgbouncer the next transaction may be in another.
                "prepare_threshold": None,
                "connect_timeout": int(CONNECT_TIMEOUT_S),
                "application_name": "clew",
            },
        )

    async def _refuse_unfit(self) -> None:
        """Look at the server through a connection of its own: a pool would retry for half a minute before it told."""
        async with self.inspect() as connection:
            try:
                await refuse_unready(connection)
            except NotMigrated:
                if self._server is None:
                    raise
                await self.migrate()
            await refuse_if_down(connection)
            self._direct = await _is_direct(connection)

    async def _connect(self, role: str = APP_ROLE) -> AsyncConnection[Any]:
        """A connection of one's own. The embedded server may have died a moment ago and be on its way back."""
        deadline = time.monotonic() + CONNECT_TIMEOUT_S
        while True:
            try:
                return await AsyncConnection.connect(
                    await self._conninfo(role),
                    autocommit=True,
                    prepare_threshold=None,
                    connect_timeout=int(CONNECT_TIMEOUT_S),
                )
            except psycopg.OperationalError:
                if self._server is None or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(_RETRY_S)


def _entered(tenant_id: str) -> sql.Composed:
    return _ENTER.format(
        role=sql.Identifier(APP_ROLE),
        tenant=sql.Literal(tenant_id),
        statement=sql.Literal(STATEMENT_TIMEOUT_MS),
        idle=sql.Literal(IDLE_TRANSACTION_TIMEOUT_MS),
    )


async def _clean(connection: AsyncConnection[Any]) -> None:
    await connection.execute(_CLEAN)


async def _is_direct(connection: AsyncConnection[Any]) -> bool:
    """Whether this session is ours alone: a pgbouncer in between, which shares it out, gave us a number of its own."""
    row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
    return row is not None and row[0] == connection.info.backend_pid


def _checked_url(url: str) -> str:
    """The URL itself. What is wrong with it is said without repeating any of it: it may hold a password."""
    if not isinstance(url, str):
        raise InvalidInput(f"expected a URL or a clew.Database, got {type(url).__name__}", where="database")
    fix = None
    try:
        conninfo_to_dict(postgresql_url(url))
    except psycopg.ProgrammingError:
        fix = "Percent-encode what is special in it, and check the names after the ?"
    except ValueError as error:
        fix = str(error).capitalize()
    else:
        if urlsplit(url).netloc.count("@") > 1:
            fix = "Percent-encode the @ in the password as %40"
    if fix is not None:
        raise InvalidInput("this is not the URL of a PostgreSQL", where="database", fix=fix)
    return url


def _refuse_swallowed_error(connection: AsyncConnection[Any]) -> None:
    """PostgreSQL answers COMMIT with a silent ROLLBACK after any failed statement, even one whose error was caught."""
    if connection.closed:
        raise Unavailable("the connection to PostgreSQL was lost; nothing was stored", fix="Retry")
    if connection.info.transaction_status == TransactionStatus.INERROR:
        raise ClewError("a statement failed inside this transaction; nothing was stored")

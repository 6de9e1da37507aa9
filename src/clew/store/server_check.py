"""Is this PostgreSQL one that Clew can use, and is it migrated? Each refusal names the fix."""

from importlib import resources
from typing import Any, Final, NamedTuple

from psycopg import AsyncConnection
from psycopg.rows import tuple_row

from clew.errors import Misconfigured
from clew.store.named_sql import statements

OLDEST_SERVER: Final = 16
NEWEST_SERVER: Final = 18
OLDEST_VECTOR: Final = (0, 8)


class NotMigrated(Misconfigured):
    """The database is not at the revision that this release needs."""


class Versions(NamedTuple):
    """What the server says of itself."""

    server_version_num: int
    server_version: str
    vector_installed: str | None
    vector_available: str | None
    migrated: bool
    may_become_app: bool | None
    login_is_privileged: bool


def newest() -> str:
    """The revision this release of Clew works with."""
    versions = resources.files("clew.store").joinpath("migrations", "versions")
    return max(file.name for file in versions.iterdir() if file.name.endswith(".up.sql"))[1:5]


async def versions(connection: AsyncConnection[Any]) -> Versions:
    """What the server says of itself."""
    async with connection.cursor(row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(statements("server").versions)).fetchone()
    return Versions(*row or ())


async def refuse_unready(connection: AsyncConnection[Any]) -> None:
    """Raise `Misconfigured` unless this server can serve as it is."""
    found = await versions(connection)
    refuse_old_server(found)
    if not found.migrated:
        raise NotMigrated("this database has no Clew in it yet", fix="Run: clew migrate")
    if not found.may_become_app:
        raise Misconfigured(
            "this login may not act as the role clew_app", fix="As an administrator: GRANT clew_app TO <this login>"
        )
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE clew_app")
        row = await (await connection.execute(statements("server").revision)).fetchone()
    at = row[0] if row else None
    if at is None or at < newest():
        raise NotMigrated(f"this database is at revision {at}; this Clew needs {newest()}", fix="Run: clew migrate")
    refuse_newer(at)


def refuse_newer(revision: str | None) -> None:
    """Raise `Misconfigured` for a database that a later release has migrated."""
    if revision is not None and revision > newest():
        raise Misconfigured(
            f"this database is at revision {revision}, newer than this Clew's {newest()}",
            fix="Run: pip install --upgrade clew",
        )


def refuse_old_server(row: Any) -> None:
    """Raise `Misconfigured` for a PostgreSQL or a pgvector that is too old, or missing."""
    found = Versions(*row)
    major = found.server_version_num // 10_000
    if not OLDEST_SERVER <= major <= NEWEST_SERVER:
        raise Misconfigured(
            f"this is PostgreSQL {found.server_version}; Clew works with {OLDEST_SERVER} to {NEWEST_SERVER}",
            fix="Use such a server, or leave CLEW_DATABASE_URL unset for the embedded one",
        )
    vector = found.vector_installed or found.vector_available
    if vector is None:
        raise Misconfigured(
            "this server has no pgvector", fix="Install pgvector 0.8 or newer on it, then run: clew migrate"
        )
    if tuple(int(part) for part in vector.split(".")[:2]) < OLDEST_VECTOR:
        raise Misconfigured(
            f"this server has pgvector {vector}; Clew needs 0.8 or newer",
            fix="Upgrade pgvector on it, then run: ALTER EXTENSION vector UPDATE",
        )

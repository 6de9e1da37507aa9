"""Bring a database to the revision that this release works with, or to another."""

from typing import Final

import psycopg

from clew.errors import InvalidInput, Misconfigured
from clew.limits import CONNECT_TIMEOUT_S
from clew.store.named_sql import statements
from clew.store.server_check import newest, refuse_newer, refuse_old_server
from clew.store.translate import unreachable

HEAD: Final = "head"


def migrate(conninfo: str, target: str = HEAD) -> tuple[str | None, str | None]:
    """Migrate up or down to `target` (`head`, `base`, or a revision); the revision before and after.

    All or nothing: one transaction, so that a process killed half-way leaves the database as it was. Blocks.
    """
    try:
        with _connect(conninfo) as connection:
            refuse_old_server(connection.execute(statements("server").versions).fetchone())
            before = _revision(connection)
        refuse_newer(before)
        if not target:
            raise InvalidInput("is empty", where="target", fix=f"Use head, base, or 0001 … {newest()}")
        _run_alembic(conninfo, target, before)
        with _connect(conninfo) as connection:
            return before, _revision(connection)
    except psycopg.errors.InsufficientPrivilege as error:
        raise Misconfigured(
            f"this login may not migrate: {error.diag.message_primary}",
            fix="Migrate once as a superuser or as a role with CREATEROLE and CREATE on the database: "
            "clew migrate --database postgresql://admin@…",
        ) from error
    except psycopg.OperationalError as error:
        raise unreachable(error) from error


def _connect(conninfo: str) -> psycopg.Connection:
    return psycopg.connect(conninfo, prepare_threshold=None, connect_timeout=int(CONNECT_TIMEOUT_S))


def _revision(connection: psycopg.Connection) -> str | None:
    row = connection.execute("SELECT to_regclass('clew.alembic_version') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return None
    row = connection.execute(statements("server").revision).fetchone()
    return row[0] if row else None


def _run_alembic(conninfo: str, target: str, before: str | None) -> None:
    # Imported here: SQLAlchemy takes 0.3 s to import, and most starts have nothing to migrate.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError
    from sqlalchemy import NullPool, create_engine

    config = Config()
    config.set_main_option("script_location", "clew.store:migrations")
    config.set_main_option("path_separator", "os")
    engine = create_engine("postgresql+psycopg://", creator=lambda: _connect(conninfo), poolclass=NullPool)
    down = target == "base" or (before is not None and target != HEAD and target < before)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        try:
            (command.downgrade if down else command.upgrade)(config, target)
        except CommandError as error:
            raise InvalidInput(str(error), where="target", fix=f"Use head, base, or 0001 … {newest()}") from None

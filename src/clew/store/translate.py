"""The one place where the driver's errors become ours."""

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from clew.errors import ClewError, InvalidInput, Misconfigured, Unavailable
from clew.limits import POOL_WAIT_TIMEOUT_S, STATEMENT_TIMEOUT_MS


def translated(error: psycopg.Error, *, lost: bool, committing: bool) -> Exception:
    """What the caller is told; the driver's own error where it is a mistake in our SQL.

    A connection lost while COMMIT was on its way means that nobody knows whether the rows are there. Lost earlier, it
    means that they are not: PostgreSQL rolls back what was never committed.
    """
    if lost and committing:
        return Unavailable(
            "the connection to PostgreSQL was lost during COMMIT, so it is unknown whether the write was stored",
            fix="Retry with the same idempotency key",
            outcome_unknown=True,
        )
    if lost:
        return Unavailable("the connection to PostgreSQL was lost; nothing was stored", fix="Retry")
    return _known(error) or error


def unreachable(error: psycopg.OperationalError) -> Unavailable:
    """What to say when there is no connection at all."""
    return Unavailable(
        f"PostgreSQL can't be reached: {str(error).strip().splitlines()[0]}",
        fix="Check CLEW_DATABASE_URL, or leave it unset for the embedded server",
    )


def _known(error: psycopg.Error) -> ClewError | None:
    match error:
        case PoolTimeout():
            return Unavailable(
                f"no connection to PostgreSQL within {POOL_WAIT_TIMEOUT_S:.0f} s",
                fix="See `clew doctor`, or raise CLEW_POOL_SIZE if the server is merely busy",
            )
        case PoolClosed():
            return Unavailable("the database is closed", fix="Open it first: `async with clew.Database() as db`")
        case psycopg.errors.QueryCanceled():
            return Unavailable(f"PostgreSQL took longer than {STATEMENT_TIMEOUT_MS / 1000:.0f} s; nothing was stored")
        case psycopg.errors.InsufficientPrivilege():
            return Misconfigured(f"PostgreSQL refuses: {error.diag.message_primary}", fix="See `clew doctor`")
        case psycopg.OperationalError():
            return Unavailable(f"PostgreSQL can't do this now: {_reason(error)}; nothing was stored", fix="Retry")
        case psycopg.DataError():
            return InvalidInput(f"PostgreSQL can't store a value: {_reason(error)}")
    return None


def _reason(error: psycopg.Error) -> str:
    return error.diag.message_primary or str(error).strip()

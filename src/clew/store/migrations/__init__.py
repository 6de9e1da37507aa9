"""The migrations: Alembic keeps their order, plain SQL does the work.

Each is a pair of files, `versions/v0001_name.up.sql` and `.down.sql`, beside a few lines of Python that give Alembic
its place in the order. Additive first, destructive a release later.
"""

from pathlib import Path

from alembic import op


def run(version_file: str, direction: str) -> None:
    """Run the SQL beside a version's file, all its statements as one."""
    execute(Path(version_file).with_suffix(f".{direction}.sql").read_text(encoding="utf-8"))


def execute(script: str) -> None:
    """Run SQL in the migration's transaction, all its statements as one."""
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "Alembic runs online only"  # noqa: S101 - a programming error, not input
    connection.execute(script)

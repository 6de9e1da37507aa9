"""Tables of background work: procrastinate's own, in a schema of their own."""

from procrastinate.schema import SchemaManager

from clew.store.migrations import execute, run

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    # The installed library's own script: pyproject.toml pins the version whose tables these are.
    execute("SET LOCAL search_path = clew_jobs, pg_catalog")
    execute(SchemaManager.get_schema())
    execute("SET LOCAL search_path = DEFAULT")
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

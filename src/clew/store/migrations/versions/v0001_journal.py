"""The journal: what happened in a tenant."""

from clew.store.migrations import run

revision = "0001"
down_revision = None


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

"""The log of every change to plain memories."""

from clew.store.migrations import run

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

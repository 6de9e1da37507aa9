"""Tables of the memory room."""

from clew.store.migrations import run

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

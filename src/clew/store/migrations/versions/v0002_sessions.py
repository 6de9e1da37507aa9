"""Tables of the sessions room."""

from clew.store.migrations import run

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

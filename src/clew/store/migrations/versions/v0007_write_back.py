"""Writing back: how far a thread was read and whose it is, standing instructions, what the gate refused."""

from clew.store.migrations import run

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

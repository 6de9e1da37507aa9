"""Which transaction made a change to memory: what the cache of topics asks."""

from clew.store.migrations import run

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

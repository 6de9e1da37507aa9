"""Tables of the artifacts room, and of the views that compaction leaves."""

from clew.store.migrations import run

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run(__file__, "up")


def downgrade() -> None:
    run(__file__, "down")

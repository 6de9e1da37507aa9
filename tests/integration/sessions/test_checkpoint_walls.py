"""The walls around LangGraph's tables are checked at every start like all others, and `clew migrate` raises them."""

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.types.json import Jsonb

from clew import ClewError, Database, WallDown
from clew.sessions import SessionStore
from clew.store.migrate import migrate
from clew.store.walls import breaches

from .conftest import on

if TYPE_CHECKING:
    from ...conftest import Scratch

TABLE = "clew_lg_00.checkpoint_blobs"
LOOSE = "starts_with(thread_id, current_setting('clew.tenant_id', true))"
WALL = "split_part(thread_id, '/', 1) = current_setting('clew.tenant_id', true)"


BREACHES = [
    (f"ALTER POLICY tenant_wall ON {TABLE} USING (true)", TABLE),
    (f"ALTER POLICY tenant_wall ON {TABLE} WITH CHECK (true)", TABLE),
    (f"ALTER POLICY tenant_wall ON {TABLE} USING ({LOOSE})", TABLE),
    (f"ALTER POLICY tenant_wall ON {TABLE} TO clew_app", TABLE),
    (f"CREATE POLICY second ON {TABLE} USING (true)", TABLE),
    (f"CREATE POLICY second ON {TABLE} USING ({WALL})", TABLE),
    (f"GRANT TRUNCATE ON {TABLE} TO clew_app", TABLE),
    (f"ALTER TABLE {TABLE} OWNER TO clew_app", TABLE),
    ("GRANT CREATE ON SCHEMA clew_lg_00 TO clew_app", "schema clew_lg_00"),
    ("CREATE TABLE clew_lg_00.extra (words text)", "clew_lg_00.extra"),
    ("CREATE TABLE clew_lg_00.extra (thread_id text NOT NULL)", "clew_lg_00.extra"),
    ("CREATE SCHEMA clew_lg_01 CREATE TABLE checkpoints (thread_id text NOT NULL)", "clew_lg_01.checkpoints"),
    (f"CREATE VIEW public.peek AS SELECT * FROM {TABLE}", "view public.peek"),
    (f"CREATE MATERIALIZED VIEW public.peek AS SELECT * FROM {TABLE}", "materialised view public.peek"),
    ("CREATE UNIQUE INDEX twice ON clew_lg_00.checkpoints (checkpoint_id)", "index clew_lg_00.twice"),
]


async def test_the_walls_stand_after_a_migration(scratch: "Scratch"):
    async with Database(scratch.app_url, pool_size=1):
        pass


@pytest.mark.parametrize(
    "breach",
    [
        f"ALTER TABLE {TABLE} DISABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {TABLE} NO FORCE ROW LEVEL SECURITY",
        f"DROP POLICY tenant_wall ON {TABLE}",
    ],
)
async def test_a_wall_that_is_down_stops_the_start_and_a_migration_raises_it(scratch: "Scratch", breach: str):
    with psycopg.connect(scratch.admin_url) as connection:
        connection.execute(breach)
    with pytest.raises(WallDown, match=f"table {TABLE}"):
        await Database(scratch.app_url, pool_size=1).open()
    migrate(scratch.admin_url)
    async with Database(scratch.app_url, pool_size=1):
        pass


async def test_whatever_else_would_let_somebody_through_is_a_breach(scratch: "Scratch"):
    async with await psycopg.AsyncConnection.connect(scratch.admin_url) as connection:
        assert await breaches(connection) == []
        for breach, named in BREACHES:
            await connection.execute(breach)
            found = await breaches(connection)
            await connection.rollback()
            assert named in [one.where.removeprefix("table ") for one in found], breach


async def test_a_row_without_a_tenant_has_no_place(scratch: "Scratch"):
    with psycopg.connect(scratch.admin_url) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(
            "INSERT INTO clew_lg_00.checkpoints (thread_id, checkpoint_id, checkpoint) VALUES ('t', 'x', '{}')"
        )


async def test_the_application_cannot_change_langgraphs_tables(database: Database, tenant: str):
    for statement in (
        "CREATE TABLE clew_lg_00.mine (thread_id text)",
        "ALTER TABLE clew_lg_00.checkpoints ADD COLUMN more text",
        "DELETE FROM clew_lg_00.checkpoint_migrations",
        "TRUNCATE clew_lg_00.checkpoints",
    ):
        with pytest.raises(ClewError, match=r"permission denied|must be owner"):
            async with database.tenant(tenant) as connection:
                await connection.execute(statement)


@pytest.mark.parametrize(
    ("form", "blob", "expected"),
    [
        ("msgpack", b"\xc7\x1c\x00\x93\xa2os\xa6system\xb0touch /tmp/never", "touch /tmp/never"),
        ("msgpack", b"\xa5plain", "plain"),
        ("pickle", b"cos\nsystem\n(S'touch /tmp/never'\ntR.", ClewError),
    ],
)
async def test_a_value_that_somebody_planted_in_the_tables_is_inert(
    database: Database, store: SessionStore, tenant: str, form: str, blob: bytes, expected: object
):
    checkpoint = {"v": 4, "id": "1", "ts": "2026-01-01T00:00:00+00:00", "channel_values": {}, "versions_seen": {}}
    async with database.tenant(tenant) as connection:
        await connection.execute(
            "INSERT INTO clew_lg_00.checkpoint_blobs (thread_id, channel, version, type, blob)"
            " VALUES (%s, 'c', '1', %s, %s)",
            [f"{tenant}/t", form, blob],
        )
        await connection.execute(
            "INSERT INTO clew_lg_00.checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%s, '1', %s)",
            [f"{tenant}/t", Jsonb({**checkpoint, "channel_versions": {"c": "1"}})],
        )
    checkpointer = store.checkpointer_for(tenant)
    if expected is ClewError:
        with pytest.raises(ClewError, match="in the form 'pickle'"):
            await checkpointer.aget_tuple(on("t"))
    else:
        assert (await checkpointer.aget_tuple(on("t"))).checkpoint["channel_values"] == {"c": expected}

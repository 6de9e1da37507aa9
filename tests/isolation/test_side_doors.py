"""What else shows rows: COPY, plans, conflicts, foreign keys, statistics, functions that look on."""

from typing import TYPE_CHECKING

import psycopg
import pytest

from clew import Database
from clew.ids import new_id

from .conftest import OpenAnyway
from .probes import phrase
from .rows import ALICE, BOB, MAKERS, ROWS_EACH, column, insertion, owned

if TYPE_CHECKING:
    from ..conftest import Scratch

# A function is cheap to look at every row with, if PostgreSQL can be brought to ask it before it asks the policy.
SPY = (
    "CREATE FUNCTION pg_temp.spy(tenant text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS"
    " $$ BEGIN RAISE NOTICE 'saw %', tenant; RETURN true; END $$"
)


async def copied_out(database: Database, table: str) -> set[bytes]:
    """The tenants whose rows ALICE's COPY writes."""
    lines = set()
    async with database.tenant(ALICE) as connection, connection.cursor() as cursor:
        async with cursor.copy(phrase("COPY (SELECT {column} FROM {table}) TO STDOUT", table)) as copy:
            lines |= {bytes(line).strip() async for line in copy}
        async with cursor.copy(phrase("COPY {table} ({column}) TO STDOUT", table)) as copy:
            lines |= {bytes(line).strip() async for line in copy}
    return {line.partition(b"/")[0] for line in lines}


async def spied(database: Database, table: str) -> set[str]:
    """The tenants that a function in ALICE's own query is shown."""
    seen: set[str] = set()
    async with database.tenant(ALICE) as connection:
        await connection.execute(SPY)
        connection.add_notice_handler(notice := lambda diagnostic: seen.add(diagnostic.message_primary or ""))
        await connection.execute(phrase("SELECT FROM {table} WHERE pg_temp.spy({tenant})", table))
        connection.remove_notice_handler(notice)
        await connection.execute("DROP FUNCTION pg_temp.spy")
    return seen


async def plan(database: Database, table: str) -> str:
    async with database.tenant(ALICE) as connection:
        rows = await connection.execute(phrase("EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM {table}", table))
        return "\n".join([line async for (line,) in rows])


async def test_copy_looking_on_and_plans_stay_with_the_tenant(walled: Database, tables: list[str]) -> None:
    for table in tables:
        assert await copied_out(walled, table) == {ALICE.encode()}
        assert await spied(walled, table) == {f"saw {ALICE}"}
        assert "current_setting('clew.tenant_id'" in await plan(walled, table)


async def test_copy_looking_on_and_plans_would_show_walls_that_are_down(
    scratch: "Scratch", admin: psycopg.Connection, tables: list[str], open_anyway: OpenAnyway
) -> None:
    async with open_anyway(scratch.app_url) as database:
        for table in tables:
            admin.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
            assert await copied_out(database, table) == {ALICE.encode(), BOB.encode()}
            assert await spied(database, table) == {f"saw {ALICE}", f"saw {BOB}"}
            assert "current_setting" not in await plan(database, table)


async def test_copy_in_is_refused_whole(walled: Database, admin: psycopg.Connection, tables: list[str]) -> None:
    """PostgreSQL has no COPY into a table with row security: bulk writes go through INSERT and its policy."""
    for table in tables:
        _, row = insertion(table, BOB)
        columns = ", ".join(row)
        line = "\t".join(map(str, row.values())) + "\n"
        copy_in = phrase(f"COPY {{table}} ({columns}) FROM STDIN", table)
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="row-level security"):
            await _copy_in(walled, copy_in, line)
        with admin.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            copy.write(line)
        count = admin.execute(phrase("SELECT count(*) FROM {table} WHERE {tenant} = {other}", table)).fetchone()
        assert count == (ROWS_EACH + 1,), "the same line is accepted where no wall stands"


async def _copy_in(database: Database, statement: psycopg.sql.Composed, line: str) -> None:
    async with (
        database.tenant(ALICE) as connection,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        await copy.write(line)


async def test_the_same_key_in_two_tenants_is_two_rows_and_no_conflict(
    walled: Database, admin: psycopg.Connection, tables: list[str]
) -> None:
    """A conflict with a row one can't see would tell that it is there."""
    for table in tables:
        statement, row = insertion(table, ALICE)
        for words in ("", " ON CONFLICT DO NOTHING"):
            for tenant_id in (ALICE, BOB):
                async with walled.tenant(tenant_id) as connection:
                    added = await connection.execute(
                        statement + phrase(words, table), {**row, **owned(table, tenant_id)}
                    )
                assert added.rowcount == (0 if words else 1)
        count = admin.execute(phrase("SELECT count(*) FROM {table}", table)).fetchone()
        assert count == (2 * ROWS_EACH + 2,)


async def test_a_key_that_spans_tenants_would_tell(
    walled: Database, admin: psycopg.Connection, tables: list[str]
) -> None:
    for table in tables:
        statement, row = insertion(table, ALICE)
        key = next(iter(MAKERS[table](0)))
        only_this = phrase(f"CREATE UNIQUE INDEX ON {{table}} ({key}) WHERE {key} = ", table)
        admin.execute(only_this + psycopg.sql.Literal(row[key]))
        async with walled.tenant(ALICE) as connection:
            await connection.execute(statement, row)
        with pytest.raises(psycopg.errors.UniqueViolation):
            async with walled.tenant(BOB) as connection:
                await connection.execute(statement, {**row, **owned(table, BOB)})


async def test_an_upsert_never_lands_on_anothers_row(
    walled: Database, admin: psycopg.Connection, tables: list[str]
) -> None:
    for table in tables:
        statement, row = insertion(table, BOB)
        admin.execute(statement, row)
        mine, upsert = {**row, **owned(table, ALICE)}, " ON CONFLICT ({key}) DO UPDATE SET {{column}} = {{theirs}}"
        key = ", ".join(_primary_key(admin, table))
        async with walled.tenant(ALICE) as connection:
            await connection.execute(statement, mine)
        with pytest.raises(Exception, match="row-level security policy"):
            async with walled.tenant(ALICE) as connection:
                await connection.execute(statement + phrase(upsert.format(key=key), table), mine)
        whose = phrase("SELECT {tenant}, count(*) FROM {table} GROUP BY 1 ORDER BY 1", table)
        assert admin.execute(whose).fetchall() == [(ALICE, ROWS_EACH + 1), (BOB, ROWS_EACH + 1)]


def _primary_key(connection: psycopg.Connection, table: str) -> list[str]:
    rows = connection.execute(
        "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
        " AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])"
        " WHERE i.indrelid = %s::regclass AND i.indisprimary",
        [table],
    )
    return [name for (name,) in rows]


async def test_a_foreign_key_answers_the_same_for_anothers_row_and_for_none(
    walled: Database, admin: psycopg.Connection
) -> None:
    admin.execute(
        "CREATE TABLE clew.note (tenant_id text NOT NULL, entry_id uuid NOT NULL,"
        " FOREIGN KEY (tenant_id, entry_id) REFERENCES clew.journal); GRANT SELECT, INSERT ON clew.note TO clew_app"
    )
    point = "INSERT INTO clew.note SELECT %s, entry_id FROM unnest(%s::uuid[]) AS entry_id"
    ids = {tenant: [row[0] for row in admin.execute(_IDS, [tenant])] for tenant in (ALICE, BOB)}
    unknown = new_id()
    answers = []
    for entry_id in (ids[BOB][0], unknown):
        with pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
            async with walled.tenant(ALICE) as connection:
                await connection.execute(point, [ALICE, [entry_id]])
        answers.append(str(refused.value).replace(str(entry_id), "…"))
    assert answers[0] == answers[1]
    async with walled.tenant(ALICE) as connection:
        assert (await connection.execute(point, [ALICE, ids[ALICE]])).rowcount == ROWS_EACH


_IDS = "SELECT entry_id FROM clew.journal WHERE tenant_id = %s"
_CHILDREN = "SELECT conrelid::regclass::text FROM pg_constraint WHERE confrelid = 'clew.threads'::regclass"


async def test_anothers_thread_and_one_that_nobody_has_are_the_same_to_a_row_that_refers_to_them(
    walled: Database, admin: psycopg.Connection
) -> None:
    hers, his = (_add_thread(admin, tenant_id) for tenant_id in (ALICE, BOB))
    children = [table for (table,) in admin.execute(_CHILDREN)]
    assert children
    for table in children:
        answers = []
        for thread_id in (his, "nobody's"):
            statement, row = insertion(table, ALICE)
            with pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
                async with walled.tenant(ALICE) as connection:
                    await connection.execute(statement, {**row, "thread_id": thread_id})
            answers.append(str(refused.value).replace(thread_id, "…"))
        assert answers[0] == answers[1]
        async with walled.tenant(ALICE) as connection:
            statement, row = insertion(table, ALICE)
            await connection.execute(statement, {**row, "thread_id": hers})


def _add_thread(admin: psycopg.Connection, tenant_id: str) -> str:
    statement, row = insertion("clew.threads", tenant_id)
    admin.execute(statement, row)
    return str(row["thread_id"])


async def test_a_thread_takes_only_its_own_tenants_rows_with_it(walled: Database, admin: psycopg.Connection) -> None:
    """The cascade runs with the owner's eyes; both tenants have a thread of this name."""
    async with walled.tenant(ALICE) as connection:
        await connection.execute("DELETE FROM clew.threads WHERE thread_id = '0'")
    for (table,) in admin.execute(_CHILDREN).fetchall():
        whose = phrase("SELECT {tenant}, count(*) FROM {table} GROUP BY 1", table)
        assert admin.execute(whose).fetchall() == [(BOB, ROWS_EACH)]


async def test_statistics_of_tenants_tables_are_hidden(
    walled: Database, admin: psycopg.Connection, tables: list[str]
) -> None:
    """PostgreSQL keeps each column's commonest values; for this column those are the tenants' names."""
    common = "SELECT most_common_vals::text FROM pg_stats WHERE schemaname || '.' || tablename = %s AND attname = %s"
    for table in tables:
        admin.execute(f"ANALYZE {table}")
        assert BOB in str(admin.execute(common, [table, column(table)]).fetchone())
        async with walled.tenant(ALICE) as connection:
            assert await (await connection.execute(common, [table, column(table)])).fetchall() == []


@pytest.mark.parametrize("statement", ["SELECT last_value FROM {table}", "SELECT nextval('{table}')"])
async def test_the_application_may_not_ask_a_sequence_how_far_all_tenants_have_come(
    walled: Database, admin: psycopg.Connection, statement: str
) -> None:
    sequences = [name for (name,) in admin.execute(_SEQUENCES)]
    assert sequences
    for name in sequences:
        assert admin.execute(statement.format(table=name)).fetchone()
        with pytest.raises(Exception, match="permission denied"):
            async with walled.tenant(ALICE) as connection:
                await connection.execute(statement.format(table=name))


_SEQUENCES = (
    r"SELECT oid::regclass FROM pg_class WHERE relkind = 'S' AND relnamespace::regnamespace::text ~ '^clew(_lg|$)'"
)


@pytest.mark.parametrize("statement", ["TRUNCATE {table} CASCADE", "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"])
async def test_the_application_may_not_go_around_the_policies(
    walled: Database, admin: psycopg.Connection, tables: list[str], statement: str
) -> None:
    for table in tables:
        with pytest.raises(Exception, match=r"permission denied|must be owner"):
            async with walled.tenant(ALICE) as connection:
                await connection.execute(phrase(statement, table))
        assert admin.execute(phrase("SELECT count(*) FROM {table}", table)).fetchone() == (2 * ROWS_EACH,)
        with admin.transaction(force_rollback=True):
            admin.execute(phrase(statement, table))


@pytest.mark.parametrize("role", ["clew_owner", "clew_admin", "pg_read_all_data"])
async def test_the_application_can_become_no_other_role(walled: Database, role: str) -> None:
    with pytest.raises(Exception, match="permission denied to set role"):
        async with walled.tenant(ALICE) as connection:
            await connection.execute(f"SET LOCAL ROLE {role}")
    async with walled.tenant(ALICE) as connection:
        await connection.execute("SET LOCAL ROLE clew_app")


async def test_switching_row_security_off_for_oneself_shows_an_error_and_no_rows(
    walled: Database, tables: list[str]
) -> None:
    for table in tables:
        with pytest.raises(Exception, match="would be affected by row-level security"):
            async with walled.tenant(ALICE) as connection:
                await connection.execute(phrase("SET LOCAL row_security = off; SELECT * FROM {table}", table))

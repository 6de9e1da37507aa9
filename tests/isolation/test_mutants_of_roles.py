"""Roles with too much power, the application's, the owner's and the login's: each stops the start."""

from collections.abc import Iterator
from typing import Final

import pytest
from psycopg.conninfo import conninfo_to_dict

from clew import Database

from .conftest import OpenAnyway, Standing
from .mutants import FOREIGN_ROWS, Mutant, assert_refused, count_leaked, torn
from .probes import count_without_tenant
from .rows import ALICE, ROWS_EACH

APP: Final = "role clew_app"
OWNER: Final = "role clew_owner"
SWITCH_OFF: Final = ("SET LOCAL ROLE clew_owner", "ALTER TABLE clew.journal DISABLE ROW LEVEL SECURITY", FOREIGN_ROWS)


def attribute(word: str, role: str = "clew_app", leak: tuple[str, ...] = ()) -> Mutant:
    return Mutant(
        f"{role} with {word.lower()}",
        f"ALTER ROLE {role} {word}",
        f"role {role}",
        mend=f"ALTER ROLE {role} NO{word}",
        leak=leak,
    )


def member(group: str, leak: tuple[str, ...] = ()) -> Mutant:
    return Mutant(
        f"clew_app a member of {group}",
        f"GRANT {group} TO clew_app",
        APP,
        mend=f"REVOKE {group} FROM clew_app",
        leak=leak,
    )


MUTANTS: Final = [
    attribute("SUPERUSER", leak=(FOREIGN_ROWS,)),
    attribute("BYPASSRLS", leak=(FOREIGN_ROWS,)),
    attribute("REPLICATION"),
    attribute("CREATEROLE"),
    attribute("SUPERUSER", "clew_owner"),
    attribute("BYPASSRLS", "clew_owner"),
    member("clew_owner", leak=SWITCH_OFF),
    member("clew_admin", leak=("SET LOCAL ROLE clew_admin", FOREIGN_ROWS)),
    member("pg_read_all_data"),
    member("pg_write_all_data"),
    member("pg_read_server_files"),
    member("pg_execute_server_program"),
    Mutant(
        "clew_app a member of the owner without inheriting",
        "GRANT clew_owner TO clew_app WITH INHERIT FALSE, SET TRUE",
        APP,
        mend="REVOKE clew_owner FROM clew_app",
        leak=SWITCH_OFF,
    ),
    Mutant(
        "clew_app a member of a member of the owner",
        "CREATE ROLE between IN ROLE clew_owner\nGRANT between TO clew_app",
        APP,
        mend="DROP ROLE IF EXISTS between",
        leak=SWITCH_OFF,
    ),
    Mutant(
        "clew_app an administrator of the owner",
        "GRANT clew_owner TO clew_app WITH ADMIN TRUE, INHERIT FALSE, SET FALSE",
        APP,
        mend="REVOKE clew_owner FROM clew_app",
    ),
    Mutant(
        "clew_owner a member of a role that bypasses",
        "CREATE ROLE between BYPASSRLS\nGRANT between TO clew_owner",
        OWNER,
        mend="DROP ROLE IF EXISTS between",
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
async def test_a_start_is_refused_over(mutant: Mutant, standing: Standing, open_anyway: OpenAnyway) -> None:
    """And where the mutant leaks rows, it is shown to: the check guards something real. Mended, the start succeeds."""
    with torn(mutant, standing.admin):
        if mutant.leak:
            async with open_anyway(standing.app_url) as database:
                assert await count_leaked(mutant, database) > 0
        await assert_refused(mutant, standing.app_url)
    async with Database(standing.app_url) as database:
        assert await count_without_tenant(database, "clew.journal") == 0


@pytest.fixture
def login(standing: Standing) -> Iterator[str]:
    """The address of a login that is not clew_app itself and may act as it, as on a server that others run."""
    standing.admin.execute("CREATE ROLE guest LOGIN PASSWORD 'guest' IN ROLE clew_app")
    part = conninfo_to_dict(standing.app_url)
    yield f"postgresql://guest:guest@/{part['dbname']}?host={part['host']}"
    standing.admin.execute("DROP ROLE guest")


async def test_a_login_that_may_only_act_as_the_application_sees_one_tenant(login: str) -> None:
    async with Database(login, pool_size=1) as database:
        async with database.tenant(ALICE) as connection:
            row = await (await connection.execute("SELECT count(*), current_user FROM clew.journal")).fetchone()
        assert row == (ROWS_EACH, "clew_app")
        assert await count_without_tenant(database, "clew.journal") == 0


LOGIN: Final = "role guest"
LOGINS: Final = [
    Mutant("a superuser", "ALTER ROLE guest SUPERUSER", LOGIN, leak=(FOREIGN_ROWS,)),
    Mutant("a role that bypasses", "ALTER ROLE guest BYPASSRLS", LOGIN, leak=(FOREIGN_ROWS,)),
    Mutant("a member of the owner", "GRANT clew_owner TO guest", LOGIN, leak=SWITCH_OFF),
    Mutant(
        "a member of those who read everything",
        "GRANT pg_read_all_data TO guest\nCREATE TABLE public.kept AS SELECT * FROM clew.journal",
        LOGIN,
        mend="DROP TABLE IF EXISTS public.kept",
        leak=("SELECT count(*) FROM public.kept WHERE tenant_id <> 'alice'",),
    ),
]


@pytest.mark.parametrize("mutant", LOGINS, ids=str)
async def test_a_start_is_refused_over_a_login(
    mutant: Mutant, login: str, standing: Standing, open_anyway: OpenAnyway
) -> None:
    """The door takes the application's role; code that forgets the door has the login's, and sees foreign rows."""
    with torn(mutant, standing.admin):
        async with open_anyway(login) as database:
            assert database._pool is not None
            async with database._pool.connection() as connection, connection.transaction(force_rollback=True):
                for statement in mutant.leak:
                    cursor = await connection.execute(statement)
                row = await cursor.fetchone()
        assert row is not None
        assert row[0] > 0
        await assert_refused(mutant, login)

"""Roles with too much power: the application's or the owner's stops the start, a login's is stepped down from."""

from collections.abc import Iterator
from typing import Final

import pytest
from psycopg.conninfo import conninfo_to_dict

from clew import Database

from .conftest import OpenAnyway, Standing
from .mutants import FOREIGN_ROWS, Mutant, assert_refused, count_leaked, torn
from .probes import count_without_tenant
from .rows import ALICE, ROWS_EACH
from .test_the_door import uncleaned

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


@pytest.mark.parametrize(
    "power", ["SUPERUSER", "BYPASSRLS", "IN ROLE clew_owner", "IN ROLE pg_read_all_data", "IN ROLE clew_admin"]
)
async def test_code_that_forgets_the_door_has_no_use_of_its_logins_power(
    power: str, standing: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool itself steps down to the application's role. The control: a pool that does not."""
    standing.admin.execute(f"CREATE ROLE mighty LOGIN PASSWORD 'mighty' {power}")
    standing.admin.execute("GRANT clew_app TO mighty")
    part = conninfo_to_dict(standing.app_url)
    url = f"postgresql://mighty:mighty@/{part['dbname']}?host={part['host']}"
    try:
        async with Database(url, pool_size=1) as database:
            assert await count_without_tenant(database, "clew.journal") == 0
            async with database.tenant(ALICE) as connection:
                row = await (await connection.execute(FOREIGN_ROWS)).fetchone()
            assert row == (0,)
            assert await count_without_tenant(database, "clew.journal") == 0
        if power in ("SUPERUSER", "BYPASSRLS"):
            async with Database(url, pool_size=1) as database:
                uncleaned(monkeypatch, database)
                assert await count_without_tenant(database, "clew.journal") > 0
    finally:
        standing.admin.execute("DROP ROLE mighty")

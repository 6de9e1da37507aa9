"""Views, functions and settings that lead around a wall which itself stands: each stops the start."""

from typing import TYPE_CHECKING, Final

import psycopg
import pytest

from clew import Database

from .conftest import OpenAnyway
from .mutants import Mutant, assert_noticed, assert_refused, torn
from .probes import count_without_tenant
from .rows import ALICE, ROWS_EACH
from .test_the_door import uncleaned

if TYPE_CHECKING:
    from ..conftest import Scratch

COUNT: Final = "SELECT count(*) FROM {} WHERE tenant_id <> 'alice'"
GRANT: Final = "GRANT SELECT ON {} TO clew_app"

VIEWS: Final = [
    Mutant(
        "a superuser's view",
        f"CREATE VIEW clew.seen AS SELECT * FROM clew.journal\n{GRANT.format('clew.seen')}",
        "view clew.seen",
        leak=(COUNT.format("clew.seen"),),
    ),
    Mutant(
        "the owner's view",
        "CREATE VIEW clew.seen AS SELECT * FROM clew.journal\nALTER VIEW clew.seen OWNER TO clew_owner",
        "view clew.seen",
    ),
    Mutant(
        "a superuser's view in another schema",
        f"CREATE VIEW public.seen AS SELECT * FROM clew.journal\n{GRANT.format('public.seen')}",
        "seen",
        leak=(COUNT.format("public.seen"),),
    ),
    Mutant(
        "a view that says it does not ask the reader",
        "CREATE VIEW clew.seen WITH (security_invoker = false, security_barrier) AS SELECT * FROM clew.journal",
        "view clew.seen",
    ),
    Mutant(
        "a view over a copy",
        "CREATE TABLE public.kept AS SELECT * FROM clew.journal\n"
        f"CREATE VIEW clew.seen AS SELECT * FROM public.kept\n{GRANT.format('clew.seen')}",
        "clew.seen",
        leak=(COUNT.format("clew.seen"),),
    ),
    Mutant(
        "a materialised view",
        f"CREATE MATERIALIZED VIEW clew.seen AS SELECT * FROM clew.journal\n{GRANT.format('clew.seen')}",
        "materialised view clew.seen",
        leak=(COUNT.format("clew.seen"),),
    ),
    Mutant(
        "a materialised view of a function's answer",
        "CREATE FUNCTION public.everything() RETURNS TABLE (tenant_id text) LANGUAGE sql"
        " AS 'SELECT tenant_id FROM clew.journal'\n"
        f"CREATE MATERIALIZED VIEW public.seen AS SELECT * FROM public.everything()\n{GRANT.format('public.seen')}",
        "seen",
        leak=(COUNT.format("public.seen"),),
    ),
]

DEFINER: Final = (
    "CREATE FUNCTION {}.everything() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS"
    " $$ SELECT count(*) FROM clew.journal WHERE tenant_id = 'bob' $$"
)
FUNCTIONS: Final = [
    Mutant(
        "a function with its owner's power",
        DEFINER.format("clew"),
        "function clew.everything()",
        leak=("SELECT clew.everything()",),
    ),
    Mutant(
        "a function with its owner's power in another schema",
        DEFINER.format("public"),
        "everything()",
        leak=("SELECT public.everything()",),
    ),
    Mutant(
        "a procedure with its owner's power",
        "CREATE PROCEDURE clew.wipe() LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM clew.journal'",
        "clew.wipe()",
        leak=("CALL clew.wipe()", "SELECT 1"),
    ),
    Mutant(
        "a function that PostgreSQL believes keeps secrets",
        "CREATE FUNCTION public.spy(tenant text) RETURNS boolean LANGUAGE plpgsql LEAKPROOF COST 0.0000001 AS"
        " $$ BEGIN PERFORM set_config('spy.heard', current_setting('spy.heard', true) || tenant || ' ', true);"
        " RETURN true; END $$",
        "spy(text)",
        leak=(
            "SET LOCAL spy.heard = ''",
            "SET LOCAL enable_indexscan = off",
            "SET LOCAL enable_bitmapscan = off",
            "SELECT FROM clew.journal WHERE public.spy(tenant_id)",
            "SELECT position('bob' IN current_setting('spy.heard'))",
        ),
    ),
    Mutant(
        "a function that reads the server's files",
        "GRANT EXECUTE ON FUNCTION pg_read_binary_file(text) TO clew_app\nCHECKPOINT",
        "pg_read_binary_file(text)",
        leak=("SELECT position('bob'::bytea IN pg_read_binary_file(pg_relation_filepath('clew.journal')))",),
    ),
    Mutant(
        "the planner's statistics",
        "GRANT SELECT ON pg_statistic TO clew_app\nANALYZE clew.journal",
        "pg_statistic",
        leak=(
            "SELECT count(*) FROM pg_statistic"
            " WHERE starelid = 'clew.journal'::regclass AND stavalues1::text LIKE '%bob%'",
        ),
    ),
]

SETTINGS: Final = [
    Mutant(
        "a tenant by default for the role",
        "ALTER ROLE clew_app SET clew.tenant_id = 'bob'",
        "role clew_app",
        mend="ALTER ROLE clew_app RESET clew.tenant_id",
    ),
    Mutant(
        "a tenant by default for the role in this database",
        "ALTER ROLE clew_app IN DATABASE {database} SET clew.tenant_id = 'bob'",
        "role clew_app",
    ),
    Mutant(
        "a tenant by default for the database",
        "ALTER DATABASE {database} SET clew.tenant_id = 'bob'",
        "database scratch",
    ),
    Mutant(
        "a tenant by default for everyone",
        "ALTER ROLE ALL SET clew.tenant_id = 'bob'",
        "sets a tenant by default",
        mend="ALTER ROLE ALL RESET clew.tenant_id",
    ),
    Mutant(
        "a tenant by default in capitals",
        "ALTER DATABASE {database} SET \"CLEW.Tenant_ID\" = 'bob'",
        "by default",
    ),
    Mutant(
        "a tenant by default at login",
        "CREATE FUNCTION public.greet() RETURNS event_trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM set_config('clew.tenant_id', 'bob', false); END $$\n"
        "CREATE EVENT TRIGGER greet ON login EXECUTE FUNCTION public.greet()",
        "tenant",
    ),
]

MUTANTS: Final = [*VIEWS, *FUNCTIONS]


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
async def test_a_start_is_refused_over(
    mutant: Mutant, scratch: "Scratch", admin: psycopg.Connection, open_anyway: OpenAnyway
) -> None:
    await assert_noticed(mutant, admin, scratch.app_url, open_anyway)


@pytest.mark.parametrize("mutant", SETTINGS, ids=str)
async def test_a_start_is_refused_over_a_setting_that_shows_bobs_rows_to_whoever_forgets(
    mutant: Mutant,
    scratch: "Scratch",
    admin: psycopg.Connection,
    open_anyway: OpenAnyway,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with torn(mutant, admin):
        async with open_anyway(scratch.app_url) as database:
            uncleaned(monkeypatch, database)
            assert await count_without_tenant(database, "clew.journal") == ROWS_EACH
        await assert_refused(mutant, scratch.app_url)


async def test_a_tenant_in_the_address_stops_the_start(scratch: "Scratch", admin: psycopg.Connection) -> None:
    mutant = Mutant("a tenant in the address", "", "tenant")
    await assert_refused(mutant, f"{scratch.app_url}&options=-c%20clew.tenant_id%3Dbob")


async def test_a_tenant_in_the_servers_configuration_stops_the_start(
    scratch: "Scratch", admin: psycopg.Connection, open_anyway: OpenAnyway
) -> None:
    mutant = Mutant("a tenant by default for the server", "", "tenant")
    try:
        admin.execute("SET clew.tenant_id = ''")
        admin.execute("ALTER SYSTEM SET clew.tenant_id = 'bob'")
        _reload(admin, scratch.app_url, "bob")
        async with open_anyway(scratch.app_url) as database:
            assert await count_without_tenant(database, "clew.journal") == ROWS_EACH
        await assert_refused(mutant, scratch.app_url)
    finally:
        admin.execute("ALTER SYSTEM RESET clew.tenant_id")
        _reload(admin, scratch.app_url, "")


def _reload(admin: psycopg.Connection, url: str, tenant_id: str) -> None:
    """Have the server read its configuration again, and wait until new connections show it."""
    admin.execute("SELECT pg_reload_conf()")
    for _ in range(100):
        with psycopg.connect(url) as connection:
            if connection.execute("SELECT coalesce(current_setting('clew.tenant_id', true), '')").fetchone() == (
                tenant_id,
            ):
                return
        admin.execute("SELECT pg_sleep(0.05)")
    pytest.fail("the server did not read its configuration again")


@pytest.mark.parametrize("spelling", ["true", "on", "1"])
async def test_a_view_that_asks_its_reader_is_allowed_however_it_says_so(
    scratch: "Scratch", admin: psycopg.Connection, spelling: str
) -> None:
    admin.execute(f"CREATE VIEW clew.seen WITH (security_invoker = {spelling}) AS SELECT * FROM clew.journal")
    admin.execute("GRANT SELECT ON clew.seen TO clew_app")
    async with Database(scratch.app_url) as database, database.tenant(ALICE) as connection:
        tenants = await (await connection.execute("SELECT DISTINCT tenant_id FROM clew.seen")).fetchall()
    assert tenants == [(ALICE,)]


def test_a_view_over_a_view_that_asks_its_reader_shows_the_readers_rows(admin: psycopg.Connection) -> None:
    """PostgreSQL asks the reader even when another view, with another owner, stands in between."""
    admin.execute("CREATE VIEW public.inner_view WITH (security_invoker = true) AS SELECT * FROM clew.journal")
    admin.execute("CREATE VIEW public.outer_view AS SELECT * FROM public.inner_view")
    admin.execute("GRANT SELECT ON public.outer_view TO clew_app")
    admin.execute("SET clew.tenant_id = 'alice'; SET ROLE clew_app")
    assert admin.execute("SELECT DISTINCT tenant_id FROM public.outer_view").fetchall() == [(ALICE,)]
    admin.execute("RESET ROLE; ALTER VIEW public.inner_view RESET (security_invoker); SET ROLE clew_app")
    assert admin.execute("SELECT count(DISTINCT tenant_id) FROM public.outer_view").fetchone() == (2,)

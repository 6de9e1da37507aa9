"""Tables whose wall is off, too narrow, in other words, or missing: each stops the start."""

from typing import TYPE_CHECKING, Final

import psycopg
import pytest

from clew import Database, WallDown

from .conftest import OpenAnyway
from .mutants import FOREIGN_ROWS, Mutant, assert_noticed

if TYPE_CHECKING:
    from ..conftest import Scratch

WALL: Final = "tenant_id = current_setting('clew.tenant_id', true)"
DROP: Final = "DROP POLICY tenant_wall ON clew.journal"
TABLE: Final = "table clew.journal"
ACROSS: Final = "index clew.across"
LEAKS: Final = (FOREIGN_ROWS,)
FOREIGN_NOTES: Final = "SELECT count(*) FROM clew.note WHERE tenant_id <> 'alice'"
NOTES: Final = """
CREATE TABLE clew.note (tenant_id text NOT NULL, words text)
ALTER TABLE clew.note OWNER TO clew_owner
INSERT INTO clew.note VALUES ('alice', 'hers'), ('bob', 'his')
GRANT SELECT ON clew.note TO clew_app
"""

POLICIES: Final = [
    Mutant("row security off", "ALTER TABLE clew.journal DISABLE ROW LEVEL SECURITY", TABLE, leak=LEAKS),
    Mutant("row security not forced", "ALTER TABLE clew.journal NO FORCE ROW LEVEL SECURITY", TABLE),
    Mutant("a second policy", "CREATE POLICY open_day ON clew.journal USING (true)", TABLE, leak=LEAKS),
    Mutant(
        "a second policy for one role",
        "CREATE POLICY open_day ON clew.journal FOR SELECT TO clew_app USING (true)",
        TABLE,
        leak=LEAKS,
    ),
    Mutant("no policy", DROP, TABLE),
    Mutant("a policy of another name", "ALTER POLICY tenant_wall ON clew.journal RENAME TO wall", TABLE),
    Mutant(
        "a policy in other words",
        "ALTER POLICY tenant_wall ON clew.journal USING (tenant_id >= current_setting('clew.tenant_id', true))",
        TABLE,
        leak=LEAKS,
    ),
    Mutant("a policy that lets all", "ALTER POLICY tenant_wall ON clew.journal USING (true)", TABLE, leak=LEAKS),
    Mutant(
        "a policy that checks no writes",
        "ALTER POLICY tenant_wall ON clew.journal WITH CHECK (true)",
        TABLE,
        leak=(
            "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES ('bob', gen_random_uuid(), 'forged')",
            "SELECT 1",
        ),
    ),
    Mutant(
        "a policy for reading only",
        f"{DROP}\nCREATE POLICY tenant_wall ON clew.journal FOR SELECT USING ({WALL})",
        TABLE,
    ),
    Mutant("a policy for one role", "ALTER POLICY tenant_wall ON clew.journal TO clew_app", TABLE),
    Mutant(
        "a policy that only restricts",
        f"{DROP}\nCREATE POLICY tenant_wall ON clew.journal AS RESTRICTIVE USING ({WALL}) WITH CHECK ({WALL})",
        TABLE,
    ),
    Mutant(
        "a policy that reads another setting",
        "ALTER POLICY tenant_wall ON clew.journal USING (tenant_id = current_setting('clew.tenant', true))",
        TABLE,
    ),
    Mutant(
        "a policy that wraps the setting",
        "ALTER POLICY tenant_wall ON clew.journal USING (tenant_id = (SELECT current_setting('clew.tenant_id', true)))",
        TABLE,
    ),
]

SHAPES: Final = [
    Mutant("a table owned by the application", "ALTER TABLE clew.journal OWNER TO clew_app", TABLE),
    Mutant("a table owned by a superuser", "ALTER TABLE clew.journal OWNER TO clew_admin", TABLE),
    Mutant("a table without tenants", "CREATE TABLE clew.note (words text)", "table clew.note"),
    Mutant(
        "rows without a tenant",
        "ALTER TABLE clew.journal DROP CONSTRAINT journal_pkey\nALTER TABLE clew.journal ALTER tenant_id DROP NOT NULL",
        TABLE,
    ),
    Mutant("a new table without a wall", NOTES, "table clew.note", leak=(FOREIGN_NOTES,)),
    Mutant(
        "a new partitioned table without a wall",
        "CREATE TABLE clew.note (tenant_id text NOT NULL, words text) PARTITION BY LIST (words)\n"
        "CREATE TABLE clew.note_1 PARTITION OF clew.note DEFAULT\n"
        "INSERT INTO clew.note VALUES ('alice', 'hers'), ('bob', 'his')\n"
        "GRANT SELECT ON clew.note TO clew_app",
        "table clew.note_1",
        leak=(FOREIGN_NOTES,),
    ),
    Mutant(
        "a policy in the right words of another language",
        "CREATE SCHEMA shadow\n"
        "CREATE FUNCTION shadow.current_setting(text, boolean) RETURNS text STABLE LANGUAGE sql AS $$ SELECT 'bob' $$\n"
        "GRANT USAGE ON SCHEMA shadow TO PUBLIC\n"
        "SET search_path = shadow, pg_catalog\n"
        f"ALTER POLICY tenant_wall ON clew.journal USING ({WALL}) WITH CHECK ({WALL})\n"
        "RESET search_path\n"
        "ALTER DATABASE {database} SET search_path = shadow, pg_catalog",
        TABLE,
        leak=LEAKS,
    ),
    Mutant(
        "a foreign table",
        "CREATE FOREIGN DATA WRAPPER elsewhere\n"
        "CREATE SERVER elsewhere FOREIGN DATA WRAPPER elsewhere\n"
        "CREATE FOREIGN TABLE clew.note (tenant_id text NOT NULL) SERVER elsewhere\n"
        "GRANT SELECT ON clew.note TO clew_app",
        "clew.note",
    ),
    Mutant(
        "a rule that answers with more",
        "CREATE TABLE public.kept AS SELECT * FROM clew.journal\n"
        "GRANT SELECT ON public.kept TO clew_owner\n"
        "CREATE RULE more AS ON INSERT TO clew.journal DO INSTEAD"
        " SELECT count(*) FROM public.kept WHERE tenant_id = 'bob'",
        TABLE,
        leak=("INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES ('alice', gen_random_uuid(), 'bait')",),
    ),
    Mutant(
        "a trigger with its owner's power",
        "CREATE FUNCTION public.spy() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN"
        " SELECT count(*)::text INTO NEW.kind FROM clew.journal WHERE tenant_id = 'bob'; RETURN NEW; END $$\n"
        "REVOKE EXECUTE ON FUNCTION public.spy FROM PUBLIC\n"
        "CREATE TRIGGER spy BEFORE INSERT ON clew.journal FOR EACH ROW EXECUTE FUNCTION public.spy()",
        TABLE,
        leak=(
            "INSERT INTO clew.journal (tenant_id, entry_id, kind)"
            " VALUES ('alice', gen_random_uuid(), 'bait') RETURNING kind",
        ),
    ),
]

RELATIVES: Final = [
    Mutant(
        "a child without a wall",
        "CREATE TABLE clew.heir () INHERITS (clew.journal)\n"
        "INSERT INTO clew.heir SELECT * FROM clew.journal\nGRANT SELECT ON clew.heir TO clew_app",
        "table clew.heir",
        leak=("SELECT count(*) FROM clew.heir WHERE tenant_id <> 'alice'",),
    ),
    Mutant(
        "a child without a wall in another schema",
        "CREATE TABLE public.heir () INHERITS (clew.journal)\n"
        "INSERT INTO public.heir SELECT * FROM clew.journal\nGRANT SELECT ON public.heir TO clew_app",
        "heir",
        leak=("SELECT count(*) FROM public.heir WHERE tenant_id <> 'alice'",),
    ),
    Mutant(
        "a child in another schema with a wall that lets all",
        "CREATE TABLE public.heir () INHERITS (clew.journal)\n"
        "INSERT INTO public.heir SELECT * FROM clew.journal\nGRANT SELECT ON public.heir TO clew_app\n"
        "ALTER TABLE public.heir ENABLE ROW LEVEL SECURITY\nALTER TABLE public.heir FORCE ROW LEVEL SECURITY\n"
        "CREATE POLICY tenant_wall ON public.heir USING (true)",
        "heir",
        leak=("SELECT count(*) FROM public.heir WHERE tenant_id <> 'alice'",),
    ),
    Mutant(
        "a parent in another schema",
        "CREATE TABLE public.forebear (kind text NOT NULL)\nALTER TABLE clew.journal INHERIT public.forebear\n"
        "GRANT SELECT ON public.forebear TO clew_app",
        "forebear",
        leak=("SELECT count(*) - 3 FROM public.forebear",),
    ),
    Mutant(
        "a copy in another schema",
        "CREATE TABLE public.kept AS SELECT * FROM clew.journal\nGRANT SELECT ON public.kept TO clew_app",
        "kept",
        leak=("SELECT count(*) FROM public.kept WHERE tenant_id <> 'alice'",),
    ),
    Mutant(
        "a copy in another schema of which one column may be read",
        "CREATE TABLE public.kept AS SELECT * FROM clew.journal\nGRANT SELECT (tenant_id) ON public.kept TO PUBLIC",
        "kept",
        leak=("SELECT count(tenant_id) FROM public.kept WHERE tenant_id <> 'alice'",),
    ),
]

KEYS: Final = [
    Mutant("a key across tenants", "CREATE UNIQUE INDEX across ON clew.journal (entry_id)", ACROSS),
    Mutant(
        "a key that begins elsewhere", "CREATE UNIQUE INDEX across ON clew.journal (entry_id, tenant_id)", "clew.across"
    ),
    Mutant(
        "a key of an expression",
        "CREATE UNIQUE INDEX across ON clew.journal (lower(entry_id::text))",
        ACROSS,
    ),
    Mutant(
        "an exclusion across tenants",
        "ALTER TABLE clew.journal ADD CONSTRAINT across EXCLUDE USING btree (entry_id WITH =)",
        "clew.across",
    ),
    Mutant(
        "a foreign key across tenants",
        "CREATE UNIQUE INDEX across ON clew.journal (entry_id)\n"
        "CREATE TABLE clew.note (tenant_id text NOT NULL, entry_id uuid REFERENCES clew.journal (entry_id))",
        "foreign key note_entry_id_fkey on clew.note",
    ),
    Mutant(
        "a foreign key from the tenant to something else",
        "CREATE UNIQUE INDEX odd ON clew.journal (tenant_id, kind, entry_id)\n"
        "CREATE TABLE clew.note (tenant_id text NOT NULL, whose text, entry_id uuid)\n"
        "ALTER TABLE clew.note ADD CONSTRAINT astray FOREIGN KEY (tenant_id, whose, entry_id)"
        " REFERENCES clew.journal (kind, tenant_id, entry_id)",
        "foreign key astray on clew.note",
    ),
]

GRANTS: Final = [
    Mutant(
        "truncation granted",
        "GRANT TRUNCATE ON clew.journal TO clew_app",
        TABLE,
        leak=("TRUNCATE clew.journal", "SELECT 1"),
    ),
    Mutant("truncation granted to all", "GRANT TRUNCATE ON clew.journal TO PUBLIC", TABLE),
    Mutant("references granted", "GRANT REFERENCES ON clew.journal TO clew_app", TABLE),
    Mutant("references granted on a column", "GRANT REFERENCES (entry_id) ON clew.journal TO clew_app", TABLE),
    Mutant("triggers granted", "GRANT TRIGGER ON clew.journal TO clew_app", TABLE),
    Mutant("the schema open to new things", "GRANT CREATE ON SCHEMA clew TO clew_app", "schema clew"),
]

MUTANTS: Final = [*POLICIES, *SHAPES, *RELATIVES, *KEYS, *GRANTS]


async def test_a_database_whose_walls_stand_opens(scratch: "Scratch", admin: psycopg.Connection) -> None:
    async with Database(scratch.app_url) as database, database.tenant("alice") as connection:
        row = await (await connection.execute("SELECT count(*) > 0 FROM clew.journal")).fetchone()
    assert row == (True,)


async def test_a_policy_that_narrows_the_wall_is_allowed(scratch: "Scratch", admin: psycopg.Connection) -> None:
    admin.execute("CREATE POLICY narrower ON clew.journal AS RESTRICTIVE USING (kind <> 'isolation')")
    async with Database(scratch.app_url) as database, database.tenant("alice") as connection:
        row = await (await connection.execute("SELECT count(*) FROM clew.journal")).fetchone()
    assert row == (0,)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
async def test_a_start_is_refused_over(
    mutant: Mutant, scratch: "Scratch", admin: psycopg.Connection, open_anyway: OpenAnyway
) -> None:
    await assert_noticed(mutant, admin, scratch.app_url, open_anyway)


@pytest.mark.parametrize(
    ("tear", "named"),
    [
        ("ALTER TABLE {} DISABLE ROW LEVEL SECURITY", "has row security off"),
        ("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY", "does not force row security on its owner"),
        ("DROP POLICY tenant_wall ON {}", "lacks the policy tenant_wall"),
        ("CREATE POLICY open_day ON {} USING (true)", "has the policy open_day beside the wall"),
    ],
)
async def test_the_refusal_names_every_table_whose_wall_is_down(
    scratch: "Scratch", admin: psycopg.Connection, tables: list[str], tear: str, named: str
) -> None:
    for table in tables:
        admin.execute(tear.format(table))
    with pytest.raises(WallDown) as refused:
        await Database(scratch.app_url).open()
    assert [table for table in tables if f"table {table} {named}" not in str(refused.value)] == []

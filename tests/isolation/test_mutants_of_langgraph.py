"""LangGraph's tables, where the rule differs: no tenant_id, and a tenant that is only the beginning of thread_id."""

from typing import TYPE_CHECKING, Final

import psycopg
import pytest

from .conftest import OpenAnyway
from .mutants import Mutant, assert_noticed

if TYPE_CHECKING:
    from ..conftest import Scratch

TABLE: Final = "clew_lg_00.checkpoints"
ADD: Final = f"INSERT INTO {TABLE} (thread_id, checkpoint_id, checkpoint)"
COUNT: Final = "SELECT count(*) FROM {} WHERE split_part(thread_id, '/', 1) <> 'alice'"
LEAKS: Final = (COUNT.format(TABLE),)

POLICIES: Final = [
    Mutant(
        "row security off",
        f"ALTER TABLE {TABLE} DISABLE ROW LEVEL SECURITY",
        f"table {TABLE} has row security off",
        leak=LEAKS,
    ),
    Mutant(
        "row security not forced",
        f"ALTER TABLE {TABLE} NO FORCE ROW LEVEL SECURITY",
        f"table {TABLE} does not force",
    ),
    Mutant("no policy", f"DROP POLICY tenant_wall ON {TABLE}", f"table {TABLE} lacks the policy"),
    Mutant(
        "a second policy",
        f"CREATE POLICY open_day ON {TABLE} USING (true)",
        f"table {TABLE} has the policy open_day",
        leak=LEAKS,
    ),
    Mutant(
        "a policy that lets all",
        f"ALTER POLICY tenant_wall ON {TABLE} USING (true)",
        f"table {TABLE} lacks the policy",
        leak=LEAKS,
    ),
    Mutant(
        "a policy that only compares beginnings",
        f"ALTER POLICY tenant_wall ON {TABLE} USING (starts_with(thread_id, current_setting('clew.tenant_id', true)))\n"
        f"{ADD} VALUES ('alicette/thread', '1', 'null')",
        f"table {TABLE} lacks the policy",
        leak=LEAKS,
    ),
    Mutant(
        "a policy that reads another part of the thread id",
        f"ALTER POLICY tenant_wall ON {TABLE}"
        " USING (split_part(thread_id, '/', 2) = current_setting('clew.tenant_id', true))\n"
        f"{ADD} VALUES ('bob/alice', '1', 'null')",
        f"table {TABLE} lacks the policy",
        leak=LEAKS,
    ),
    Mutant(
        "a policy that checks no writes",
        f"ALTER POLICY tenant_wall ON {TABLE} WITH CHECK (true)",
        f"table {TABLE} lacks the policy",
        leak=(f"{ADD} VALUES ('bob/thread', 'forged', 'null')", "SELECT 1"),
    ),
]

SHAPES: Final = [
    Mutant(
        "rows without a thread",
        f"ALTER TABLE {TABLE} DROP CONSTRAINT checkpoints_pkey\nALTER TABLE {TABLE} ALTER thread_id DROP NOT NULL",
        f"table {TABLE} allows rows without a tenant",
    ),
    Mutant(
        "a table without threads",
        "CREATE TABLE clew_lg_00.note (words text)",
        "table clew_lg_00.note has no column",
    ),
    Mutant(
        "a table with a tenant_id and no thread",
        "CREATE TABLE clew_lg_00.note (tenant_id text NOT NULL)",
        "table clew_lg_00.note has no column",
    ),
    Mutant(
        "a new table without a wall in a schema of its own",
        "CREATE SCHEMA clew_lg_01\nGRANT USAGE ON SCHEMA clew_lg_01 TO clew_app\n"
        f"CREATE TABLE clew_lg_01.note AS SELECT * FROM {TABLE}\nGRANT SELECT ON clew_lg_01.note TO clew_app",
        "table clew_lg_01.note has row security off",
        leak=(COUNT.format("clew_lg_01.note"),),
    ),
    Mutant(
        "a key across threads",
        f"CREATE UNIQUE INDEX across ON {TABLE} (checkpoint_id, thread_id)",
        "index clew_lg_00.across",
    ),
    Mutant(
        "a foreign key from a table of ours",
        "CREATE TABLE clew.note (tenant_id text NOT NULL, thread_id text, ns text, id text,"
        f" CONSTRAINT astray FOREIGN KEY (thread_id, ns, id) REFERENCES {TABLE})",
        "foreign key astray on clew.note",
    ),
    Mutant(
        "a table owned by the application",
        f"ALTER TABLE {TABLE} OWNER TO clew_app",
        f"table {TABLE} is owned by clew_app",
    ),
    Mutant(
        "truncation granted",
        f"GRANT TRUNCATE ON {TABLE} TO clew_app",
        f"table {TABLE} grants TRUNCATE",
        leak=(f"TRUNCATE {TABLE}", "SELECT 1"),
    ),
    Mutant("the schema open to new things", "GRANT CREATE ON SCHEMA clew_lg_00 TO clew_app", "schema clew_lg_00 lets"),
]

BESIDE: Final = [
    Mutant(
        "a child in another schema",
        f"CREATE TABLE public.heir () INHERITS ({TABLE})\n"
        f"INSERT INTO public.heir SELECT * FROM {TABLE}\nGRANT SELECT ON public.heir TO clew_app",
        "table public.heir",
        leak=(COUNT.format("public.heir"),),
    ),
    Mutant(
        "a superuser's view",
        f"CREATE VIEW public.seen AS SELECT * FROM {TABLE}\nGRANT SELECT ON public.seen TO clew_app",
        "view public.seen",
        leak=(COUNT.format("public.seen"),),
    ),
]

COPY: Final = Mutant(
    "a copy in another schema",
    f"CREATE TABLE public.kept AS SELECT * FROM {TABLE}\nGRANT SELECT ON public.kept TO clew_app",
    "table public.kept",
    leak=(COUNT.format("public.kept"),),
)
MUTANTS: Final = [*POLICIES, *SHAPES, *BESIDE, COPY]


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
async def test_a_start_is_refused_over(
    mutant: Mutant, scratch: "Scratch", admin: psycopg.Connection, open_anyway: OpenAnyway
) -> None:
    await assert_noticed(mutant, admin, scratch.app_url, open_anyway)

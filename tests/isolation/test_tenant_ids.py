"""Which names tenants may have, that no other name reaches the database, and that a stranger's name tells nothing."""

from typing import TYPE_CHECKING, Any

import pytest

from clew import Database, InvalidInput
from clew.ids import new_id
from clew.store.journal import Journal

if TYPE_CHECKING:
    from ..conftest import Scratch

BAD = {
    "empty": "",
    "too long": "a" * 129,
    "NUL": "a\0b",
    "a newline at the end": "alice\n",
    "a newline": "a\nb",
    "a space": "a b",
    "a space at the end": "alice ",
    "a tab": "a\tb",
    "an accent": "café",
    "a Cyrillic letter": "аlice",
    "an Arabic digit": "tenant٣",
    "a full-width letter": "ａlice",
    "a superscript": "a²",
    "a zero-width joiner": "a\u200db",
    "a lone surrogate": "a\ud800",
    "a quote": "a'b",
    "two quotes": "a''b",
    "a double quote": 'a"b',
    "a backslash": "a\\b",
    "a dollar": "$$a$$",
    "SQL": "x'; DROP TABLE clew.journal; --",
    "a slash": "a/b",
    "a percent": "%s",
    "a star": "*",
    "braces": "{tenant}",
    "nothing": None,
    "a number": 7,
    "a truth": True,
    "bytes": b"alice",
    "a list": ["alice"],
}
GOOD = [
    "a",
    "A.b_c-d:e",
    "7",
    ".",
    "..",
    "-",
    "--",
    ":",
    "_",
    "0" * 128,
    "a" * 128,
    "NULL",
    "DEFAULT",
    "public",
    "true",
]


class Untouchable:
    """Stands in for the pool, and fails whoever asks it for a connection."""

    async def getconn(self) -> Any:
        raise AssertionError("a connection was asked for")


@pytest.mark.parametrize("tenant_id", BAD.values(), ids=BAD)
async def test_a_bad_tenant_id_is_refused_before_any_connection_is_taken(
    monkeypatch: pytest.MonkeyPatch, database: Database, tenant_id: Any
) -> None:
    monkeypatch.setattr(database, "_pool", Untouchable())
    with pytest.raises(InvalidInput, match="is not a tenant id"):
        async with database.tenant(tenant_id):
            pass
    with pytest.raises(InvalidInput):
        await Journal(database).newest(tenant_id)
    with pytest.raises(AssertionError, match="a connection was asked for"):
        async with database.tenant("alice"):
            pass


class Sly(str):
    """Text that says one thing when it is checked and another when it is written."""

    def __str__(self) -> str:
        return "bob"


async def test_a_tenant_id_is_what_was_checked_even_if_it_pretends_to_be_another(database: Database) -> None:
    async with database.tenant(Sly("sly-alice")) as connection:
        row = await (await connection.execute("SELECT current_setting('clew.tenant_id')")).fetchone()
    assert row == ("sly-alice",)


@pytest.mark.parametrize("tenant_id", GOOD, ids=lambda name: name if len(name) < 20 else f"{name[0]}-times-{len(name)}")
async def test_a_good_tenant_id_stores_and_reads_its_own(database: Database, tenant_id: str) -> None:
    entry_id = await Journal(database).add(tenant_id, "named", {"tenant": tenant_id})
    newest = await Journal(database).newest(tenant_id, limit=1)
    assert [(entry.entry_id, entry.detail) for entry in newest] == [(entry_id, {"tenant": tenant_id})]


async def test_tenants_that_look_alike_are_different_tenants(database: Database) -> None:
    alike = ["Twin.1", "twin.1", "TWIN.1", "twin:1", "twin_1", "twin-1", "twin.1.", "twin", "a" * 127, "a" * 128]
    journal = Journal(database)
    for name in alike:
        await journal.add(name, "alike", {"tenant": name})
    for name in alike:
        entries = [entry for entry in await journal.newest(name) if entry.kind == "alike"]
        assert [entry.detail for entry in entries] == [{"tenant": name}]


async def test_anothers_tenant_id_and_one_that_nobody_has_answer_alike(scratch: "Scratch") -> None:
    """Asked as somebody else, a tenant with rows and a tenant that never was are the same."""
    async with Database(scratch.app_url) as database:
        await Journal(database).add("owner-of-rows", "kept", {})
        answers = []
        for asked in ("owner-of-rows", "nobody-at-all"):
            async with database.tenant("stranger") as connection:
                rows = await connection.execute("SELECT * FROM clew.journal WHERE tenant_id = %s", [asked])
                found = await rows.fetchall()
            refusal = await _refusal(database, asked)
            answers.append((found, refusal.replace(asked, "…")))
        assert answers[0] == answers[1]
        assert len(await Journal(database).newest("owner-of-rows")) == 1


async def _refusal(database: Database, tenant_id: str) -> str:
    with pytest.raises(Exception, match="row-level security") as refused:
        async with database.tenant("stranger") as connection:
            await connection.execute(
                "INSERT INTO clew.journal (tenant_id, entry_id, kind) VALUES (%s, %s, 'forged')", [tenant_id, new_id()]
            )
    return f"{type(refused.value).__name__}: {refused.value}"


async def test_the_same_entry_id_in_two_tenants_is_two_entries(database: Database) -> None:
    entry_id, journal = new_id(), Journal(database)
    for name in ("same-id-1", "same-id-2"):
        assert await journal.add(name, "first", {"whose": name}, entry_id=entry_id) == entry_id
        await journal.add(name, "again", {"whose": "nobody"}, entry_id=entry_id)
    for name in ("same-id-1", "same-id-2"):
        assert [entry.detail for entry in await journal.newest(name)] == [{"whose": name}]

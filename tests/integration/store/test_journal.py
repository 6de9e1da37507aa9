"""The journal: entries are added once, read newest first, and nothing that can't be stored is tried."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from clew import InvalidInput
from clew.ids import new_id
from clew.limits import JOURNAL_READ_MAX, JSON_MAX_DEPTH
from clew.store.journal import Journal


@pytest.fixture
async def journal(database):
    return Journal(database)


@pytest.fixture
def tenant():
    return f"journal-{new_id()}"


def nested(levels):
    value = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


async def test_entries_come_back_newest_first_and_unchanged(journal, tenant):
    details = [{"n": n, "text": 'naïve 数据 🧵 \\ " \n', "list": [None, True, 1.5, {}], "big": 2**80} for n in range(3)]
    ids = [await journal.add(tenant, f"kind {n}", detail) for n, detail in enumerate(details)]
    entries = await journal.newest(tenant)
    assert [entry.entry_id for entry in entries] == ids[::-1]
    assert [entry.detail for entry in entries] == details[::-1]
    assert [entry.kind for entry in entries] == ["kind 2", "kind 1", "kind 0"]
    assert all(abs(datetime.now(UTC) - entry.created_at) < timedelta(minutes=5) for entry in entries)


async def test_a_limit_takes_the_newest(journal, tenant):
    ids = [await journal.add(tenant, "k", {}) for _ in range(4)]
    assert [entry.entry_id for entry in await journal.newest(tenant, 2)] == ids[:1:-1]
    assert len(await journal.newest(tenant, JOURNAL_READ_MAX)) == 4


async def test_the_same_entry_id_again_is_one_entry_with_its_first_content(journal, tenant):
    entry_id = new_id()
    assert await journal.add(tenant, "first", {"n": 1}, entry_id=entry_id) == entry_id
    assert await journal.add(tenant, "second", {"n": 2}, entry_id=entry_id.upper()) == entry_id
    assert [(entry.kind, entry.detail) for entry in await journal.newest(tenant)] == [("first", {"n": 1})]


async def test_the_same_entry_id_in_two_tenants_is_two_entries(journal, tenant):
    entry_id = new_id()
    await journal.add(tenant, "mine", {}, entry_id=entry_id)
    await journal.add(f"{tenant}-b", "theirs", {}, entry_id=entry_id)
    assert [entry.kind for entry in await journal.newest(tenant)] == ["mine"]
    assert [entry.kind for entry in await journal.newest(f"{tenant}-b")] == ["theirs"]


async def test_the_deepest_nesting_allowed_is_stored(journal, tenant):
    await journal.add(tenant, "k", nested(JSON_MAX_DEPTH))
    assert (await journal.newest(tenant))[0].detail == nested(JSON_MAX_DEPTH)


CYCLE = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    "bad",
    [
        {"tenant_id": ""},
        {"tenant_id": "a b"},
        {"tenant_id": "a\n"},
        {"tenant_id": "x" * 129},
        {"tenant_id": None},
        {"kind": ""},
        {"kind": "nul\0"},
        {"kind": "\ud800"},
        {"kind": None},
        {"kind": b"bytes"},
        {"detail": {"a": "nul\0"}},
        {"detail": {"nul\0": 1}},
        {"detail": {"a": ["\udfff"]}},
        {"detail": {"\ud800": 1}},
        {"detail": {"a": math.inf}},
        {"detail": {"a": -math.inf}},
        {"detail": {"a": math.nan}},
        {"detail": {1: "number as key"}},
        {"detail": {"a": {1, 2}}},
        {"detail": {"a": b"bytes"}},
        {"detail": {"a": object()}},
        {"detail": {"a": datetime.now(UTC)}},
        {"detail": nested(JSON_MAX_DEPTH + 1)},
        {"detail": nested(900)},
        {"detail": CYCLE},
        {"detail": {"a": 10**5000}},
        {"detail": None},
        {"detail": ["a list"]},
        {"detail": "text"},
        {"entry_id": ""},
        {"entry_id": "not-an-id"},
        {"entry_id": 7},
        {"entry_id": "00000000-0000-4000-8000-000000000000"},
    ],
)
async def test_what_cannot_be_stored_is_invalid_input_and_stores_nothing(journal, tenant, bad):
    good = {"tenant_id": tenant, "kind": "k", "detail": {}}
    with pytest.raises(InvalidInput):
        await journal.add(**{**good, **bad})
    assert await journal.newest(tenant) == []
    await journal.add(**good)
    assert len(await journal.newest(tenant)) == 1


@pytest.mark.parametrize("limit", [0, -1, JOURNAL_READ_MAX + 1, 10**9, 10**30, 1.5, math.nan, "5", None, True, [1]])
async def test_a_limit_that_is_none_is_invalid_input(journal, tenant, limit):
    with pytest.raises(InvalidInput):
        await journal.newest(tenant, limit)

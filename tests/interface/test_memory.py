"""Tier 3: what is known, found by the very next search."""

from datetime import UTC, datetime, timedelta

import pytest

import clew

from .conftest import entry

KNOWN = [
    "Ana prefers green tea over coffee",
    "The quarterly board meeting is on Friday in Lisbon",
    "Invoices above 10,000 euros need two signatures",
    "Bob's dog Rex is afraid of thunderstorms",
    "The staging server was moved to Frankfurt last week",
]


@pytest.fixture
async def known(memory, tenant) -> list[str]:
    return [await memory.store(entry(tenant, text)) for text in KNOWN]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What does Ana drink?", 0),
        ("Where is the board meeting?", 1),
        ("who signs invoices", 2),
        ("Rex thunderstorms", 3),
        ("staging server location", 4),
    ],
)
async def test_the_best_comes_first(memory, tenant, known, query, expected):
    found = await memory.search(tenant, query)
    assert found[0].memory_id == known[expected]
    assert found[0].content == KNOWN[expected]


async def test_scores_are_set_and_fall(memory, tenant, known):
    found = await memory.search(tenant, "board meeting on Friday")
    scores = [entry.score for entry in found]
    assert all(type(score) is float for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1


async def test_what_is_not_a_search_result_has_no_score(memory, tenant, known):
    assert {entry.score for entry in await memory.list_by_tenant(tenant)} == {None}


async def test_results_are_whole_entries(memory, tenant):
    sent = entry(
        tenant, "Ana moved to Lisbon", agent_id="support", metadata={"speaker": "Ana", "own": {"a": [1, None]}}
    )
    stored = await memory.store(sent)
    [found] = await memory.search(tenant, "Lisbon", 1)
    assert isinstance(found, clew.MemoryEntry)
    assert stored == sent.memory_id == found.memory_id
    assert (found.tenant_id, found.agent_id, found.content) == (tenant, "support", "Ana moved to Lisbon")
    assert found.metadata == {"speaker": "Ana", "own": {"a": [1, None]}}


async def test_times_come_back_aware_in_utc(memory, tenant, known):
    for found in [*await memory.search(tenant, "tea"), *await memory.list_by_tenant(tenant)]:
        for moment in (found.created_at, found.updated_at):
            assert moment.utcoffset() == timedelta(0)
            assert abs(datetime.now(UTC) - moment) < timedelta(minutes=5)


async def test_an_entry_is_found_by_the_very_next_search(memory, tenant):
    for number, word in enumerate(["zebra", "quokka", "axolotl", "narwhal", "ocelot"]):
        stored = await memory.store(entry(tenant, f"Animal {number} in the zoo is the {word}"))
        assert (await memory.search(tenant, word))[0].memory_id == stored


async def test_another_process_finds_it_too_and_what_it_stores_is_found_here(memory, python, tenant):
    await memory.store(entry(tenant, "The vault code is written behind the painting"))
    done = python(f"""
import asyncio, clew
async def main():
    async with clew.open() as engine:
        print([entry.content for entry in await engine.memory.search({tenant!r}, "vault code")])
        await engine.context.store_memory({tenant!r}, "helper", "The gardener keeps the spare key")
asyncio.run(main())
""")
    assert done.returncode == 0, done.stderr
    assert "behind the painting" in done.stdout
    assert "gardener" in (await memory.search(tenant, "spare key"))[0].content


async def test_limit_is_a_limit_and_10_by_default(memory, tenant):
    await memory.store_many([entry(tenant, f"Fact number {number} about rain") for number in range(15)])
    assert len(await memory.search(tenant, "rain", 3)) == 3
    assert len(await memory.search(tenant, "rain")) == 10
    assert len(await memory.search(tenant, "rain", limit=100)) == 15


async def test_an_agent_id_narrows_the_search_without_shortening_it(memory, tenant):
    await memory.store_many([entry(tenant, f"Rain fell on day {day}", agent_id="weather") for day in range(30)])
    await memory.store_many([entry(tenant, f"Coffee number {n} was fine", agent_id="barista") for n in range(5)])
    found = await memory.search(tenant, "rain", agent_id="barista")
    assert len(found) == 5
    assert {entry.agent_id for entry in found} == {"barista"}
    assert {entry.agent_id for entry in await memory.search(tenant, "rain", 5)} == {"weather"}
    assert await memory.search(tenant, "rain", agent_id="nobody") == []


async def test_a_deleted_entry_is_gone_everywhere_and_the_rest_is_not(memory, tenant, known):
    assert await memory.delete(known[0], tenant) is True
    assert await memory.delete(known[0], tenant) is False
    assert known[0] not in [entry.memory_id for entry in await memory.search(tenant, KNOWN[0])]
    assert {entry.memory_id for entry in await memory.list_by_tenant(tenant)} == set(known[1:])


async def test_deleting_what_never_was_is_false(memory, tenant):
    assert await memory.delete("never-stored", tenant) is False


async def test_the_list_is_newest_first(memory, tenant):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    moments = [start + timedelta(days=day) for day in (3, 1, 2)]
    await memory.store_many([entry(tenant, f"{m:%d} January", created_at=m, updated_at=m) for m in moments])
    listed = await memory.list_by_tenant(tenant)
    assert [entry.content for entry in listed] == ["04 January", "03 January", "02 January"]
    assert [entry.created_at for entry in listed] == sorted(moments, reverse=True)
    assert [entry.content for entry in await memory.list_by_tenant(tenant, 1)] == ["04 January"]


async def test_the_list_holds_50_by_default(memory, tenant):
    batch = await memory.store_many([entry(tenant, f"Item {number}") for number in range(60)])
    listed = [entry.memory_id for entry in await memory.list_by_tenant(tenant)]
    assert listed == list(reversed(batch.stored))[:50]


async def test_the_same_id_again_changes_the_entry(memory, tenant):
    first = entry(tenant, "The launch is in May", memory_id="launch")
    await memory.store(first)
    await memory.store(entry(tenant, "The launch is in September", memory_id="launch"))
    [only] = await memory.list_by_tenant(tenant)
    assert (only.memory_id, only.content) == ("launch", "The launch is in September")
    assert only.updated_at >= only.created_at
    assert [found.content for found in await memory.search(tenant, "launch May")] == ["The launch is in September"]


async def test_an_exact_duplicate_is_not_stored_twice(memory, tenant):
    first = await memory.store(entry(tenant, "Ana prefers green tea"))
    again = await memory.store(entry(tenant, "Ana prefers green tea"))
    assert again == first
    assert len(await memory.list_by_tenant(tenant)) == 1
    await memory.store(entry(tenant, "Ana prefers black tea"))
    assert len(await memory.list_by_tenant(tenant)) == 2


async def test_an_entry_changed_to_say_what_another_says_no_longer_says_the_old(memory, tenant):
    await memory.store(entry(tenant, "old words", memory_id="m1"))
    await memory.store(entry(tenant, "new words", memory_id="m2"))
    await memory.store(entry(tenant, "new words", memory_id="m1"))
    assert {found.content for found in await memory.list_by_tenant(tenant)} == {"new words"}


async def test_a_search_twice_is_the_same_search(memory, tenant, known):
    assert await memory.search(tenant, "Friday") == await memory.search(tenant, "Friday")


async def test_a_tenant_without_entries_finds_nothing(memory, tenant):
    assert await memory.search(tenant, "anything") == []
    assert await memory.list_by_tenant(tenant) == []


async def test_turns_with_the_well_known_metadata_are_found_with_their_neighbours(memory, tenant):
    said = [("Ana", "I finally adopted a puppy!"), ("Bob", "What is the name?"), ("Ana", "Biscuit")]
    for position, (speaker, text) in enumerate(said):
        metadata = {
            "thread_id": "chat",
            "position": position,
            "speaker": speaker,
            "occurred_at": "2024-05-03T10:00:00Z",
        }
        await memory.store(entry(tenant, text, metadata={**metadata, "source": "chat"}))
    found = await memory.search(tenant, "What did Ana name her puppy?", 3)
    assert "Biscuit" in [entry.content for entry in found]
    assert found[0].metadata["thread_id"] == "chat"


@pytest.mark.parametrize(
    "query", ["...", "the of and", "   x", "'; DROP TABLE x; --", "a & b | !c:*", '"unclosed', "🦊", "京都"]
)
async def test_odd_queries_are_answered(memory, tenant, known, query):
    assert isinstance(await memory.search(tenant, query), list)


async def test_an_embedding_model_may_be_named(database, tenant):
    memory = clew.LongTermMemory(database, "static")
    await memory.setup()
    stored = await memory.store(entry(tenant, "named model"))
    assert (await memory.search(tenant, "model"))[0].memory_id == stored

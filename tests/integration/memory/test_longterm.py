"""Storing, finding, listing and deleting entries, as interface.md promises them."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.memory import LongTermMemory, candidates


async def contents(memory, tenant_id, query, **how):
    return [found.content for found in await memory.search(tenant_id, query, **how)]


async def test_an_entry_comes_back_whole_with_a_score_and_reasons(memory, entry, tenant_id):
    sent = entry("Q3 revenue was $5.2M", metadata={"source": "board note", "nested": {"a": [1, None, "ü"]}})
    assert await memory.store(sent) == sent.memory_id
    [found] = await memory.search(tenant_id, "revenue in Q3")
    assert found.model_dump(exclude={"score", "reasons", "updated_at"}) == sent.model_dump(
        exclude={"score", "reasons", "updated_at"}
    )
    assert 0 < found.score <= 1
    assert any("revenue" in reason for reason in found.reasons)
    assert [one.model_copy(update={"score": None, "reasons": None}) for one in [found]] == (
        await memory.list_by_tenant(tenant_id)
    )


async def test_a_tenant_without_entries_has_no_answer(memory, tenant_id):
    assert await memory.search(tenant_id, "anything") == []
    assert await memory.list_by_tenant(tenant_id) == []
    assert await memory.delete("nothing", tenant_id) is False


async def test_scores_fall_and_results_are_distinct(memory, entry, tenant_id):
    await memory.store_many(entry(f"Ana bought {n} green apples", metadata={"n": n}) for n in range(30))
    found = await memory.search(tenant_id, "how many apples did Ana buy?", limit=20)
    assert len({one.memory_id for one in found}) == 20
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


async def test_the_same_search_gives_the_same_answer(memory, entry, tenant_id, database):
    await memory.store_many(entry("the very same words", metadata={"n": n}) for n in range(12))
    first = [(one.memory_id, one.score) for one in await memory.search(tenant_id, "same words")]
    again = [(one.memory_id, one.score) for one in await LongTermMemory(database).search(tenant_id, "same words")]
    assert first == again


async def test_the_same_id_again_changes_the_entry(memory, entry, tenant_id):
    made = entry("Ana drinks tea", memory_id="drink")
    await memory.store(made)
    await memory.search(tenant_id, "tea")
    await memory.store(entry("Ana drinks coffee now", memory_id="drink"))
    [found] = await memory.search(tenant_id, "what does Ana drink?")
    assert found.content == "Ana drinks coffee now"
    assert found.created_at == made.created_at
    assert found.updated_at > made.updated_at
    assert "tea" not in " ".join(found.reasons)


async def test_an_exact_duplicate_is_stored_once(memory, entry, tenant_id):
    first = await memory.store(entry("Thanks!", metadata={"thread_id": "t", "position": 1}))
    assert await memory.store(entry(" Thanks! ", metadata={"thread_id": "t", "position": 1})) == first
    assert await memory.store(entry("Thanks!", metadata={"thread_id": "t", "position": 2})) != first
    assert await memory.store(entry("Thanks!", agent_id="other")) != first
    assert len(await memory.list_by_tenant(tenant_id)) == 3


async def test_a_change_into_a_duplicate_stays_an_entry_of_its_own(memory, entry, tenant_id):
    await memory.store(entry("one", memory_id="a"))
    await memory.store(entry("two", memory_id="b"))
    assert await memory.store(entry("one", memory_id="b")) == "b"
    assert [one.content for one in await memory.list_by_tenant(tenant_id)] == ["one", "one"]


async def test_many_writers_of_one_duplicate_store_one_entry(memory, entry, tenant_id):
    ids = await asyncio.gather(*(memory.store(entry("Everyone says this")) for _ in range(8)))
    assert len(set(ids)) == 1
    assert len(await memory.list_by_tenant(tenant_id)) == 1


async def test_a_deleted_entry_is_gone(memory, entry, tenant_id):
    memory_id = await memory.store(entry("Ana drinks tea"))
    await memory.search(tenant_id, "tea")
    assert await memory.delete(memory_id, tenant_id) is True
    assert await memory.delete(memory_id, tenant_id) is False
    assert await memory.search(tenant_id, "tea") == []
    assert await memory.store(entry("Ana drinks tea")) != memory_id


async def test_the_newest_are_listed_first(memory, entry, tenant_id):
    start = datetime(2024, 1, 1, tzinfo=UTC)
    await memory.store_many(entry(f"day {n}", created_at=start + timedelta(days=n)) for n in (2, 0, 3, 1))
    assert [one.content for one in await memory.list_by_tenant(tenant_id, limit=3)] == ["day 3", "day 2", "day 1"]


async def test_agents_see_their_own(memory, entry, tenant_id):
    await memory.store_many([entry("tea for one", agent_id="one"), entry("tea for two", agent_id="two")])
    assert await contents(memory, tenant_id, "tea", agent_id="two") == ["tea for two"]
    assert await contents(memory, tenant_id, "tea", agent_id="nobody") == []
    assert len(await contents(memory, tenant_id, "tea")) == 2


@pytest.mark.parametrize("limit", [0, -1, 10**9, True, 2.5, None, "10"])
async def test_a_limit_that_cannot_be_served_is_refused(memory, tenant_id, limit):
    with pytest.raises(InvalidInput, match="limit"):
        await memory.search(tenant_id, "tea", limit=limit)
    with pytest.raises(InvalidInput, match="limit"):
        await memory.list_by_tenant(tenant_id, limit=limit)


@pytest.mark.parametrize("query", ["", "  ", "a\0b", "\ud800", None, 7, "x" * 2_000_000])
async def test_a_query_that_asks_nothing_is_refused(memory, tenant_id, query):
    with pytest.raises(InvalidInput, match="query"):
        await memory.search(tenant_id, query)


@pytest.mark.parametrize("query", ["the", "?!", "😀", "%s %(x)s {scope} {}", "'; DROP TABLE clew.memories; --", "日本"])
async def test_any_other_query_is_answered(memory, entry, tenant_id, query):
    await memory.store(entry())
    assert await contents(memory, tenant_id, query) == ["Ana drinks tea"]


async def test_five_megabytes_are_stored_and_found(memory, entry, tenant_id):
    text = "zebras graze " + "and more " * 600_000
    await memory.store(entry(text))
    [found] = await memory.search(tenant_id, "zebras")
    assert found.content == text


async def test_another_process_finds_what_was_just_stored(memory, entry, tenant_id, settings):
    await memory.store(entry("The code word is heliotrope"))
    script = (
        "import asyncio, sys\nfrom clew.memory import LongTermMemory\n"
        "async def main():\n"
        "    async with LongTermMemory() as memory:\n"
        f"        print((await memory.search('{tenant_id}', 'code word'))[0].content)\n"
        "asyncio.run(main())"
    )
    environment = {"CLEW_DATA_DIR": str(settings.data_dir), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "The code word is heliotrope", done.stderr


async def test_memory_opens_itself_and_closes_what_it_opened(scratch, entry, tenant_id):
    memory = LongTermMemory(scratch.app_url)
    await memory.store(entry())
    assert len(await memory.search(tenant_id, "tea")) == 1
    await memory.close()
    async with LongTermMemory(scratch.app_url) as again:
        assert len(await again.list_by_tenant(tenant_id)) == 1


class Backwards:
    """A reranker that likes last what the search likes first."""

    name = "backwards"

    async def rerank(self, query, texts):
        return list(range(len(texts)))


class Failing:
    name = "failing"

    async def rerank(self, query, texts):
        raise Unavailable("no answer")


async def test_a_reranker_puts_the_answer_into_its_order_and_scores_still_fall(database, memory, entry, tenant_id):
    await memory.store_many([entry("tea"), entry("coffee"), entry("water")])
    plain = await memory.search(tenant_id, "tea")
    found = await LongTermMemory(database, reranker=Backwards()).search(tenant_id, "tea", limit=2)
    assert [one.content for one in found] == [one.content for one in plain[::-1]][:2]
    assert found[0].score >= found[1].score
    assert "reranked by backwards" in found[0].reasons


async def test_a_reranker_that_fails_is_skipped(database, memory, entry, tenant_id):
    await memory.store_many([entry("tea"), entry("coffee")])
    found = await LongTermMemory(database, reranker=Failing()).search(tenant_id, "tea")
    assert [one.content for one in found] == ["tea", "coffee"]
    assert "not reranked: failing: no answer" in found[0].reasons


async def test_forgetting_a_thread_forgets_what_was_remembered_from_it_and_no_more(database, memory, entry, tenant_id):
    said = {"thread_id": "t", "position": 1}
    await memory.store_many([entry("tea", metadata=said), entry("coffee", metadata={"thread_id": "u"}), entry("water")])
    async with database.tenant(tenant_id) as connection:
        assert await memory.forget_thread(connection, tenant_id, "t") == 1
    assert sorted(one.content for one in await memory.search(tenant_id, "tea")) == ["coffee", "water"]


@pytest.fixture
def choosing(monkeypatch):
    """Candidates are chosen first, as in a large scope."""
    monkeypatch.setattr(candidates, "RANK_ALL_MAX", 0)
    monkeypatch.setattr(candidates, "CHOSEN_EACH", 5)


async def test_a_large_scope_is_chosen_from_first(memory, entry, tenant_id, choosing):
    await memory.store_many(
        entry(
            f"turn {n} about {'whales' if n == 17 else 'weather'}", metadata={"thread_id": str(n // 10), "position": n}
        )
        for n in range(60)
    )
    found = await memory.search(tenant_id, "who spoke of whales?")
    assert found[0].content == "turn 17 about whales"
    assert len(found) == 10


async def test_a_filter_never_makes_an_answer_short(memory, entry, tenant_id, choosing):
    await memory.store_many(entry(f"tea number {n}", metadata={"kind": n % 20, "speaker": "Ana"}) for n in range(400))
    for how in (
        {"filters": {"metadata.kind": 7}},
        {"filters": [("metadata.kind", "in", [7]), ("speaker", "=", "Ana")]},
    ):
        found = await memory.search(tenant_id, "coffee", limit=20, **how)
        assert len(found) == 20
        assert {one.metadata["kind"] for one in found} == {7}
    assert len(await memory.search(tenant_id, "coffee", limit=300)) == 300


async def test_a_month_is_found_among_many(memory, entry, tenant_id, choosing):
    await memory.store_many(
        entry(f"fair day {n}", metadata={"occurred_at": f"20{10 + n // 12}-{n % 12 + 1:02d}-03", "thread_id": str(n)})
        for n in range(120)
    )
    found = await memory.search(tenant_id, "What happened in May 2016 at the fair?", limit=1)
    assert found[0].metadata["occurred_at"] == "2016-05-03"
    assert len(await memory.search(tenant_id, "the fair in December 2019", limit=5)) == 5
    assert "-10-" in (await memory.search(tenant_id, "the fair in October", limit=1))[0].metadata["occurred_at"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"speaker": "Ana"}, {0, 1}),
        ({"speaker": ["Ana", "Cy"]}, {0, 1, 3}),
        ([("speaker", "!=", "Ana")], {2, 3, 4}),
        ([("speaker", "exists", False)], {4}),
        ([("occurred_at", ">=", "2024-02-01"), ("occurred_at", "<", datetime(2024, 3, 2, tzinfo=UTC))], {1, 2}),
        ({"thread_id": "t1", "source": "mail"}, {0}),
        ([("metadata.tags", "=", ["x"])], {3}),
        ([("metadata.n", "in", [1, 4])], {1, 4}),
        ([("metadata.tags", "exists")], {3}),
        ([("metadata.n", "!=", 1)], {0, 2, 3, 4}),
        ({"agent_id": "agent", "metadata.missing": None}, set()),
    ],
    ids=str,
)
async def test_filters_choose_by_metadata(memory, entry, tenant_id, filters, expected):
    rows = [
        {"speaker": "Ana", "occurred_at": "2024-01-01", "thread_id": "t1", "source": "mail"},
        {"speaker": "Ana", "occurred_at": "2024-02-01"},
        {"speaker": "Bo", "occurred_at": "2024-03-01", "thread_id": "t1"},
        {"speaker": "Cy", "tags": ["x"]},
        {},
    ]
    await memory.store_many(entry("tea", metadata={"n": n, **metadata}) for n, metadata in enumerate(rows))
    found = await memory.search(tenant_id, "tea", filters=filters)
    assert {one.metadata["n"] for one in found} == expected


async def test_every_refusal_is_one_of_ours(memory, tenant_id):
    for call in (
        memory.search("no/such", "q"),
        memory.delete("x\0", tenant_id),
        memory.delete(7, tenant_id),
        memory.list_by_tenant(""),
        memory.store(entry=None),
        memory.search(tenant_id, "q", agent_id=5),
        memory.search(tenant_id, "q", filters=[("x", "y", "z")]),
    ):
        with pytest.raises(ClewError):
            await call

"""What can't be understood is refused with a reason, and nothing is stored."""

from datetime import datetime

import pytest

from clew.errors import InvalidInput

GOOD = {"name": "n", "episode_body": "Ana lives in Paris."}


@pytest.mark.parametrize(
    "changed",
    [
        {"name": ""},
        {"name": None},
        {"name": "x" * 2000},
        {"episode_body": ""},
        {"episode_body": "  \n"},
        {"episode_body": None},
        {"episode_body": 7},
        {"episode_body": "a\0b"},
        {"episode_body": "a\ud800b"},
        {"episode_body": []},
        {"episode_body": [3]},
        {"episode_body": {"role": "nobody", "content": "x"}},
        {"episode_body": {"role": "system", "content": "You are kind."}},
        {"episode_body": "{broken", "source": "json"},
        {"episode_body": "[" * 100_000, "source": "json"},
        {"episode_body": {"a": float("nan")}, "source": "json"},
        {"episode_body": {"a": frozenset()}, "source": "json"},
        {"source": "carrier pigeon"},
        {"source": None},
        {"source_description": 4},
        {"reference_time": "soon"},
        {"reference_time": 17},
        {"tenant_id": "no/slash"},
        {"tenant_id": ""},
        {"thread_id": 5},
        {"message_id": ""},
    ],
    ids=lambda value: str(value)[:60],
)
async def test_an_episode_that_is_none_is_refused(knowledge, tenant_id, changed):
    sent = {"tenant_id": tenant_id, **GOOD, **changed}
    with pytest.raises(InvalidInput):
        await knowledge.add_episode(sent.pop("name"), sent.pop("episode_body"), **sent)
    assert await knowledge.search("Ana", tenant_id=tenant_id) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"query": ""},
        {"query": None},
        {"query": "a\0"},
        {"limit": 0},
        {"limit": 10_000},
        {"limit": True},
        {"as_of": "never"},
        {"known_at": 5},
        {"tenant_id": "a b"},
    ],
    ids=str,
)
async def test_a_search_that_is_none_is_refused(knowledge, tenant_id, changed):
    sent = {"query": "x", "tenant_id": tenant_id, **changed}
    with pytest.raises(InvalidInput):
        await knowledge.search(sent.pop("query"), **sent)


async def test_other_calls_refuse_too(knowledge, tenant_id):
    for call in (
        knowledge.history("", tenant_id=tenant_id),
        knowledge.history("the", tenant_id=tenant_id),
        knowledge.undo("not-an-id", tenant_id=tenant_id),
        knowledge.forget(tenant_id=tenant_id),
        knowledge.forget(tenant_id=tenant_id, episode_id="x"),
        knowledge.changes(tenant_id=tenant_id, limit=0),
    ):
        with pytest.raises(InvalidInput):
            await call


async def test_times_without_a_zone_are_in_utc_and_text_will_do(knowledge, tenant_id):
    told = await knowledge.add_episode(**GOOD, reference_time=datetime(2026, 1, 5), tenant_id=tenant_id)
    assert told.facts[0].valid_at.isoformat() == "2026-01-05T00:00:00+00:00"
    assert await knowledge.search("Ana", tenant_id=tenant_id, as_of="2026-01-06")
    assert await knowledge.search("Ana", tenant_id=tenant_id, as_of="2026-01-04") == []


@pytest.mark.parametrize(
    "text", ["?", "🙂", "a" * 5_000, "is is is is", "not not, not", "$", "of of of", "'s 's is 's", "—" * 50]
)
async def test_odd_text_is_stored_or_says_nothing_and_never_breaks(knowledge, tenant_id, text):
    told = await knowledge.add_episode("odd", text, tenant_id=tenant_id)
    assert told.invalidated == []

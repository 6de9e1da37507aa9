"""Bodies that somebody might send, embedders that fail, writers that meet: refused clearly, or stored whole."""

import asyncio

import pytest

from clew import Database
from clew.errors import ClewError, InvalidInput, Unavailable
from clew.ids import new_id
from clew.memory.knowledge import KnowledgeBase
from clew.models import StaticEmbedder

from .conftest import day


def nested(depth: int) -> object:
    value: object = "Ana"
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("Ana lives in Par\0is.", "text"),
        ("Ana lives in \udcff.", "text"),
        ({"role": "user", "content": "a\0b"}, "text"),
        ({"role": "user", "content": "a\ud800b"}, "text"),
        ({"role": "user", "content": "Ana sings.", "name": "a\0"}, "text"),
        ("Ana lives in Paris. " * (1024 * 1024), "text"),
        ([{"role": "user", "content": "Ana sings. " * 1_000_000}] * 3, "text"),
        (nested(100), "json"),
        ('{"a":' * 90 + "1" + "}" * 90, "json"),
        ('{"price": 1e400}', "json"),
        ({"price": float("inf")}, "json"),
        ({"price": 10**400}, "json"),
        ('{"a": "\\ud800"}', "json"),
        ('{"a": "\\u0000"}', "json"),
        ({"a\0": 1}, "json"),
        ({1: "x"}, "json"),
        ("", "json"),
        ("", "message"),
        (b"Ana lives in Paris.", "text"),
        ({"role": "user"}, "message"),
        (frozenset(), "text"),
    ],
    ids=lambda value: str(value)[:30].encode("ascii", "backslashreplace").decode(),
)
async def test_a_body_that_cannot_be_kept_is_refused_and_nothing_is_stored(knowledge, tenant_id, body, source):
    with pytest.raises(InvalidInput):
        await knowledge.add_episode("odd", body, source=source, tenant_id=tenant_id)
    assert await knowledge.episodes(tenant_id=tenant_id) == []


@pytest.mark.parametrize("body", ["...", "?!", "-----", "(((", "“”", "\u200b\u200b", "🙂🙂", "# \n- \n* "])
async def test_a_body_of_marks_only_says_nothing_or_is_refused(knowledge, tenant_id, body):
    try:
        told = await knowledge.add_episode("marks", body, tenant_id=tenant_id)
    except ClewError:
        return
    assert (told.facts, told.invalidated) == ([], [])


async def test_a_long_document_is_read(knowledge, tenant_id):
    body = "\n".join(f"Part{n} costs ${n}." for n in range(1_500))
    told = await knowledge.add_episode("long", body, tenant_id=tenant_id)
    assert len(told.facts) == 1_500
    [fact] = await knowledge.history("Part1499", tenant_id=tenant_id)
    assert fact.object == "$1499"


class _Failing(StaticEmbedder):
    name = "failing"

    async def embed(self, texts, *, purpose="document"):
        raise Unavailable("the embedder is away")


async def test_an_embedder_that_fails_stores_nothing(database, tenant_id):
    room = KnowledgeBase(database, _Failing())
    with pytest.raises(Unavailable):
        await room.add_episode("chat", "Ana lives in Paris.", tenant_id=tenant_id)
    assert await room.episodes(tenant_id=tenant_id) == []
    assert (
        len((await KnowledgeBase(database).add_episode("chat", "Ana lives in Paris.", tenant_id=tenant_id)).facts) == 1
    )


async def test_eight_writers_to_one_slot_leave_one_open_fact(settings, server, tenant_id):
    async with Database(settings=settings, pool_size=8) as database:
        rooms = [KnowledgeBase(database) for _ in range(8)]

        async def tell(n):
            for step in range(4):
                await rooms[n].add_episode(f"w{n}", f"Headcount is {100 + 10 * n + step}.", tenant_id=tenant_id)

        await asyncio.gather(*(tell(n) for n in range(8)))
        facts = await rooms[0].history("headcount", tenant_id=tenant_id)
        assert len(facts) == 32
        assert len([fact for fact in facts if fact.invalid_at is None and fact.expired_at is None]) == 1


async def test_forgetting_what_is_not_there_is_nothing(knowledge, tenant_id):
    await knowledge.add_episode("a", "Ana lives in Paris.", tenant_id=tenant_id, reference_time=day(1))
    for named in ({"episode_id": new_id()}, {"thread_id": "nowhere"}, {"episode_ids": []}, {"episode_ids": [new_id()]}):
        gone = await knowledge.forget(tenant_id=tenant_id, **named)
        assert (gone.episodes, gone.facts, gone.kept) == ([], [], [])
    assert len(await knowledge.history("Ana", tenant_id=tenant_id)) == 1


@pytest.mark.parametrize(
    ("first", "second", "old", "new"),
    [
        ("Q3 revenue was $4.8M.", "Q3 revenue was $5.2M, not $4.8M.", "$4.8M", "$5.2M"),
        ("The meeting is on Thursday.", "The meeting is on Friday, not Thursday.", "Thursday", "Friday"),
        ("My flight leaves at 8:15.", "My flight leaves at 9:40.", "8:15", "9:40"),
        ("I live in Porto.", "I live in Lisbon now, not Porto.", "Porto", "Lisbon"),
        ("I work at Acme.", "I work at Beta now.", "Acme", "Beta"),
        ("I drive a Volvo.", "I don't drive a Volvo anymore.", "a Volvo", "a Volvo"),
        ("Ana lives in Paris.", "Ana moved to Lisbon last month.", "Paris", "Lisbon"),
        ("The price is $20.", "The price went up to $25 yesterday.", "$20", "$25"),
    ],
)
@pytest.mark.parametrize("name", [None, "Ana"])
async def test_what_write_back_tells_closes_what_it_denies(knowledge, tenant_id, first, second, old, new, name):
    tenant = f"{tenant_id}-{name}"
    for n, text in enumerate((first, second)):
        said = {"role": "user", "content": text} | ({"name": name} if name else {})
        told = await knowledge.add_episode(f"m{n}", said, tenant_id=tenant, message_id=f"m{n}", confidence=0.95)
    assert [fact.object for fact in told.invalidated] == [old]
    assert told.facts[0].object == new
    [now, *_] = await knowledge.search(second, tenant_id=tenant)
    assert (now.object, now.superseded) == (new, False)


async def test_what_was_said_of_an_earlier_time_does_not_close_what_holds(knowledge, tenant_id):
    """The control: only what says that it lasts is newer than what was told without a date."""
    for n, text in enumerate(("The price was $5 last month.", "The price was raised to $6 in 2019.")):
        tenant = f"{tenant_id}-{n}"
        await knowledge.add_episode("a", "The price is $20.", tenant_id=tenant)
        told = await knowledge.add_episode("b", text, tenant_id=tenant)
        assert told.invalidated == []
        [now] = [fact for fact in await knowledge.history("price", tenant_id=tenant) if not fact.superseded]
        assert now.object == "$20"

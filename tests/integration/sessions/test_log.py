"""A thread is what was appended to it, in order, until it is cleared."""

import asyncio
import json
from pathlib import Path

import psycopg
import pytest

from clew import Conflict, Database, InvalidInput, Message, Misconfigured, NotFound, Settings
from clew.ids import new_id
from clew.messages import to_openai
from clew.sessions import SessionStore
from clew.tokens import count_message

from .conftest import texts, user

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"b":1, "a": 2}'}}
CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"content": [{"type": "text", "text": "What is in this?"}, PICTURE], "role": "user"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "A cat. 🐈"},
    {"role": "assistant", "content": "", "refusal": None, "x_vendor": {"z": 1, "a": [1.0, 10**30]}},
]


async def test_what_goes_in_comes_out_byte_for_byte(store: SessionStore, tenant: str):
    ids = await store.append("t", CONVERSATION, tenant_id=tenant)
    assert len(set(ids)) == len(CONVERSATION)
    assert json.dumps(await store.get_session_messages("t", tenant_id=tenant)) == json.dumps(CONVERSATION)


async def test_rows_carry_position_id_tokens_and_time(store: SessionStore, tenant: str):
    ids = await store.append("t", CONVERSATION, tenant_id=tenant)
    rows = await store.read("t", tenant_id=tenant)
    assert [row.position for row in rows] == [1, 2, 3, 4, 5]
    assert [row.message_id for row in rows] == ids
    assert [row.tokens for row in rows] == [count_message(message) for message in CONVERSATION]
    assert to_openai(row.message for row in rows) == CONVERSATION
    assert all(row.created_at.utcoffset().total_seconds() == 0 for row in rows)
    assert await store.get_message(ids[3], tenant_id=tenant) == rows[3]


async def test_the_last_messages_come_in_order_and_earlier_ones_by_position(store: SessionStore, tenant: str):
    await store.append("t", [user(str(n)) for n in range(1, 121)], tenant_id=tenant)
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == [str(n) for n in range(71, 121)]
    assert texts(await store.get_session_messages("t", 2, tenant_id=tenant)) == ["119", "120"]
    assert [row.position for row in await store.read("t", 3, before=71, tenant_id=tenant)] == [68, 69, 70]
    assert await store.read("t", 3, before=1, tenant_id=tenant) == []


async def test_neutral_messages_and_dicts_may_be_mixed(store: SessionStore, tenant: str):
    ours = Message(role="user", content="ours", id="m-1", metadata={"lang": "de"})
    await store.append("t", [user("dict"), ours], tenant_id=tenant)
    assert (await store.read("t", tenant_id=tenant))[1].message == ours
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["dict", "ours"]


async def test_the_default_tenant_needs_no_name(store: SessionStore):
    await store.append("only-here", user("hi"))
    assert texts(await store.get_session_messages("only-here", tenant_id="default")) == ["hi"]
    await store.clear_session("only-here")
    assert await store.get_session_messages("only-here") == []


async def test_nothing_appended_is_nothing_stored(store: SessionStore, tenant: str):
    assert await store.append("t", [], tenant_id=tenant) == []
    assert await store.threads(tenant_id=tenant) == []


async def test_the_same_key_and_content_is_one_append(store: SessionStore, tenant: str):
    both = [user("a"), user("b")]
    first = await store.append("t", both, tenant_id=tenant, idempotency_key="k")
    await store.append("t", user("between"), tenant_id=tenant)
    again = await store.append("t", both, tenant_id=tenant, idempotency_key="k")
    assert again == first
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["a", "b", "between"]


async def test_the_same_key_with_other_content_is_a_conflict_and_stores_nothing(store: SessionStore, tenant: str):
    await store.append("t", user("a"), tenant_id=tenant, idempotency_key="k")
    with pytest.raises(Conflict, match="idempotency_key: this key already stands for an append with other content"):
        await store.append("t", user("b"), tenant_id=tenant, idempotency_key="k")
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["a"]


async def test_a_key_belongs_to_its_thread_and_tenant(store: SessionStore, tenant: str, other_tenant: str):
    for place in (("t", tenant), ("u", tenant), ("t", other_tenant)):
        await store.append(place[0], user(f"{place}"), tenant_id=place[1], idempotency_key="k")
        assert texts(await store.get_session_messages(place[0], tenant_id=place[1])) == [f"{place}"]


async def test_twenty_at_once_with_one_key_are_one_append(store: SessionStore, tenant: str):
    sent = [store.append("t", user("once"), tenant_id=tenant, idempotency_key="k") for _ in range(20)]
    assert len({ids[0] for ids in await asyncio.gather(*sent)}) == 1
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["once"]


async def test_a_bad_message_among_good_ones_stores_none_of_them(store: SessionStore, tenant: str):
    await store.append("t", user("before"), tenant_id=tenant)
    with pytest.raises(InvalidInput, match=r"messages\[2\]\.content"):
        await store.append("t", [user("a"), user("b"), user("c\0")], tenant_id=tenant, idempotency_key="k")
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["before"]
    await store.append("t", user("after"), tenant_id=tenant, idempotency_key="k")
    assert [row.position for row in await store.read("t", tenant_id=tenant)] == [1, 2]


async def test_five_megabytes_go_in_and_come_out(store: SessionStore, tenant: str):
    big = "five megabytes, 🐈 included. " * 180_000
    await store.append("t", user(big), tenant_id=tenant)
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == [big]
    assert [row.position for row in await store.search("t", "INCLUDED", tenant_id=tenant)] == [1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"thread_id": ""}, "thread_id: must not be empty"),
        ({"thread_id": "x" * 257}, "thread_id: is 257 characters long; the limit is 256"),
        ({"thread_id": "a\0"}, "thread_id: holds a NUL"),
        ({"thread_id": "\ud800"}, "thread_id: holds a lone surrogate"),
        ({"thread_id": 7}, "thread_id: expected text, got int"),
        ({"thread_id": None}, "thread_id: expected text, got NoneType"),
        ({"tenant_id": "a/b"}, "tenant_id: 'a/b' is not a tenant id"),
        ({"limit": 0}, "limit: 0 is not a whole number from 1 to 10,000"),
        ({"limit": -1}, "limit: -1 is not a whole number"),
        ({"limit": 10_001}, "limit: 10001 is not a whole number"),
        ({"limit": "5"}, "limit: expected a whole number, got str"),
        ({"limit": True}, "limit: expected a whole number, got bool"),
        ({"limit": None}, "limit: expected a whole number, got NoneType"),
    ],
)
async def test_a_read_that_makes_no_sense_is_told_why(store: SessionStore, arguments: dict, words: str):
    with pytest.raises(InvalidInput, match=words):
        await store.get_session_messages(**{"thread_id": "t", **arguments})
    if "limit" not in arguments:
        for call in (store.append, store.search):
            with pytest.raises(InvalidInput, match=words):
                await call(
                    **{"thread_id": "t", **({"messages": []} if call == store.append else {"query": "x"}), **arguments}
                )


@pytest.mark.parametrize(
    ("key", "words"), [("", "must not be empty"), ("k" * 257, "limit is 256"), (7, "expected text")]
)
async def test_a_key_that_makes_no_sense_is_told_why(store: SessionStore, key: object, words: str):
    with pytest.raises(InvalidInput, match=f"idempotency_key: .*{words}"):
        await store.append("t", user("x"), idempotency_key=key)


async def test_a_message_id_that_leads_nowhere_is_not_found(store: SessionStore, tenant: str, other_tenant: str):
    (theirs,) = await store.append("t", user("x"), tenant_id=other_tenant)
    absent = new_id()
    said = []
    for message_id in (theirs, absent):
        with pytest.raises(NotFound) as caught:
            await store.get_message(message_id, tenant_id=tenant)
        said.append(str(caught.value).replace(message_id, "…"))
    assert said[0] == said[1]
    with pytest.raises(InvalidInput, match="message_id: 'nonsense' is not an id"):
        await store.get_message("nonsense")


async def test_search_finds_every_word_in_any_case_newest_first(store: SessionStore, tenant: str):
    said = ["Q3 revenue was $5.2M", "REVENUE of Q4?", "the Straße is long", "第三季度收入增长", "100% of q3_x"]
    await store.append("t", [user(text) for text in said], tenant_id=tenant)
    await store.append("t", CONVERSATION, tenant_id=tenant)
    await store.append("other", user("q3 revenue elsewhere"), tenant_id=tenant)

    async def found(query: str, limit: int = 10) -> list[int]:
        return [row.position for row in await store.search("t", query, limit, tenant_id=tenant)]

    assert await found("revenue") == [2, 1]
    assert await found("revenue", limit=1) == [2]
    assert await found("revenue q3") == [1]
    assert await found('"q3 revenue"') == [1]
    assert await found('"revenue q3"') == []
    assert await found("STRASSE") == [3]
    assert await found("收入") == [4]
    assert await found("%") == [5]
    assert await found("q3_x") == [5]
    assert await found("look") == [8], "a tool's name is a word, too"
    assert await found("cat") == [9]


@pytest.mark.parametrize(
    ("query", "words"),
    [("", "holds no words"), ("  ", "holds no words"), ("a " * 33, "holds 33 words"), ("a\0", "holds a NUL")],
)
async def test_a_query_that_makes_no_sense_is_told_why(store: SessionStore, query: str, words: str):
    with pytest.raises(InvalidInput, match=f"query: {words}"):
        await store.search("t", query)


async def test_threads_are_listed_with_their_size_the_latest_first(store: SessionStore, tenant: str):
    for thread in ("a", "b", "c"):
        await store.append(thread, [user("one"), user("two")], tenant_id=tenant)
    await store.append("a", user("three"), tenant_id=tenant)
    threads = await store.threads(tenant_id=tenant)
    assert [(thread.thread_id, thread.message_count) for thread in threads] == [("a", 3), ("c", 2), ("b", 2)]
    assert threads[0].token_count == sum(row.tokens for row in await store.read("a", tenant_id=tenant))
    assert threads[0].updated_at > threads[1].updated_at >= threads[1].created_at
    assert [t.thread_id for t in await store.threads(tenant_id=tenant, limit=1, offset=1)] == ["c"]
    for bad in ({"limit": 0}, {"limit": 1_001}, {"offset": -1}):
        with pytest.raises(InvalidInput, match="is not a whole number"):
            await store.threads(tenant_id=tenant, **bad)


async def test_clearing_forgets_the_thread_and_says_what_went(store: SessionStore, tenant: str):
    await store.append("t", [user("a"), user("b")], tenant_id=tenant, idempotency_key="k")
    await store.append("kept", user("c"), tenant_id=tenant)
    tokens = (await store.threads(tenant_id=tenant))[1].token_count
    asked = []

    async def forget_notes(connection, tenant_id: str, thread_id: str) -> int:
        asked.append((tenant_id, thread_id))
        return 7

    gone = await store.forget_session("t", tenant_id=tenant, also={"notes": forget_notes})
    assert (gone.messages, gone.tokens, gone.checkpoints, gone.also) == (2, tokens, 0, {"notes": 7})
    assert asked == [(tenant, "t")]
    assert await store.get_session_messages("t", tenant_id=tenant) == []
    assert [thread.thread_id for thread in await store.threads(tenant_id=tenant)] == ["kept"]
    assert (await store.forget_session("t", tenant_id=tenant)).messages == 0
    assert await store.clear_session("t", tenant_id=tenant) is None
    await store.append("t", user("anew"), tenant_id=tenant, idempotency_key="k")
    assert [row.position for row in await store.read("t", tenant_id=tenant)] == [1]


async def test_when_a_part_of_clearing_fails_nothing_is_forgotten(store: SessionStore, tenant: str):
    await store.append("t", user("a"), tenant_id=tenant)

    async def fail(connection, tenant_id: str, thread_id: str) -> int:
        raise NotFound("no notes")

    with pytest.raises(NotFound):
        await store.forget_session("t", tenant_id=tenant, also={"notes": fail})
    assert texts(await store.get_session_messages("t", tenant_id=tenant)) == ["a"]


@pytest.mark.parametrize(
    "verb", ["UPDATE clew.messages SET tokens = 0", "DELETE FROM clew.messages", "DELETE FROM clew.appends"]
)
async def test_nobody_may_rewrite_the_log(database: Database, store: SessionStore, tenant: str, verb: str):
    await store.append("t", user("a"), tenant_id=tenant)
    with pytest.raises(Misconfigured, match="permission denied"):
        async with database.tenant(tenant) as connection:
            await connection.execute(verb)


async def test_a_store_opens_its_own_database_when_it_must_and_closes_it(scratch, tenant: str):
    store = SessionStore(scratch.app_url)
    await asyncio.gather(*(store.append("t", user("x"), tenant_id=tenant) for _ in range(8)))
    await store.close()
    async with SessionStore(scratch.app_url) as again:
        assert len(await again.get_session_messages("t", tenant_id=tenant)) == 8
    with pytest.raises(Misconfigured, match="not open"):
        async with again._database.tenant(tenant):
            pass


async def test_a_database_that_was_given_stays_open(database: Database, tenant: str):
    async with SessionStore(database):
        pass
    async with database.tenant(tenant) as connection:
        await connection.execute("SELECT 1")


async def test_without_a_database_it_is_the_embedded_one(
    settings: Settings, server, monkeypatch: pytest.MonkeyPatch, tenant: str
):
    monkeypatch.setenv("CLEW_DATA_DIR", str(settings.data_dir))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    store = SessionStore()
    await store.setup()
    try:
        await store.append("t", user("x"), tenant_id=tenant)
    finally:
        await store.close()


def test_what_is_no_database_is_refused():
    for bad in (7, Path("/tmp"), "mysql://x"):
        with pytest.raises(InvalidInput, match="database"):
            SessionStore(bad)


def test_the_migration_goes_down_and_up_again(scratch):
    from clew.store.migrate import migrate

    migrate(scratch.admin_url, "0001")
    with psycopg.connect(scratch.admin_url) as connection:
        left = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'clew_lg_00'::regnamespace"
        ).fetchall()
    assert left == []
    assert migrate(scratch.admin_url)[1] is not None

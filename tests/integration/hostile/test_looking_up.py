"""Looking things up when stores hang or break, and when what is there is of any size, script or shape."""

import asyncio
from typing import Any

import pytest

import clew
from clew import Database, Unavailable
from clew.tokens import count_messages

from .conftest import ask, says, shown

HANGS_MAX_S = 20


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits half a minute in a test."""
    monkeypatch.setattr("clew.context.selecting.selector.SEARCH_MAX_S", 1.0)


async def forever(*_: Any, **__: Any) -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize("method", ["search", "neighbours"])
async def test_a_knowledge_base_that_hangs_does_not_hang_the_window(engine, acme, monkeypatch, method, impatient):
    await acme.remember("The Orion budget is four million.")
    monkeypatch.setattr(engine.knowledge, method, forever)
    async with asyncio.timeout(HANGS_MAX_S):
        assert "four million" in await shown(acme.thread("t"), "What is the Orion budget?")


async def test_a_memory_that_hangs_does_not_hang_the_window(engine, acme, monkeypatch, impatient):
    await acme.learn("report", "The Orion budget is $4M.")
    monkeypatch.setattr(engine.memory, "candidates", forever)
    async with asyncio.timeout(HANGS_MAX_S):
        assert "$4M" in await shown(acme.thread("t"), "What is the Orion budget?")


@pytest.mark.parametrize("error", [RuntimeError("boom"), OSError("disk"), KeyError("x"), TimeoutError()], ids=repr)
async def test_a_store_that_raises_its_own_errors_shows_them_and_leaves_the_thread_usable(
    engine, acme, monkeypatch, error
):
    """What is no `Unavailable` is the caller's to see; nothing of it is kept."""

    async def breaks(*_: Any, **__: Any) -> Any:
        raise error

    await acme.remember("The Orion budget is four million.")
    thread = acme.thread("t")
    with monkeypatch.context() as patched:
        patched.setattr(engine.knowledge, "search", breaks)
        with pytest.raises(type(error)):
            await ask(thread, "What is the Orion budget?")
    assert "four million" in await shown(thread, "What is the Orion budget?")


async def test_what_was_found_without_one_store_is_not_kept_as_the_topic(engine, acme, monkeypatch):
    async def gone(*_: Any, **__: Any) -> Any:
        raise Unavailable("gone")

    await acme.learn("report", "The Orion budget is $4M.")
    thread = acme.thread("t")
    with monkeypatch.context() as patched:
        patched.setattr(engine.knowledge, "search", gone)
        patched.setattr(engine.knowledge, "neighbours", gone)
        assert "$4M" not in await shown(thread, "What is the Orion budget?")
    assert "$4M" in await shown(thread, "What is the Orion budget?")


async def test_100_windows_at_once_on_one_thread_are_all_the_same(acme):
    await acme.learn("report", "The Orion budget is $4M.")
    thread = acme.thread("t")
    await thread.append(says("What is the Orion budget?"))
    windows = await asyncio.gather(*(thread.compile("Answer the user.", "You help.") for _ in range(100)))
    assert all("$4M" in one.compiled.context for one in windows)
    assert len({str(one.messages) for one in windows}) == 1


async def test_a_tenant_that_knows_nothing_gets_a_window_without_a_block(acme):
    context = await ask(acme.thread("t"), "What is the Orion budget?")
    assert context.compiled.context == ""
    assert context.manifest.notes == ()


ODD = [
    {"speaker": "NaN", "source": "Infinity", "occurred_at": "not a date"},
    {"speaker": 0, "source": False, "occurred_at": 0},
    {"speaker": [], "source": {}, "occurred_at": [1, 2]},
    {"speaker": 1e308, "source": -0.0, "occurred_at": 10**300},
    {"speaker": "", "source": " ", "occurred_at": "\n"},
    {"speaker": {"deep": [{"er": "x" * 1_000}]}, "source": None, "occurred_at": None},
    {"thread_id": 5, "position": "nan", "speaker": True},
    {"thread_id": "", "position": -1},
    {"thread_id": {"a": 1}, "occurred_at": "9999-99-99T99:99:99"},
    {"occurred_at": "0000-00-00"},
    {"occurred_at": "+275760-09-13"},
    {"id": "x", "score": "NaN", "kind": "fact", "status": "trusted"},
]


@pytest.mark.parametrize("metadata", ODD, ids=ascii)
async def test_odd_metadata_is_shown_as_a_label_or_left_out(acme, metadata):
    await acme.remember("The Orion budget is four million.", metadata)
    await acme.remember("The Orion budget is paid in spring.", metadata)
    context = await ask(acme.thread("t"), "What is the Orion budget?")
    assert "four million" in context.compiled.context
    assert "trusted" not in context.compiled.context
    assert context.manifest.total == count_messages(context.messages)


async def test_memories_of_a_megabyte_are_left_out_whole_and_small_ones_stay(acme):
    await acme.remember("The Orion budget is four million.")
    await acme.remember("The Orion budget " + "is large and " * 80_000 + "zq0001x.")
    await acme.remember("Orionbudget" * 95_000)
    async with asyncio.timeout(60):
        context = await ask(acme.thread("t"), "What is the Orion budget?")
    assert "four million" in context.compiled.context
    assert context.manifest.total == count_messages(context.messages) <= context.manifest.budget


@pytest.mark.parametrize(
    "text",
    [
        "What is the Orion budget? " * 4_000,
        "orion" * 20_000,
        "🚀" * 25_000,
        "預算" * 17_000,
        "(" * 100_000,
        "a " * 50_000,
        "What? " * 17_000,
        "\n" * 50_000 + "What is the Orion budget?",
        "and " * 25_000,
        "\u202e" * 30_000 + "?",
        "x\u0301" * 30_000,
        "1" * 100_000,
        "is it? they them " * 6_000,
        "A" + ".A" * 50_000 + "?",
        "$1,000,000.00 " * 7_000,
        '"' * 100_000,
        "http://" * 14_000,
        "Q3 " * 33_000 + "and in Q4?",
    ],
    ids=lambda text: ascii(text[:12]),
)
async def test_a_question_of_100_kb_is_asked_and_answered_in_time(acme, text):
    await acme.remember("The Orion budget is four million.")
    thread = acme.thread("t")
    async with asyncio.timeout(20):
        await thread.append(says(text))
        context = await thread.compile("Answer the user.", "You help.")
    assert context.manifest.total == count_messages(context.messages) <= context.manifest.budget


@pytest.mark.parametrize(
    ("memory", "question"),
    [
        ("🚀 launches are on 🗓️ Tuesday", "When are 🚀 launches?"),
        ("תקציב הפרויקט הוא חמישה מיליון", "מה תקציב הפרויקט?"),
        ("项目预算是五百万", "项目预算是多少？"),
        ("プロジェクトの予算は五百万円です", "プロジェクトの予算はいくらですか"),
        ("Projenin bütçesi beş milyon", "Projenin BÜTÇESİ ne kadar?"),
        ("Die Straße heißt Fußweg", "Wie heißt die STRASSE?"),
        ("예산은 오백만입니다", "예산은 얼마입니까?"),
        ("👨‍👩‍👧‍👦 family budget is five", "What is the 👨‍👩‍👧‍👦 family budget?"),
    ],
)
async def test_any_script_is_found_and_shown_as_it_was_written(acme, memory, question):
    await acme.remember(memory)
    assert memory in await shown(acme.thread("t"), question)


async def test_a_thread_of_5_000_messages_is_compiled_from_its_newest_part(database, tenant):
    engine = clew.open(database)
    thread = engine.tenant(tenant).thread("t")
    said = [says(f"Turn {n} was quiet.", "assistant" if n % 2 else "user") for n in range(5_000)]
    for at in range(0, 5_000, 1_000):
        await engine.sessions.append("t", said[at : at + 1_000], tenant_id=tenant)
    await thread.append(says("What is the Orion budget?"))
    async with asyncio.timeout(30):
        context = await thread.compile("Answer the user.", "You help.")
    assert context.messages[-2]["content"] == "What is the Orion budget?"
    assert context.manifest.total == count_messages(context.messages) <= context.manifest.budget


async def test_topics_of_many_tenants_of_the_same_thread_name_stay_apart(database: Database, tenant):
    engine = clew.open(database)
    tenants = [engine.tenant(f"{tenant}-{n}") for n in range(10)]
    for n, one in enumerate(tenants):
        await one.remember(f"The Orion budget is word{n}.")
    for _ in range(2):
        seen = await asyncio.gather(*(shown(one.thread("t"), "What is the Orion budget?") for one in tenants))
        assert [[f"word{n}" in text for n in range(10)] for text in seen] == [
            [n == own for n in range(10)] for own in range(10)
        ]

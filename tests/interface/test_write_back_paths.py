"""By whichever way a message comes in, what it tells is known, once; and by whichever way it is asked for."""

import asyncio
from typing import Any

import pytest
from langchain_core.tools import StructuredTool, tool

import clew

from .conftest import assistant, run_python, user

SAID = "The freight elevator is in hall 7."


async def told(engine: Any, tenant: str) -> list[Any]:
    return [fact for fact in await engine.tenant(tenant).facts("Where is the freight elevator?") if not fact.superseded]


FORMS: dict[str, Any] = {
    "a dict": user(SAID),
    "parts": {"role": "user", "content": [{"type": "text", "text": SAID}]},
    "several": [user("hello"), assistant("Hello!"), user(SAID)],
}


@pytest.mark.parametrize("form", FORMS)
async def test_every_form_of_a_message_is_read(engine, tenant, thread_id, form):
    await engine.tenant(tenant).thread(thread_id).append(FORMS[form])
    [fact] = await told(engine, tenant)
    assert "hall 7" in fact.text
    [source] = fact.sources
    assert (source.thread_id, source.role) == (thread_id, "user")


async def test_the_same_append_again_tells_it_once(engine, tenant, thread_id):
    thread = engine.tenant(tenant).thread(thread_id)
    for _ in range(3):
        await thread.append(user(SAID), idempotency_key="once")
        await thread.compile("Answer the user.")
    [fact] = await told(engine, tenant)
    assert len(fact.sources) == 1
    assert len(await engine.knowledge.episodes(tenant_id=tenant)) == 1


async def test_what_the_session_store_was_given_is_read_by_compiling(engine, manager, sessions, tenant, thread_id):
    await sessions.append(thread_id, user(SAID), tenant_id=tenant)
    await manager.compile_working_context(tenant, thread_id, {"description": "Answer the user."}, "")
    [fact] = await told(engine, tenant)
    assert fact.sources[0].thread_id == thread_id


async def test_appended_by_many_at_once_each_is_told_once(engine, database, tenant):
    async with clew.open(database=database) as second:
        await asyncio.gather(
            *(
                one.tenant(tenant).thread("shared").append(user(f"Dock {n} belongs to carrier C{n}x."))
                for n, one in enumerate([engine, second] * 8)
            )
        )
    facts = await engine.tenant(tenant).facts("dock carrier", limit=100)
    assert sorted(fact.text for fact in facts) == sorted(f"Dock {n} belongs to carrier C{n}x." for n in range(16))
    assert all(len(fact.sources) == 1 for fact in facts)


async def test_a_write_in_one_thread_is_seen_by_another_that_had_looked(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.learn("plan", SAID, reference_time="2026-04-01")
    asking = acme.thread("asking")
    await asking.append(user("Where is the freight elevator?"))
    assert "hall 7" in (await asking.compile("Answer the user.")).compiled.context
    await acme.thread("telling").append(user("The freight elevator is in hall 9 now, not hall 7."))
    again = await asking.compile("Answer the user.")
    assert again.manifest.selection.from_cache is False
    assert "hall 9" in again.compiled.context


def test_a_long_unread_thread_is_read_to_its_end(server, settings, cli, tenant):
    code = f"""
import clew
with clew.open_sync() as engine:
    said = [{{"role": "user", "content": f"Dock {{n}} belongs to carrier C{{n}}x."}} for n in range(250)]
    engine.sessions.append("long", said, tenant_id={tenant!r})
    acme = engine.tenant({tenant!r})
    acme.thread("long").compile("Answer the user.")
    print("FIRST", [fact.text for fact in acme.facts("dock 3 carrier C3x", limit=3)])
"""
    run = run_python(code, settings.data_dir)
    assert "C3x" in run.stdout, run.stderr
    assert cli("worker", "--until-idle").returncode == 0
    code = f"""
import clew
with clew.open_sync() as engine:
    acme = engine.tenant({tenant!r})
    print([fact.text for n in (0, 199, 200, 201, 249) for fact in acme.facts(f"dock {{n}} carrier C{{n}}x", limit=1)])
"""
    found = run_python(code, settings.data_dir)
    for n in (0, 199, 200, 201, 249):
        assert f"Dock {n} belongs to carrier C{n}x." in found.stdout, found.stderr


def test_the_tools_without_await(environment, server, tenant):
    with clew.open_sync() as engine:
        query, index = engine.tenant(tenant).thread("a").knowledge_tools()
        assert index("Q3 revenue was $4.8M.") == "Noted: Q3 revenue was $4.8M."
        assert (
            index("Q3 revenue was $5.2M, not $4.8M.", "correction") == "Got it, Q3 revenue is $5.2M now; I had $4.8M."
        )
        assert "$5.2M" in query("What was Q3 revenue?")
        langchain = StructuredTool.from_function(query)
        assert "$5.2M" in langchain.invoke({"query": "What was Q3 revenue?"})


async def test_langchains_own_decorator_takes_them(engine, tenant):
    query, index = (tool(function) for function in engine.tenant(tenant).thread("a").knowledge_tools())
    await index.ainvoke({"content": SAID})
    assert "hall 7" in await query.ainvoke({"query": "freight elevator", "limit": 1})


@pytest.mark.parametrize("source_type", ["correction", "confirmation", "new_info", "contradiction"])
async def test_the_tool_takes_every_kind(engine, tenant, source_type):
    [_, index] = engine.tenant(tenant).thread("a").knowledge_tools()
    answer = await index(SAID, source_type)
    assert "hall 7" in answer
    assert "save" not in answer.lower()
    [fact] = await told(engine, tenant)
    expected = {"correction": 0.95, "confirmation": 0.90, "new_info": 0.85, "contradiction": 0.80}
    assert fact.confidence == expected[source_type]


async def test_the_tool_says_what_is_wrong(engine, tenant):
    [query, index] = engine.tenant(tenant).thread("a").knowledge_tools()
    for call in (lambda: index(SAID, "rumour"), lambda: index(""), lambda: query("", 5), lambda: query("x", 0)):
        try:
            answer = await call()
        except clew.ClewError as error:
            answer = str(error)
        assert isinstance(answer, str)
        assert answer
        assert not answer.startswith("Noted")
    assert await told(engine, tenant) == []


async def test_told_again_by_the_tool_is_no_news(engine, tenant):
    [_, index] = engine.tenant(tenant).thread("a").knowledge_tools()
    first = await index(SAID)
    second = await index(SAID)
    assert first.startswith("Noted")
    assert "hall 7" in second
    [fact] = await told(engine, tenant)
    assert len(fact.sources) == 1
    assert {one.reason for one in await engine.tenant(tenant).refused()} == {"duplicate"}


async def test_an_ellipsis_without_a_verb_is_carried_over(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.learn(
        "leaflet", "Lisinopril may cause a dry cough. Metformin may cause nausea. Aspirin may cause bleeding."
    )
    await acme.learn("leaflet", " ".join(f"Drug D{n} has side effects on organ O{n}." for n in range(20)))
    thread = acme.thread("a")
    await thread.append(
        [user("Tell me about lisinopril"), assistant("It treats blood pressure."), user("side effects?")]
    )
    context = await thread.compile("Answer the user.")
    assert "lisinopril" in context.manifest.selection.asked.lower()
    assert "dry cough" in context.compiled.context


OTHERS = {
    "Who is the auditor?": ("What was Q3 revenue?", "$5.2M.", "Deloitte"),
    "Does she play an instrument?": ("Who leads the Oslo lab?", "Nadia Brandt.", "cello"),
    "Until when is breakfast served there?": ("How much is the Hilton in Lyon?", "180 euros.", "until 10"),
    "How often do I take it?": ("What are lisinopril's side effects?", "A dry cough.", "once a day"),
}


@pytest.mark.parametrize("follow_up", OTHERS)
async def test_a_follow_up_that_asks_something_else_is_answered_too(engine, tenant, follow_up):
    """Whatever is spared by remembering a topic, the answer is in the window."""
    question, answer, wanted = OTHERS[follow_up]
    acme = engine.tenant(tenant)
    known = (
        "Q3 revenue was $5.2M. The auditor is Deloitte. Nadia Brandt leads the Oslo lab. Nadia Brandt plays the cello. "
    )
    known += "The Hilton in Lyon costs 180 euros. Breakfast at the Hilton is served until 10. "
    known += "Lisinopril may cause a dry cough. Lisinopril is taken once a day. "
    noise = "Q{q} revenue of branch {n} was ${n}k. The Oslo lab has device {n}. Lisinopril lot {n} expires in 2030. "
    await acme.learn("known", known + "".join(noise.format(q=n % 4 + 1, n=n) for n in range(40)))
    thread = acme.thread("a")
    await thread.append(user(question))
    await thread.compile("Answer the user.")
    await thread.append([assistant(answer), user(follow_up)])
    assert wanted in (await thread.compile("Answer the user.")).compiled.context

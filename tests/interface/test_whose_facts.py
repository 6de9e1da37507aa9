"""Whose a fact is, and what it is about: people who say "I", and sentences that begin with their source."""

from typing import Any

import pytest

from .conftest import user

TASK = "Answer the user."


async def holding(engine: Any, tenant: str, query: str) -> list[str]:
    return [fact.text for fact in await engine.tenant(tenant).facts(query, limit=20) if not fact.superseded]


async def test_two_users_who_say_i_are_two(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.thread("a", user_id="ana").append(user("My birthday is May 3."))
    await acme.thread("b", user_id="bob").append(user("My birthday is June 9."))
    assert len(await holding(engine, tenant, "birthday")) == 2
    await acme.thread("c", user_id="ana").append(user("My birthday is May 4, not May 3."))
    now = " ".join(await holding(engine, tenant, "birthday"))
    assert "May 4" in now
    assert "June 9" in now
    assert "is May 3." not in now


async def test_two_threads_of_nobody_knows_whom_do_not_close_each_others(engine, tenant):
    """Where nobody says who the user is, what one conversation's user says of themselves is not the other's."""
    acme = engine.tenant(tenant)
    await acme.thread("a").append(user("My birthday is May 3."))
    await acme.thread("b").append(user("My birthday is June 9."))
    now = " ".join(await holding(engine, tenant, "birthday"))
    assert "June 9" in now
    assert "May 3" in now
    # Control: in one conversation it is one person.
    await acme.thread("b").append(user("Sorry, my birthday is June 10, not June 9."))
    now = " ".join(await holding(engine, tenant, "birthday"))
    assert "June 10" in now
    assert "is June 9." not in now


@pytest.mark.parametrize(("who", "own"), [("ana", "May 3"), ("bob", "June 9")])
async def test_my_is_the_one_who_asks(engine, tenant, who, own):
    acme = engine.tenant(tenant)
    await acme.thread("a", user_id="ana").append(user("My birthday is May 3."))
    await acme.thread("b", user_id="bob").append(user("My birthday is June 9."))
    asking = acme.thread("new", user_id=who)
    await asking.append(user("When is my birthday?"))
    context = (await asking.compile(TASK)).compiled.context
    assert own in context
    others = "June 9" if own == "May 3" else "May 3"
    assert others not in context or context.index(own) < context.index(others)


INTRODUCED = [
    "According to the report, Q3 revenue was $4.8M.",
    "As stated in the report, Q3 revenue was $4.8M.",
    "Per the report, Q3 revenue was $4.8M.",
    "In the report, Q3 revenue was $4.8M.",
    "On page 3, Q3 revenue was $4.8M.",
    "The report says Q3 revenue was $4.8M.",
    "The report says that Q3 revenue was $4.8M.",
    "Q3 revenue was $4.8M, according to the report.",
    "Q3 revenue, as reported, was $4.8M.",
]


@pytest.mark.parametrize("text", INTRODUCED)
async def test_a_sentence_that_begins_with_its_source_is_about_its_subject(engine, tenant, text):
    acme = engine.tenant(tenant)
    await acme.learn("summary", text, reference_time="2026-04-01")
    assert [fact.object for fact in await acme.history("Q3 revenue")] == ["$4.8M"]
    await acme.thread("a").append(user("Q3 revenue was actually $5.2M, not $4.8M as stated in the document"))
    states = {fact.object: fact.superseded for fact in await acme.history("Q3 revenue")}
    assert states == {"$4.8M": True, "$5.2M": False}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("According to the report, Q3 revenue was $4.8M.", "According to the report, Q4 revenue was $6.1M."),
        ("As stated in the memo, the office is in Graz.", "As stated in the memo, the lab is in Linz."),
        ("Per the contract, the fee is $500.", "Per the contract, the rent is $900."),
        ("In the audit, the fee is $500.", "In the audit, the rent is $900."),
        ("For customers in Spain, the fee is $5.", "For customers in Spain, the rent is $9."),
    ],
)
async def test_two_sentences_with_one_source_close_nothing(engine, tenant, first, second):
    acme = engine.tenant(tenant)
    await acme.learn("summary", first, reference_time="2026-04-01")
    told = await acme.learn("summary", second, reference_time="2026-05-01")
    assert [fact.text for fact in told.invalidated] == []
    assert len(await holding(engine, tenant, f"{first} {second}")) == 2


async def test_one_document_with_one_source_in_every_sentence(engine, tenant):
    body = "According to the report, Q2 revenue was $4.1M. According to the report, Q3 revenue was $4.8M."
    told = await engine.tenant(tenant).learn("summary", body)
    assert [fact.superseded for fact in told.facts] == [False, False]
    assert [fact.text for fact in told.invalidated] == []


async def test_two_people_in_one_sentence_are_both_found(engine, tenant):
    acme = engine.tenant(tenant)
    await acme.learn(
        "staff", "Ana and Ben live in Porto. Ana lives in Porto and works at Acme.", reference_time="2026-04-01"
    )
    for name in ("Ana", "Ben"):
        assert "Porto" in " ".join(fact.text for fact in await acme.history(name)), name
    told = await acme.learn("staff", "Ana works at Globex now.", reference_time="2026-05-01")
    assert told.facts
    works = [fact for fact in await acme.facts("Where does Ana work?") if not fact.superseded]
    assert "Globex" in works[0].text

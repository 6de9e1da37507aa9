"""Time as people tell it: what will be, what was until, what came back."""

from typing import Any

import pytest

from .conftest import user


async def told(engine: Any, tenant: str, *said: tuple[str, str]) -> Any:
    acme = engine.tenant(tenant)
    for n, (text, day) in enumerate(said):
        await acme.learn(f"note {n}", text, reference_time=day)
    return acme


async def objects(acme: Any, query: str, as_of: str) -> list[str]:
    return [fact.object for fact in await acme.facts(query, as_of=as_of)]


@pytest.fixture
async def fees(engine, tenant) -> Any:
    future = "Effective January 1, 2999, the fee will be 7%."
    return await told(engine, tenant, ("The fee is 6%.", "2026-04-01"), (future, "2026-05-01"))


async def test_what_will_be_does_not_hold_yet(fees):
    assert await objects(fees, "fee", "2026-06-01") == ["6%"]
    assert await objects(fees, "fee", "2999-06-01") == ["7%"]
    assert (await fees.facts("What is the fee?"))[0].object == "6%"


async def test_the_window_leads_with_what_holds_now(fees):
    thread = fees.thread("a")
    await thread.append(user("What is the fee?"))
    context = (await thread.compile("Answer the user.")).compiled.context
    assert "6%" in context
    assert "7%" in context
    assert context.index("The fee is 6%.") < context.index("the fee will be 7%")


async def test_until_says_when_it_ended_and_nothing_of_its_beginning(engine, tenant):
    acme = await told(
        engine,
        tenant,
        ("Ana was the CEO from 2010 to 2015.", "2026-04-01"),
        ("The CEO is Ben.", "2026-05-01"),
        ("Until 2019 Carl was the CEO.", "2026-05-02"),
    )
    assert await objects(acme, "Who is the CEO?", "2012-06-01") == ["Ana"]
    assert await objects(acme, "Who is the CEO?", "2026-06-01") == ["Ben"]
    assert await objects(acme, "Who is the CEO?", "2018-02-01") == ["Carl"]


async def test_a_move_in_the_past_closes_where_it_happened(engine, tenant):
    acme = await told(
        engine, tenant, ("Maria lives in Madrid.", "2026-01-01"), ("Maria moved to Porto in March 2026.", "2026-05-01")
    )
    assert await objects(acme, "Where does Maria live?", "2026-02-01") == ["Madrid"]
    assert await objects(acme, "Where does Maria live?", "2026-04-01") == ["Porto"]


async def test_what_comes_back_is_known_for_each_of_its_times(engine, tenant):
    days = [("The office is in Graz.", 1), ("The office is in Linz.", 2), ("The office is in Graz.", 3)]
    acme = await told(engine, tenant, *((text, f"2026-0{month}-01") for text, month in days))
    assert [await objects(acme, "office", f"2026-0{month}-15") for month in (1, 2, 3)] == [["Graz"], ["Linz"], ["Graz"]]
    assert [fact.object for fact in await acme.history("office")] == ["Graz", "Linz", "Graz"]


async def test_hired_left_and_hired_again(engine, tenant):
    said = ["Ana works at Acme.", "Ana no longer works at Acme.", "Ana works at Acme again."]
    acme = await told(engine, tenant, *((text, f"2026-0{n}-01") for n, text in enumerate(said, 1)))
    assert [fact.superseded for fact in await acme.history("Ana")] == [True, True, False]
    [left] = await acme.facts("Does Ana work at Acme?", as_of="2026-02-15")
    assert left.negated


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("As of June 2025, the fee is 6%.", "2025-06-01"),
        ("Since 12 May 2024 the fee is 6%.", "2024-05-12"),
        ("The fee has been 6% since 2020.", "2020-01-01"),
        ("Last month the fee went up to 6%.", "2026-03-01"),
    ],
)
async def test_dates_that_are_said(engine, tenant, text, day):
    acme = await told(engine, tenant, (text, "2026-04-01"))
    [fact] = await acme.facts("fee")
    assert fact.valid_at.date().isoformat() == day
    assert "6%" in str(fact.object)


async def test_the_same_told_by_an_older_document_later_is_one_fact(engine, tenant):
    said = "The vault is in Geneva."
    acme = await told(engine, tenant, (said, "2026-05-01"), (said, "2026-04-01"))
    [fact] = await acme.facts("Where is the vault?")
    assert fact.superseded is False
    assert len(fact.sources) == 2
    assert await objects(acme, "Where is the vault?", "2026-04-15") == ["Geneva"]
    assert await objects(acme, "Where is the vault?", "2026-06-15") == ["Geneva"]

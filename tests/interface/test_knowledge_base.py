"""Knowledge with time, as somebody outside expects it: what holds, since when, by whom, and what held before."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import clew

from .conftest import user

APRIL, MAY, JUNE, JULY = (datetime(2026, month, 1, tzinfo=UTC) for month in (4, 5, 6, 7))


@pytest.fixture
async def kb(database) -> Any:
    async with clew.KnowledgeBase(database) as knowledge:
        yield knowledge


@pytest.fixture
def tell(kb, tenant) -> Any:
    """Tells something on a day."""

    async def tell(body: Any, when: datetime = APRIL, name: str = "told", **more: Any) -> Any:
        return await kb.add_episode(name, body, reference_time=when, tenant_id=tenant, **more)

    return tell


@pytest.fixture
def find(kb, tenant) -> Any:
    async def find(query: str, **more: Any) -> Any:
        return await kb.search(query, tenant_id=tenant, **more)

    return find


def holding(facts: Any) -> str:
    """The words of all that holds."""
    return " | ".join(fact.text for fact in facts if fact.invalid_at is None and fact.expired_at is None)


async def test_the_example_with_time(kb, tell, find, tenant):
    await tell("Q3 revenue was $4.8M.", APRIL, "Q3 report", source_description="the board's PDF")
    told = await tell(user("Q3 revenue was actually $5.2M, not $4.8M as stated in the document"), MAY, "chat")
    assert [fact.object for fact in told.invalidated] == ["$4.8M"]
    assert told.facts[0].object == "$5.2M"

    first, second = await find("What was Q3 revenue?")
    assert (first.object, first.superseded, first.invalid_at) == ("$5.2M", False, None)
    assert (second.object, second.superseded, second.invalid_at) == ("$4.8M", True, MAY)
    assert second.sources[0].name == "Q3 report"
    assert "$5.2M" in (second.because or "")

    assert [fact.object for fact in await find("Q3 revenue", as_of=APRIL + timedelta(days=3))] == ["$4.8M"]
    assert [fact.object for fact in await find("Q3 revenue", as_of=JUNE)] == ["$5.2M"]
    assert await find("Q3 revenue", as_of=datetime(2020, 1, 1, tzinfo=UTC)) == []

    before, now = await kb.history("Q3 revenue", tenant_id=tenant)
    assert (before.object, now.object) == ("$4.8M", "$5.2M")
    assert [fact.sources[0].name for fact in (before, now)] == ["Q3 report", "chat"]


async def test_who_denies_a_value_is_no_source_of_it(tell, kb, tenant):
    await tell("Q3 revenue was $4.8M.", APRIL, "Q3 report")
    await tell("Q3 revenue was $5.2M, not $4.8M.", MAY, "chat")
    before, now = await kb.history("Q3 revenue", tenant_id=tenant)
    assert [(source.name, source.act) for source in now.sources] == [("chat", "holds")]
    assert [source.name for source in before.sources if source.act == "holds"] == ["Q3 report"]


async def test_undo_brings_the_old_one_back_and_known_at_remembers_the_mistake(kb, tell, find, tenant):
    await tell("Q3 revenue was $4.8M.", APRIL)
    told = await tell("Q3 revenue was $5.2M, not $4.8M.", MAY)
    meanwhile = datetime.now(UTC)
    undone = await kb.undo(told.episode.episode_id, tenant_id=tenant)
    assert len(undone.reopened) == 1
    assert len(undone.expired) == 1
    [again] = await find("Q3 revenue")
    assert (again.object, again.invalid_at, again.superseded) == ("$4.8M", None, False)
    believed = await find("Q3 revenue", known_at=meanwhile)
    assert believed[0].object == "$5.2M"
    taken_back = [fact for fact in await kb.history("Q3 revenue", tenant_id=tenant) if fact.expired_at]
    assert [fact.object for fact in taken_back] == ["$5.2M"]


async def test_nothing_was_known_before_it_was_told(tell, find):
    before = datetime.now(UTC)
    await tell("Q3 revenue was $4.8M.", APRIL)
    assert await find("Q3 revenue", known_at=before - timedelta(seconds=1)) == []
    assert len(await find("Q3 revenue", known_at=datetime.now(UTC) + timedelta(seconds=1))) == 1


@pytest.mark.parametrize("first", [1, 2])
async def test_undo_in_any_order_is_as_if_it_had_never_been_told(kb, tell, find, tenant, first):
    """Told three times, the middle one or the last one is taken back."""
    told = [await tell(f"The headcount of Initech is {n}.", when) for n, when in ((40, APRIL), (45, MAY), (52, JUNE))]
    await kb.undo(told[first].episode.episode_id, tenant_id=tenant)
    now = await find("headcount of Initech", as_of=JULY)
    assert len(now) == 1
    assert ("52" if first == 1 else "45") in now[0].text
    in_may = await find("headcount of Initech", as_of=MAY + timedelta(days=9))
    assert ("40" if first == 1 else "45") in in_may[0].text


# What a newer statement does to an older one: closes it, or leaves it alone.
CLOSES = {
    "new value": ("The launch date of Orion is May 3.", "The launch date of Orion is June 9."),
    "a move": ("Maria lives in Madrid.", "Maria lives in Porto now."),
    "a new head": ("The CEO of Initech is Bill Lumbergh.", "The CEO of Initech is Peter Gibbons."),
    "named": ("We are staying at the Hilton.", "We are staying at the Marriott instead of the Hilton."),
    "negated": ("Tom works at Acme.", "Tom no longer works at Acme."),
    "price": ("The Pro plan costs $20 a month.", "The Pro plan costs $25 a month."),
    "dose": ("The patient's dose of metformin is 500 mg.", "The patient's dose of metformin is 850 mg."),
    "version": ("The default Python version is 3.11.", "The default Python version is 3.13."),
    "other alias": ("Acme Corp's headquarters are in Berlin.", "Acme's headquarters are in Vienna."),
}
LEAVES = {
    "other subject": ("Q3 revenue was $4.8M.", "Q2 revenue was $5.2M."),
    "other company": ("Initech's revenue was $4.8M.", "Globex's revenue was $5.2M."),
    "other person": ("Maria lives in Madrid.", "Marta lives in Porto."),
    "additive": ("Acme acquired Alpha.", "Acme also acquired Beta."),
    "additive verb": ("Acme acquired Alpha.", "Acme acquired Beta."),
    "languages": ("Ana speaks French.", "Ana speaks German too."),
    "other unit": ("The parcel weighs 5 kg.", "The parcel weighs 5,000 g."),
    "other words": ("Q3 revenue was $4.8M.", "Revenue for Q3 was 4.8 million dollars."),
    "other year": ("Revenue was $5M in 2023.", "Revenue was $7M in 2024."),
    "a condition": ("Q3 revenue was $4.8M.", "If Q3 revenue were $9M, we would celebrate."),
    "a guess": ("Q3 revenue was $4.8M.", "Q3 revenue might be $6M."),
    "a question": ("Q3 revenue was $4.8M.", "Was Q3 revenue $5.2M?"),
    "other attribute": ("The Pro plan costs $20 a month.", "The Pro plan includes 25 seats."),
}


@pytest.mark.parametrize("case", CLOSES)
async def test_the_newer_closes_the_older(tell, case):
    old, new = CLOSES[case]
    first = await tell(old, APRIL)
    second = await tell(new, MAY)
    assert [fact.fact_id for fact in second.invalidated] == [fact.fact_id for fact in first.facts]
    assert {fact.invalid_at for fact in second.invalidated} == {MAY}


@pytest.mark.parametrize("case", LEAVES)
async def test_the_newer_leaves_the_older_alone(tell, find, case):
    old, new = LEAVES[case]
    first = await tell(old, APRIL)
    second = await tell(new, MAY)
    assert second.invalidated == [] or second.invalidated == ()
    assert first.facts[0].fact_id in {fact.fact_id for fact in await find(old, limit=20) if not fact.because}


async def test_the_same_in_other_words_is_one_fact_with_two_sources(kb, tell, find, tenant):
    await tell("The parcel weighs 5 kg.", APRIL, "scale")
    await tell("The parcel weighs 5,000 g.", MAY, "invoice")
    [fact] = await find("How much does the parcel weigh?")
    assert {source.name for source in fact.sources} == {"scale", "invoice"}
    await kb.forget(tenant_id=tenant, episode_id=fact.sources[0].episode_id)
    [left] = await find("How much does the parcel weigh?")
    assert len(left.sources) == 1


async def test_an_earlier_statement_told_late_does_not_close_the_later(tell, find):
    await tell("The CEO of Initech is Peter Gibbons.", JUNE)
    late = await tell("The CEO of Initech is Bill Lumbergh.", APRIL)
    assert not late.invalidated
    assert "Peter" in holding(await find("Who is the CEO of Initech?"))
    assert "Bill" in (await find("Who is the CEO of Initech?", as_of=MAY))[0].text
    assert "Bill" not in holding(await find("Who is the CEO of Initech?"))


MONDAY = datetime(2026, 3, 16, 9, tzinfo=UTC)
DATED = {
    "Maria moved to Porto yesterday.": "2026-03-15",
    "Ana joined the team three days ago.": "2026-03-13",
    "The Orion project started two weeks ago.": "2026-03-02",
    "The server crashed yesterday.": "2026-03-15",
    "Since March 10, 2026 the office is in Graz.": "2026-03-10",
}


@pytest.mark.parametrize("said", DATED)
async def test_relative_dates_are_resolved_against_the_reference_time(tell, said):
    [fact] = (await tell(said, MONDAY)).facts
    assert fact.valid_at is not None
    assert fact.valid_at.date().isoformat() == DATED[said]


async def test_a_fact_of_one_year_says_nothing_of_the_next(find, tell):
    await tell("Revenue was $5M in 2023.", APRIL)
    assert "$5M" in (await find("revenue", as_of="2023-06-01"))[0].text
    assert [fact for fact in await find("revenue", as_of="2024-06-01") if "$5M" in fact.text] == []


async def test_since_dates_a_fact(tell, find):
    await tell("Since March 2025 the support line is open on Sundays.", APRIL)
    found = await find("Is the support line open on Sundays?", as_of="2025-04-01")
    assert "Sundays" in found[0].text
    assert await find("Is the support line open on Sundays?", as_of="2025-01-15") == []


async def test_json_becomes_facts_about_its_record(tell, find):
    body = {"name": "Initech", "headcount": 52, "ceo": "Peter Gibbons", "offices": ["Austin", "Porto"]}
    told = await tell(body, APRIL, "crm")
    assert len(told.facts) >= 4
    assert "52" in (await find("Initech headcount"))[0].text
    offices = holding(await find("Initech offices", limit=10))
    assert "Austin" in offices
    assert "Porto" in offices
    newer = await tell(json.dumps({**body, "headcount": 60}), MAY, "crm", source="json")
    assert ["52" in fact.text for fact in newer.invalidated] == [True]


async def test_a_message_speaks_for_who_said_it(tell, find):
    await tell({"role": "user", "name": "Ana", "content": "I live in Lisbon."})
    assert "Ana" in (await find("Where does Ana live?"))[0].text
    assert "Lisbon" in (await find("Where does Ana live?"))[0].text
    await tell("Ana: I play the cello.\nBob: I play chess.", MAY, source="message")
    assert "cello" in (await find("What does Ana play?"))[0].text


async def test_system_messages_tell_nothing(tell, find):
    told = await tell([{"role": "system", "content": "The vault is in Zurich."}, user("The garage is in Graz.")])
    assert "garage" in holding(told.facts)
    assert "vault" not in holding(told.facts)
    assert "vault" not in holding(await find("Where is the vault?", limit=50))


async def test_what_cannot_be_parsed_is_still_found(tell, find):
    told = await tell("Rainy, mostly, with the odd zebra crossing flooded near Utrecht!")
    assert told.facts
    assert "Utrecht" in (await find("zebra crossing Utrecht"))[0].text


async def test_a_long_document_is_read_sentence_by_sentence(tell, find):
    body = " ".join(f"Machine M{n} runs at {n + 100} rpm." for n in range(300))
    assert len((await tell(body)).facts) == 300
    assert "217 rpm" in (await find("How fast does machine M117 run?"))[0].text


async def test_aliases_case_and_the_company_are_one_subject(kb, tell, tenant):
    await tell("International Business Machines (IBM) was founded in 1911. The company has 280,000 employees.")
    for name in ("IBM", "ibm", "International Business Machines"):
        said = " ".join(fact.text for fact in await kb.history(name, tenant_id=tenant))
        assert "1911" in said, name
        assert "280,000" in said, name
    assert await kb.history("Initech", tenant_id=tenant) == []


async def test_names_of_one_quarter_are_one_subject(kb, tell, tenant):
    await tell("Q3 revenue was $4.8M.")
    for name in ("Q3 revenue", "the revenue for Q3", "our third quarter revenue"):
        assert [fact.object for fact in await kb.history(name, tenant_id=tenant)] == ["$4.8M"], name
    assert await kb.history("Q4 revenue", tenant_id=tenant) == []


async def test_told_again_adds_nothing(tell, find):
    first = await tell("The Wi-Fi name at the office is Falcon.")
    again = await tell("The Wi-Fi name at the office is Falcon.", MAY)
    assert [fact.fact_id for fact in again.facts] == [fact.fact_id for fact in first.facts]
    assert len(await find("Wi-Fi name", limit=20)) == 1


async def test_a_denied_value_never_told_is_kept_as_past(kb, tell, tenant):
    await tell("Q3 revenue was $5.2M, not $4.8M.")
    states = {fact.object: fact.superseded for fact in await kb.history("Q3 revenue", tenant_id=tenant)}
    assert states == {"$5.2M": False, "$4.8M": True}


async def test_the_log_has_before_and_after(kb, tell, tenant):
    await tell("Q3 revenue was $4.8M.", APRIL)
    told = await tell("Q3 revenue was $5.2M, not $4.8M.", MAY)
    await kb.undo(told.episode.episode_id, tenant_id=tenant)
    log = await kb.changes(tenant_id=tenant)
    assert sorted(change.act for change in log) == ["added", "added", "closed", "expired", "reopened"]
    assert log[-1].act == "added"
    [closed] = [change for change in log if change.act == "closed"]
    assert closed.before["invalid_at"] is None
    assert closed.after["invalid_at"].startswith("2026-05-01")


async def test_another_tenant_sees_and_undoes_nothing(kb, tell, find, tenant, other):
    told = await tell("Q3 revenue was $4.8M.")
    assert await kb.search("Q3 revenue", tenant_id=other) == []
    assert await kb.history("Q3 revenue", tenant_id=other) == []
    assert await kb.changes(tenant_id=other) == []
    with pytest.raises(clew.NotFound) as theirs:
        await kb.undo(told.episode.episode_id, tenant_id=other)
    with pytest.raises(clew.NotFound) as nobodys:
        await kb.undo("019a8f6e-3b1c-7d2a-9f00-1234567890ab", tenant_id=other)
    words = str(theirs.value).replace(told.episode.episode_id, "‹id›")
    assert words == str(nobodys.value).replace("019a8f6e-3b1c-7d2a-9f00-1234567890ab", "‹id›")
    assert len(await find("Q3 revenue")) == 1

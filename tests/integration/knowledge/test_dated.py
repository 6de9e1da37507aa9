"""What is told of a past time holds for that time, and who closed a fact is not who told it."""

import pytest

from .conftest import day

TOLD = day(15, 4)


async def held(knowledge, tenant_id, question, at):
    return [fact.object for fact in await knowledge.search(question, tenant_id=tenant_id, as_of=at)]


@pytest.mark.parametrize(
    ("text", "during", "before", "after"),
    [
        ("Revenue was $5M in 2023.", "2023-06-01", "2022-12-31", "2024-01-01"),
        ("Revenue in 2023 was $5M.", "2023-06-01", "2022-12-31", "2024-01-01"),
        ("Q3 2025 revenue was $5M.", "2025-08-01", "2025-06-30", "2025-10-01"),
        ("Revenue was $5M in March 2024.", "2024-03-31", "2024-02-28", "2024-04-01"),
        ("Revenue was $5M last year.", "2025-06-01", "2024-12-31", "2026-01-01"),
        ("Revenue was $5M last month.", "2026-03-10", "2026-02-28", "2026-04-10"),
        ("The price was $5M on Monday.", "2026-04-13", "2026-04-12", "2026-04-14"),
    ],
)
async def test_a_figure_of_a_past_time_holds_for_that_time(knowledge, tenant_id, text, during, before, after):
    told = await knowledge.add_episode("report", text, reference_time=TOLD, tenant_id=tenant_id)
    assert [(fact.dated, fact.because, fact.closed_by) for fact in told.facts] == [(True, None, None)]
    assert await held(knowledge, tenant_id, text, during) == ["$5M"]
    assert await held(knowledge, tenant_id, text, before) == []
    assert await held(knowledge, tenant_id, text, after) == []


async def test_the_years_stand_beside_each_other_and_a_year_can_be_corrected(knowledge, tenant_id):
    for text in ("Headcount was 40 in 2023.", "Headcount was 40 in 2022.", "Headcount was 55 in 2024."):
        told = await knowledge.add_episode("report", text, reference_time=TOLD, tenant_id=tenant_id)
        assert told.invalidated == []
    held_in = [(await held(knowledge, tenant_id, "headcount", f"{year}-06-01")) for year in (2022, 2023, 2024, 2025)]
    assert held_in == [["40"], ["40"], ["55"], []]
    told = await knowledge.add_episode("note", "Headcount was 57 in 2024.", reference_time=TOLD, tenant_id=tenant_id)
    assert [(fact.object, fact.dated) for fact in told.invalidated] == [("55", False)]
    await knowledge.undo(told.episode.episode_id, tenant_id=tenant_id)
    assert await held(knowledge, tenant_id, "headcount", "2024-06-01") == ["55"]


async def test_what_holds_now_comes_before_what_was_told_of_another_year(knowledge, tenant_id):
    for text in ("Headcount was 40 in 2023.", "Headcount is 60."):
        await knowledge.add_episode("report", text, reference_time=TOLD, tenant_id=tenant_id)
    found = await knowledge.search("What was the headcount in 2023?", tenant_id=tenant_id)
    assert [fact.object for fact in found] == ["60", "40"]


@pytest.mark.parametrize(
    ("text", "object_", "valid_at"),
    [
        ("The Orion project started two weeks ago.", "2026-04-01", day(1, 4)),
        ("The server crashed yesterday.", "crashed", day(14, 4)),
        ("The meeting is tomorrow.", "2026-04-16", TOLD),
        ("The meeting is tomorrow at 9 am.", "2026-04-16 at 9 am", TOLD),
        # Whichever Friday that is, it was called so.
        ("The meeting is on Friday.", "Friday", TOLD),
    ],
)
async def test_relative_days_are_those_of_the_telling(knowledge, tenant_id, text, object_, valid_at):
    [fact] = (await knowledge.add_episode("chat", text, reference_time=TOLD, tenant_id=tenant_id)).facts
    assert (fact.object, fact.valid_at) == (object_, valid_at)


async def test_who_denies_a_value_is_no_source_of_it_and_what_is_closed_is_not_told(knowledge, tenant_id):
    await knowledge.add_episode("report", "The fee is 2%.", reference_time=day(1), tenant_id=tenant_id)
    told = await knowledge.add_episode("chat", "The fee is 3%, not 2%.", reference_time=day(2), tenant_id=tenant_id)
    assert [fact.object for fact in told.facts] == ["3%"]
    [old] = told.invalidated
    assert [source.name for source in old.sources] == ["report"]
    assert (old.closed_by.name, old.closed_by.quote) == ("chat", "The fee is 3%, not 2%.")
    # One that nobody had told is kept as past, with the only one who spoke of it.
    told = await knowledge.add_episode("mail", "The rent is $9, not $8.", reference_time=day(2), tenant_id=tenant_id)
    assert [(fact.object, [(one.name, one.act) for one in fact.sources]) for fact in told.facts] == [
        ("$9", [("mail", "holds")]),
        ("$8", [("mail", "ended")]),
    ]


async def test_a_tool_that_is_given_up_is_given_up_for_everything(knowledge, tenant_id):
    for text in ("We use Jenkins for CI.", "We use Jira for tickets."):
        await knowledge.add_episode("wiki", text, reference_time=day(1), tenant_id=tenant_id)
    said = "We switched from Jenkins to GitHub Actions."
    told = await knowledge.add_episode("chat", said, reference_time=day(2), tenant_id=tenant_id)
    assert [fact.object for fact in told.invalidated] == ["Jenkins for CI"]

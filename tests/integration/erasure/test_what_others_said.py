"""What others said stays, and nothing of the forgotten words stays in it."""

import psycopg

from .conftest import Rooms
from .scanning import columns_with

WORD = "zyxourbird"


def left(rooms: Rooms) -> set[str]:
    return set(columns_with(rooms.admin_url, WORD))


async def test_a_fact_that_another_source_supports_stays_in_its_words(rooms: Rooms):
    ours = await rooms.knowledge.add_episode("a", f"Per {WORD}, Acme has 40 employees.", tenant_id="acme")
    await rooms.knowledge.add_episode("b", "Acme has 40 employees.", tenant_id="acme")
    assert left(rooms)
    report = await rooms.erasure.source("acme", episode_id=ours.episode.episode_id)
    assert report.complete
    assert left(rooms) == set()
    assert [fact.text for fact in await rooms.knowledge.search("employees", tenant_id="acme")]


async def test_a_name_that_the_forgotten_source_gave_goes_from_what_others_said_under_it(rooms: Rooms):
    named = f"{WORD.title()} Fund Corp (ZFC) is a company in Bonn."
    ours = await rooms.knowledge.add_episode("a", named, tenant_id="acme")
    theirs = await rooms.knowledge.add_episode("b", "ZFC has 40 employees.", tenant_id="acme")
    with psycopg.connect(rooms.admin_url) as connection:
        query = "SELECT subject_key FROM clew.facts WHERE fact_id = %s"
        [(key,)] = connection.execute(query, (theirs.facts[0].fact_id,)).fetchall()
    assert WORD in key, "it is known under the other name"
    report = await rooms.erasure.source("acme", episode_id=ours.episode.episode_id)
    assert report.complete
    assert left(rooms) == set()
    [fact] = await rooms.knowledge.search("how many employees has ZFC?", tenant_id="acme", limit=1)
    assert "40" in fact.text


async def test_a_reason_that_was_quoted_again_goes_too(rooms: Rooms):
    add = rooms.knowledge.add_episode
    await add("a", "The headcount of Acme is 40.", reference_time="2026-01-01", tenant_id="acme")
    ours = await add(
        "b",
        f"The headcount of Acme is actually 55, not 40, says {WORD}.",
        reference_time="2026-02-01",
        tenant_id="acme",
    )
    later = await add("c", "The headcount of Acme is 60.", reference_time="2026-03-01", tenant_id="acme")
    await rooms.knowledge.undo(later.episode.episode_id, tenant_id="acme")
    await add("d", "The headcount of Acme was 45.", reference_time="2026-01-15", tenant_id="acme")
    await add("e", "The headcount of Acme is 70.", reference_time="2026-04-01", tenant_id="acme")
    assert left(rooms)
    report = await rooms.erasure.source("acme", episode_id=ours.episode.episode_id)
    assert report.complete
    assert left(rooms) == set()
    assert "70" in (await rooms.knowledge.search("headcount of Acme", tenant_id="acme"))[0].text

"""The analyst's correction, from one session to the next: both figures, their sources, and the way back."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from clew.errors import NotFound
from clew.ids import new_id
from clew.memory.knowledge import KnowledgeBase

from .conftest import day

CORRECTION = "Q3 revenue was actually $5.2M, not $4.8M as stated in the document"
# What another process does: search, and print what it found.
ASKED = """
import asyncio, json, sys
from pathlib import Path
from clew import Database, Settings
from clew.memory.knowledge import KnowledgeBase

async def main(folder, tenant):
    async with Database(settings=Settings(data_dir=Path(folder))) as database:
        found = await KnowledgeBase(database).search("What was Q3 revenue?", tenant_id=tenant)
        sources = [fact.sources[0] for fact in found]
        print(json.dumps([[f.object, f.superseded, s.name, s.message_id] for f, s in zip(found, sources)]))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
async def told(knowledge, tenant_id):
    report = await knowledge.add_episode(
        "Q3 report",
        "Q3 revenue was $4.8M.",
        source_description="board deck",
        reference_time=day(10),
        tenant_id=tenant_id,
    )
    between = datetime.now(UTC)
    correction = await knowledge.add_episode(
        "chat", {"role": "user", "content": CORRECTION, "id": "m7"}, reference_time=day(20), tenant_id=tenant_id
    )
    return report, between, correction


async def test_the_correction_closes_the_old_figure_and_opens_the_new(told):
    _, _, correction = told
    [new] = [fact for fact in correction.facts if fact.invalid_at is None]
    [old] = correction.invalidated
    assert (new.subject, new.object, new.valid_at) == ("Q3 revenue", "$5.2M", day(20))
    assert (old.object, old.valid_at, old.invalid_at) == ("$4.8M", day(10), day(20))
    assert "not $4.8M" in old.because
    assert new.confidence > 0.9


async def test_another_session_knows_the_new_figure_first_and_can_say_both(told, database, tenant_id):
    found = await KnowledgeBase(database).search("What was Q3 revenue?", tenant_id=tenant_id)
    assert [(fact.object, fact.superseded) for fact in found] == [("$5.2M", False), ("$4.8M", True)]


async def test_another_process_answers_with_both_and_their_sources(told, settings, tenant_id):
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", ASKED, str(settings.data_dir), tenant_id],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == [["$5.2M", False, "chat", "m7"], ["$4.8M", True, "Q3 report", None]]


async def test_as_of_asks_what_was_true_and_known_at_what_was_believed(told, knowledge, tenant_id):
    _, between, _ = told

    async def objects(**when):
        found = await knowledge.search("Q3 revenue", tenant_id=tenant_id, **when)
        return [fact.object for fact in found]

    assert await objects(as_of=day(15)) == ["$4.8M"]
    assert await objects(as_of=day(20)) == ["$5.2M"]
    assert await objects(as_of=day(1)) == []
    assert await objects(known_at=between) == ["$4.8M"]
    assert await objects(known_at=between, as_of=day(25)) == ["$4.8M"]
    assert await objects(known_at=day(1)) == []


async def test_history_shows_both_with_their_sources(told, knowledge, tenant_id):
    report, _, correction = told
    for subject in ("Q3 revenue", "the Q3 revenue", "revenue for Q3", "revenue"):
        old, new = await knowledge.history(subject, tenant_id=tenant_id)
        assert (old.object, new.object) == ("$4.8M", "$5.2M")
        assert (old.sources[0].name, old.sources[0].source_description) == ("Q3 report", "board deck")
        assert old.sources[0].episode_id == report.episode.episode_id
        assert [(one.name, one.message_id, one.role, one.quote) for one in new.sources] == [
            ("chat", "m7", "user", CORRECTION)
        ]
        assert new.sources[0].episode_id == correction.episode.episode_id
        # Who said so, and not who took it back.
        assert [(one.name, one.act) for one in old.sources] == [("Q3 report", "holds")]
        assert (old.closed_by.name, old.closed_by.quote, new.closed_by) == ("chat", CORRECTION, None)


async def test_undo_brings_the_old_one_back_and_nothing_is_overwritten(told, knowledge, tenant_id):
    _, between, correction = told
    known = datetime.now(UTC)
    undone = await knowledge.undo(correction.episode.episode_id, tenant_id=tenant_id)
    assert [(fact.object, fact.invalid_at) for fact in undone.reopened] == [("$4.8M", None)]
    assert [fact.object for fact in undone.expired] == ["$5.2M"]
    [now] = await knowledge.search("Q3 revenue", tenant_id=tenant_id)
    assert (now.object, now.invalid_at, len(now.sources)) == ("$4.8M", None, 1)
    before = await knowledge.search("Q3 revenue", tenant_id=tenant_id, known_at=known)
    assert [fact.object for fact in before] == ["$5.2M", "$4.8M"]
    old, new = await knowledge.history("Q3 revenue", tenant_id=tenant_id)
    assert (old.expired_at, old.invalid_at) == (None, None)
    assert new.expired_at > new.created_at > between
    # Whoever reads the history can tell why: its only source was taken back.
    assert [(one.name, one.undone) for one in new.sources] == [("chat", True)]
    assert [(one.name, one.undone) for one in old.sources] == [("Q3 report", False)]
    assert (new.superseded, old.superseded) == (True, False)
    assert await knowledge.undo(correction.episode.episode_id, tenant_id=tenant_id) == type(undone)(undone.episode_id)


async def test_told_without_the_document_the_old_figure_is_kept_as_past(knowledge, tenant_id):
    told = await knowledge.add_episode("chat", CORRECTION, reference_time=day(20), tenant_id=tenant_id)
    assert [fact.object for fact in told.facts] == ["$5.2M", "$4.8M"]
    assert told.invalidated == []
    [before] = await knowledge.search("Q3 revenue", tenant_id=tenant_id, as_of=day(15))
    assert (before.object, before.valid_at, before.invalid_at) == ("$4.8M", None, day(20))


async def test_the_log_tells_every_change_with_before_and_after(told, knowledge, tenant_id):
    _, _, correction = told
    changes = await knowledge.changes(tenant_id=tenant_id, episode_id=correction.episode.episode_id)
    acts = {change.act: change for change in changes}
    assert set(acts) == {"closed", "added"}
    assert (acts["closed"].before["invalid_at"], acts["closed"].after["invalid_at"]) == (None, day(20).isoformat())
    assert acts["added"].before is None
    assert acts["added"].after["object"] == "$5.2M"


async def test_an_episode_that_is_nowhere_can_not_be_undone(knowledge, tenant_id):
    with pytest.raises(NotFound):
        await knowledge.undo(new_id(), tenant_id=tenant_id)

"""After an erasure the canary is nowhere, and everybody else's is everywhere it was."""

import logging

import pytest

from .conftest import Rooms
from .planting import Canary, plant_thread, plant_user
from .scanning import everywhere

OURS = Canary("zyxourbird", "idxourbird")
THEIRS = Canary("zyxtheirbird", "idxtheirbird")

WORDS_OF_A_THREAD = {
    "table clew.messages.message",
    "table clew.messages.words",
    "table clew.appends.idempotency_key",
    "table clew.compactions.view",
    "table clew.tool_results.tool_call_id",
    "table clew.memories.content",
    "table clew.memory_terms.term",
    "table clew.memory_changes.before",
    "table clew.episodes.name",
    "table clew.episodes.body",
    "table clew.facts.text",
    "table clew.fact_terms.term",
    "table clew.fact_sources.text",
    "table clew.fact_beliefs.because",
    "table clew.fact_changes.after",
    "table clew.standing_instructions.text",
    "table clew_lg_00.checkpoint_blobs.blob",
    "an object",
    "cache memory",
    "cache knowledge",
    "cache words",
}
IDS_OF_A_THREAD = {
    "table clew.threads.thread_id",
    "table clew.messages.thread_id",
    "table clew.memories.thread_id",
    "table clew.memory_changes.memory_id",
    "table clew.episodes.thread_id",
    "table clew.tool_results.thread_id",
    "table clew.artifact_uses.thread_id",
    "table clew.standing_instructions.holder",
    "table clew_lg_00.checkpoints.thread_id",
    "table clew_jobs.procrastinate_jobs.args",
    "table clew_jobs.procrastinate_jobs.queueing_lock",
}


def in_tables(places: set[str]) -> set[str]:
    return {place for place in places if not place.startswith("cache")}


async def test_of_a_thread_nothing_is_left_and_of_another_all(rooms: Rooms, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    await rooms.knowledge.add_episode("report", "The headcount of Acme is 40.", tenant_id="acme")
    await plant_thread(rooms, "acme", OURS)
    await plant_thread(rooms, "acme", THEIRS)
    assert everywhere(rooms, OURS.word) >= WORDS_OF_A_THREAD, "the scan sees it"
    assert everywhere(rooms, OURS.mark) >= IDS_OF_A_THREAD
    theirs = everywhere(rooms, THEIRS.word), everywhere(rooms, THEIRS.mark)
    report = await rooms.erasure.source("acme", thread_id=OURS.thread_id)
    assert report.left == ()
    assert report.complete
    assert everywhere(rooms, OURS.word) == set()
    assert everywhere(rooms, OURS.mark) == set()
    assert in_tables(everywhere(rooms, THEIRS.word)) == in_tables(theirs[0])
    assert in_tables(everywhere(rooms, THEIRS.mark)) == in_tables(theirs[1])
    assert OURS.word not in caplog.text + rooms.server_log.read_text()


async def test_of_a_user_nothing_is_left_and_of_another_all(rooms: Rooms, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    await plant_user(rooms, "acme", OURS)
    await plant_user(rooms, "acme", THEIRS)
    assert everywhere(rooms, OURS.word) >= WORDS_OF_A_THREAD - {"table clew.fact_beliefs.because"}
    assert everywhere(rooms, OURS.mark) >= IDS_OF_A_THREAD | {
        "table clew.threads.user_id",
        "table clew.episodes.user_id",
    }
    theirs = everywhere(rooms, THEIRS.word), everywhere(rooms, THEIRS.mark)
    report = await rooms.erasure.user(OURS.user_id, tenant_id="acme")
    assert report.left == ()
    assert report.complete
    assert everywhere(rooms, OURS.word) | everywhere(rooms, OURS.mark) == set()
    assert in_tables(everywhere(rooms, THEIRS.word)) == in_tables(theirs[0])
    assert in_tables(everywhere(rooms, THEIRS.mark)) == in_tables(theirs[1])
    assert OURS.word not in caplog.text + rooms.server_log.read_text()


async def test_of_a_tenant_nothing_is_left_and_of_another_all(rooms: Rooms, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    await plant_user(rooms, OURS.mark, OURS)
    await plant_user(rooms, THEIRS.mark, THEIRS)
    assert everywhere(rooms, OURS.word) >= WORDS_OF_A_THREAD - {"table clew.fact_beliefs.because"}
    theirs = everywhere(rooms, THEIRS.word), everywhere(rooms, THEIRS.mark)
    report = await rooms.erasure.tenant(OURS.mark)
    assert report.left == ()
    assert report.complete
    assert everywhere(rooms, OURS.word) | everywhere(rooms, OURS.mark) == set()
    assert in_tables(everywhere(rooms, THEIRS.word)) == in_tables(theirs[0])
    assert in_tables(everywhere(rooms, THEIRS.mark)) == in_tables(theirs[1])
    assert OURS.word not in caplog.text + rooms.server_log.read_text()

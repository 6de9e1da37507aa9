"""The engine's own erasure empties what the engine keeps in this process between two turns."""

import clew

from .conftest import Rooms
from .scanning import columns_with, texts_in

WORD = "zyxourbird"


async def summary(messages: list[dict[str, str]]) -> str:
    """A model that is never asked here: with one, the engine keeps what it sent last."""
    return ""


async def test_after_a_turn_the_engine_holds_the_words_and_after_an_erasure_none(rooms: Rooms):
    engine = clew.open(rooms.database, models={"summaries": summary})
    tenant = engine.tenant("acme")
    thread = tenant.thread("t")
    await thread.append({"role": "user", "content": f"{WORD.title()} has 40 employees."})
    await tenant.remember(f"{WORD} sells pumps", {"thread_id": "t"})
    await thread.compile(f"How many employees has {WORD}?")
    await thread.compile(f"And what does {WORD} sell?")
    assert any(WORD in text for text in texts_in(engine))
    assert list(columns_with(rooms.admin_url, WORD))
    report = await engine.erasure.source("acme", thread_id="t")
    assert report.left == ()
    assert report.complete
    assert [text for text in texts_in(engine) if WORD in text] == []
    assert list(columns_with(rooms.admin_url, WORD)) == []
    await engine.close()

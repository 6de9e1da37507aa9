"""An erasure beside writers of the same things: nobody waits for ever, and the report tells the truth."""

import asyncio

from clew.erasure import ErasureReport

from .conftest import Rooms
from .planting import Canary
from .scanning import columns_with

OURS = Canary("zyxourbird", "idxourbird")


async def write(rooms: Rooms, n: int) -> None:
    said = {"role": "user", "content": f"{OURS.word} {n}"}
    await rooms.sessions.append(OURS.thread_id, said, tenant_id="acme", user_id=OURS.user_id)
    told = f"{OURS.word} number {n} has {n} wheels."
    await rooms.knowledge.add_episode("chat", told, tenant_id="acme", thread_id=OURS.thread_id)
    metadata = {"thread_id": OURS.thread_id}
    await rooms.memory.store({"tenant_id": "acme", "agent_id": "a", "content": told, "metadata": metadata})


async def write_several(rooms: Rooms, first: int) -> None:
    for n in range(first, first + 6):
        await write(rooms, n)


async def erase_several(rooms: Rooms) -> list[ErasureReport]:
    return [await rooms.erasure.source("acme", thread_id=OURS.thread_id) for _ in range(4)]


async def test_erasures_and_writers_at_once_end_and_every_message_goes_once(rooms: Rooms):
    erasing = [asyncio.create_task(erase_several(rooms)) for _ in range(3)]
    await asyncio.gather(*(write_several(rooms, first) for first in (0, 6, 12, 18)))
    reports = [report for one in await asyncio.gather(*erasing) for report in one]
    last = await rooms.erasure.user(OURS.user_id, tenant_id="acme")
    left = await rooms.erasure.source("acme", thread_id=OURS.thread_id)
    assert left.complete
    assert sum(report.removed.get("messages", 0) for report in (*reports, last, left)) == 24
    assert list(columns_with(rooms.admin_url, OURS.word)) == []
    assert list(columns_with(rooms.admin_url, OURS.mark)) == []


async def test_a_writer_that_comes_between_is_told(rooms: Rooms, monkeypatch):
    await write(rooms, 1)
    read = rooms.sessions.read

    async def written_first(thread_id: str, **options):
        await write(rooms, 2)
        return await read(thread_id, **options)

    monkeypatch.setattr(rooms.sessions, "read", written_first)
    report = await rooms.erasure.source("acme", thread_id=OURS.thread_id)
    assert not report.complete
    assert [check.store for check in report.left] == ["sessions"]

"""Opening and closing gives everything back."""

import os
import threading
from pathlib import Path

import pytest

from clew import Database, Misconfigured, Settings

TIMES = 20


def descriptors():
    folder = Path("/proc/self/fd") if Path("/proc/self/fd").exists() else Path("/dev/fd")
    return len(os.listdir(folder))  # noqa: PTH208 - one descriptor for the listing, each time


async def test_opening_and_closing_twenty_times_leaves_the_descriptors_where_they_were(server, settings):
    async def once():
        async with Database(settings=settings) as database, database.tenant("t") as connection:
            held = descriptors()
            await connection.execute("SELECT 1")
        return held

    await once()
    before, threads = descriptors(), threading.active_count()
    assert await once() > before, "an open database holds no descriptor at all"
    for _ in range(TIMES):
        await once()
    assert descriptors() <= before
    # to_thread() keeps its threads for the next time.
    assert threading.active_count() <= threads + 4


async def test_failing_to_open_leaves_the_descriptors_where_they_were(postgres_18):
    url = postgres_18.url(dbname=postgres_18.new_database())

    async def once():
        with pytest.raises(Misconfigured):
            await Database(url, settings=Settings()).open()

    await once()
    before = descriptors()
    for _ in range(TIMES):
        await once()
    assert descriptors() <= before


async def test_failing_to_open_the_embedded_server_leaves_the_descriptors_where_they_were(tmp_path):
    (tmp_path / "file").write_text("")

    async def once():
        with pytest.raises(Misconfigured):
            await Database(settings=Settings(data_dir=tmp_path / "file")).open()

    await once()
    before = descriptors()
    for _ in range(TIMES):
        await once()
    assert descriptors() <= before

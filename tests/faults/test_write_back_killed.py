"""A process killed while it learns from a thread: what was acknowledged is there, and is learnt once by the next."""

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import clew
from clew import Clew, Database, Settings

from .appending_process import MESSAGES, POINTS, TENANT, text_of

if TYPE_CHECKING:
    from ..conftest import Scratch

RUNS = 8


@pytest.fixture
async def engine(scratch: "Scratch") -> AsyncIterator[Clew]:
    async with clew.open(Database(scratch.app_url, settings=Settings(worker="separate"))) as engine:
        await engine.database.open()
        yield engine
        await engine.database.close()


def start(url: str, thread: str, point: str, first: int = 1) -> "subprocess.Popen[str]":
    script = Path(__file__).with_name("appending_process.py")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    return subprocess.Popen(
        [sys.executable, str(script), url, thread, point, str(first)],
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def acknowledged(process: "subprocess.Popen[str]") -> list[int]:
    said, errors = process.communicate(timeout=120)
    assert process.returncode in (0, -signal.SIGKILL), errors
    return [int(line) for line in said.split()]


async def rows(engine: Clew, statement: str) -> list[tuple[Any, ...]]:
    async with engine.database.tenant(TENANT) as connection:
        return await (await connection.execute(statement)).fetchall()


async def all_is_learnt_once(engine: Clew, thread_id: str) -> list[int]:
    """After one more reading; the numbers of the messages that are in the log."""
    await engine.write_back.catch_up(thread_id, tenant_id=TENANT)
    log = await engine.sessions.read(thread_id, 10_000, tenant_id=TENANT)
    said = [row.message.text for row in log]
    stating = [row.message_id for row in log if row.message.text.startswith("The budget")]
    where = f"thread_id = '{thread_id}'"
    sources = "clew.episodes e LEFT JOIN clew.fact_sources s USING (tenant_id, episode_id)"
    each = f"SELECT min(s.message_id) FROM {sources} WHERE {where} GROUP BY episode_id"
    episodes = await rows(engine, each)
    assert sorted(id for (id,) in episodes) == sorted(stating), "each statement is an episode, once"
    wishes = [text.rstrip(".") for text in said if text.startswith("Always")]
    kept = await rows(engine, f"SELECT text FROM clew.standing_instructions WHERE {where} ORDER BY seq")
    assert [text for (text,) in kept] == wishes
    read = await rows(engine, f"SELECT read_through, message_count FROM clew.threads WHERE {where}")
    assert read == ([(len(log), len(log))] if log else [])
    sourced = "SELECT FROM clew.fact_sources s WHERE s.seq = f.seq"
    assert await rows(engine, f"SELECT fact_id FROM clew.facts f WHERE NOT EXISTS ({sourced})") == []
    again = await engine.write_back.catch_up(thread_id, tenant_id=TENANT)
    assert (again.messages, again.episodes) == (0, [])
    return [int(found[0]) for text in said if (found := re.search(r"\d+", text))]


async def test_a_process_that_is_not_killed_has_learnt_all(engine, scratch):
    """The control."""
    process = start(scratch.app_url, "t", "nowhere")
    assert await asyncio.to_thread(acknowledged, process) == list(range(1, MESSAGES + 1))
    assert len(await rows(engine, "SELECT FROM clew.episodes")) == sum(
        text_of(number).startswith("The budget") for number in range(1, MESSAGES + 1)
    )
    await all_is_learnt_once(engine, "t")


@pytest.mark.parametrize("point", POINTS)
async def test_killed_at_a_point_everything_acknowledged_is_learnt_once(engine, scratch, point):
    told = await asyncio.to_thread(acknowledged, start(scratch.app_url, "t", point))
    assert len(told) < MESSAGES, "it was killed"
    found = await all_is_learnt_once(engine, "t")
    assert found[: len([n for n in told if n % 10 != 9])] == [number for number in told if number % 10 != 9]


@pytest.mark.parametrize("point", ["when the mark was moved", "before the commit", "when one is learnt"])
async def test_a_backlog_whose_reader_is_killed_again_and_again_is_learnt_once(engine, scratch, point):
    messages = [{"role": "user", "content": text_of(number)} for number in range(1, MESSAGES + 1)]
    await engine.sessions.append("t", messages, tenant_id=TENANT)
    for _ in range(4):
        process = await asyncio.to_thread(_catch_up_killed, scratch.app_url, point)
        assert process == -signal.SIGKILL
    found = await all_is_learnt_once(engine, "t")
    assert found == [number for number in range(1, MESSAGES + 1) if number % 10 != 9]


def _catch_up_killed(url: str, point: str) -> int:
    folder = str(Path(__file__).parent)
    program = (
        f"import sys, asyncio; sys.path.insert(0, {folder!r}); import appending_process as p;"
        f" p.prepare({point!r}); sys.argv = ['', {url!r}, 't', 'catch up', '1']; asyncio.run(p.main())"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def _killed_at_some_time(url: str, run: int) -> list[int]:
    process = start(url, f"t{run}", "nowhere", run * 1_000 + 1)
    assert process.stdout is not None
    first = process.stdout.readline()
    try:
        rest, _ = process.communicate(timeout=random.Random(run).uniform(0.0, 0.5))
    except subprocess.TimeoutExpired:
        process.kill()
        rest, _ = process.communicate()
    return [int(line) for line in (first + rest).split()]


async def test_killed_at_any_moment_nothing_acknowledged_is_lost_or_learnt_twice(engine, scratch):
    killed = 0
    for run in range(RUNS):
        told = await asyncio.to_thread(_killed_at_some_time, scratch.app_url, run)
        killed += len(told) < MESSAGES
        found = await all_is_learnt_once(engine, f"t{run}")
        wanted = [number for number in told if number % 10 != 9]
        assert found[: len(wanted)] == wanted
        assert len(found) <= len(wanted) + 1, "at most the one whose answer never came"
    assert killed > RUNS // 2


async def test_several_processes_on_one_thread_and_one_is_killed(engine, scratch):
    started = [start(scratch.app_url, "t", point, 1 + 1_000 * n) for n, point in enumerate(
        ["nowhere", "before the commit", "nowhere", "when the mark was moved"])]  # fmt: skip
    told = await asyncio.gather(*(asyncio.to_thread(acknowledged, one) for one in started))
    found = set(await all_is_learnt_once(engine, "t"))
    assert {number for numbers in told for number in numbers if number % 10 != 9} <= found
    assert [len(one) == MESSAGES for one in told] == [True, False, True, False]

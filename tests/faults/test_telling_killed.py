"""A process killed in the middle of an episode: nothing of it is there, and what was believed is believed still."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew import Database, Settings
from clew.memory.knowledge import KnowledgeBase

from .telling_process import POINTS, TENANT

if TYPE_CHECKING:
    from ..conftest import Scratch

TABLES = (
    "episodes", "facts", "fact_beliefs", "fact_sources", "fact_terms", "fact_vectors", "fact_totals", "fact_changes",
    "entity_aliases",
)  # fmt: skip


def tell(url: str, point: str) -> int:
    script = Path(__file__).with_name("telling_process.py")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    done = subprocess.run(
        [sys.executable, str(script), url, point], env=clean, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


async def counts(database: Database) -> list[int]:
    async with database.tenant(TENANT) as connection:
        found = []
        for table in TABLES:
            row = await (await connection.execute(f"SELECT count(*) FROM clew.{table}")).fetchone()
            found.append(row[0] if row else -1)
    return found


@pytest.mark.parametrize("point", [*POINTS, "nowhere"])
async def test_killed_at_any_point_an_episode_is_stored_whole_or_not_at_all(scratch: "Scratch", point: str) -> None:
    async with Database(scratch.app_url, settings=Settings()) as database:
        knowledge = KnowledgeBase(database)
        await knowledge.add_episode("first", "Ana lives in Paris.", tenant_id=TENANT)
        before = await counts(database)
        killed = tell(scratch.app_url, point) != 0
        assert killed == (point != "nowhere")
        assert (await counts(database) == before) == killed
        [now, *_] = await knowledge.search("Where does Ana live?", tenant_id=TENANT)
        assert (now.object, now.superseded) == ("Paris" if killed else "Rome", False)
        again = await knowledge.add_episode("third", "Ana moved to Oslo.", tenant_id=TENANT)
        assert [fact.object for fact in again.invalidated] == ["Paris" if killed else "Rome"]

"""Every room on a database of the test's own, with an object store and a server log that can be read."""

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew import Database, Settings
from clew.artifacts import ArtifactStore, ToolResultCache
from clew.context.compactor import Compactor
from clew.context.standing.kept import StandingInstructions
from clew.erasure import Erasure
from clew.memory import LongTermMemory
from clew.memory.knowledge import KnowledgeBase
from clew.sessions import SessionStore
from clew.store.jobs import Jobs

from ...conftest import Scratch


@dataclasses.dataclass(frozen=True)
class Rooms:
    """What an engine wires, and the erasure over all of it."""

    database: Database
    sessions: SessionStore
    memory: LongTermMemory
    knowledge: KnowledgeBase
    artifacts: ArtifactStore
    tool_results: ToolResultCache
    compactor: Compactor
    standing: StandingInstructions
    jobs: Jobs
    erasure: Erasure
    admin_url: str
    objects: Path
    server_log: Path


async def _nothing(**arguments: str) -> None:
    """A job that is only ever queued."""


@pytest.fixture
async def rooms(scratch: Scratch, settings: Settings, tmp_path: Path) -> AsyncIterator[Rooms]:
    own = dataclasses.replace(settings, worker="separate", artifacts_url=str(tmp_path / "objects"))
    async with Database(scratch.app_url, settings=own) as database:
        jobs = Jobs(database, in_process=False)
        jobs.task("nothing", _nothing)
        sessions, memory, knowledge = SessionStore(database), LongTermMemory(database), KnowledgeBase(database)
        artifacts, standing = ArtifactStore(database), StandingInstructions(database)
        yield Rooms(
            database=database,
            sessions=sessions,
            memory=memory,
            knowledge=knowledge,
            artifacts=artifacts,
            tool_results=ToolResultCache(artifacts),
            compactor=Compactor(database, threshold_messages=20, keep_recent=4, jobs=jobs),
            standing=standing,
            jobs=jobs,
            erasure=Erasure(
                database,
                sessions=sessions,
                memory=memory,
                knowledge=knowledge,
                artifacts=artifacts,
                standing=standing,
            ),
            admin_url=scratch.admin_url,
            objects=tmp_path / "objects",
            server_log=next(settings.data_dir.rglob("server.log")),
        )

"""A process that stores or collects artifacts is killed at every step: no reference dangles, and leftovers are found.

Each child runs the real code, with one method wrapped so that the process kills itself, by SIGKILL, at a named point.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from clew import Database, Settings
from clew.artifacts import ArtifactStore
from clew.errors import Damaged, NotFound
from clew.store.named_sql import statements

DATA = b"what was acknowledged stays" * 1000

# The point, the method it is in, and whether the process dies before or after it is done.
WRITING = {
    "nothing written": ("Writer._new_blob", "before"),
    "blob row written": ("LocalBlobs._make_room", "before"),
    "half the object written": ("HalfWay", "during"),
    "object written": ("LocalBlobs.write", "after"),
    "artifact about to be committed": ("Writer._claimed", "after"),
    "transaction committed": ("Writer._finished", "after"),
}
COLLECTING = {
    "artifacts row about to be deleted": ("Collector._named", "after"),
    "artifacts row deleted": ("Collector._removed", "before"),
    "object about to be deleted": ("LocalBlobs.delete", "before"),
    "object deleted": ("LocalBlobs.delete", "after"),
    "blob row deleted": ("Collector._removed", "after"),
}

CHILD = """
import asyncio, functools, os, signal, sys
from pathlib import Path

from clew import Database, Settings
from clew.artifacts.objects.blobs import LocalBlobs
from clew.artifacts.objects.collecting import Collector
from clew.artifacts.store import ArtifactStore
from clew.artifacts.objects.writing import Writer

work, tenant, folder, data_dir, target, moment = sys.argv[1:]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def wrap(name):
    kind, _, method = name.partition(".")
    owner = globals()[kind]
    real = getattr(owner, method)

    @functools.wraps(real)
    async def when_done(*args, **kwargs):
        # The database's own mark is written before any artifact, and is not what is tested here.
        answer = await real(*args, **kwargs)
        if not any("databases/" in str(arg) for arg in args):
            die()
        return answer

    def unless_mark(*args, **kwargs):
        return real(*args, **kwargs) if any("databases/" in str(arg) for arg in args) else die()

    setattr(owner, method, when_done if moment == "after" else unless_mark)


async def half_way():
    yield bytes(20_000_000)
    die()


async def main():
    async with Database(settings=Settings(data_dir=Path(data_dir))) as database:
        store = ArtifactStore(database, url=folder, grace_s=0)
        if target not in ("", "HalfWay"):
            wrap(target)
        if work == "collect":
            await store.collect(tenant_id=tenant)
        elif target == "HalfWay":
            await store.put_stream(half_way(), media_type="text/plain", tenant_id=tenant)
        else:
            data = Path(folder).with_name("data").read_bytes()
            ref = await store.put(data, media_type="text/plain", tenant_id=tenant)
            print(ref.artifact_id)


asyncio.run(main())
"""


@pytest.fixture
def place(database: Database, settings: Settings, tmp_path: Path):
    """A tenant and a folder of the test's own, and a way to run a child on them."""

    class Place:
        tenant = f"crash-{uuid4().hex[:10]}"
        folder = tmp_path / "artifacts"
        store = ArtifactStore(database, url=str(folder))
        eager = ArtifactStore(database, url=str(folder), grace_s=0)

        def run(self, work: str, target: str, moment: str) -> "subprocess.CompletedProcess[str]":
            self.folder.with_name("data").write_bytes(DATA)
            words = [work, self.tenant, str(self.folder), str(settings.data_dir), target, moment]
            command = [sys.executable, "-c", CHILD, *words]
            environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)

        def files(self) -> list[Path]:
            return [p for p in self.folder.rglob("*") if p.is_file() and p.parent.name != "databases"]

        async def rows(self) -> tuple[int, int]:
            async with database.tenant(self.tenant) as connection:
                counts = "SELECT (SELECT count(*) FROM clew.artifacts), (SELECT count(*) FROM clew.blobs)"
                return await (await connection.execute(counts)).fetchone()

        async def readable(self) -> int:
            """How many references there are; each one leads to the bytes."""
            refs = await self.store.list(tenant_id=self.tenant)
            for ref in refs:
                assert (await self.store.get(ref.artifact_id, tenant_id=self.tenant)).data == DATA
            return len(refs)

    return Place()


@pytest.mark.parametrize("point", WRITING)
async def test_killed_while_storing_no_reference_dangles_and_leftovers_are_collected(place, point):
    target, moment = WRITING[point]
    child = place.run("put", target, moment)
    assert child.returncode == -signal.SIGKILL, child.stderr
    committed = point == "transaction committed"
    assert await place.readable() == committed
    artifacts, blobs = await place.rows()
    assert len(place.files()) <= blobs, "every object, and every part of one, has a row that leads to it"
    assert (await place.store.collect(tenant_id=place.tenant, deep=True)).orphans == 0, "too young: it might be alive"
    done = await place.eager.collect(tenant_id=place.tenant)
    assert done.orphans == blobs - artifacts
    assert (await place.rows(), len(place.files())) == ((committed, committed), committed)
    assert await place.readable() == committed
    ref = await place.store.put(DATA, media_type="text/plain", tenant_id=place.tenant)
    assert (await place.store.get(ref.artifact_id, tenant_id=place.tenant)).data == DATA, "and the retry succeeds"


@pytest.mark.parametrize("point", COLLECTING)
async def test_killed_while_collecting_no_reference_dangles_and_the_next_one_finishes(place, point):
    target, moment = COLLECTING[point]
    await place.store.put(DATA, media_type="text/plain", tenant_id=place.tenant, keep="last_used:0s")
    child = place.run("collect", target, moment)
    assert child.returncode == -signal.SIGKILL, child.stderr
    gone = point != "artifacts row about to be deleted"
    assert await place.readable() == (not gone)
    assert len(place.files()) <= (await place.rows())[1]
    done = await place.eager.collect(tenant_id=place.tenant)
    assert done.orphans + len(done.expired) == (point != "blob row deleted")
    assert (await place.rows(), place.files()) == ((0, 0), [])


@pytest.mark.parametrize("point", ["artifacts row deleted", "object deleted"])
async def test_bytes_put_again_after_a_collection_died_on_them_are_stored_anew(place, point):
    await place.store.put(DATA, media_type="text/plain", tenant_id=place.tenant, keep="last_used:0s")
    assert place.run("collect", *COLLECTING[point]).returncode == -signal.SIGKILL
    await place.store.put(DATA, media_type="text/plain", tenant_id=place.tenant)
    assert (await place.eager.collect(tenant_id=place.tenant)).orphans == 1
    assert await place.readable() == 1


async def test_an_acknowledged_artifact_is_readable_after_the_process_is_gone(place):
    child = place.run("put", "", "")
    assert child.returncode == 0, child.stderr
    assert (await place.store.get(child.stdout.strip(), tenant_id=place.tenant)).data == DATA


async def test_the_matrix_notices_an_object_that_goes_before_its_row(place):
    """The control: in the other order, the object first, a kill in between leaves a reference that leads nowhere."""
    ref = await place.store.put(DATA, media_type="text/plain", tenant_id=place.tenant, keep="last_used:0s")
    for file in place.files():
        file.unlink()
    with pytest.raises(Damaged, match="not in the object store"):
        await place.readable()
    assert (await place.eager.collect(tenant_id=place.tenant, deep=True, dry_run=True)).damaged == (ref.artifact_id,)


async def test_the_matrix_notices_a_collector_that_finishes_nothing(place, monkeypatch):
    """The control: without the step that looks for what was left, it is still there."""
    assert place.run("put", *WRITING["object written"]).returncode == -signal.SIGKILL
    with monkeypatch.context() as patch:
        patch.setattr("clew.artifacts.objects.collecting._SQL", _Without("hold_orphans"))
        await place.eager.collect(tenant_id=place.tenant)
        assert (await place.rows(), len(place.files())) == ((0, 1), 1)
    await place.eager.collect(tenant_id=place.tenant)
    assert (await place.rows(), place.files()) == ((0, 0), [])


async def test_a_row_without_its_blob_cannot_even_be_written(place, database):
    """Why there is no crash between them: the foreign key refuses an artifact whose blob isn't there."""
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        async with database.tenant(place.tenant) as connection:
            await connection.execute(
                "INSERT INTO clew.artifacts (tenant_id, artifact_id, blob_id, media_type) "
                "VALUES (%s, %s, gen_random_uuid(), 'text/plain')",
                (place.tenant, "art_" + "a" * 16),
            )
    with pytest.raises(NotFound):
        await place.store.stat("art_" + "a" * 16, tenant_id=place.tenant)


class _Without:
    """The statements, with one that finds nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> str:
        return "SELECT NULL WHERE false" if name == self._name else getattr(statements("artifacts"), name)

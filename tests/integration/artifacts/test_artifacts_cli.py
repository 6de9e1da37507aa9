"""`clew artifacts`, as a user types it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.artifacts import ArtifactStore

CLEW = Path(sys.executable).with_name("clew")


@pytest.fixture
def clew(server, settings):
    def run(*words: str, answer: str | None = None) -> "subprocess.CompletedProcess[str]":
        environment = {"CLEW_DATA_DIR": str(settings.data_dir), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
        return subprocess.run(
            [CLEW, "artifacts", *words],
            env={**environment, "LANG": "C.UTF-8", "COLUMNS": "120"},
            input=answer,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.fixture
def store(database):
    """Where the command looks by default: a folder in the data folder."""
    return ArtifactStore(database)


def _ok(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


def _refused(done: "subprocess.CompletedProcess[str]") -> str:
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "Traceback" not in said
    return said


async def test_list_shows_what_there_is_and_is_not_driven_by_names(clew, store, tenant, other):
    ref = await store.put("hello", media_type="text/plain", name="a\x1b[2J[bold]b\n" + "x" * 4000, tenant_id=tenant)
    [listed] = json.loads(_ok(clew("list", "--tenant", tenant, "--json")))
    assert listed == ref.as_dict()
    shown = _ok(clew("list", "--tenant", tenant))
    assert ref.artifact_id in shown
    assert "\x1b" not in shown
    assert "[bold]" in shown
    assert len(shown) < 6_000
    assert json.loads(_ok(clew("list", "--tenant", other, "--json"))) == []
    assert "no artifacts" in _ok(clew("list", "--tenant", other))


async def test_show_tells_what_is_known_and_the_first_lines_of_a_text(clew, store, tenant, other):
    text = "\n".join(f"line {n}" for n in range(10_000))
    ref = await store.put(text, media_type="text/plain", name="run.log", tenant_id=tenant, details={"lines": 10_000})
    shown = _ok(clew("show", ref.artifact_id, "--tenant", tenant))
    assert all(part in shown for part in (ref.artifact_id, "run.log", "text/plain", ref.sha256, "line 19", "export"))
    assert "line 20" not in shown
    told = json.loads(_ok(clew("show", ref.artifact_id, "--tenant", tenant, "--json")))
    assert told["text"].splitlines() == [f"line {n}" for n in range(20)]
    assert told["details"] == {"lines": 10_000}
    assert "no artifact" in _refused(clew("show", ref.artifact_id, "--tenant", other))
    assert json.loads(_refused(clew("show", "nonsense", "--json")))["error"]["code"] == "invalid_input"


async def test_show_prints_no_bytes_of_a_picture(clew, store, tenant):
    ref = await store.put(b"\x89PNG\x1b[31mhidden", media_type="image/png", tenant_id=tenant)
    assert "hidden" not in _ok(clew("show", ref.artifact_id, "--tenant", tenant))
    assert json.loads(_ok(clew("show", ref.artifact_id, "--tenant", tenant, "--json")))["text"] is None


async def test_export_writes_a_file_and_only_over_another_when_told(clew, store, tenant, tmp_path):
    data = os.urandom(3_000_000)
    ref = await store.put(data, media_type="application/octet-stream", tenant_id=tenant)
    path = tmp_path / "out.bin"
    words = ("export", ref.artifact_id, str(path), "--tenant", tenant)
    told = json.loads(_ok(clew(*words, "--json")))
    assert (told["size"], told["sha256"], path.read_bytes()) == (len(data), ref.sha256, data)
    path.write_text("precious")
    assert "--force" in _refused(clew(*words))
    assert path.read_text() == "precious"
    assert "3.0 MB" in _ok(clew(*words, "--force"))
    assert path.read_bytes() == data
    _refused(clew("export", ref.artifact_id, str(tmp_path), "--tenant", tenant, "--force"))
    _refused(clew("export", ref.artifact_id, str(tmp_path / "no" / "such" / "folder"), "--tenant", tenant))
    assert [file.name for file in tmp_path.iterdir()] == ["out.bin"], "nothing half-written is left"


async def test_an_export_of_damaged_bytes_leaves_the_file_that_was_there(clew, database, tenant, settings, tmp_path):
    store = ArtifactStore(database)
    before = {path for path in (settings.data_dir / "artifacts").rglob("*") if path.is_file()}
    ref = await store.put(os.urandom(2_000_000), media_type="application/octet-stream", tenant_id=tenant)
    [stored] = {
        p for p in (settings.data_dir / "artifacts").rglob("*") if p.is_file() and "databases" not in str(p)
    } - before
    stored.write_bytes(stored.read_bytes()[:-1] + b"!")
    path = tmp_path / "out.bin"
    path.write_text("precious")
    said = _refused(clew("export", ref.artifact_id, str(path), "--force", "--tenant", tenant))
    assert "not what was stored" in said
    assert path.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1


async def test_collect_asks_first_and_says_what_went(clew, store, tenant, database):
    ref = await store.put(b"old", media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    async with database.tenant(tenant) as connection:
        await connection.execute("UPDATE clew.artifacts SET used_at = used_at - interval '2 hours'")
    assert json.loads(_ok(clew("collect", "--tenant", tenant, "--dry-run", "--deep", "--json")))["expired"] == [
        ref.artifact_id
    ]
    assert "would remove 1 artifacts" in _ok(clew("collect", "--tenant", tenant, "--dry-run"))
    assert clew("collect", "--tenant", tenant, answer="n\n").returncode == 1
    assert "--yes" in _refused(clew("collect", "--tenant", tenant, "--json"))
    assert len(await store.list(tenant_id=tenant)) == 1, "asked, and not told yes"
    assert "removed 1 artifacts" in _ok(clew("collect", "--tenant", tenant, answer="y\n"))
    assert await store.list(tenant_id=tenant) == []
    assert json.loads(_ok(clew("collect", "--tenant", tenant, "--yes", "--json")))["expired"] == []

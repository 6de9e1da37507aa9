"""`clew artifacts …` and what `clew threads` says of savings and compactions, as a user types them."""

import json
import os
from typing import Any
from uuid import uuid4

import pytest

import clew

from .conftest import user
from .test_cli import _failed, _found, _ok
from .test_compactor import turns
from .test_isolate_tool import FINDINGS, LONG

TENANT = f"cli-{uuid4().hex[:8]}"
UNKNOWN = "art_aaaaaaaaaaaaaaaa"
LOG = "".join(f"line {n}\n" for n in range(1, 2_001))


@pytest.fixture(scope="module")
async def stored(engine) -> dict[str, Any]:
    put = engine.artifacts.put
    return {
        "log": await put(LOG, media_type="text/plain", name="server.log", tenant_id=TENANT),
        "image": await put(os.urandom(5_000), media_type="image/png", name="\x1b[31m../../shot.png", tenant_id=TENANT),
        "empty": await put(b"", media_type="text/plain", tenant_id=TENANT),
    }


@pytest.fixture(scope="module")
async def thread(engine) -> str:
    handle = engine.tenant(TENANT)
    await handle.thread("support-42").append([*turns(40), user("What is open?")])
    await handle.thread("support-42").compact()
    with clew.tool_call("call_1", "support-42"):
        await handle.isolate(lambda: LONG, "fox")()
    with clew.tool_call("call_2", "support-42"):
        await handle.isolate(lambda: FINDINGS, "kb")()
    return "support-42"


# ---- list and show


def test_list_shows_them_to_people(cli, stored):
    said = _ok(cli("artifacts", "list", "--tenant", TENANT))
    for ref in stored.values():
        assert ref.artifact_id in said
    assert "server.log" in said
    assert "\x1b" not in said, "a name can't colour a terminal"


def test_list_as_json(cli, stored):
    listed = json.loads(_ok(cli("artifacts", "list", "--tenant", TENANT, "--json")))
    said = json.dumps(listed)
    assert all(ref.artifact_id in said for ref in stored.values())
    assert _found(listed, "media_type")
    assert isinstance(_found(listed, "size"), int)


def test_list_of_another_tenant_is_empty(cli, stored):
    assert "art_" not in _ok(cli("artifacts", "list", "--tenant", f"{TENANT}-other", "--json"))


def test_list_may_be_limited(cli, stored):
    assert _ok(cli("artifacts", "list", "--tenant", TENANT, "--limit", "1", "--json")).count('"art_') == 1


def test_show_tells_what_is_known_and_the_first_lines(cli, stored):
    ref = stored["log"]
    said = _ok(cli("artifacts", "show", ref.artifact_id, "--tenant", TENANT))
    for word in ("server.log", "text/plain", "line 1", "line 2", ref.sha256[:12]):
        assert word in said
    assert "line 1999" not in said
    known = json.loads(_ok(cli("artifacts", "show", ref.artifact_id, "--tenant", TENANT, "--json")))
    assert _found(known, "sha256") == ref.sha256
    assert _found(known, "size") == ref.size


def test_show_prints_no_bytes_at_people(cli, stored):
    said = _ok(cli("artifacts", "show", stored["image"].artifact_id, "--tenant", TENANT))
    assert "image/png" in said
    assert said.isprintable() or all(line.isprintable() for line in said.splitlines())
    assert _ok(cli("artifacts", "show", stored["empty"].artifact_id, "--tenant", TENANT))


BAD_IDS = [UNKNOWN, "../../etc/passwd", "", "a" * 5_000]


@pytest.mark.parametrize("bad", BAD_IDS, ids=lambda bad: bad[:12] or "empty")
def test_a_bad_id_is_a_sentence_and_exit_code_1(cli, stored, bad):
    said = _failed(cli("artifacts", "show", bad, "--tenant", TENANT, "--json"), 1)
    assert json.loads(said)["error"]["code"] in {"not_found", "invalid_input"}
    assert len(said) < 3_000


def test_another_tenants_artifact_is_as_if_it_were_not(cli, stored, tmp_path):
    theirs = stored["log"].artifact_id
    for command in (["show"], ["export"]):
        to = [str(tmp_path / "out")] if command == ["export"] else []
        said = [
            _failed(cli("artifacts", *command, i, *to, "--tenant", f"{TENANT}-other"), 1).replace(i, "…")
            for i in (theirs, UNKNOWN)
        ]
        assert said[0] == said[1]
    assert list(tmp_path.iterdir()) == []


# ---- export


def test_export_writes_the_very_bytes_and_not_over_a_file_that_is_there(cli, stored, tmp_path):
    out = tmp_path / "out.log"
    _ok(cli("artifacts", "export", stored["log"].artifact_id, str(out), "--tenant", TENANT))
    assert out.read_bytes() == LOG.encode()
    out.write_text("mine")
    assert "--force" in _failed(cli("artifacts", "export", stored["log"].artifact_id, str(out), "--tenant", TENANT), 1)
    assert out.read_text() == "mine"
    _ok(cli("artifacts", "export", stored["log"].artifact_id, str(out), "--tenant", TENANT, "--force"))
    assert out.read_bytes() == LOG.encode()


@pytest.mark.parametrize("where", ["folder", "nowhere/out"])
def test_export_to_where_nothing_can_be_is_a_sentence(cli, stored, tmp_path, where):
    (tmp_path / "folder").mkdir()
    to = str(tmp_path / where)
    done = cli("artifacts", "export", stored["log"].artifact_id, to, "--tenant", TENANT)
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        assert any(file.read_bytes() == LOG.encode() for file in tmp_path.rglob("*") if file.is_file())
    else:
        _failed(done, 1)


async def test_exporting_a_damaged_one_says_so_and_leaves_no_half(cli, settings, engine, tmp_path):
    ref = await engine.artifacts.put(os.urandom(123_457), media_type="a/b", tenant_id=TENANT)
    [file] = [f for f in (settings.data_dir / "artifacts").rglob("*") if f.is_file() and f.stat().st_size == 123_457]
    file.chmod(0o600)
    file.write_bytes(b"\0" * 123_457)
    _failed(cli("artifacts", "export", ref.artifact_id, str(tmp_path / "out"), "--tenant", TENANT), 1)
    assert list(tmp_path.iterdir()) == []


# ---- collect


def test_collect_tells_and_takes_nothing_that_is_kept_or_that_nobody_agreed_to(cli, stored):
    would = json.loads(_ok(cli("artifacts", "collect", "--tenant", TENANT, "--dry-run", "--deep", "--json")))
    assert _found(would, "expired") == []
    assert "Traceback" not in cli("artifacts", "collect", "--tenant", TENANT).stderr, "nobody is there to be asked"
    listed = _ok(cli("artifacts", "list", "--tenant", TENANT, "--json"))
    assert all(ref.artifact_id in listed for ref in stored.values())


# ---- a wrong word


@pytest.mark.parametrize(
    "words",
    [("artifacts", "shwo"), ("artifacts", "export"), ("artifacts", "list", "--limit", "many")],
    ids=["a command", "no id", "a limit"],
)
def test_a_wrong_word_is_exit_code_2(cli, words):
    _failed(cli(*words), 2)


def test_a_tenant_that_is_none_is_a_sentence(cli):
    assert "tenant" in _failed(cli("artifacts", "list", "--tenant", "not a tenant"), 1)


# ---- threads


def test_a_thread_shows_its_last_compaction_and_its_savings(cli, thread):
    said = _ok(cli("threads", "show", thread, "--tenant", TENANT))
    assert "What is open?" in said
    after = said.rpartition("What is open?")[2].lower()
    assert "31" in after, "the summary goes through message 31"
    assert "compact" in after or "summar" in after
    assert "isolat" in after or "saved" in after


def test_savings_by_tool_of_a_thread_and_of_all(cli, thread):
    said = _ok(cli("threads", "savings", thread, "--tenant", TENANT))
    assert "fox" in said
    assert "kb" in said
    everything = json.loads(_ok(cli("threads", "savings", "--tenant", TENANT, "--json")))
    assert "fox" in json.dumps(everything)
    assert _found(everything, "saved_tokens") > 100
    assert "fox" not in _ok(cli("threads", "savings", "--tenant", f"{TENANT}-other"))


async def test_compact_from_the_command_line_and_why_when_nothing_changed(cli, engine):
    await engine.tenant(TENANT).thread("late").append(turns(40))
    answer = json.loads(_ok(cli("threads", "compact", "late", "--tenant", TENANT, "--json")))
    assert _found(answer, "through") == 30
    assert _ok(cli("threads", "compact", "late", "--tenant", TENANT)).strip()
    assert "Order 1002" in _ok(cli("threads", "show", "late", "--tenant", TENANT, "--search", "1002"))


def test_settings_name_the_new_ones(cli):
    said = _ok(cli("settings", "--json", CLEW_ARTIFACTS_URL="s3://key:hunter2@bucket?secret_access_key=hunter2"))
    for name in ("ARTIFACTS_URL", "COMPACT_MESSAGES", "COMPACT_TOKENS", "COMPACT_KEEP_RECENT"):
        assert name in said.upper()
    assert "hunter2" not in said

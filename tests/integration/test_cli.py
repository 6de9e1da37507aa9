"""The commands as a person types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

import clew
from clew import Settings
from clew.settings import described, variables
from clew.store.server_check import newest

CLEW = Path(sys.executable).with_name("clew")


@pytest.fixture
def run(settings: Settings, server):
    """Run `clew` on the tests' own server, with an environment that holds no other setting."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CLEW_", "DATABASE_URL"))}

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**clean, "CLEW_DATA_DIR": str(settings.data_dir), "COLUMNS": "160", **environment}
        return subprocess.run([CLEW, *words], env=env, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_the_version_is_the_package_s(run):
    assert run("--version").stdout == f"clew {clew.__version__}\n"
    assert run("-V").stdout == f"clew {clew.__version__}\n"


def test_help_lists_the_commands(run):
    done = run("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("doctor", "settings", "migrate", "models"))


def test_the_doctor_finds_all_well_and_says_so(run):
    done = run("doctor", "--json")
    answer = json.loads(done.stdout)
    statuses = {check["name"]: check["status"] for check in answer["checks"]}
    assert (done.returncode, answer["healthy"]) == (0, True)
    assert statuses["embedded PostgreSQL"] == statuses["tenant walls"] == statuses["embeddings"] == "ok"
    assert "All is well." in run("doctor").stdout


def test_the_doctor_names_the_wall_that_is_down_and_its_fix(run, scratch):
    with psycopg.connect(scratch.admin_url) as connection:
        connection.execute("ALTER TABLE clew.journal NO FORCE ROW LEVEL SECURITY")
    done = run("doctor", "--database", scratch.app_url)
    assert done.returncode == 1
    assert "table clew.journal does not force row security on its owner" in done.stdout
    assert "fix: clew migrate" in done.stdout
    assert run("migrate", "--database", scratch.admin_url).returncode == 0
    assert run("doctor", "--database", scratch.app_url).returncode == 0, "the fix it names works"


def test_the_doctor_notes_a_login_that_could_lower_the_walls(run, scratch):
    checks = json.loads(run("doctor", "--json", "--database", scratch.admin_url).stdout)["checks"]
    assert [check["status"] for check in checks if check["name"] == "login"] == ["note"]
    checks = json.loads(run("doctor", "--json", "--database", scratch.app_url).stdout)["checks"]
    assert [check for check in checks if check["name"] == "login"] == []


def test_a_server_that_is_not_there_is_a_sentence_without_the_password(run):
    url = "postgresql://someone:hunter2@127.0.0.1:1/nowhere"
    for words in (
        ("doctor", "--database", url),
        ("migrate", "--database", url),
        ("migrate", "--json", "--database", url),
    ):
        done = run(*words)
        assert done.returncode == 1
        assert "PostgreSQL can't be reached" in done.stdout + done.stderr
        assert "hunter2" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_migrate_goes_up_and_down_and_says_from_where_to_where(run, scratch):
    assert "Nothing to do" in run("migrate", "--database", scratch.admin_url).stdout
    down = json.loads(run("migrate", "--to", "base", "--yes", "--json", "--database", scratch.admin_url).stdout)
    assert down == {"before": newest(), "after": None}
    up = run("migrate", "--database", scratch.admin_url)
    assert f"Migrated from nothing to {newest()}" in up.stdout


def test_going_down_asks_first_because_it_drops_data(run, scratch):
    for words in (("migrate", "--to", "base"), ("migrate", "--to", "base", "--json")):
        assert run(*words, "--database", scratch.admin_url).returncode == 1
    assert "Nothing to do" in run("migrate", "--database", scratch.admin_url).stdout, "nobody said yes"


def test_migrate_to_nowhere_is_refused_with_what_there_is(run, scratch):
    done = run("migrate", "--to", "9999", "--yes", "--database", scratch.admin_url)
    assert done.returncode == 1
    assert "Use head, base, or 0001" in done.stderr


def test_settings_shows_every_setting_with_its_source_and_no_secret(run):
    url = "postgresql://someone:hunter2@h/d"
    done = run("settings", "--json", DATABASE_URL=url, WARNING_THRESHOLD="0.5", CLEW_MODEL_SPEED="test")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert set(rows) == {field.name for field in described()} | {"model_speed"}
    assert rows["database_url"]["value"] == "postgresql://someone:***@h/d"
    assert rows["database_url"]["source"] == "DATABASE_URL"
    assert rows["warning_threshold"]["value"] == 0.5
    shown = run("settings", DATABASE_URL=url).stdout
    assert all(variables(field)[0] in shown for field in described())
    assert "hunter2" not in done.stdout + shown


def test_a_misspelt_variable_stops_every_command_with_the_right_name(run):
    for command in ("settings", "doctor", "migrate"):
        done = run(command, CLEW_DATABSE_URL="x")
        assert (done.returncode, done.stdout) == (1, "")
        assert "Did you mean CLEW_DATABASE_URL?" in done.stderr


def test_models_are_listed_with_what_each_lacks(run):
    models = {model["spec"]: model for model in json.loads(run("models", "list", "--json").stdout)}
    assert models["static"]["usable"]
    assert models["static"]["in_use"]
    assert models["minilm"]["fix"] == "clew models pull minilm"
    assert "clew models pull minilm" in run("models", "list").stdout


def test_a_model_that_can_t_be_pulled_is_refused_with_those_that_can(run):
    done = run("models", "pull", "gpt-9")
    assert done.returncode == 2
    assert "minilm" in done.stderr

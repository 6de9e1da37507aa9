"""A gigabyte goes through with bounded memory. Slow: about 15 seconds on a slow disk, and a gigabyte of it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GIGABYTE = 1024**3
PIECE = 8 * 1024**2
GROWTH_MAX_MB = 100


def test_a_gigabyte_streams_in_and_out_with_bounded_memory(settings, server, folder):
    if shutil.disk_usage(folder.parent).free < 3 * GIGABYTE:
        pytest.skip("less than 3 GB of disk are free")
    child = Path(__file__).with_name("big_stream_process.py")
    command = [sys.executable, child, str(settings.data_dir), str(folder), str(GIGABYTE // PIECE)]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["size"], told["same"]) == (GIGABYTE, True)
    assert told["in_mb"] < GROWTH_MAX_MB
    assert told["out_mb"] < GROWTH_MAX_MB
    assert told["control_mb"] > GROWTH_MAX_MB, "200 MB held at once are noticed"

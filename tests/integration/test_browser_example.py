"""The browser example does what its page says: it finds the bug, and it is quicker the second time."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew import Misconfigured, Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def example() -> Any:
    """The example's own module, found as `python -m` finds it."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        from browser_tester import browser, run
    finally:
        sys.path.remove(str(ROOT / "examples"))
    try:
        browser.installed()
    except Misconfigured as error:
        pytest.skip(str(error))
    return run


async def test_the_second_run_finds_the_fix_of_the_first_and_both_find_the_bug(example, scratch, tmp_path):
    outcome = await example.main(scratch.app_url, Settings(data_dir=tmp_path))
    first, second = outcome.first, outcome.second
    for run in (first, second):
        assert [(bug["seen"], bug["expected"]) for bug in run.bugs] == [("€102.10", "€97.20")]
        assert any("no element matches #checkout" in step for step in run.steps)
        assert len(run.screenshots) >= 5
        assert all(shot.identical and shot.size > 10_000 and shot.width == 1024 for shot in run.screenshots)
        assert not run.state_holds_base64
        assert run.state_chars < 20_000
        assert run.full_tokens > 500_000
        assert run.largest_window_tokens < 4_000
    assert (first.used_past_fix, second.used_past_fix) == (False, True)
    assert len(second.steps) <= len(first.steps) - 3


def test_what_finds_base64_in_a_state_would_find_it(example):
    assert example.BASE64.search("x" * 10 + "iVBORw0KGgo" * 200)


def test_without_a_browser_it_says_what_to_install(tmp_path):
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(ROOT / "examples"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "browser_tester"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "sudo apt-get install chromium" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []

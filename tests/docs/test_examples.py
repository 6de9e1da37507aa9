"""Every Python block of README and docs runs, offline, as a reader would run it: the blocks of a page in one go."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))] if BLOCK.search(page.read_text())]


def _run(code: str, url: str) -> subprocess.CompletedProcess[str]:
    """In a database of its own, so that no page finds what another one stored."""
    environment = {"CLEW_DATABASE_URL": url, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, scratch):
    done = _run("\n\n".join(BLOCK.findall(page.read_text())), scratch.app_url)
    assert done.returncode == 0, done.stderr


def test_an_example_that_is_wrong_would_be_noticed(scratch):
    assert _run("from clew.tokens import count\nassert count('two words') == 3", scratch.app_url).returncode == 1


def test_there_are_pages_to_run():
    assert ROOT / "README.md" in PAGES
    assert len(PAGES) >= 4


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/*.py")), ids=lambda example: example.name)
def test_the_examples_folder_runs(example, scratch):
    done = _run(example.read_text(), scratch.app_url)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("✔") >= 5

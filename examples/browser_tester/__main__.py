"""`make example-browser`, or `cd examples && python -m browser_tester`."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console

import clew
from browser_tester.account import told
from browser_tester.run import main

out = Console(highlight=False)


def _run() -> int:
    # Nobody's own data: the embedded server lives in a folder of this run's, unless CLEW_DATA_DIR names one.
    with tempfile.TemporaryDirectory(prefix="clew-browser-") as folder:
        settings = clew.Settings.load({"CLEW_DATA_DIR": folder, **_given()})
        try:
            with out.status("A shop, a browser and a PostgreSQL: the agent is at work …"):
                outcome = asyncio.run(main(settings=settings))
        except clew.ClewError as error:
            out.print(f"[red]✘[/] {error}", soft_wrap=True)
            return 1
    told(outcome, out)
    return 0


def _given() -> dict[str, str]:
    given = {name: os.environ[name] for name in ("CLEW_DATA_DIR", "CLEW_DATABASE_URL") if name in os.environ}
    if "CLEW_DATA_DIR" in given:
        given["CLEW_DATA_DIR"] = str(Path(given["CLEW_DATA_DIR"]).expanduser())
    return given


sys.exit(_run())

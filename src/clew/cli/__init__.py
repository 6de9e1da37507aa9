"""The command line: parse, call, render. One file a command."""

import io
import sys


def main() -> None:
    """The `clew` command."""
    # Before anything else is imported: a script that asks for the version is not kept waiting.
    if sys.argv[1:] in (["--version"], ["-V"]):
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return
    # A terminal that has no ✔ gets a ? instead of a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    from clew.cli.app import run

    run()

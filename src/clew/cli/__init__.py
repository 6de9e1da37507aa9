"""The command line: parse, call, render. One file a command."""

import sys


def main() -> None:
    """The `clew` command."""
    # Before anything else is imported: a script that asks for the version is not kept waiting.
    if sys.argv[1:] in (["--version"], ["-V"]):
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return
    from clew.cli.app import run

    run()

"""The commands, put together."""

import logging
import sys
from typing import Annotated

import typer

from clew import __version__
from clew.cli import (
    artifacts,
    compile,
    demo,
    doctor,
    forget,
    memory,
    migrate,
    models,
    settings,
    terminal,
    threads,
    worker,
)
from clew.errors import ClewError

app = typer.Typer(
    name="clew",
    help="A context engine for LLM agents. Start with [bold]clew demo[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(memory.remember)
app.command()(memory.recall)
app.command()(forget.forget)
app.command()(compile.compile)
app.add_typer(threads.app, name="threads")
app.add_typer(artifacts.app, name="artifacts")
app.command()(worker.worker)
app.command()(doctor.doctor)
app.command()(settings.settings)
app.command()(migrate.migrate)
app.add_typer(models.app, name="models")


def _print_version(wanted: bool) -> None:
    if wanted:
        terminal.out.print(f"clew {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def clew(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A context engine for LLM agents."""


def run() -> None:
    """Run a command; an error of ours is a sentence on stderr and exit code 1, never a traceback."""
    # The pool says in its log that it will try again; commands say what came of it.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    try:
        app()
    except ClewError as error:
        terminal.print_error(error, as_json="--json" in sys.argv)
        sys.exit(1)

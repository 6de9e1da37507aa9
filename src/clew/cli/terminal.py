"""What every command prints with: tables and colours for people, JSON for programs, one shape for errors."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from clew.engine import Clew
from clew.errors import ClewError, InvalidInput

T = TypeVar("T")

# Everything that a terminal takes for a command, but for tabs and line breaks; and what turns the direction of text.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

out: Final = Console()
err: Final = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Tenant = Annotated[str, typer.Option("--tenant", help="Whose data.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
Limit = Annotated[int, typer.Option("--limit", help="How many at the most.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="PostgreSQL to use instead of CLEW_DATABASE_URL or the embedded server.",
        show_default=False,
    ),
]


def run(database: str | None, work: Callable[[Clew], Awaitable[T]]) -> T:
    """Do something with the engine, opened for this command and closed after it."""

    async def opened() -> T:
        async with Clew(database) as engine:
            return await work(engine)

    return asyncio.run(opened())


def confirm(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask before something can't be taken back; a program, which can't be asked, says `--yes`."""
    if yes:
        return
    if as_json:
        raise InvalidInput("nobody can be asked while printing JSON", where="--json", fix="Add --yes")
    typer.confirm(question, abort=True)


def grid(*headers: str) -> Table:
    """A plain table whose cells fold: a name or a path that is cut short can't be copied."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def shown(text: str) -> str:
    """Somebody's text, fit to be printed among markup: it can neither style anything nor drive the terminal."""
    return escape(_CONTROL.sub("\ufffd", text))


def print_json(value: Any) -> None:
    """The value, whole, on stdout: never wrapped to the width of a terminal."""
    sys.stdout.write(json.dumps(value, indent=2, default=_plain, ensure_ascii=False) + "\n")


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def print_error(error: ClewError, *, as_json: bool) -> None:
    """An error as every door renders it."""
    if as_json:
        print_json({"error": error.as_dict()})
    else:
        err.print("[bold red]error:[/]", end=" ")
        err.print(shown(str(error)), highlight=False, soft_wrap=True)

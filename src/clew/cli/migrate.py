"""`clew migrate`: bring the database to the revision this release works with."""

import asyncio
from typing import Annotated

import typer

from clew.cli import terminal
from clew.store.database import Database
from clew.store.migrate import HEAD


def migrate(
    to: Annotated[str, typer.Option(help="head, base, or a revision such as 0001.")] = "head",
    yes: terminal.Yes = False,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Migrate the database, up or down, and raise every wall between tenants.

    It happens in one transaction: interrupted, the database stays as it was. Needs a login that may create roles.
    """
    if to != HEAD:
        question = f"Going down to {to} drops what later revisions added, with every tenant's data in it. Go on?"
        terminal.confirm(question, yes=yes, as_json=as_json)
    before, after = asyncio.run(Database(database).migrate(to))
    if as_json:
        terminal.print_json({"before": before, "after": after})
    elif before == after:
        terminal.out.print(f"[green]✔[/] Nothing to do: the database is at revision {after or 'base'}.")
    else:
        terminal.out.print(f"[green]✔[/] Migrated from {before or 'nothing'} to {after or 'base'}.")

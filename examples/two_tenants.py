"""Two tenants, one PostgreSQL, a wall between them. `make run` runs this."""

import asyncio

from rich.console import Console

import clew
from clew.store.journal import Journal

out = Console(highlight=False)


async def main() -> None:
    with out.status("starting PostgreSQL …"):
        database = await clew.Database().open()
    async with database:
        kind = "the embedded PostgreSQL" if database.embedded else "your PostgreSQL"
        out.print(f"[green]✔[/] {kind} is up, and every wall between tenants with it")
        journal = Journal(database)
        fact = {"text": "Q3 revenue was actually $5.2M, not $4.8M"}

        entry_id = await journal.add("acme", "noted", fact)
        out.print(f"[green]✔[/] acme stored a row: {entry_id}")

        again = await journal.add("acme", "noted", fact, entry_id=entry_id)
        stored = [entry for entry in await journal.newest("acme") if entry.entry_id == again]
        out.print(f"[green]✔[/] stored again under the same id, it is {len(stored)} row: “{stored[0].detail['text']}”")

        foreign = [entry for entry in await journal.newest("globex") if entry.entry_id == entry_id]
        out.print(f"[green]✔[/] globex asks the same table and sees {len(foreign)} of acme's rows")

        async with database.tenant("globex") as connection:
            counted = await connection.execute("SELECT count(*) FROM clew.journal WHERE tenant_id = 'acme'")
            row = await counted.fetchone()
        out.print(f"[green]✔[/] globex names acme outright in its SQL and PostgreSQL itself answers {row[0]}")

        try:
            async with database.tenant("acme'; DROP TABLE clew.journal; --"):
                pass
        except clew.InvalidInput as error:
            out.print(f"[green]✔[/] a tenant id that isn't one is refused: [dim]{error}[/]")
    out.print()


asyncio.run(main())

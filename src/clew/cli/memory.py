"""`clew remember` and `clew recall`: put something into memory, and get it back."""

from typing import Annotated, Any

import typer

from clew.cli import terminal
from clew.engine import DEFAULT_AGENT, Clew
from clew.memory import MemoryEntry

Agent = Annotated[str, typer.Option("--agent", help="The agent it belongs to.")]


def remember(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    tenant: terminal.Tenant = "default",
    agent: Agent = DEFAULT_AGENT,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="When it happened, as ISO 8601.")] = None,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Remember a text. The next `clew recall` of the same tenant finds it."""
    said: dict[str, Any] = {"speaker": speaker, "source": source, "occurred_at": occurred_at}
    metadata = {name: value for name, value in said.items() if value is not None}

    async def work(engine: Clew) -> str:
        return await engine.tenant(tenant).remember(text, metadata, agent_id=agent)

    memory_id = terminal.run(database, work)
    if as_json:
        terminal.print_json({"memory_id": memory_id, "tenant_id": tenant})
    else:
        terminal.out.print(f"[green]✔[/] remembered as {memory_id}", highlight=False)


def recall(
    query: Annotated[str, typer.Argument(help="A question, or some words.")],
    tenant: terminal.Tenant = "default",
    limit: terminal.Limit = 5,
    agent: Annotated[str | None, typer.Option("--agent", help="Only what belongs to this agent.")] = None,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Find what is known about a question, best first, with the reasons. No model is called."""

    async def work(engine: Clew) -> list[MemoryEntry]:
        return await engine.tenant(tenant).recall(query, limit, agent_id=agent)

    found = terminal.run(database, work)
    if as_json:
        terminal.print_json([entry.model_dump(mode="json", exclude={"embedding"}) for entry in found])
    elif not found:
        terminal.out.print(f"Nothing is known to the tenant {tenant}. Try: [bold]clew remember '…'[/]")
    else:
        print_memories(found)


def print_memories(found: list[MemoryEntry]) -> None:
    """Memories as people read them: how sure, what, why."""
    table = terminal.grid("score", "memory", "because")
    for entry in found:
        because = ", ".join(entry.reasons or [])
        table.add_row(f"{entry.score or 0:.2f}", terminal.shown(entry.content), f"[dim]{terminal.shown(because)}[/]")
    terminal.out.print(table)

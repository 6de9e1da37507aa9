"""`clew remember` and `clew recall`: put something into memory, and get it back, with its history where it has one."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from clew.cli import terminal
from clew.engine import Clew
from clew.handles import DEFAULT_AGENT
from clew.memory import MemoryEntry
from clew.memory.knowledge import EpisodeResult, Fact

Agent = Annotated[str, typer.Option("--agent", help="The agent it belongs to.")]
REMEMBERED = "clew remember"


def remember(
    text: Annotated[str, typer.Argument(help="What to remember.")],
    tenant: terminal.Tenant = "default",
    agent: Agent = DEFAULT_AGENT,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="When it happened, as ISO 8601.")] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="Read facts out of it: they keep their history, and newer ones close older.")
    ] = False,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Remember a text. The next `clew recall` of the same tenant finds it."""
    said: dict[str, Any] = {"speaker": speaker, "source": source, "occurred_at": occurred_at}
    metadata = {name: value for name, value in said.items() if value is not None}

    async def learn(engine: Clew) -> EpisodeResult:
        return await engine.tenant(tenant).learn(source or REMEMBERED, text, reference_time=occurred_at)

    async def work(engine: Clew) -> str:
        return await engine.tenant(tenant).remember(text, metadata, agent_id=agent)

    if facts:
        _print_learnt(terminal.run(database, learn), tenant, as_json=as_json)
        return
    memory_id = terminal.run(database, work)
    if as_json:
        terminal.print_json({"memory_id": memory_id, "tenant_id": tenant})
    else:
        terminal.out.print(f"[green]✔[/] remembered as {memory_id}", highlight=False)


def recall(
    query: Annotated[str, typer.Argument(help="A question, or some words; with --history a subject.")],
    tenant: terminal.Tenant = "default",
    limit: terminal.Limit = 5,
    agent: Annotated[str | None, typer.Option("--agent", help="Only what belongs to this agent.")] = None,
    history: Annotated[
        bool, typer.Option("--history", help="All that was ever held of a subject, oldest first.")
    ] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", help="Facts that were true at a time, as ISO 8601.")] = None,
    known_at: Annotated[str | None, typer.Option("--known-at", help="Facts as they were believed at a time.")] = None,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Find what is known about a question: facts, then memories, best first, with the reasons. No model is called."""
    then = as_of is not None or known_at is not None

    async def work(engine: Clew) -> tuple[list[Fact], list[MemoryEntry]]:
        handle = engine.tenant(tenant)
        if history:
            return await handle.history(query), []
        found = await handle.facts(query, limit, as_of=as_of, known_at=known_at)
        return found, [] if then else await handle.recall(query, limit, agent_id=agent)

    facts, memories = terminal.run(database, work)
    if as_json:
        terminal.print_json([*map(_plain_memory, memories), *map(_plain_fact, facts)])
    elif not facts and not memories:
        what = "was ever told" if history else "was known then" if then else "is known"
        terminal.out.print(f"Nothing {what} to the tenant {tenant} about that. Try: [bold]clew remember '…'[/]")
    else:
        if facts:
            print_facts(facts)
        if memories:
            print_memories(memories)


def print_memories(found: Sequence[MemoryEntry]) -> None:
    """Memories as people read them: how sure, what, why."""
    table = terminal.grid("score", "memory", "because")
    for entry in found:
        because = ", ".join(entry.reasons or [])
        table.add_row(f"{entry.score or 0:.2f}", terminal.shown(entry.content), f"[dim]{terminal.shown(because)}[/]")
    terminal.out.print(table)


def print_facts(facts: Sequence[Fact]) -> None:
    """Facts as people read them: whether they hold, since when, until when, and who said so."""
    table = terminal.grid("", "fact", "from", "until", "said by")
    for fact in facts:
        style = "dim" if fact.superseded else "none"
        names = "; ".join(dict.fromkeys(source.name for source in fact.sources))
        table.add_row(
            _sign(fact),
            f"[{style}]{terminal.shown(fact.text)}[/]",
            f"{fact.valid_at:%Y-%m-%d}" if fact.valid_at else "",
            f"{fact.invalid_at:%Y-%m-%d}" if fact.invalid_at else "",
            f"[dim]{terminal.shown(names)}[/]",
        )
    terminal.out.print(table)


def _sign(fact: Fact) -> str:
    if fact.expired_at is not None:
        return "[yellow]taken back[/]"
    if fact.dated and fact.superseded:
        return "[cyan]held then[/]"
    return "[red]closed[/]" if fact.superseded else "[green]holds[/]"


def _print_learnt(result: EpisodeResult, tenant: str, *, as_json: bool) -> None:
    if as_json:
        told = {
            "facts": list(map(_plain_fact, result.facts)),
            "invalidated": list(map(_plain_fact, result.invalidated)),
        }
        terminal.print_json({"episode_id": result.episode.episode_id, "tenant_id": tenant, **told})
        return
    if not result.facts:
        terminal.out.print(f"It tells no fact; it is kept as episode {result.episode.episode_id}", highlight=False)
        return
    terminal.out.print(f"[green]✔[/] learnt as episode {result.episode.episode_id}", highlight=False)
    print_facts([*result.facts, *result.invalidated])


def _plain_fact(fact: Fact) -> dict[str, Any]:
    return {"kind": "fact", "content": fact.text, **asdict(fact), "superseded": fact.superseded}


def _plain_memory(entry: MemoryEntry) -> dict[str, Any]:
    return {"kind": "memory", **entry.model_dump(mode="json", exclude={"embedding"})}

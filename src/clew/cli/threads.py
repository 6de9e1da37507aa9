"""`clew threads`: the conversations of a tenant."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from clew.cli import terminal
from clew.engine import Clew
from clew.messages import to_openai
from clew.sessions import Forgotten, StoredMessage, ThreadInfo

app = typer.Typer(help="The conversations of a tenant; without a command, list them.")
ThreadId = Annotated[str, typer.Argument(metavar="THREAD", help="The conversation.")]


@app.callback(invoke_without_command=True)
def threads(
    context: typer.Context,
    tenant: terminal.Tenant = "default",
    limit: terminal.Limit = 20,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """List the conversations of a tenant, the most recently active first."""
    if context.invoked_subcommand is not None:
        return

    async def work(engine: Clew) -> list[ThreadInfo]:
        return await engine.tenant(tenant).threads(limit)

    found = terminal.run(database, work)
    if as_json:
        terminal.print_json([asdict(thread) for thread in found])
        return
    if not found:
        terminal.out.print(f"The tenant {tenant} has no threads. Try: [bold]clew threads append THREAD '…'[/]")
        return
    table = terminal.grid("thread", "messages", "tokens", "last active")
    for thread in found:
        active = f"{thread.updated_at:%Y-%m-%d %H:%M}"
        table.add_row(terminal.shown(thread.thread_id), f"{thread.message_count:,}", f"{thread.token_count:,}", active)
    terminal.out.print(table)


@app.command()
def append(
    thread: ThreadId,
    text: Annotated[str, typer.Argument(help="What was said.")],
    role: Annotated[str, typer.Option(help="Who said it: user, assistant or system.")] = "user",
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Add a message at the end of a conversation."""

    async def work(engine: Clew) -> list[str]:
        return await engine.tenant(tenant).thread(thread).append({"role": role, "content": text})

    (message_id,) = terminal.run(database, work)
    if as_json:
        terminal.print_json({"message_id": message_id, "thread_id": thread, "tenant_id": tenant})
    else:
        terminal.out.print(f"[green]✔[/] added as {message_id}", highlight=False)


@app.command()
def show(
    thread: ThreadId,
    tenant: terminal.Tenant = "default",
    limit: terminal.Limit = 20,
    search: Annotated[str | None, typer.Option(help="Only messages with these words.")] = None,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Show the last messages of a conversation, or those that hold some words."""

    async def work(engine: Clew) -> list[StoredMessage]:
        handle = engine.tenant(tenant).thread(thread)
        return await handle.read(limit) if search is None else await handle.search(search, limit)

    rows = terminal.run(database, work)
    if as_json:
        terminal.print_json([_as_dict(row) for row in rows])
        return
    table = terminal.grid("#", "role", "message", "tokens")
    for row in rows:
        calls = "".join(f"\n→ {call.name}({call.arguments_text})" for call in row.message.tool_calls)
        table.add_row(str(row.position), row.message.role, terminal.shown(row.message.text + calls), f"{row.tokens:,}")
    terminal.out.print(table if rows else f"The thread {terminal.shown(thread)} of {tenant} has nothing to show.")


@app.command()
def clear(
    thread: ThreadId,
    tenant: terminal.Tenant = "default",
    memories: Annotated[bool, typer.Option("--memories", help="Also forget what was remembered from it.")] = False,
    yes: terminal.Yes = False,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Forget a conversation for good, and say what went."""
    terminal.confirm(f"Forget the thread {thread} of {tenant} for good?", yes=yes, as_json=as_json)

    async def work(engine: Clew) -> Forgotten:
        return await engine.tenant(tenant).thread(thread).clear(memories=memories)

    gone = terminal.run(database, work)
    if as_json:
        terminal.print_json(asdict(gone))
    else:
        counts = {"messages": gone.messages, "tokens": gone.tokens, "checkpoints": gone.checkpoints, **gone.also}
        terminal.out.print("[green]✔[/] forgot " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))


def _as_dict(row: StoredMessage) -> dict[str, Any]:
    return {
        "position": row.position,
        "message_id": row.message_id,
        "tokens": row.tokens,
        "created_at": row.created_at,
        "source": row.source,
        "message": to_openai([row.message])[0],
    }

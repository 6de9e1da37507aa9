"""`clew threads`: the conversations of a tenant."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from clew.artifacts import Savings
from clew.cli import terminal
from clew.context.views import Compaction, Refusal
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

    async def work(engine: Clew) -> tuple[list[StoredMessage], list[Savings], list[Compaction]]:
        handle = engine.tenant(tenant).thread(thread)
        rows = await handle.read(limit) if search is None else await handle.search(search, limit)
        return rows, await handle.savings(), await handle.compactions(1)

    rows, saved, compacted = terminal.run(database, work)
    if as_json:
        terminal.print_json([_as_dict(row) for row in rows])
        return
    table = terminal.grid("#", "role", "message", "tokens")
    for row in rows:
        calls = "".join(f"\n→ {call.name}({call.arguments_text})" for call in row.message.tool_calls)
        table.add_row(str(row.position), row.message.role, terminal.shown(row.message.text + calls), f"{row.tokens:,}")
    terminal.out.print(table if rows else f"The thread {terminal.shown(thread)} of {tenant} has nothing to show.")
    for compaction in compacted:
        terminal.out.print(f"\n[bold]compacted[/]  {_compacted(compaction)}", highlight=False)
    if saved:
        terminal.out.print("\n[bold]kept out of the window[/]")
        terminal.out.print(_savings_table(saved))


@app.command()
def compact(
    thread: ThreadId,
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Replace older turns, in what a model sees, by a summary; the log itself stays as it is."""

    async def work(engine: Clew) -> tuple[Compaction | None, list[Refusal]]:
        handle = engine.tenant(tenant).thread(thread)
        before = {refusal.refusal_id for refusal in await handle.refusals(1)}
        compaction = await handle.compact()
        return compaction, [refusal for refusal in await handle.refusals(1) if refusal.refusal_id not in before]

    compaction, refusals = terminal.run(database, work)
    if as_json:
        terminal.print_json(
            {"compaction": compaction and _compaction_dict(compaction), "refused": [asdict(one) for one in refusals]}
        )
    elif compaction is not None:
        terminal.out.print(f"[green]✔[/] {_compacted(compaction)}", highlight=False)
        terminal.out.print(terminal.shown(compaction.summary), highlight=False)
    elif refusals:
        terminal.out.print(f"[yellow]nothing changed[/]: {terminal.shown(refusals[0].reason)}", highlight=False)
    else:
        terminal.out.print("Nothing to do: the thread is below its thresholds (CLEW_COMPACT_MESSAGES, …_TOKENS).")


@app.command()
def savings(
    thread: Annotated[str | None, typer.Argument(metavar="[THREAD]", help="One conversation; else all.")] = None,
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Show what tools' big results would have cost in the window, and what was shown instead."""

    async def work(engine: Clew) -> list[Savings]:
        handle = engine.tenant(tenant)
        return await (handle.savings() if thread is None else handle.thread(thread).savings())

    saved = terminal.run(database, work)
    if as_json:
        terminal.print_json({"tools": [one.as_dict() for one in saved], "total": Savings.total(saved).as_dict()})
    elif saved:
        terminal.out.print(_savings_table(saved))
    else:
        terminal.out.print("No tool result has been isolated yet.")


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


def _compacted(compaction: Compaction) -> str:
    return (
        f"{compaction.tokens_before:,} → {compaction.tokens_after:,} tokens in the view; the summary stands for "
        f"messages up to {compaction.through}, by {', '.join(compaction.tiers)}"
    )


def _compaction_dict(compaction: Compaction) -> dict[str, Any]:
    return {
        "compaction_id": compaction.compaction_id,
        "generation": compaction.generation,
        "through": compaction.through,
        "tiers": compaction.tiers,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "summary": compaction.summary,
        "created_at": compaction.created_at,
    }


def _savings_table(saved: list[Savings]) -> Table:
    table = terminal.grid("tool", "results kept aside", "tokens", "shown", "saved")
    for one in (*saved, Savings.total(saved)):
        share = f"{one.saved_tokens:,} ({one.saved_tokens / max(1, one.full_tokens):.0%})"
        table.add_row(
            terminal.shown(one.tool), f"{one.isolated:,}", f"{one.full_tokens:,}", f"{one.shown_tokens:,}", share
        )
    return table

"""`clew compile`: what a model would see of a conversation, and why."""

from typing import Annotated, Final

import typer
from rich.progress_bar import ProgressBar
from rich.table import Table

from clew.cli import terminal
from clew.context import Manifest
from clew.engine import Clew
from clew.handles import Context

_COLOURS: Final = {"system": "cyan", "session": "green", "memory": "magenta", "task": "yellow"}


def compile(
    thread: Annotated[str, typer.Argument(metavar="THREAD", help="The conversation.")],
    task: Annotated[str, typer.Option(help="What the model is to do.")] = "Answer the user.",
    system: Annotated[str, typer.Option(help="The system prompt.")] = "You are a helpful assistant.",
    tier: Annotated[str, typer.Option(help="Whose budget: fast or reasoning.")] = "reasoning",
    explain: Annotated[bool, typer.Option("--explain", help="Show every candidate, kept or not, and why.")] = False,
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Compile what a model would see of a conversation, for a task, within a budget."""

    async def work(engine: Clew) -> Context:
        return await engine.tenant(tenant).thread(thread).compile({"description": task}, system, model_tier=tier)

    context = terminal.run(database, work)
    if as_json:
        terminal.print_json(context.compiled.as_dict())
        return
    if explain:
        _print_selection(context.manifest)
        terminal.out.print(_candidates(context.manifest))
    else:
        for message in context.messages:
            terminal.out.rule(message["role"], align="left", style="dim")
            terminal.out.print(terminal.shown(str(message.get("content") or message.get("tool_calls") or "")))
        terminal.out.print()
    terminal.out.print(window(context.manifest))
    if not context.manifest.of("session"):
        terminal.err.print(f"[yellow]note:[/] the thread {terminal.shown(thread)} of {tenant} has no messages")


def window(manifest: Manifest) -> Table:
    """The window as bars: each section's use of its share, and the whole."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for use in manifest.sections:
        bar = ProgressBar(total=max(use.limit, 1), completed=use.used, width=30, complete_style=_COLOURS[use.section])
        dropped = f"[dim]{use.dropped:,} left out[/]" if use.dropped else ""
        table.add_row(use.section, bar, f"{use.used:,} of {use.limit:,} tokens", dropped)
    whole = ProgressBar(total=manifest.budget, completed=manifest.total, width=30, complete_style="bold white")
    table.add_row("[bold]window[/]", whole, f"[bold]{manifest.total:,}[/] of {manifest.budget:,} tokens", "")
    return table


def _print_selection(manifest: Manifest) -> None:
    """What the turn was taken for, what was asked for it, and what was found where."""
    looked = manifest.selection
    if looked is None:
        return
    terminal.out.print(f"[bold]{looked.intent}[/] [dim]({looked.confidence:.2f}: {terminal.shown(looked.reason)})[/]")
    if not looked.looked_up:
        terminal.out.print("nothing was looked up\n")
        return
    found = ", ".join(f"{count} in {store}" for store, count in looked.sources)
    again = "; read again, since nothing about it was written" if looked.from_cache else ""
    terminal.out.print(f"asked: {terminal.shown(looked.asked)}")
    terminal.out.print(f"found: {found}{again}\n")
    for note in manifest.notes:
        terminal.out.print(f"[yellow]note:[/] {terminal.shown(note)}")


def _candidates(manifest: Manifest) -> Table:
    table = terminal.grid("", "section", "what", "tokens", "score", "why")
    for item in manifest.items:
        what = " ".join(filter(None, [item.role or item.kind, item.source_id]))
        score = "" if item.score is None else f"{item.score:.2f}"
        mark = "[green]✔[/]" if item.kept else "[red]✘[/]"
        style = "" if item.kept else "dim"
        table.add_row(
            mark,
            item.section,
            terminal.shown(what),
            f"{item.tokens:,}",
            score,
            terminal.shown(item.reason),
            style=style,
        )
    return table

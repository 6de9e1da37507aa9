"""`clew forget`: erase for good, everywhere, and show the proof."""

from typing import Annotated, Any

import typer

from clew.cli import terminal
from clew.engine import Clew
from clew.erasure import ErasureReport
from clew.errors import InvalidInput


def forget(
    memories: Annotated[
        list[str] | None, typer.Argument(metavar="[MEMORY_ID]…", help="Memories, by their ids.")
    ] = None,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="A conversation, and what came of it.")] = None,
    episode: Annotated[str | None, typer.Option(metavar="ID", help="An episode, and the facts only it told.")] = None,
    artifact: Annotated[str | None, typer.Option(metavar="ID", help="An artifact, and its bytes.")] = None,
    user: Annotated[str | None, typer.Option(metavar="ID", help="A user: their threads, memories and facts.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="The whole tenant.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would go, and remove nothing.")] = False,
    tenant: terminal.Tenant = "default",
    yes: terminal.Yes = False,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Forget for good, in every table, vector, summary, object and cache; say what went, and ask every store again."""
    sources = {"thread_id": thread, "episode_id": episode, "artifact_id": artifact}
    wanted: list[dict[str, Any]] = [{name: value} for name, value in sources.items() if value is not None]
    wanted += [{"memory_id": memory_id} for memory_id in memories or ()]
    kinds = sum((thread is not None, episode is not None, artifact is not None, bool(memories)))
    if kinds + (user is not None) + everything != 1:
        fix = "Give memory ids, or one of --thread, --episode, --artifact, --user, --everything"
        raise InvalidInput("say what to forget, and one kind of it at a time", where="clew forget", fix=fix)
    if not dry_run:
        _ask(tenant, thread, user, everything=everything, yes=yes, as_json=as_json)

    async def work(engine: Clew) -> list[ErasureReport]:
        if everything:
            return [await engine.erasure.tenant(tenant, dry_run=dry_run)]
        if user is not None:
            return [await engine.erasure.user(user, tenant_id=tenant, dry_run=dry_run)]
        return [await engine.erasure.source(tenant, **one, dry_run=dry_run) for one in wanted]

    reports = terminal.run(database, work)
    if as_json:
        terminal.print_json([report.as_dict() for report in reports])
    else:
        for report in reports:
            _show(report)
    if not dry_run and not all(report.complete for report in reports):
        raise typer.Exit(1)


def _ask(tenant: str, thread: str | None, user: str | None, *, everything: bool, yes: bool, as_json: bool) -> None:
    """Before much goes at once. A whole tenant goes only when its name was typed."""
    if everything and not yes and not as_json:
        typed = typer.prompt(f"Everything of the tenant {tenant} goes for good. Type its name to go on")
        if typed != tenant:
            raise typer.Abort
    elif everything or thread is not None or user is not None:
        what = (
            f"the thread {thread}" if thread is not None else f"the user {user}" if user is not None else "everything"
        )
        terminal.confirm(f"Forget {what} of {tenant} for good?", yes=yes, as_json=as_json)


def _show(report: ErasureReport) -> None:
    name = f"{report.scope} {terminal.shown(report.subject)}"
    if not report.removed:
        terminal.out.print(f"Nothing was found of the {name}.", highlight=False)
    else:
        terminal.out.print(f"[bold]{'would go' if report.dry_run else 'gone'}[/]  {name}", highlight=False)
        table = terminal.grid("what", "how many")
        for kind, count in report.removed.items():
            table.add_row(kind.replace("_", " "), f"{count:,}")
        terminal.out.print(table)
    for kind, ids in report.kept.items():
        reason = "their words name what went" if kind == "threads" else "others hold them too"
        terminal.out.print(f"[dim]stay: {len(ids):,} {kind}, {reason}[/]", highlight=False)
    if report.checks:
        _show_checks(report)


def _show_checks(report: ErasureReport) -> None:
    terminal.out.print("\n[bold]asked again[/]")
    table = terminal.grid("", "store", "looked for", "found")
    for check in report.checks:
        mark = "[red]✘[/]" if check.found else "[green]✔[/]"
        table.add_row(mark, check.store, terminal.shown(check.looked_for), f"{check.found:,}")
    terminal.out.print(table)
    if not report.complete:
        places = ", ".join(check.store for check in report.left)
        terminal.out.print(f"[bold red]not complete[/]: found again in {places}. Run it again.", highlight=False)

"""`clew models`: which embedders there are, and pulling a better one."""

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from clew.cli import terminal
from clew.engine import Clew
from clew.settings import Settings

app = typer.Typer(help="Which models there are, and pulling a better one.", no_args_is_help=True)


class Pullable(StrEnum):
    """Models that can be fetched and kept in the data folder."""

    MINILM = "minilm"


@app.command("list")
def list_models(as_json: terminal.AsJson = False) -> None:
    """List the embedding models, whether each works here, and what it lacks."""
    from clew.models import available

    settings = Settings.load()
    models = available(settings)
    if as_json:
        rows = [{**asdict(model), "in_use": model.spec == settings.embedding_model} for model in models]
        terminal.print_json(rows)
        return
    table = terminal.grid("", "model", "what it is", "to use it")
    for model in models:
        mark = "[green]✔[/]" if model.usable else "[dim]·[/]"
        use = model.fix or f"CLEW_EMBEDDING_MODEL={model.spec}"
        use = "in use" if model.spec == settings.embedding_model else use
        table.add_row(mark, *map(terminal.shown, (model.spec, model.about, use)))
    terminal.out.print(table)


@app.command()
def pull(
    model: Annotated[Pullable, typer.Argument(help="The model to fetch.")], as_json: terminal.AsJson = False
) -> None:
    """Fetch a better embedding model and keep it in the data folder, ready to be used offline."""
    from clew.models import pull_minilm

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal.err, disable=as_json) as bars:
        task = bars.add_task(f"pulling {model}", total=None)
        folder = pull_minilm(
            Settings.load(),
            progress=lambda what, share: bars.update(
                task, description=what, total=None if share is None else 1.0, completed=share or 0.0
            ),
        )
    if as_json:
        terminal.print_json({"model": model, "folder": str(folder)})
    else:
        terminal.out.print(f"[green]✔[/] {model} is in {terminal.shown(str(folder))}", soft_wrap=True, highlight=False)
        terminal.out.print(f"  Use it: [bold]export CLEW_EMBEDDING_MODEL={model}[/]")


@app.command()
def use(
    model: Annotated[str, typer.Argument(help="The embedding model to move to, such as minilm.")],
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Move a tenant's memories and facts to another embedding model. The old one answers until the change."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal.err, disable=as_json) as bars:
        task = bars.add_task(f"embedding with {model}", total=None)

        async def work(engine: Clew) -> tuple[int, int]:
            memories = await engine.memory.reembed(
                tenant, model, progress=lambda done, total: bars.update(task, completed=done, total=total)
            )
            bars.update(task, description="embedding facts")
            return memories, await engine.knowledge.reembed(tenant_id=tenant)

        count, facts = terminal.run(database, work)
    if as_json:
        terminal.print_json({"tenant_id": tenant, "model": model, "embedded": count, "facts": facts})
    else:
        what = f"{count:,} memories and {facts:,} facts were embedded"
        terminal.out.print(f"[green]✔[/] {tenant} is on {terminal.shown(model)}; {what}")


@app.command()
def index(
    tenant: terminal.Tenant = "default", database: terminal.DatabaseUrl = None, as_json: terminal.AsJson = False
) -> None:
    """Make an approximate index for a tenant with more than 20,000 memories. It stays in use meanwhile."""

    async def work(engine: Clew) -> bool:
        return await engine.memory.index(tenant)

    with terminal.err.status(f"indexing the memories of {tenant} …"):
        made = terminal.run(database, work)
    if as_json:
        terminal.print_json({"tenant_id": tenant, "made": made})
    else:
        terminal.out.print(f"[green]✔[/] {tenant} " + ("is indexed" if made else "had an index, or nothing to index"))

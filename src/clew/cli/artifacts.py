"""`clew artifacts`: the big results of a tenant."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Any, Final

import typer
from rich.filesize import decimal
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from clew.artifacts import ArtifactRef, Collected
from clew.cli import terminal
from clew.engine import Clew
from clew.errors import InvalidInput

SHOWN_BYTES: Final = 8_192
SHOWN_LINES: Final = 20
TEXT_TYPES: Final = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")

app = typer.Typer(help="The big results of a tenant, by reference.", no_args_is_help=True)
ArtifactId = Annotated[str, typer.Argument(metavar="ID", help="The artifact, such as art_k3v5x2qa7bydm4zp.")]


@app.command("list")
def list_artifacts(
    tenant: terminal.Tenant = "default",
    limit: terminal.Limit = 20,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """List a tenant's artifacts, newest first."""

    async def work(engine: Clew) -> list[ArtifactRef]:
        return await engine.artifacts.list(tenant_id=tenant, limit=limit)

    found = terminal.run(database, work)
    if as_json:
        terminal.print_json([ref.as_dict() for ref in found])
        return
    if not found:
        terminal.out.print(f"The tenant {tenant} has no artifacts.")
        return
    table = terminal.grid("artifact", "media type", "size", "keep", "stored", "name")
    table.columns[0].no_wrap = True
    for ref in found:
        cells = (ref.artifact_id, ref.media_type, decimal(ref.size), str(ref.keep), f"{ref.created_at:%Y-%m-%d %H:%M}")
        table.add_row(*map(terminal.shown, (*cells, _line(ref.name or ""))))
    terminal.out.print(table)


@app.command()
def show(
    artifact: ArtifactId,
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Show what is known of an artifact and, if it is a text, its first lines."""

    async def work(engine: Clew) -> tuple[ArtifactRef, str | None]:
        ref = await engine.artifacts.stat(artifact, tenant_id=tenant)
        if not (ref.media_type.startswith(TEXT_TYPES) or "+json" in ref.media_type or "+xml" in ref.media_type):
            return ref, None
        data = await engine.artifacts.read(artifact, 0, SHOWN_BYTES, tenant_id=tenant)
        return ref, "\n".join(data.decode(errors="replace").splitlines()[:SHOWN_LINES])

    ref, text = terminal.run(database, work)
    if as_json:
        terminal.print_json({**ref.as_dict(), "text": text})
        return
    table = terminal.grid("", "")
    for key, value in ref.as_dict().items():
        table.add_row(
            f"[bold]{key.replace('_', ' ')}[/]", terminal.shown(_line(f"{value:,}" if key == "size" else value))
        )
    terminal.out.print(table, highlight=False)
    if text is not None:
        terminal.out.print()
        terminal.out.print(terminal.shown(text), highlight=False, soft_wrap=True)
        if len(text.encode()) < ref.size:
            terminal.out.print(f"[dim]… {decimal(ref.size)} in all; clew artifacts export {artifact} PATH[/]")


@app.command()
def export(
    artifact: ArtifactId,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    tenant: terminal.Tenant = "default",
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Write an artifact into a file, checked on the way: a file that is there afterwards is whole."""
    if path.is_dir() or (path.exists() and not force):
        fix = "Name a file in it" if path.is_dir() else "Add --force to write over it"
        raise InvalidInput(f"{path} is there already", where="PATH", fix=fix)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=terminal.err, disable=as_json) as bars:
        ref = terminal.run(database, lambda engine: _exported(engine, artifact, path, tenant, bars))
    if as_json:
        terminal.print_json({"artifact_id": ref.artifact_id, "path": str(path), "size": ref.size, "sha256": ref.sha256})
    else:
        where = terminal.shown(str(path))
        terminal.out.print(f"[green]✔[/] {decimal(ref.size)} in {where}", soft_wrap=True, highlight=False)


async def _exported(engine: Clew, artifact: str, path: Path, tenant: str, bars: Progress) -> ArtifactRef:
    ref = await engine.artifacts.stat(artifact, tenant_id=tenant)
    task = bars.add_task(f"exporting {ref.artifact_id}", total=ref.size)
    with _replaced(path) as file:
        async for chunk in engine.artifacts.stream(artifact, tenant_id=tenant):
            await asyncio.to_thread(file.write, chunk)
            bars.advance(task, len(chunk))
    return ref


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file beside the one that is wanted, and in its place when all went well: what is there is never half of it."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=".clew-", delete=False) as file:
            beside = Path(file.name)
            try:
                yield file
                file.flush()
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{path} can't be written: {error.strerror}", where="PATH") from None


@app.command()
def collect(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Also look through the objects themselves.")] = False,
    tenant: terminal.Tenant = "default",
    yes: terminal.Yes = False,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Remove what is past its lifetime and named by no conversation, and what interrupted work left."""
    if not dry_run:
        question = f"Remove what is past its lifetime from {tenant} for good?"
        terminal.confirm(question, yes=yes, as_json=as_json)

    async def work(engine: Clew) -> Collected:
        return await engine.artifacts.collect(tenant_id=tenant, dry_run=dry_run, deep=deep)

    with terminal.err.status(f"collecting in {tenant} …"):
        done = terminal.run(database, work)
    if as_json:
        terminal.print_json(done.as_dict())
        return
    verb = "would remove" if dry_run else "removed"
    counts = f"{len(done.expired):,} artifacts and {done.orphans:,} leftovers, {decimal(done.bytes)}"
    terminal.out.print(f"[green]✔[/] {verb} {counts}; {done.in_use:,} past their time are still named")
    if done.foreign:
        terminal.out.print(f"  {done.foreign:,} objects were left alone: another database keeps its own here, too")
    for artifact_id in done.damaged:
        terminal.out.print(f"  [red]✘[/] {artifact_id} has lost its object", highlight=False)


def _line(value: Any) -> str:
    """A value on one line of a bounded length: a name may be four thousand characters of anything."""
    text = " ".join(str(value).split())
    return text if len(text) <= 200 else f"{text[:199]}…"

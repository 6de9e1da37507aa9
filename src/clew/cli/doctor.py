"""`clew doctor`: what is installed, the database and its walls, artifacts, which models answer; each with its fix."""

import asyncio
import importlib.util
import platform
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Final, Literal

import typer

from clew import __version__
from clew.cli import terminal
from clew.errors import ClewError
from clew.settings import Settings, mask_url
from clew.store.database import Database
from clew.store.server_check import newest, refuse_old_server, refuse_unready, versions
from clew.store.walls import breaches

# What to import to see whether an extra is there.
_EXTRAS: Final = {
    "langchain": "langchain_core",
    "pydantic-ai": "pydantic_ai",
    "minilm": "onnxruntime",
    "fastembed": "fastembed",
    "litellm": "litellm",
}
_MARKS: Final = {"ok": "[green]✔[/]", "note": "[yellow]•[/]", "fail": "[red]✘[/]"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. A note is worth knowing; only a failure makes the doctor frown."""

    name: str
    status: Literal["ok", "note", "fail"]
    detail: str
    fix: str = ""


def doctor(database: terminal.DatabaseUrl = None, as_json: terminal.AsJson = False) -> None:
    """Look at everything Clew needs, and say what to do about what is wrong. Exits with 1 if anything is."""
    checks = asyncio.run(_checks(database))
    healthy = all(check.status != "fail" for check in checks)
    if as_json:
        terminal.print_json({"healthy": healthy, "checks": [asdict(check) for check in checks]})
    else:
        _print(checks, healthy)
    if not healthy:
        raise typer.Exit(1)


def _print(checks: list[Check], healthy: bool) -> None:
    table = terminal.grid("", "", "")
    table.show_header = False
    for check in checks:
        table.add_row(_MARKS[check.status], f"[bold]{check.name}[/]", terminal.shown(check.detail))
        if check.fix:
            table.add_row("", "", f"[dim]fix:[/] {terminal.shown(check.fix)}")
    terminal.out.print(table)
    terminal.out.print(
        "\n[green]All is well.[/]" if healthy else "\n[red]Something needs a hand: see the fixes above.[/]"
    )


async def _checks(url: str | None) -> list[Check]:
    settings = Settings.load()
    checks = [Check("clew", "ok", f"{__version__} on Python {platform.python_version()}"), _extras_check()]
    checks += [check async for check in _database_checks(Database(url, settings=settings))]
    checks.append(await _artifacts_check(settings))
    checks.append(_tokenizer_check())
    checks += await _model_checks(settings)
    return checks


def _extras_check() -> Check:
    there = [extra for extra, module in _EXTRAS.items() if importlib.util.find_spec(module)]
    absent = [extra for extra in _EXTRAS if extra not in there]
    detail = f"installed: {', '.join(there) or 'none'}"
    return Check("extras", "ok", f"{detail}; not installed: {', '.join(absent)}" if absent else detail)


async def _database_checks(database: Database) -> AsyncIterator[Check]:
    name = "embedded PostgreSQL" if database.embedded else "PostgreSQL"
    place = str(database.settings.data_dir) if database.embedded else mask_url(database.url or "")
    try:
        if database.embedded:
            # The embedded server is ours to set up; opening it does.
            async with database:
                pass
        async with database.inspect() as connection:
            found = await versions(connection)
            refuse_old_server(found)
            yield Check(name, "ok", f"{found.server_version} with pgvector {found.vector_installed or '—'}, {place}")
            await refuse_unready(connection)
            yield Check("migrations", "ok", f"at revision {newest()}")
            for breach in (down := await breaches(connection)):
                yield Check("tenant walls", "fail", f"{breach.where} {breach.what}", breach.fix)
            if not down:
                yield Check(
                    "tenant walls", "ok", "up: row security forced on every table, for a role that can't bypass it"
                )
            if found.login_is_privileged:
                yield Check(
                    "login",
                    "note",
                    "is a superuser or has BYPASSRLS; Clew steps down to clew_app in every transaction",
                    "Give the application a login of its own: CREATE ROLE … LOGIN IN ROLE clew_app",
                )
    except ClewError as error:
        yield Check(name, "fail", f"{place}: {error.what}", error.fix or "")


async def _artifacts_check(settings: Settings) -> Check:
    from clew.artifacts import ArtifactStore

    try:
        return Check("artifacts", "ok", f"written and read back at {await ArtifactStore(settings=settings).probe()}")
    except ClewError as error:
        return Check("artifacts", "fail", str(error.what), error.fix or "Check CLEW_ARTIFACTS_URL")


def _tokenizer_check() -> Check:
    from clew.tokens import ENCODINGS, count

    try:
        counts = [count("Clew counts exactly.", encoding=encoding) for encoding in ENCODINGS]
    except ClewError as error:
        return Check("token tables", "fail", error.what, error.fix or "")
    return Check("token tables", "ok", f"{' and '.join(ENCODINGS)} verified ({sum(counts)} tokens counted offline)")


async def _model_checks(settings: Settings) -> list[Check]:
    from clew.models import available, open_embedder

    checks = []
    try:
        embedder = open_embedder(settings=settings)
        await embedder.embed(["Is anybody there?"])
        checks.append(Check("embeddings", "ok", f"{embedder.name} answers, {embedder.dimensions} dimensions"))
    except ClewError as error:
        checks.append(Check("embeddings", "fail", f"{settings.embedding_model}: {error.what}", error.fix or ""))
    for model in available(settings):
        if model.spec != settings.embedding_model:
            detail = f"{model.spec}: {model.about}"
            checks.append(Check("another model", "ok" if model.usable else "note", detail, model.fix or ""))
    return checks

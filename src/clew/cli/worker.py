"""`clew worker`: does background work in a process of its own."""

import asyncio
import json
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli import terminal
from clew.engine import Clew
from clew.store.jobs import CONCURRENCY, CONCURRENCY_MAX

if TYPE_CHECKING:
    from clew.store.job_queue import Ran


def worker(
    concurrency: Annotated[
        int, typer.Option(min=1, max=CONCURRENCY_MAX, help="How many jobs to do at the same time.")
    ] = CONCURRENCY,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when nothing is left to do, for cron; else Ctrl-C ends it.")
    ] = False,
    database: terminal.DatabaseUrl = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Do background work, whoever deferred it; several workers share it. Set CLEW_WORKER=separate for the others.

    Ctrl-C or SIGTERM lets running jobs finish for a few seconds; what is not finished is left for the next worker.
    """

    async def work(engine: Clew) -> int:
        done = 0

        def watch(ran: "Ran") -> None:
            nonlocal done
            done += ran.error is None
            _print(ran, as_json=as_json)

        await _until_stopped(engine.jobs.run(until_idle=until_idle, concurrency=concurrency, watch=watch))
        return done

    if not as_json:
        until = "until nothing is left" if until_idle else "Ctrl-C ends it"
        terminal.err.print(f"Waiting for work, {concurrency} at a time; {until}.", highlight=False)
    done = terminal.run(database, work)
    if not as_json:
        terminal.err.print(f"[green]✔[/] {done:,} done.", highlight=False)


async def _until_stopped(running: Any) -> None:
    """Run something until it ends or a signal cancels it; asked a second time, it ends at once."""
    task = asyncio.ensure_future(running)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _print(ran: "Ran", *, as_json: bool) -> None:
    if as_json:
        # One line each, so that a program can read along.
        sys.stdout.write(json.dumps(asdict(ran)) + "\n")
        sys.stdout.flush()
        return
    words = " ".join(f"{name}={value}" for name, value in ran.arguments.items())
    mark = "[green]✔[/]" if ran.error is None else "[yellow]↻[/]" if ran.again else "[red]✘[/]"
    error = "" if ran.error is None else f" {terminal.shown(ran.error)}"
    terminal.out.print(
        f"{mark} {terminal.shown(ran.task)} {terminal.shown(words)} [dim]{ran.seconds:.1f} s[/]{error}",
        highlight=False,
        soft_wrap=True,
    )

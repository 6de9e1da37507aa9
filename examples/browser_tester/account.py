"""What happened, for a person to read."""

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from browser_tester.run import Outcome, Run


def told(outcome: Outcome, out: Console) -> None:
    """Print both runs beside each other, and what they come to."""
    for title, run in (
        ("First run: nothing is known yet", outcome.first),
        ("Second run: a new thread", outcome.second),
    ):
        out.print(Panel(Group(_steps(run), Text(""), _screenshots(run)), title=title, title_align="left", expand=False))
    out.print(_compared(outcome))
    for sentence in _sentences(outcome):
        out.print(f"[green]✔[/] {sentence}")


def _steps(run: Run) -> Table:
    table = Table.grid(padding=(0, 1))
    for number, step in enumerate(run.steps, 1):
        failed = "no element matches" in step or "expected" in step
        style = "red" if failed else "yellow" if step.startswith(("recall", "remember", "report")) else ""
        table.add_row(Text(str(number), "dim"), Text(step, style))
    return table


def _screenshots(run: Run) -> Table:
    table = Table("screenshot", "size", "pixels", "read back", box=None, header_style="dim", padding=(0, 2, 0, 0))
    for one in run.screenshots:
        same = "[green]identical[/]" if one.identical else "[red]different[/]"
        table.add_row(one.artifact_id, f"{one.size:,} bytes", f"{one.width}×{one.height}", same)
    return table


def _compared(outcome: Outcome) -> Table:
    table = Table("", "first run", "second run", title="What it took", title_justify="left")
    for label, value in (
        ("steps", lambda run: f"{len(run.steps)}"),
        ("tokens without Clew: what the tools returned", lambda run: f"{run.full_tokens:,}"),
        ("tokens with Clew: the longest request", lambda run: f"{run.largest_window_tokens:,}"),
        ("characters in the state", lambda run: f"{run.state_chars:,}"),
        ("screenshots stored", lambda run: f"{len(run.screenshots)}"),
        ("seconds", lambda run: f"{run.seconds:.1f}"),
    ):
        table.add_row(label, value(outcome.first), value(outcome.second))
    return table


def _sentences(outcome: Outcome) -> list[str]:
    first, second = outcome.first, outcome.second
    fix = next((step.removeprefix("remember: ") for step in first.steps if step.startswith("remember")), "")
    bug = second.bugs[0] if second.bugs else {"title": "none", "seen": "", "expected": ""}
    window, full = second.largest_window_tokens, second.full_tokens
    return [
        f"The bug: {bug['title']} shows {bug['seen']}, and should show {bug['expected']}.",
        f"The first run healed a step by searching and remembered what worked: {fix}.",
        f"The second run met the same failure, found that, and took {len(first.steps) - len(second.steps)} steps less.",
        f"No request held more than {window:,} tokens; the results alone have {full:,}: {1 - window / full:.1%} less.",
    ]

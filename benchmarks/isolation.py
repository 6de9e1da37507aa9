"""How much smaller tool results and whole contexts become, and whether every byte comes back.

    python benchmarks/isolation.py

Every run of `replay/` is replayed as an agent's loop would have it, on the embedded PostgreSQL in a temporary folder:
each tool result goes through `isolate_tool`, each message into the thread's log, and before each of the assistant's
messages the thread is compacted if it is due (the shipped settings). Tokens are counted exactly.

- Tool results: their text before and after. Then the engine is closed and opened again, and every original is asked
  for and compared byte for byte: those of summaries by the reference in them, those that were shown as they were from
  the log; and those of summaries by the id of the call as well (of calls of a run that share an id, as some do in these
  traces, the newest).
- Whole contexts: what the next request would hold at the end of a run, with nothing done, with isolation alone, and
  with compaction too; the last column counts the schemas of the four tools that follow our references as well.
- A browser run: two screenshots, PNG as base64, and a step log, in one tool result. Once through `isolate_tool`, once
  through `ArtifactStore.store_test_result`.
"""

import asyncio
import base64
import io
import json
import logging
import random
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image, ImageDraw
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clew.errors import NotFound
from clew.tokens import count
from replay.policies import REFERENCE, Rooms, Storing
from replay.traces import LONG_MESSAGES, Message, Run, Step, absent, families, tokens_of

SCREENSHOTS, SCREENSHOT_TOKENS, LOG_TOKENS = 2, 55_000, 40_000
WINDOW_TOKENS = 200_000
AT_ONCE, LOG_MAX_MESSAGES = 8, 1_000
PAGE = (1280, 800)
PHOTO_WIDTH = 200

T = TypeVar("T")
console = Console(width=140)


@dataclass
class Replayed:
    """One run after its replay: every tool result beside what was shown of it, and the contexts at its end."""

    run: Run
    tenant_id: str
    thread_id: str
    results: list[tuple[Message, Message]]
    whole: int
    isolated: int
    compacted: int


@dataclass
class Returned:
    """How many originals were asked for, and how many came back as they were."""

    asked: int = 0
    same: int = 0

    def add(self, same: bool) -> None:
        self.asked += 1
        self.same += same

    def __str__(self) -> str:
        return f"{self.same:,} of {self.asked:,}"


async def replay(run: Run, rooms: Rooms) -> Replayed:
    policy = Storing(run, rooms)
    for arrived in run.arrivals():
        sent = await policy.sent(arrived)
    shown = {id(original): kept for original, kept in policy.results}
    kept = [shown.get(id(message), message) for message in run.messages]
    whole, isolated = (tokens_of([run.system, *messages]) for messages in (run.messages, kept))
    compacted = tokens_of(sent.messages)
    return Replayed(run, policy.tenant_id, policy.thread_id, policy.results, whole, isolated, compacted)


@dataclass
class Recovered:
    """Every original of a run, asked for in two ways."""

    as_shown: Returned = field(default_factory=Returned)
    by_call: Returned = field(default_factory=Returned)


async def recover(replayed: Replayed, rooms: Rooms, found: Recovered) -> None:
    """Of a summary, what its reference leads to; of what was shown as it was, the log's own message."""
    log = await rooms.engine.sessions.read(replayed.thread_id, LOG_MAX_MESSAGES, tenant_id=replayed.tenant_id)
    logged = [row.message.text for row in log if row.message.role == "tool"]
    newest: dict[str, str] = {}
    for (original, shown), kept in zip(replayed.results, logged, strict=True):
        if shown["content"] == original["content"]:
            found.as_shown.add(kept == original["content"])
            continue
        (artifact_id,) = REFERENCE.findall(kept)[-1:]
        found.as_shown.add(await returns(rooms, artifact_id, replayed.tenant_id, original["content"]))
        newest[original["tool_call_id"]] = original["content"]
    for call_id, content in newest.items():
        found.by_call.add(await returns(rooms, call_id, replayed.tenant_id, content))


async def returns(rooms: Rooms, asked: str, tenant_id: str, original: str) -> bool:
    try:
        full = await rooms.engine.tool_results.get_tool_result(asked, tenant_id=tenant_id)
    except NotFound:
        return False
    return type(full) is str and full.encode() == original.encode()


def results_table(replays: dict[str, list[Replayed]], found: dict[str, Recovered]) -> Table:
    headers = ("results", "tokens returned", "shown", "down by", "isolated", "longest summary")
    table = table_of("Tool results", "", *headers, "recovered", "by call id")
    for family, runs in replays.items():
        pairs = [pair for replayed in runs for pair in replayed.results]
        before, after = ([count(pair[side]["content"]) for pair in pairs] for side in (0, 1))
        summaries = [count(b["content"]) for a, b in pairs if a["content"] != b["content"]]
        cells = [f"{len(pairs):,}", f"{sum(before):,}", f"{sum(after):,}", down(sum(before), sum(after))]
        cells += [f"{len(summaries):,}", f"{max(summaries, default=0)} tokens"]
        table.add_row(family, *cells, str(found[family].as_shown), str(found[family].by_call))
    return table


def contexts_table(replays: dict[str, list[Replayed]], tools_tokens: int) -> Table:
    headers = ("runs", "tokens", "isolated", "down by", "compacted too", "down by", "with our tools", "down by")
    table = table_of("Whole contexts at the end of a run", "", *headers)
    for family, every in replays.items():
        long = [replayed for replayed in every if replayed.run.is_long]
        for label, runs in ((family, every), (f"… of ≥ {LONG_MESSAGES} messages", long)):
            whole = sum(one.whole for one in runs)
            isolated, compacted = sum(one.isolated for one in runs), sum(one.compacted for one in runs)
            ours = compacted + tools_tokens * len(runs)
            cells = [f"{len(runs)}", f"{whole:,}"]
            for tokens in (isolated, compacted, ours):
                cells += [f"{tokens:,}", down(whole, tokens)]
            table.add_row(label, *cells, end_section=label != family)
    return table


def screenshot(name: str) -> bytes:
    """A shop's page with a photo, as large as it takes for its base64 to hold the tokens of a real one."""
    rows, drawn = 0, b""
    while count(base64.b64encode(drawn).decode()) < SCREENSHOT_TOKENS:
        rows += 4
        drawn = page(name, rows)
    return drawn


def page(name: str, photo_rows: int) -> bytes:
    chance = random.Random(name)
    image = Image.new("RGB", PAGE, "white")
    draw = ImageDraw.Draw(image)
    draw.text((40, 30), f"The shop: {name}", fill="black")
    for number in range(20):
        x, y = 40 + number % 5 * 245, 90 + number // 5 * 175
        draw.rectangle((x, y, x + 215, y + 150), outline="#444444")
        draw.text((x + 10, y + 125), f"Item {number + 1}: {chance.randrange(500, 20_000) / 100:.2f} EUR", fill="black")
    photo = Image.frombytes("RGB", (PHOTO_WIDTH, photo_rows), chance.randbytes(PHOTO_WIDTH * photo_rows * 3))
    image.paste(photo, (50, 100))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def step_log() -> str:
    """What a browser's driver writes, with the one line that matters."""
    chance = random.Random("step log")
    lines: list[str] = []
    while count("\n".join(lines)) < LOG_TOKENS:
        for _ in range(25):
            verb = chance.choice(("click", "fill", "hover", "wait_for", "scroll_into_view", "expect_visible"))
            target = f"{chance.choice(('button', 'input', 'div', 'a'))}#{chance.choice('abcd')}{chance.randrange(999)}"
            lines.append(
                f"12:{len(lines) // 600 % 60:02}:{len(lines) // 10 % 60:02}.{chance.randrange(1_000):03} DEBUG step "
                f"{len(lines) + 1} {verb} {target} ok in {chance.randrange(3, 900)} ms"
            )
    failed = "12:59:59.999 ERROR step checkout expect_text #total: expected 59.97 EUR, found 59.79 EUR"
    lines.insert(len(lines) * 9 // 10, failed)
    return "\n".join(lines)


async def browser_table(rooms: Rooms) -> Table:
    pictures = [screenshot(f"picture {number + 1}") for number in range(SCREENSHOTS)]
    full: dict[str, Any] = {
        "test": "checkout",
        "status": "failed",
        "screenshots": [base64.b64encode(picture).decode() for picture in pictures],
        "log": step_log(),
    }
    headers = ("tokens of the run", "in the window after it", "runs in 200,000 tokens", "screenshots identical")
    table = table_of("A browser run: two screenshots and a step log", "", *headers)
    add_browser_row(table, "everything kept", full, full, None)
    call = {"role": "tool", "tool_call_id": "call_browser", "content": full}
    shown = await rooms.isolate(call, "run_browser_test", "browser", "browser")
    original = await rooms.engine.tool_results.get_tool_result("call_browser", tenant_id="browser")
    back = [base64.b64decode(picture) for picture in original["screenshots"]]
    add_browser_row(table, "isolate_tool", full, shown["content"], back == pictures and original == full)
    light = await rooms.engine.artifacts.store_test_result(full, tenant_id="browser")
    stored = [ref["artifact_id"] for ref in light["_artifact_refs"] if ref["media_type"] == "image/png"]
    read = [(await rooms.engine.artifacts.get(one, tenant_id="browser")).data for one in stored]
    add_browser_row(table, "store_test_result", full, light, sorted(read) == sorted(pictures))
    return table


def add_browser_row(table: Table, label: str, full: Any, shown: Any, same: bool | None) -> None:
    before, after = (tokens_of(browser_window(result)) for result in (full, shown))
    cells = (f"{before:,}", f"{after:,}", f"{runs_that_fit(shown):,}", {None: "", True: "yes", False: "NO"}[same])
    table.add_row(label, *cells)


def browser_window(result: Any) -> list[Message]:
    """A whole agent's window after one run of its test."""
    asked = [
        {"role": "system", "content": "You test a web shop in a browser, and report what is broken."},
        {"role": "user", "content": "Test the checkout."},
    ]
    return [*asked, *browser_step(result)]


def browser_step(result: Any) -> list[Message]:
    text = result if isinstance(result, str) else json.dumps(result)
    return Step(None, "run_browser_test", json.dumps({"test": "checkout"}), text).messages("call_browser")


def runs_that_fit(result: Any) -> int:
    one = tokens_of(browser_step(result)) - tokens_of([])
    return (WINDOW_TOKENS - tokens_of(browser_window(result)) + one) // one


def down(before: int, after: int) -> str:
    return f"{1 - after / before:.1%}" if before else ""


def table_of(title: str, *headers: str) -> Table:
    table = Table(title=title, title_justify="left")
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left")
    return table


async def measure(folder: Path) -> list[Table]:
    every = families()
    found: dict[str, Recovered] = {family: Recovered() for family in every}
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("replaying", total=2 * sum(len(runs) for runs in every.values()))
        # The database waits for the disk most of the time: several runs share the wait.
        turns = asyncio.Semaphore(AT_ONCE)

        async def taken(work: Callable[..., Awaitable[T]], *about: Any) -> T:
            async with turns:
                done = await work(*about)
            progress.advance(task)
            return done

        async with Rooms(folder) as rooms:
            replays = {
                family: await asyncio.gather(*(taken(replay, run, rooms) for run in runs))
                for family, runs in every.items()
            }
        progress.update(task, description="reading back, after a restart")
        async with Rooms(folder) as rooms:
            for family, done in replays.items():
                await asyncio.gather(*(taken(recover, one, rooms, found[family]) for one in done))
            tables = [results_table(replays, found), contexts_table(replays, rooms.tools_tokens)]
            return [*tables, await browser_table(rooms)]


async def main() -> None:
    if sentence := absent():
        console.print(sentence)
        return
    logging.getLogger("clew").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        for table in await measure(Path(folder)):
            console.print(table)


if __name__ == "__main__":
    asyncio.run(main())

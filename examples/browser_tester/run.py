"""Two runs of the same test: the first finds out the hard way, the second remembers."""

import hashlib
import json
import re
import time
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage

import clew
from browser_tester import browser, site
from browser_tester.agent import agent
from browser_tester.plan import TEST
from browser_tester.tools import Bench

TENANT = "browser-tester"
BASE64 = re.compile(r"[A-Za-z0-9+/]{1024}")
STEPS_MAX = 40


@dataclass(frozen=True)
class Screenshot:
    """Where a screenshot is, and whether what is there is what the browser took."""

    artifact_id: str
    size: int
    width: int
    height: int
    identical: bool


@dataclass(frozen=True)
class Run:
    """What came of one run."""

    thread_id: str
    steps: list[str]
    used_past_fix: bool
    bugs: list[dict[str, str]]
    screenshots: list[Screenshot]
    full_tokens: int
    """What the tools returned, counted: what the window would have had to hold."""
    largest_window_tokens: int
    """What the longest request to the model had instead."""
    state_chars: int
    state_holds_base64: bool
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """Both runs."""

    first: Run
    second: Run


async def main(database: str | clew.Database | None = None, settings: clew.Settings | None = None) -> Outcome:
    """Run the test twice, on one shop, with one tenant's memory."""
    executable = browser.installed()
    with site.served() as url:
        async with clew.open(database, settings=settings) as engine:
            await _forget(engine)
            runs = [await one_run(engine, executable, url, f"run-{number}") for number in (1, 2)]
    return Outcome(*runs)


async def one_run(engine: clew.Clew, executable: str, url: str, thread_id: str) -> Run:
    """One run in a thread of its own, with a browser of its own."""
    started = time.monotonic()
    past = engine.tenant(TENANT).thread(thread_id).hierarchical_memory(agent_id="tester")
    async with browser.opened(executable) as opened:
        bench = Bench(engine, TENANT, opened, past)
        windows: list[int] = []
        state = await agent(bench, windows).ainvoke(
            {"messages": [HumanMessage(f"Run the test “{TEST}”.")], "app_url": url},
            {"configurable": {"thread_id": thread_id}, "recursion_limit": STEPS_MAX * 3},
        )
    held = json.dumps(state, default=lambda message: message.model_dump(mode="json"))
    return Run(
        thread_id=thread_id,
        steps=bench.steps,
        used_past_fix=any(fix in bench.steps for fix in bench.recalled),
        bugs=bench.bugs,
        screenshots=[await _read_back(engine, ref, bench.screenshots) for ref in state["screenshot_refs"]],
        full_tokens=bench.full_tokens,
        largest_window_tokens=max(windows),
        state_chars=len(held),
        state_holds_base64=bool(BASE64.search(held)),
        seconds=time.monotonic() - started,
    )


async def _read_back(engine: clew.Clew, ref: dict[str, Any], taken: list[str]) -> Screenshot:
    artifact = await engine.artifacts.get(ref["artifact_id"], tenant_id=TENANT)
    identical = hashlib.sha256(artifact.data).hexdigest() in taken
    return Screenshot(ref["artifact_id"], ref["size"], *_size(artifact.data), identical)


def _size(png: bytes) -> tuple[int, int]:
    """A PNG's width and height, which stand at its beginning."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


async def _forget(engine: clew.Clew) -> None:
    """An example that is run twice shows the same twice."""
    tenant = engine.tenant(TENANT)
    for entry in await tenant.memories():
        await tenant.forget(entry.memory_id)
    for number in (1, 2):
        await tenant.thread(f"run-{number}").clear()

"""What each way to shorten a conversation sends, breaks, keeps within reach, and costs with a prompt cache.

    python benchmarks/compaction.py [--quick]

The runs of `replay/` are replayed message by message: before each of the assistant's messages, every policy says what
it would send. Ours goes through the shipped rooms on the embedded PostgreSQL in a temporary folder; the peers through
their own code (`policies.py`). Runs in which nobody would do anything, because they never have more than 20 messages,
are left out. Two settings for each peer:

- *equal*: it begins where ours does (20 messages; where a policy knows tokens only, the tokens of that run's first 20
  messages), keeps the last 10 messages (5 tool results), and reads all that it summarises;
- *its own*: the defaults of the class. `SummarizationMiddleware` has no trigger by default and would never act, so that
  row has the trigger and keep of its documentation's example (4,000 tokens, 20 messages).

Columns: tokens of all requests, beside keeping everything, and the same without the schemas of the tools that a policy
adds (ours: those that follow its references); tokens of the last requests; tool results without their call and calls
without their result, in all requests; requests in which no message is left besides the system prompt; and of the
details in the whole past (numbers with units, dates, paths, ids, URLs, names, instructions; those that people and the
assistant said, and those in what tools returned), the share that the last request keeps / that it keeps or that one
call brings back with a reference it shows: the calls are made, and their answers searched. No peer here offers one.

The account: 60-step runs; input read from the cache at 0.1, written to it at 1.25, otherwise 1; a summary's output at
5, as is usual. The cache holds every request's messages from the first on, and a request reads the longest beginning it
shares with an earlier one, from 1,024 tokens. Requests for a summary are not written to it. The assistant's own output
is the same everywhere and left out; the tools that ours adds are in. Below the line: policies some of whose requests a
provider would refuse, so that what they cost compares with nothing. *1 in 4 read back*: a model that asks for every
fourth isolated result in full, with the call and the request that this takes.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clew.context.compaction import Probe, probes
from clew.context.compaction.haystack import Haystack
from clew.messages import from_openai
from clew.tokens import count
from replay.policies import (
    Asked,
    Cleared,
    Everything,
    Ours,
    ReadingBack,
    Rooms,
    Sent,
    Summarised,
    Trimmed,
    Way,
    Written,
    offline,
    text_of,
)
from replay.traces import STEPS, Message, Run, absent, families, long_runs, tokens_of

READ, WRITE, INPUT, OUTPUT = 0.1, 1.25, 1.0, 5.0
CACHED_FROM_TOKENS = 1_024
TRIGGER_MESSAGES, KEEP_MESSAGES, KEEP_RESULTS = 20, 10, 5
DOCUMENTED_TRIGGER_TOKENS, DOCUMENTED_KEEP_MESSAGES = 4_000, 20
AT_ONCE = 8

console = Console(width=140)


@dataclass
class Cache:
    """A provider's prompt cache, and what was paid."""

    paid: float = 0.0
    paid_for_summaries: float = 0.0
    _seen: set[bytes] = field(default_factory=set)

    def request(self, sent: Sent) -> None:
        for asked in sent.asked:
            self._summary(asked, sent.own_tools_tokens)
        read, total = self._matched(sent.messages, sent.own_tools_tokens, keep=True)
        price = WRITE if total >= CACHED_FROM_TOKENS else INPUT
        self.paid += READ * read + price * (total - read)

    def _summary(self, asked: Asked, own_tools_tokens: int) -> None:
        tools = own_tools_tokens if asked.continues else 0
        read, total = self._matched(asked.prompt, tools, keep=False)
        cost = READ * read + INPUT * (total - read) + OUTPUT * count(asked.written)
        self.paid += cost
        self.paid_for_summaries += cost

    def _matched(self, messages: Sequence[Message], tools_tokens: int, *, keep: bool) -> tuple[int, int]:
        """The tokens that were sent before as the beginning of a request, and all tokens."""
        digest, read = hashlib.sha256(str(tools_tokens).encode()), 0
        total = tools_tokens
        for message in messages:
            digest.update(json.dumps(message, sort_keys=True).encode())
            total += tokens_of([message]) - tokens_of([])
            if digest.digest() in self._seen:
                read = total
            elif keep:
                self._seen.add(digest.digest())
        return read if read >= CACHED_FROM_TOKENS else 0, total + tokens_of([])


@dataclass
class Measured:
    """What a policy did to one run, or to several."""

    sent: int = 0
    tools: int = 0
    """Of the tokens sent, those of the schemas that the policy adds."""
    last: int = 0
    requests: int = 0
    orphans: int = 0
    empty: int = 0
    summaries: int = 0
    refusals: int = 0
    said: int = 0
    said_in_window: int = 0
    said_in_reach: int = 0
    returned: int = 0
    returned_in_window: int = 0
    returned_in_reach: int = 0
    paid: float = 0.0
    paid_for_summaries: float = 0.0

    @property
    def broken(self) -> bool:
        """Whether a provider would have refused some of the requests."""
        return bool(self.orphans or self.empty)

    @property
    def faults(self) -> str:
        said = [f"{self.empty:,} of {self.requests:,} requests empty"] if self.empty else []
        said += [f"{self.orphans:,} orphans"] if self.orphans else []
        said += [f"{self.refusals:,} refused by the check"] if self.refusals else []
        return ", ".join(said)

    def __iadd__(self, other: "Measured") -> "Measured":
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def orphans(messages: Sequence[Message]) -> int:
    """Results without a call before them, and calls that no result follows before the next turn."""
    found = 0
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                found += 1
            continue
        found += len(waiting)
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return found + len(waiting)


@cache
def said_probes(run: Run) -> list[Probe]:
    """The details of what people and the assistant said, and of what was asked of tools."""
    return present(probes(from_openai(run.messages)), run)


@cache
def returned_probes(run: Run) -> list[Probe]:
    """The details of what tools returned."""
    found = probes(message["content"] for message in run.messages if message["role"] == "tool" and message["content"])
    return present([probe for probe in found if probe.kind != "instruction"], run)


def present(found: Sequence[Probe], run: Run) -> list[Probe]:
    """Those that the whole conversation keeps: only they can be lost."""
    whole = Haystack(text_of(run.messages))
    return [probe for probe in found if whole.has(probe.kind, probe.text)]


def kept(wanted: Sequence[Probe], *texts: str) -> int:
    places = [Haystack(text) for text in texts]
    return sum(any(place.has(probe.kind, probe.text) for place in places) for probe in wanted)


async def follow(run: Run, way: Way) -> Measured:
    """One run under one policy."""
    measured, cache = Measured(), Cache()
    for arrived in run.arrivals():
        last = await way.sent(arrived)
        for sent in (*last.earlier, last):
            cache.request(sent)
            measured.sent += sent.tokens
            measured.tools += sent.own_tools_tokens
            measured.requests += 1
            measured.orphans += orphans(sent.messages)
            measured.empty += len(sent.messages) == 1
            measured.summaries += len(sent.asked)
    measured.last = last.tokens
    window, reach = text_of(last.messages[1:]), await way.reachable()
    said, returned = said_probes(run), returned_probes(run)
    measured.said, measured.returned = len(said), len(returned)
    measured.said_in_window, measured.said_in_reach = kept(said, window), kept(said, window, reach)
    measured.returned_in_window, measured.returned_in_reach = kept(returned, window), kept(returned, window, reach)
    measured.refusals = await way.refusals()
    measured.paid, measured.paid_for_summaries = cache.paid, cache.paid_for_summaries
    return measured


def trigger_tokens(run: Run) -> int:
    """What the run holds when the policies that count messages begin."""
    return tokens_of([run.system, *run.messages[:TRIGGER_MESSAGES]])


def ways(rooms: Rooms) -> dict[str, Callable[[Run], Way]]:
    """Every policy, by the name it has in the tables."""
    human = {"start_on": "human", "end_on": ("human", "tool")}
    equal = {"keep": ("messages", KEEP_MESSAGES), "trim_tokens_to_summarize": None}
    documented = {
        "trigger": ("tokens", DOCUMENTED_TRIGGER_TOKENS),
        "keep": ("messages", DOCUMENTED_KEEP_MESSAGES),
    }
    return {
        "everything kept": Everything,
        "trim_messages, plain": lambda run: Trimmed(run, trigger_tokens(run)),
        "trim_messages, start_on": lambda run: Trimmed(run, trigger_tokens(run), **human),
        "ContextEditing, equal": lambda run: Cleared(run, trigger=trigger_tokens(run), keep=KEEP_RESULTS),
        "ContextEditing, its own": Cleared,
        "Summarization, equal": lambda run: Summarised(
            run, offline, trigger=[("messages", TRIGGER_MESSAGES + 1), ("tokens", 100_000)], **equal
        ),
        "Summarization, its own": lambda run: Summarised(run, offline, **documented),
        "Clew, no isolation": lambda run: Ours(run, rooms, isolates=False),
        "Clew": lambda run: Ours(run, rooms),
    }


def account_ways(rooms: Rooms) -> dict[str, Callable[[Run], Way]]:
    """The same, and the ways to use ours that differ in cost alone."""
    return ways(rooms) | {
        "Clew, no compaction": lambda run: Ours(run, rooms, compacts=False),
        "Clew, a model summarises": lambda run: Written(run, rooms),
        "Clew, no isolation, a model": lambda run: Written(run, rooms, isolates=False),
        "Clew, 1 in 4 read back": lambda run: ReadingBack(run, rooms, 4),
    }


async def follow_all(
    runs: Sequence[Run], chosen: dict[str, Callable[[Run], Way]], progress: Progress
) -> dict[str, list[Measured]]:
    task = progress.add_task(runs[0].family, total=len(runs) * len(chosen))
    # The database waits for the disk most of the time: several runs share the wait.
    turns = asyncio.Semaphore(AT_ONCE)

    async def followed(run: Run, make: Callable[[Run], Way]) -> Measured:
        async with turns:
            measured = await follow(run, make(run))
        progress.advance(task)
        return measured

    return {name: await asyncio.gather(*(followed(run, make) for run in runs)) for name, make in chosen.items()}


def table_of(title: str, *headers: str) -> Table:
    table = Table(title=title, title_justify="left")
    for number, header in enumerate(headers):
        table.add_column(header, justify="right" if number else "left")
    return table


def total(measured: Sequence[Measured]) -> Measured:
    every = Measured()
    for one in measured:
        every += one
    return every


def replay_table(runs: Sequence[Run], found: dict[str, list[Measured]]) -> Table:
    headers = ("tokens sent", "of all", "no schemas", "last requests", "orphans", "empty", "said", "returned")
    title = f"{runs[0].family}: {len(runs)} runs of more than {TRIGGER_MESSAGES} messages"
    table = table_of(title, "", *headers)
    everything = total(found["everything kept"])
    for name, measured in found.items():
        one = total(measured)
        cells = [f"{one.sent:,}", f"{one.sent / everything.sent:.0%}"]
        cells += [f"{(one.sent - one.tools) / everything.sent:.0%}", f"{one.last:,}", f"{one.orphans:,}"]
        cells += [f"{one.empty:,} of {one.requests:,}" if one.empty else "0"]
        cells += [f"{one.said_in_window / one.said:.1%} / {one.said_in_reach / one.said:.1%}"]
        cells += [f"{one.returned_in_window / one.returned:.1%} / {one.returned_in_reach / one.returned:.1%}"]
        table.add_row(name, *cells)
    return table


def account_table(runs: Sequence[Run], found: dict[str, list[Measured]]) -> Table:
    title = f"The account of {len(runs)} runs of {STEPS} steps with a prompt cache, beside keeping everything"
    table = table_of(title, "", "cost", "least", "most", "for summaries", "summaries", "tokens sent", "")
    everything = found["everything kept"]
    whole = total(everything).paid
    ranked = sorted(found.items(), key=lambda item: (total(item[1]).broken, total(item[1]).paid))
    for (name, measured), (_, following) in zip(ranked, [*ranked[1:], ranked[-1]], strict=True):
        one = total(measured)
        shares = [mine.paid / other.paid for mine, other in zip(measured, everything, strict=True)]
        cells = [f"{one.paid / whole:.1%}", f"{min(shares):.1%}", f"{max(shares):.1%}"]
        cells += [f"{one.paid_for_summaries / whole:.1%}", f"{one.summaries:,}", f"{one.sent:,}", one.faults]
        table.add_row(name, *cells, end_section=one.broken != total(following).broken)
    return table


async def measure(folder: Path, families_: dict[str, list[Run]]) -> list[Table]:
    tables = []
    async with Rooms(folder) as rooms:
        with Progress(console=console, transient=True) as progress:
            for every in families_.values():
                runs = [run for run in every if len(run.messages) > TRIGGER_MESSAGES]
                tables.append(replay_table(runs, await follow_all(runs, ways(rooms), progress)))
            runs = long_runs()
            found = await follow_all(runs, account_ways(rooms), progress)
            tables.append(replay_table(runs, {name: found[name] for name in ways(rooms)}))
            tables.append(account_table(runs, found))
    return tables


async def main() -> None:
    parser = argparse.ArgumentParser(description="What each way to shorten a conversation sends, keeps and costs")
    parser.add_argument("--quick", action="store_true", help="every tenth run of tau-bench")
    quick = parser.parse_args().quick
    if sentence := absent():
        console.print(sentence)
        return
    logging.getLogger("clew").setLevel(logging.ERROR)
    chosen = {family: runs[:: 10 if quick and len(runs) > 10 else 1] for family, runs in families().items()}
    with tempfile.TemporaryDirectory() as folder:
        for table in await measure(Path(folder), chosen):
            console.print(table)


if __name__ == "__main__":
    asyncio.run(main())

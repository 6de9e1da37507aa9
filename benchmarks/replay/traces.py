"""The public traces, as the conversations that an agent's loop would have had.

    PYTHONPATH=benchmarks python -m replay.traces          what is in them

`data/traces` beside the repository (see `DATA`): tau-bench's airline desk, 200 runs in OpenAI form, and three runs of
SWE-agent, whose actions are calls here (of `execute`, where the run had no tools of its own) and whose observations are
their results. What no call or result follows at a run's end is left out: nobody would have sent it.

`long_runs` makes runs of 60 steps from them, the same ones every time: one task, then a call and a result in each step.
A result is what consecutive calls of one source returned, joined until it holds a number of tokens drawn between 300
and 3,000 (evenly by its logarithm); the source is drawn too, until SWE-agent's steps are used up. No step is used twice
in one run, and each of the four runs begins with another trace.
"""

import gzip
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from clew.tokens import count, count_message, count_priming

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "traces"
STEPS, LONG_RUNS, FEWEST_TOKENS, MOST_TOKENS = 60, 4, 300, 3_000
LONG_MESSAGES = 40

Message = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Run:
    """One conversation: the system prompt, and every message after it, in OpenAI form."""

    family: str
    name: str
    system: Message
    messages: list[Message]

    @property
    def is_long(self) -> bool:
        return len(self.messages) + 1 >= LONG_MESSAGES

    def arrivals(self) -> Iterator[list[Message]]:
        """What is new at each request, the last one being what would be sent next: it holds everything."""
        new: list[Message] = []
        for message in self.messages:
            if message["role"] == "assistant" and new:
                yield new
                new = []
            new.append(message)
        yield new


@dataclass(frozen=True)
class Step:
    """One call and what it returned."""

    thought: str | None
    tool: str
    arguments: str
    result: str

    def messages(self, call_id: str) -> list[Message]:
        call = {"id": call_id, "type": "function", "function": {"name": self.tool, "arguments": self.arguments}}
        answered = {"role": "tool", "tool_call_id": call_id, "name": self.tool, "content": self.result}
        return [{"role": "assistant", "content": self.thought, "tool_calls": [call]}, answered]


def absent() -> str | None:
    """A sentence when there is nothing to measure."""
    found = sorted(DATA.glob("*.gz"))
    return None if found else f"The traces are not at {DATA.resolve()}: nothing to measure"


def families() -> dict[str, list[Run]]:
    """Every run, by where it comes from."""
    return {"tau-bench": tau(), "SWE-agent": swe()}


def opened(path: Path) -> Any:
    with gzip.open(path) as file:
        return json.load(file)


@cache
def tau() -> list[Run]:
    runs = opened(DATA / "tau-airline.json.gz")
    return [
        Run("tau-bench", f"task {run['task_id']}, trial {run['trial']}", run["traj"][0], run["traj"][1:])
        for run in runs
    ]


@cache
def swe() -> list[Run]:
    runs = []
    for path in sorted(DATA.glob("swe-agent-*.traj.gz")):
        history = opened(path)["history"]
        name = path.name.split(".")[0]
        runs.append(Run("SWE-agent", name, said(history[0]), list(paired(history[1:], name))))
    return runs


def said(message: Message) -> Message:
    return {"role": message["role"], "content": message["content"]}


def paired(history: Sequence[Message], run: str) -> Iterator[Message]:
    """Thought, action and observation as call and result. An action without an observation ends the run."""
    for number, (message, following) in enumerate(zip(history, [*history[1:], None], strict=True)):
        if message["role"] == "assistant" and following is not None:
            call = (message.get("tool_calls") or [executed(message, f"call_{run}_{number}")])[0]
            function = call["function"]
            step = Step(message["thought"], function["name"], function["arguments"], following["content"])
            yield from step.messages(call["id"])
        elif message["role"] == "user" and (number == 0 or history[number - 1]["role"] != "assistant"):
            yield said(message)


def executed(message: Message, call_id: str) -> Message:
    return {"id": call_id, "function": {"name": "execute", "arguments": json.dumps({"command": message["action"]})}}


def steps_of(run: Run) -> Iterator[Step]:
    for message, following in zip(run.messages, run.messages[1:], strict=False):
        if message.get("tool_calls") and following["role"] == "tool":
            function = message["tool_calls"][0]["function"]
            yield Step(message["content"], function["name"], function["arguments"], following["content"])


class Source:
    """Steps in order, taken several at a time."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._steps = [step for run in runs for step in steps_of(run) if step.result]
        self._next = 0

    def take(self, tokens: int) -> Step | None:
        """The next step, with what the ones after it returned, until the result holds that many tokens."""
        first, result = self._next, ""
        while self._next < len(self._steps) and (held := count(result)) < tokens:
            more = "\n".join(filter(None, (result, self._steps[self._next].result)))
            if held >= FEWEST_TOKENS and count(more) > MOST_TOKENS:
                break
            result = more
            self._next += 1
        return replace(self._steps[first], result=result) if count(result) >= FEWEST_TOKENS else None


@cache
def long_runs() -> list[Run]:
    """Runs of 60 steps, for the account of what a provider's prompt cache saves."""
    return [long_run(number) for number in range(LONG_RUNS)]


def long_run(number: int) -> Run:
    chance = random.Random(f"{STEPS} steps, {number}")
    coding = rotated(swe(), number)
    sources = [Source(coding), Source(rotated(tau(), number * len(tau()) // LONG_RUNS))]
    messages = [next(message for message in reversed(coding[0].messages[:2]) if message["role"] == "user")]
    taken = 0
    while taken < STEPS:
        tokens = int(math.exp(chance.uniform(math.log(FEWEST_TOKENS), math.log(MOST_TOKENS))))
        source = sources[chance.randrange(len(sources))]
        step = source.take(tokens)
        if step is None:
            sources.remove(source)
            continue
        messages += step.messages(f"call_{number}_{taken}")
        taken += 1
    return Run(f"{STEPS} steps", f"run {number + 1}", coding[0].system, messages)


def rotated(runs: list[Run], first: int) -> list[Run]:
    first %= len(runs)
    return runs[first:] + runs[:first]


@cache
def _tokens(form: str) -> int:
    return count_message(json.loads(form))


def tokens_of(messages: Sequence[Message]) -> int:
    """What a request of these messages costs, counted exactly. A message that is sent again is counted once."""
    return sum(_tokens(json.dumps(message, sort_keys=True)) for message in messages) + count_priming()


def result_tokens(messages: Sequence[Message]) -> list[int]:
    """The tokens of each tool result's own text."""
    return [count(message["content"] or "") for message in messages if message["role"] == "tool"]


def main() -> None:
    console = Console(width=120)
    if sentence := absent():
        console.print(sentence)
        return
    table = Table(title="What the traces hold, tokens counted exactly", title_justify="left")
    for header in ("", "runs", "messages", "tool results", "their tokens", "all tokens", f"runs ≥ {LONG_MESSAGES}"):
        table.add_column(header, justify="left" if not header else "right")
    for family, runs in {**families(), f"{STEPS} steps": long_runs()}.items():
        results = [tokens for run in runs for tokens in result_tokens(run.messages)]
        whole = sum(tokens_of([run.system, *run.messages]) for run in runs)
        messages = sum(len(run.messages) + 1 for run in runs)
        cells = (len(runs), messages, len(results), sum(results), whole, sum(run.is_long for run in runs))
        table.add_row(family, *(f"{cell:,}" for cell in cells))
    console.print(table)


if __name__ == "__main__":
    main()

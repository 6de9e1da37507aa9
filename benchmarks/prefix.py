"""How much of a provider's prompt cache survives while a conversation grows: our cut beside the plain one.

A cache matches an exact prefix. A conversation with tool calls grows step by step and is compiled after each; counted
is how often all that was sent before the last message leads the next request, and how full the session's share is.
"""

import json
import random
from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console
from rich.progress import track
from rich.table import Table

from clew.context import WorkingContextCompiler
from clew.context.reading import session_at
from clew.messages import group, to_openai
from clew.tokens import count_message

TURNS: Final = 200
WINDOW_MESSAGES: Final = 400
CASES: Final = [("reasoning", 60), ("reasoning", 120), ("fast", 60)]
WORDS: Final = ["revenue", "board", "quarter", "signed", "draft", "the", "of", "and", "numbers", "plan"]


def conversation(words: int) -> Iterator[list[dict[str, Any]]]:
    """The steps: a user's turn, in every second one a call with its result, an answer."""
    chance = random.Random(1)

    def said() -> str:
        return " ".join(chance.choices(WORDS, k=max(3, int(chance.expovariate(1 / words)))))

    for turn in range(TURNS):
        yield [{"role": "user", "content": said(), "id": f"u{turn}"}]
        if turn % 2:
            call = {"id": f"call{turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            asked = {"role": "assistant", "content": None, "tool_calls": [call], "id": f"c{turn}"}
            yield [asked, {"role": "tool", "tool_call_id": f"call{turn}", "content": said(), "id": f"r{turn}"}]
        yield [{"role": "assistant", "content": said(), "id": f"a{turn}"}]


def plain_cut(session: list[Any], share: int) -> tuple[list[str], int]:
    """What everybody does first: the newest groups that fit, from a user's turn on."""
    kept: list[Any] = []
    used = 0
    for unit in reversed(group([entry.message for entry in session])):
        tokens = sum(count_message(message) for message in unit.messages)
        if used + tokens > share:
            break
        kept[:0], used = unit.messages, used + tokens
    while kept and kept[0].role != "user":
        used -= count_message(kept[0])
        kept = kept[1:]
    return [json.dumps(message) for message in to_openai(kept)], used


def measure(tier: str, words: int) -> dict[str, tuple[float, float]]:
    """For each way to cut: the share of steps whose prefix survived, and the mean use of the session's share."""
    compiler = WorkingContextCompiler(tier)
    share = compiler.budget.session
    survived: dict[str, list[bool]] = {"clew": [], "just what fits": []}
    filled: dict[str, list[float]] = {"clew": [], "just what fits": []}
    before: dict[str, list[str]] = {"clew": [], "just what fits": []}
    session: list[Any] = []
    for number, step in enumerate(track(list(conversation(words)), f"{tier}, {words} words", transient=True)):
        session += session_at(step)
        newest = session[-WINDOW_MESSAGES:]
        compiled = compiler.compiled("Be brief.", newest, [], f"step {number}")
        ours = [json.dumps(message) for message in compiled.sent_messages[:-1]]
        for way, (now, used) in {
            "clew": (ours, compiled.token_usage["session"]),
            "just what fits": plain_cut(newest, share),
        }.items():
            survived[way].append(now[: len(before[way])] == before[way])
            filled[way].append(used / share)
            before[way] = now
    return {way: (sum(kept) / len(kept), sum(filled[way]) / len(filled[way])) for way, kept in survived.items()}


def main() -> None:
    table = Table(title=f"{TURNS} turns, compiled after every step")
    for header in ("tier", "words a message", "cut", "prefix unchanged", "share in use"):
        table.add_column(header, justify="right")
    for tier, words in CASES:
        for way, (survived, filled) in measure(tier, words).items():
            table.add_row(tier, str(words), way, f"{survived:.0%}", f"{filled:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()

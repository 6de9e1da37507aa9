"""What a long conversation's checkpoints take, and how long a turn waits for them. `python benchmarks/checkpoints.py`

The same graph and the same words twice, on one embedded server: LangGraph's saver with the usual `messages` channel,
and Clew's checkpointer with `SessionState`. They take turns, so that whatever else the machine does happens to both.
Sizes are the tables with their indexes; times are the median of the last 25 turns before each mark.
"""

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from langchain_core.messages import AIMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clew import Database, Settings
from clew.sessions import SessionStore
from clew.sessions.state import SessionState
from clew.store.embedded.cluster import ADMIN_ROLE
from clew.store.embedded.server import EmbeddedServer

MARKS = (50, 100, 200, 300)
WINDOW = 25
THREAD = {"configurable": {"thread_id": "one-long-conversation"}}
WORDS = "context tokens memory thread the of and what was said before is kept until somebody clears it again"
console = Console(width=110)


def compiled(state: type, checkpointer: Any) -> Any:
    """The smallest agent there is: every message gets an answer of 80 words."""
    rnd = random.Random(7)

    async def answer(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(" ".join(rnd.choices(WORDS.split(" "), k=80)))]}

    graph = StateGraph(state)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer)


class Side:
    """One of the two: its graph, what it takes, and how long it made every turn wait."""

    def __init__(self, graph: Any, size: Callable[[], int]) -> None:
        self.graph = graph
        self.size = size
        self.waits: list[float] = []
        self.measured: dict[int, tuple[int, float]] = {}

    async def turn(self, number: int) -> None:
        began = time.perf_counter()
        asked = {"messages": [{"role": "user", "content": f"Question {number}: what was said?"}]}
        await self.graph.ainvoke(asked, THREAD)
        self.waits.append(time.perf_counter() - began)
        if number in MARKS:
            self.measured[number] = (self.size(), statistics.median(self.waits[-WINDOW:]))

    async def check(self) -> None:
        state = await self.graph.aget_state(THREAD)
        assert len(state.values["messages"]) == 2 * MARKS[-1], "nothing of the conversation may be missing"


def sizer(conninfo: str, schema: str) -> Callable[[], int]:
    def size() -> int:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            row = connection.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
                " AND relnamespace = %s::regnamespace AND relname IN"
                " ('checkpoints', 'checkpoint_blobs', 'checkpoint_writes')",
                [schema],
            ).fetchone()
        return int(row[0]) if row else 0

    return size


async def measure(server: EmbeddedServer, settings: Settings) -> tuple[Side, Side]:
    admin = server.conninfo(server.ensure(), ADMIN_ROLE)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE DATABASE stock")
    conninfo = f"{admin} dbname=stock"
    async with (
        AsyncPostgresSaver.from_conn_string(conninfo) as saver,
        Database(settings=settings) as database,
    ):
        await saver.setup()
        checkpointer = SessionStore(database).checkpointer_for("acme")
        usual = Side(compiled(MessagesState, saver), sizer(conninfo, "public"))
        mine = Side(compiled(SessionState, checkpointer), sizer(admin, "clew_lg_00"))
        with Progress(console=console, transient=True) as progress:
            for number in progress.track(range(1, MARKS[-1] + 1), description="turns"):
                await usual.turn(number)
                await mine.turn(number)
        await usual.check()
        await mine.check()
    return usual, mine


def on_a_new_server() -> tuple[Side, Side]:
    with tempfile.TemporaryDirectory(prefix="clew-bench-", ignore_cleanup_errors=True) as folder:
        settings = Settings(data_dir=Path(folder))
        server = EmbeddedServer(settings.data_dir)
        server.acquire()
        try:
            return asyncio.run(measure(server, settings))
        finally:
            server.release()


def main() -> None:
    usual, mine = on_a_new_server()
    table = Table(title="Checkpoints of one conversation: stock AsyncPostgresSaver beside Clew")
    for heading in (
        "turns",
        "stock",
        "Clew",
        "size ratio",
        "Clew a turn",
        "stock ms/turn",
        "Clew ms/turn",
        "time ratio",
    ):
        table.add_column(heading, justify="right")
    for mark in MARKS:
        (size, wait), (small, quick) = usual.measured[mark], mine.measured[mark]
        table.add_row(
            str(mark),
            f"{size / 1e6:.2f} MB",
            f"{small / 1e6:.2f} MB",
            f"{small / size:.2f}",
            f"{small / mark / 1e3:.1f} kB",
            f"{wait * 1e3:.1f}",
            f"{quick * 1e3:.1f}",
            f"{quick / wait:.2f}",
        )
    console.print(table)
    (first, _), (last, _) = mine.measured[MARKS[0]], mine.measured[MARKS[-1]]
    growth = last / first / (MARKS[-1] / MARKS[0])
    console.print(f"From {MARKS[0]} to {MARKS[-1]} turns Clew's grows {growth:.2f} times as fast as the conversation.")


if __name__ == "__main__":
    main()

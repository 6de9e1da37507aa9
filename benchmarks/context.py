"""What appending, searching and compiling cost beside the work they can't avoid.

    python benchmarks/context.py [--quick] [--entries 1000 20000 200000]

Everything runs on one embedded server in a temporary folder, and takes turns with its baseline, so that whatever else
the machine does happens to both. p50 and p95 in milliseconds, and each as a ratio to the same figure of the baseline:

- appends: one short message, beside plain statements that insert the same rows in one transaction as the same role,
  and beside counting its tokens;
- searches: tenants of 1,000, 20,000 and 200,000 entries with 50 other tenants in the tables, beside the bare scan of
  the tenant's vectors and the bare BM25 query over its postings, for the first ten each. `new` questions are asked for
  the first time in a warm process, `again` are the same ones once more, `indexed`
  with an index of the tenant's own. Recall is that of the statement that search uses for vectors, against numpy over
  all of them; of the index, against the scan;
- compiles: threads of 100, 500 and 2,000 messages, beside tokenizing what is sent; and again after one more message.

`--quick` leaves out 200,000 entries. Bare statements go through a blocking connection that is already the tenant's.
"""

import argparse
import asyncio
import itertools
import logging
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import psycopg
import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TimeElapsedColumn
from rich.table import Table

from clew import Database, Settings
from clew.context import ContextManager, WorkingContextCompiler
from clew.memory import LongTermMemory, MemoryEntry
from clew.memory.candidates import CHOOSING_TERMS_MAX, read_statistics
from clew.memory.indexing import SCAN_MAX_ENTRIES, nearest
from clew.memory.question import Question
from clew.memory.spaces import active_space, as_text
from clew.models import StaticEmbedder
from clew.sessions import SessionStore
from clew.sessions.batch import prepare
from clew.store.embedded.cluster import ADMIN_ROLE, APP_ROLE
from clew.store.embedded.server import EmbeddedServer
from clew.store.named_sql import statements
from clew.tokens import count_message, count_messages

SIZES = (1_000, 20_000, 200_000)
QUICK_SIZES = (1_000, 20_000)
OTHER_TENANTS, OTHER_ENTRIES = 50, 300
LENGTHS = (100, 500, 2_000)
APPENDS, QUESTIONS, WARMING, COMPILES, SAMPLE = 300, 30, 5, 15, 10
BATCH = 1_000
TOP = 10
NAMES = (
    "Ana", "Ben", "Chloe", "Dmitri", "Elif", "Farah", "Goran", "Hana", "Ivo", "Jun", "Kofi", "Lena", "Mateo", "Nadia",
    "Omar", "Priya", "Quentin", "Rosa", "Sven", "Tomas", "Uma", "Vera", "Wanjiru", "Xenia", "Yusuf", "Zora",
)  # fmt: skip
SYSTEM_PROMPT = "You help a small company with its projects. Answer from what was said, and say when you don't know."
TASK = "Say what is still open, and who said that they would do it"
OTHERS_SQL = (
    """INSERT INTO clew.memories (tenant_id, seq, memory_id, agent_id, content, metadata, thread_id, place, speaker,
                                  speaker_key, source, occurred_at, length, fingerprint)
       SELECT 'other-' || n, seq, memory_id, agent_id, content, metadata, thread_id, place, speaker, speaker_key,
              source, occurred_at, length, fingerprint""",
    "INSERT INTO clew.memory_terms SELECT 'other-' || n, term, seq, frequency, t.length",
    "INSERT INTO clew.memory_totals SELECT 'other-' || n, shard, entries, t.length",
    "INSERT INTO clew.memory_spaces SELECT 'other-' || n, space, model, dimensions, active",
    "INSERT INTO clew.memory_vectors SELECT 'other-' || n, space, seq, embedding",
)
SCAN_SQL = """SELECT seq FROM clew.memory_vectors WHERE tenant_id = %(tenant_id)s AND space = %(space)s
 ORDER BY embedding <#> %(vector)s::halfvec LIMIT %(limit)s"""
BM25_SQL = """SELECT p.seq FROM clew.memory_terms p
  JOIN unnest(%(terms)s::text[], %(weights)s::float8[]) AS w (term, weight) ON w.term = p.term
 WHERE p.tenant_id = %(tenant_id)s AND p.term = ANY(%(terms)s)
 GROUP BY p.seq
 ORDER BY sum(w.weight * p.frequency / (p.frequency + 1.2 * (0.6 + 0.4 * p.length / %(mean_length)s::float8))) DESC
 LIMIT %(limit)s"""
THREAD_SQL = """INSERT INTO clew.threads AS t (tenant_id, thread_id, message_count, token_count) VALUES (%s, %s, 1, %s)
ON CONFLICT (tenant_id, thread_id) DO UPDATE SET message_count = t.message_count + 1,
   token_count = t.token_count + excluded.token_count, updated_at = clock_timestamp()
RETURNING message_count"""
MESSAGE_SQL = """INSERT INTO clew.messages (tenant_id, thread_id, position, message_id, tokens, words, message)
VALUES (%s, %s, %s, %s, %s, %s, %s)"""

console = Console(width=120)


class Times(list[float]):
    """Seconds that something took, time after time."""

    @contextmanager
    def taken(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.append(time.perf_counter() - began)

    def ms(self, percentile: float = 50) -> float:
        return float(np.percentile(self, percentile)) * 1e3

    def beside(self, other: "Times", percentile: float = 50) -> str:
        return f"{self.ms(percentile) / other.ms(percentile):.1f}"

    @property
    def both(self) -> str:
        return " / ".join(f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in (self.ms(), self.ms(95)))


class Writer:
    """Varied text that is the same in every run: the words of Python's own manual, as often as they are there."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        counted = Counter(re.findall(r"\b[a-z]{3,14}\b", " ".join(topics[name] for name in sorted(topics))))
        common = sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:5_000]
        self._words = [word for word, _ in common]
        self._often = list(itertools.accumulate(count for _, count in common))

    def words(self, count: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._often, k=count)

    def text(self, fewest: int, most: int) -> str:
        said = self.words(self._random.randint(fewest, most))
        place = self._random.randrange(len(said) + 1)
        when = f"{self._random.choice(NAMES)}, {self.day():%d %B %Y},"
        return " ".join([*said[:place], when, *said[place:]]).capitalize() + self._random.choice("...?")

    def day(self) -> datetime:
        return datetime(2023, 1, 1, 9, tzinfo=UTC) + timedelta(days=self._random.randrange(1_000))

    def entries(self, tenant_id: str, count: int) -> Iterator[MemoryEntry]:
        """Turns of conversations of 40."""
        for number in range(count):
            thread, position = divmod(number, 40)
            metadata = {
                "thread_id": f"talk-{thread}",
                "position": position,
                "speaker": NAMES[(thread + position % 2 * 7) % len(NAMES)],
                "occurred_at": (datetime(2023, 1, 1, tzinfo=UTC) + timedelta(days=thread % 1_000)).isoformat(),
            }
            yield MemoryEntry(
                memory_id=str(number), tenant_id=tenant_id, agent_id="a", content=self.text(6, 26), metadata=metadata
            )

    def question(self, number: int) -> str:
        """One in five names a month, the others a person."""
        rare = sorted(self.words(12), key=self._words.index)[-4:]
        if number % 5 == 0:
            return f"What happened with {rare[0]} and {rare[1]} {rare[2]} in {self.day():%B %Y}?"
        asked = ("What did {} say about {} {} and the {}?", "When did {} see that {} {} needs {}?")[number % 2]
        return asked.format(self._random.choice(NAMES), *rare[1:])

    def message(self, number: int, fewest: int, most: int) -> dict[str, str]:
        return {"role": ("user", "assistant")[number % 2], "content": self.text(fewest, most)}


class Bare:
    """Plain statements on a connection of the application's role that is one tenant's already."""

    def __init__(self, conninfo: str, tenant_id: str) -> None:
        # As Clew connects: statements are not prepared, which no pooler in between would allow.
        self._connection = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
        self._tenant_id = tenant_id
        self._connection.execute("SELECT set_config('clew.tenant_id', %s, false)", [tenant_id])

    def close(self) -> None:
        self._connection.close()

    def append(self, thread_id: str, batch: Any) -> None:
        with self._connection.transaction():
            grown = self._connection.execute(THREAD_SQL, (self._tenant_id, thread_id, batch.tokens[0])).fetchone()
            row = (batch.message_ids[0], batch.tokens[0], batch.words[0], batch.messages[0])
            self._connection.execute(MESSAGE_SQL, (self._tenant_id, thread_id, grown[0] if grown else 1, *row))

    def rows(self, statement: str, values: dict[str, Any]) -> list[int]:
        found = self._connection.execute(statement, {"tenant_id": self._tenant_id, "limit": TOP, **values})
        return [row[0] for row in found.fetchall()]


class Bench:
    """The engine's rooms on one server, and what was measured of them."""

    def __init__(self, database: Database, server: EmbeddedServer, sizes: Sequence[int]) -> None:
        self.database = database
        self.sizes = sizes
        self.sessions = SessionStore(database)
        self.memory = LongTermMemory(database, "static")
        self.static = StaticEmbedder()
        host = server.ensure()
        self._app, self._admin = server.conninfo(host, APP_ROLE), server.conninfo(host, ADMIN_ROLE)

    @contextmanager
    def bare(self, tenant_id: str) -> Iterator[Bare]:
        connection = Bare(self._app, tenant_id)
        try:
            yield connection
        finally:
            connection.close()

    async def load(self) -> None:
        """Each size as a tenant of its own, one other tenant, and 49 copies of that one."""
        wanted = [("other-1", OTHER_ENTRIES), *((tenant_of(size), size) for size in self.sizes)]
        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("storing", total=sum(count for _, count in wanted))
            for tenant_id, count in wanted:
                sent = Writer(tenant_id).entries(tenant_id, count)
                while batch := list(itertools.islice(sent, BATCH)):
                    stored = await self.memory.store_many(batch)
                    assert len(stored.stored) == len(batch), stored.failed
                    progress.advance(task, len(batch))
            progress.update(task, description="other tenants, vacuum")
            await asyncio.to_thread(self._settle)

    def _settle(self) -> None:
        """Copy the other tenant, then do what autovacuum would have done some minutes later."""
        with psycopg.connect(self._admin, autocommit=True) as connection:
            for copied in OTHERS_SQL:
                table = copied.split()[2]
                copies = f"FROM {table} t, generate_series(2, {OTHER_TENANTS}) AS n WHERE t.tenant_id = 'other-1'"
                connection.execute(f"{copied} {copies}")
            row = connection.execute("SELECT count(DISTINCT tenant_id) FROM clew.memory_spaces").fetchone()
            assert row == (OTHER_TENANTS + len(self.sizes),), row
            connection.execute("VACUUM ANALYZE")

    async def appends(self) -> Table:
        tenant_id, writer = "appends", Writer("appends")
        ours, plain, counting = Times(), Times(), Times()
        with self.bare(tenant_id) as bare:
            for number in range(-WARMING, APPENDS):
                if number == 0:
                    for times in (ours, plain, counting):
                        times.clear()
                message = writer.message(number, 8, 16)
                batch = prepare(message)
                with ours.taken():
                    await self.sessions.append("ours", message, tenant_id=tenant_id)
                with plain.taken():
                    bare.append("plain", batch)
                with counting.taken():
                    count_message(message)
        assert len(await self.sessions.read("plain", APPENDS + WARMING, tenant_id=tenant_id)) == APPENDS + WARMING
        table = table_of("Appending one short message, p50 / p95", "", "ms", "Clew beside it, p50", "p95")
        table.add_row("SessionStore.append", ours.both, "", "")
        for name, times in (("the same rows, plain SQL", plain), ("counting its tokens", counting)):
            table.add_row(name, times.both, ours.beside(times), ours.beside(times, 95))
        return table

    async def searches(self) -> Table:
        table = table_of(
            "Searching for ten entries, p50 / p95 in ms", "entries", "questions", "search",
            "vector scan", "BM25", "both, bare", "ratio p50", "ratio p95", f"recall@{TOP}",
        )  # fmt: skip
        for size in self.sizes:
            await self._search_size(table, size)
        return table

    async def _search_size(self, table: Table, size: int) -> None:
        tenant_id, writer = tenant_of(size), Writer(f"questions {size}")
        asked = [writer.question(number) for number in range(WARMING + QUESTIONS)]
        with self.bare(tenant_id) as bare:
            for text in asked[:WARMING]:
                await self._ask(bare, tenant_id, text, [Times() for _ in range(4)])
            labels = ("new", "again", "indexed") if size > SCAN_MAX_ENTRIES else ("new", "again")
            for label in labels:
                if label == "indexed":
                    await self.memory.index(tenant_id)
                times = [Times() for _ in range(4)]
                for text in asked[WARMING:]:
                    await self._ask(bare, tenant_id, text, times)
                ours, scan, bm25, both = times
                recall = {"new": self._recall, "indexed": self._recall_of_index}.get(label)
                found = f"{await recall(bare, tenant_id, asked[-SAMPLE:]):.3f}" if recall else ""
                cells = (ours.both, scan.both, bm25.both, both.both, ours.beside(both), ours.beside(both, 95), found)
                table.add_row(f"{size:,}", label, *cells, end_section=label == labels[-1])

    async def _ask(self, bare: Bare, tenant_id: str, text: str, times: list[Times]) -> None:
        ours, scan, bm25, both = times
        meaning, words = await self._values(tenant_id, text)
        with scan.taken():
            bare.rows(SCAN_SQL, meaning)
        with ours.taken():
            found = await self.memory.search(tenant_id, text, TOP)
        with bm25.taken():
            bare.rows(BM25_SQL, words)
        both.append(scan[-1] + bm25[-1])
        assert len(found) == TOP, "an answer is never short"

    async def _values(self, tenant_id: str, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the bare statements are given; making it is not measured."""
        question = Question.read(text)
        vector = (await self.static.embed([text], purpose="query"))[0]
        async with self.database.tenant(tenant_id) as connection:
            totals = "SELECT sum(entries), sum(length)::float8 / sum(entries) FROM clew.memory_totals"
            entries, mean_length = await (await connection.execute(totals)).fetchone() or (1, 1.0)
            known = await read_statistics(connection, tenant_id, question, int(entries))
        terms = sorted(known.frequency, key=lambda term: (known.frequency[term], term))[:CHOOSING_TERMS_MAX]
        weights = [known.weight(term) for term in terms]
        words = {"terms": terms, "weights": weights, "mean_length": mean_length}
        return {"space": self.static.name, "vector": as_text(vector.tolist())}, words

    async def _recall(self, bare: Bare, tenant_id: str, asked: list[str]) -> float:
        """How many of numpy's first ten the statement finds; the entries are embedded once more, in full precision."""
        ids, vectors = [], []
        entries = Writer(tenant_id).entries(tenant_id, int(tenant_id.removeprefix("size-")))
        while batch := list(itertools.islice(entries, 10 * BATCH)):
            ids += [entry.memory_id for entry in batch]
            vectors.append(await self.static.embed([entry.content for entry in batch]))
        rows, questions = np.concatenate(vectors), await self.static.embed(asked, purpose="query")
        statement = statements("memory_search").dense
        shares = []
        for text, question in zip(asked, questions, strict=True):
            best = {ids[row] for row in np.argsort(-(rows @ question), kind="stable")[:TOP]}
            meaning, _ = await self._values(tenant_id, text)
            seqs = bare.rows(statement, meaning)
            named = bare.rows("SELECT memory_id FROM clew.memories WHERE seq = ANY(%(seqs)s)", {"seqs": seqs})
            shares.append(len(best & {str(one) for one in named}) / TOP)
        return float(np.mean(shares))

    async def _recall_of_index(self, bare: Bare, tenant_id: str, asked: list[str]) -> float:
        """How many of the exact scan's first ten the tenant's index finds."""
        shares = []
        async with self.database.tenant(tenant_id) as connection:
            space = await active_space(connection, tenant_id)
            assert space is not None
            for text in asked:
                meaning, _ = await self._values(tenant_id, text)
                vector = (await self.static.embed([text], purpose="query"))[0]
                found = await nearest(connection, tenant_id, space, vector, TOP) or []
                shares.append(len({seq for (seq,) in found} & set(bare.rows(SCAN_SQL, meaning))) / TOP)
        return float(np.mean(shares))

    async def compiles(self) -> tuple[Table, str]:
        tenant_id, writer = tenant_of(self.sizes[0]), Writer("compiles")
        lookup = TimedSearch(self.memory)
        context = ContextManager(self.sessions, lookup, WorkingContextCompiler())
        for length in LENGTHS:
            messages = [writer.message(number, 10, 110) for number in range(length)]
            await self.sessions.append(thread_of(length), messages, tenant_id=tenant_id)
        kinds = ("as it is", "one more")
        taken = {(length, kind): tuple(Times() for _ in range(4)) for length in LENGTHS for kind in kinds}
        for number in range(-2, COMPILES):
            if number == 0:
                for times in itertools.chain.from_iterable(taken.values()):
                    times.clear()
            for length, kind in taken:
                thread_id = thread_of(length)
                if kind == kinds[1]:
                    await self.sessions.append(thread_id, writer.message(number, 10, 110), tenant_id=tenant_id)
                ours, counting, searching, rest = taken[length, kind]
                with ours.taken():
                    compiled = await context.compile_working_context(tenant_id, thread_id, TASK, SYSTEM_PROMPT)
                with counting.taken():
                    counted = count_messages(compiled["sent_messages"])
                assert counted == compiled["token_usage"]["total"], "what is sent is what was counted"
                searching.append(lookup.took)
                rest.append(ours[-1] - lookup.took)
        return self._compiled(taken), growth(taken, kinds[1])

    def _compiled(self, taken: dict[tuple[int, str], tuple[Times, ...]]) -> Table:
        table = table_of(
            f"Compiling for 32,000 tokens, {self.sizes[0]:,} memories, p50 / p95 in ms", "messages", "",
            "compile", "tokenizing", "ratio p50", "ratio p95", "its search", "the rest", "ratio p50",
        )  # fmt: skip
        for (length, kind), (ours, counting, searching, rest) in taken.items():
            ratios = (ours.beside(counting), ours.beside(counting, 95))
            cells = (ours.both, counting.both, *ratios, searching.both, rest.both, rest.beside(counting))
            table.add_row(f"{length:,}", kind, *cells, end_section=kind == "one more")
        return table


class TimedSearch:
    """Long-term memory that tells how long its last search took."""

    def __init__(self, memory: LongTermMemory) -> None:
        self._memory = memory
        self.took = 0.0
        self.store = memory.store

    async def search(self, tenant_id: str, query: str, limit: int = 10) -> list[MemoryEntry]:
        began = time.perf_counter()
        found = await self._memory.search(tenant_id, query, limit)
        self.took = time.perf_counter() - began
        return found


def tenant_of(size: int) -> str:
    return f"size-{size}"


def thread_of(length: int) -> str:
    return f"thread-{length}"


def growth(taken: dict[tuple[int, str], tuple[Times, ...]], kind: str) -> str:
    """The last two lengths are both longer than the window: only what grows with the thread could differ."""
    (whole, _, _, rest), (longer, _, _, longer_rest) = (taken[length, kind] for length in LENGTHS[-2:])
    return (
        f"After one more message, {LENGTHS[-1]:,} messages take {longer.ms() / whole.ms():.2f} times as long as "
        f"{LENGTHS[-2]}; without the search {longer_rest.ms() / rest.ms():.2f} times."
    )


def table_of(title: str, *headings: str) -> Table:
    table = Table(title=title)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number or heading else "left", no_wrap=True)
    return table


async def measure(server: EmbeddedServer, settings: Settings, sizes: Sequence[int]) -> None:
    async with Database(settings=settings) as database:
        bench = Bench(database, server, sizes)
        console.print(await bench.appends())
        began = time.perf_counter()
        await bench.load()
        stored = sum(sizes) + OTHER_ENTRIES
        console.print(
            f"{stored:,} entries stored, and {OTHER_TENANTS - 1} tenants copied, in {time.perf_counter() - began:.0f} s"
        )
        console.print(await bench.searches())
        table, grown = await bench.compiles()
        console.print(table)
        console.print(grown)


def main() -> None:
    parser = argparse.ArgumentParser(description="Appends, searches and compiles beside the work they can't avoid.")
    parser.add_argument("--entries", type=int, nargs="+", default=None, help="entries a tenant: 1000 20000 200000")
    parser.add_argument("--quick", action="store_true", help="1,000 and 20,000 entries only")
    chosen = parser.parse_args()
    sizes = sorted(set(chosen.entries or (QUICK_SIZES if chosen.quick else SIZES)))
    if sizes[0] < 2 * TOP:
        parser.error(f"--entries: at least {2 * TOP}")
    # A line for each compile would stand between the tables.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with tempfile.TemporaryDirectory(prefix="clew-bench-", ignore_cleanup_errors=True) as folder:
        settings = Settings(data_dir=Path(folder))
        server = EmbeddedServer(settings.data_dir)
        server.acquire()
        try:
            asyncio.run(measure(server, settings, sizes))
        finally:
            server.release()


if __name__ == "__main__":
    main()

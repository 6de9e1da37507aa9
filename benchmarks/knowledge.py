"""What adding an episode to knowledge costs, offline, beside the bare inserts of the same rows.

    python benchmarks/knowledge.py [--quick]
    python benchmarks/knowledge.py --duplicates

One tenant is filled with facts through `add_episode`. Then single statements are told to it, half of which contradict
what is stored, one after the other; *bare* inserts as many rows into the same tables in one transaction, with the same
statements and rows that were made beforehand: no extraction, no embedding, no locks, nothing read. The two take turns,
so that both see the same machine. A search stands beside the scan of the tenant's vectors, its longest part. Then
other tenants are filled, and the same is measured again: the cost must not grow. Everything goes through the embedded
PostgreSQL in a temporary folder.

`--duplicates` tells the 200 facts of tests/data/paraphrases.jsonl in five ways each, all first ways first, and prints
how many facts were stored for each, how many of the later tellings met the fact that was there, how many met or closed
another's, and how many of the 200 a question finds among the first five.
"""

import argparse
import asyncio
import json
import logging
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clew import Database, Settings
from clew.ids import new_id
from clew.memory.knowledge import KnowledgeBase
from clew.memory.spaces import as_text
from clew.models import StaticEmbedder
from clew.store.named_sql import statements

SQL = statements("knowledge")
SEARCH = statements("knowledge_search")
FACTS_EACH_EPISODE = 1_000
TENANT = "measured"
PARAPHRASES = Path(__file__).parents[1] / "tests" / "data" / "paraphrases.jsonl"
console = Console(width=120)


@dataclass
class Times:
    """Milliseconds of each, in the order measured."""

    added: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    searched: list[float] = field(default_factory=list)
    scanned: list[float] = field(default_factory=list)


def sentence(number: int, value: int) -> str:
    """A fact among many: its subject has a name of its own."""
    return f"The budget of project Falcon{number} in region {number % 97} is ${value * 1000:,}."


async def fill(knowledge: KnowledgeBase, tenant_id: str, facts: int, tick: object) -> None:
    for start in range(0, facts, FACTS_EACH_EPISODE):
        numbers = range(start, min(start + FACTS_EACH_EPISODE, facts))
        body = "\n".join(sentence(number, number % 900 + 50) for number in numbers)
        await knowledge.add_episode(
            f"import {start}", body, tenant_id=tenant_id, reference_time=datetime(2025, 1, 1, tzinfo=UTC)
        )
        tick(len(numbers))


async def bare_inserts(database: Database, tenant_id: str, embedding: str, number: int) -> None:
    """The rows of one fact, with nothing read and nothing decided."""
    episode, fact, now, text = new_id(), new_id(), datetime.now(UTC), sentence(number, 1)
    named = {"tenant_id": tenant_id, "episode_id": episode, "at": now}
    async with database.tenant(tenant_id) as connection:
        values = {"name": "bare", "source": "text", "source_description": "", "body": text}
        values |= {"thread_id": None, "user_id": None}
        await connection.execute(SQL.add_episode, {**named, **values, "reference_time": now, "created_at": now})
        columns = {
            "fact_id": [fact],
            "text": [text],
            "subject": ["project"],
            "predicate": ["budget"],
            "object": ["$1,000"],
        }
        keys = {
            "subject_key": [f"bare {number}"],
            "object_key": [""],
            "topic": [f"bare {number}"],
            "slot": [f"bare {fact}"],
            "value": ["1"],
        }
        rest = {"single": [True], "negated": [False], "confidence": [0.9], "length": [8], "created_at": [now]}
        row = await (await connection.execute(SQL.add_facts, {**named, **columns, **keys, **rest})).fetchone()
        seq = [row[1]]
        source = {
            "place": [0],
            "seq": seq,
            "slot": [f"bare {fact}"],
            "act": ["holds"],
            "single": [True],
            "lasting": [False],
            "valid_at": [now],
        }
        told = {"text": [text], "subject": ["project"], "predicate": ["budget"], "object": ["$1,000"], "quote": [text]}
        told |= {"confidence": [0.9], "told": [None], "message_id": [None], "role": [None]}
        await connection.execute(SQL.add_sources, {**named, **source, **told})
        belief = {"seq": seq, "slot": [f"bare {fact}"], "single": [True], "valid_at": [now], "invalid_at": [None]}
        await connection.execute(SQL.add_beliefs, {**named, **belief, "because": [text]})
        terms = {"term": [f"term{n}" for n in range(8)], "seq": seq * 8, "frequency": [1] * 8, "length": [8] * 8}
        await connection.execute(SQL.add_terms, {**named, **terms})
        await connection.execute(
            SQL.add_vectors, {**named, "space": StaticEmbedder.name, "seq": seq, "embedding": [embedding]}
        )
        await connection.execute(SQL.add_total, {**named, "shard": number % 16, "facts": 1, "length": 8})
        change = {"fact_id": [fact], "act": ["added"], "before": [None], "after": [None]}
        await connection.execute(SQL.add_changes, {**named, **change})


async def bare_scan(database: Database, embedding: str) -> float:
    """Milliseconds for the nearest vectors of the tenant, and nothing else."""
    values = {"tenant_id": TENANT, "space": StaticEmbedder.name, "vector": embedding, "limit": 150}
    started = time.perf_counter()
    async with database.tenant(TENANT) as connection:
        await (await connection.execute(SEARCH.dense, values)).fetchall()
    return (time.perf_counter() - started) * 1000


async def measure(knowledge: KnowledgeBase, database: Database, facts: int, rounds: int, first: int) -> Times:
    times = Times()
    embedding = as_text((await StaticEmbedder().embed([sentence(0, 1)]))[0].tolist())
    for number in range(first, first + rounds):
        known = number % 2 == 0
        text = sentence(number * 37 % facts if known else facts + number, 1_000 + number)
        started = time.perf_counter()
        told = await knowledge.add_episode("chat", text, tenant_id=TENANT)
        times.added.append((time.perf_counter() - started) * 1000)
        assert len(told.invalidated) == known, (text, told)
        started = time.perf_counter()
        await bare_inserts(database, TENANT, embedding, number)
        times.bare.append((time.perf_counter() - started) * 1000)
        if number % 10 == 0:
            started = time.perf_counter()
            found = await knowledge.search(text, tenant_id=TENANT)
            times.searched.append((time.perf_counter() - started) * 1000)
            assert found[0].fact_id == told.facts[0].fact_id
            times.scanned.append(await bare_scan(database, embedding))
    return times


@dataclass
class Duplicates:
    """What became of facts that were told several times."""

    facts: int = 0
    stored: int = 0
    retold: int = 0
    met: int = 0
    mistaken: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    unfound: list[str] = field(default_factory=list)
    lone: list[str] = field(default_factory=list)


async def count_duplicates(knowledge: KnowledgeBase, tenant_id: str) -> Duplicates:
    """Tell every fact five times, and ask for each."""
    told = [json.loads(line) for line in PARAPHRASES.read_text().splitlines()]
    counted, facts = Duplicates(len(told)), {one["id"]: set() for one in told}
    owner: dict[str, str] = {}
    for way in range(5):
        for one in told:
            telling = one["tellings"][way]
            before, said = (telling["before"], telling["said"]) if isinstance(telling, dict) else ("", telling)
            body = f"{before} {said}".strip()
            result = await knowledge.add_episode(f"{one['id']} {way}", body, tenant_id=tenant_id)
            ids = {fact.fact_id for fact in result.facts if any(source.quote == said for source in fact.sources)}
            if way:
                counted.retold += 1
                counted.met += bool(ids & facts[one["id"]])
                counted.lone += [] if ids & facts[one["id"]] else [said]
            counted.mistaken += [said for found in ids if owner.setdefault(found, one["id"]) != one["id"]]
            counted.closed += [f"{said} / {fact.text}" for fact in result.invalidated]
            facts[one["id"]] |= ids
    counted.stored = sum(len(ids) for ids in facts.values())
    for one in told:
        found = await knowledge.search(one["question"], tenant_id=tenant_id, limit=5)
        counted.unfound += [] if {fact.fact_id for fact in found} & facts[one["id"]] else [one["question"]]
    return counted


async def duplicates() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with Database(settings=Settings(data_dir=Path(folder) / "data")) as database:
            counted = await count_duplicates(KnowledgeBase(database), TENANT)
    console.print(f"{counted.facts} facts told five ways each: {counted.stored / counted.facts:.2f} stored for each")
    console.print(f"{counted.met / counted.retold:.1%} of the {counted.retold} later tellings met their fact")
    console.print(f"{len(counted.mistaken)} met another's, {len(counted.closed)} closed something")
    console.print(f"{1 - len(counted.unfound) / counted.facts:.1%} found among the first five by a question")
    for name in ("mistaken", "closed", "unfound"):
        for text in getattr(counted, name):
            console.print(f"  {name}: {text}")


async def main(quick: bool) -> None:
    logging.disable(logging.WARNING)
    facts, others, each, rounds = (5_000, 20, 250, 60) if quick else (100_000, 100, 500, 300)
    table = Table("other tenants", "their facts", "add ms", "p95", "bare ms", "ratio", "search ms", "ratio to the scan")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with Database(settings=Settings(data_dir=Path(folder) / "data")) as database:
            knowledge = KnowledgeBase(database)
            with Progress(console=console, transient=True) as progress:
                task = progress.add_task("filling", total=facts + others * each)
                await fill(knowledge, TENANT, facts, lambda count: progress.advance(task, count))
                await measure(knowledge, database, facts, 20, 0)
                row(table, 0, 0, await measure(knowledge, database, facts, rounds, 100))
                for number in range(others):
                    await fill(knowledge, f"other-{number}", each, lambda count: progress.advance(task, count))
                await measure(knowledge, database, facts, 20, 50)
                row(table, others, others * each, await measure(knowledge, database, facts, rounds, 10_000))
    console.print(f"{facts:,} facts of the tenant; {rounds} episodes of one statement, half of them contradictions")
    console.print(table)


def row(table: Table, others: int, their_facts: int, times: Times) -> None:
    added, bare = statistics.median(times.added), statistics.median(times.bare)
    tail = statistics.quantiles(times.added, n=20)[-1]
    found, scanned = statistics.median(times.searched), statistics.median(times.scanned)
    table.add_row(
        f"{others}",
        f"{their_facts:,}",
        f"{added:.2f}",
        f"{tail:.2f}",
        f"{bare:.2f}",
        f"{added / bare:.2f}",
        f"{found:.1f}",
        f"{found / scanned:.2f}",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small tenant, half a minute")
    parser.add_argument("--duplicates", action="store_true", help="the same facts in other words")
    chosen = parser.parse_args()
    asyncio.run(duplicates() if chosen.duplicates else main(chosen.quick))

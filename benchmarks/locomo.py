"""Recall of evidence turns on LoCoMo: what docs/decisions/0007-memory-search.md rests on.

    python benchmarks/locomo.py [--captions] [--choose] [--pooled] [--compiled]

Five conversations (data/locomo-dev.json.gz beside the repository, see `DATA`). Each turn is one entry, stored with
`LongTermMemory` on the embedded server, with its session as `thread_id`, its place there as `position`, its speaker,
and the session's date as `occurred_at`. Each question of the categories 1–4 that has evidence is one search of its own
conversation; recall is the share of its evidence turns among the first ten, and the first five. No model is called.

`--captions` adds to a turn the caption of the picture it shares. `--choose` chooses candidates first even though the
conversations are small, as search does for a tenant of many thousands. `--pooled` stores all five conversations as one
tenant. MiniLM is measured too when `clew models pull minilm` has been run.

`--compiled` asks each question in a new thread and compiles its window with `ContextManager.compile_working_context`:
what counts is whether the words of the evidence stand in the window. Five passages are shown in 2,000 tokens, each the
best memory of one conversation with more of that conversation; beside it the five best memories alone, and the best
memories in their order until 2,000 tokens are full.
"""

import asyncio
import gzip
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clew import ContextManager, Database, SessionStore, WorkingContextCompiler
from clew.errors import ClewError
from clew.memory import LongTermMemory, MemoryEntry, candidates
from clew.memory.analysis import content_stems, words
from clew.memory.question import Question
from clew.memory.ranking import QueryVectors, Statistics, bm25, score
from clew.memory.reading import Reader
from clew.memory.stream import lay_out
from clew.models import Embedder, StaticEmbedder, open_embedder
from clew.settings import Settings
from clew.tokens import count

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "locomo-dev.json.gz"
TOP, TOP_SHORT = 10, 5
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
SIX_TERMS = {"words": 1.3, "meaning": 2.0, "word_meaning": 1.8, "thread_words": 0.5, "speaker": 1.0, "date": 2.0}
DATE_FORM = "%I:%M %p on %d %B, %Y"


@dataclass
class Conversation:
    """Entries by their place, and questions as (text, category, places of the evidence)."""

    tenant_id: str
    entries: list[MemoryEntry]
    questions: list[tuple[str, int, set[int]]]


@dataclass
class Recall:
    """Shares found, by category."""

    found: dict[int, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, category: int, ranking: list[int], evidence: set[int]) -> None:
        shares = tuple(len(evidence & set(ranking[:top])) / len(evidence) for top in (TOP, TOP_SHORT))
        self.found.setdefault(category, []).append((shares[0], shares[1]))

    def cells(self) -> list[str]:
        every = [one for values in self.found.values() for one in values]
        groups = [self.found.get(category, []) for category in CATEGORIES]
        return [" / ".join(f"{share:.3f}" for share in np.mean(group, axis=0)) for group in [*groups, every]]


def conversations(*, captions: bool, pooled: bool) -> Iterator[Conversation]:
    with gzip.open(DATA) as file:
        samples: list[dict[str, Any]] = json.load(file)
    for number, sample in enumerate(samples):
        talk = sample["conversation"]
        names = sorted(
            (key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key.split("_")[1])
        )
        tenant_id = "all" if pooled else f"conversation-{number}"
        entries, index = [], {}
        for name in names:
            when = datetime.strptime(talk[f"{name}_date_time"], DATE_FORM).replace(tzinfo=UTC)
            for position, turn in enumerate(talk[name]):
                index[turn["dia_id"]] = len(entries)
                entries.append(entry_of(turn, tenant_id, f"{number}-{name}", position, when, captions))
        questions = []
        for qa in sample["qa"]:
            # A few evidence strings are malformed: several ids in one, leading zeros, ids of no turn.
            named = {f"D{int(a)}:{int(b)}" for a, b in re.findall(r"D(\d+):(\d+)", " ".join(qa["evidence"]))}
            evidence = {index[one] for one in named if one in index}
            if qa["category"] in CATEGORIES and evidence:
                questions.append((qa["question"], qa["category"], evidence))
        yield Conversation(tenant_id, entries, questions)


def entry_of(
    turn: dict[str, Any], tenant_id: str, thread_id: str, position: int, when: datetime, captions: bool
) -> MemoryEntry:
    caption = f" [shares {turn['blip_caption']}]" if captions and turn.get("blip_caption") else ""
    metadata = {
        "thread_id": thread_id,
        "position": position,
        "speaker": turn["speaker"],
        "occurred_at": when.isoformat(),
    }
    return MemoryEntry(
        memory_id=f"{thread_id}/{turn['dia_id']}",
        tenant_id=tenant_id,
        agent_id="assistant",
        content=turn["text"] + caption,
        metadata=metadata,
    )


def order(scores: np.ndarray) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()


def reciprocal_rank(scores: np.ndarray) -> np.ndarray:
    ranks = np.empty(len(scores))
    ranks[order(scores)] = np.arange(1, len(scores) + 1)
    return 1 / (60 + ranks)


async def baselines(talk: Conversation, embedder: Embedder, label: str, recall: Callable[[str], Recall]) -> None:
    """Plain ways to rank, over the same entries with the same words: BM25, dense, their fusion by rank, six terms."""
    texts = [entry.content for entry in talk.entries]
    counted = [Counter(content_stems(words(f"{e.metadata['speaker']}: {e.content}"))) for e in talk.entries]
    lengths = np.array([one.total() for one in counted], np.float64)
    having = Counter(term for one in counted for term in one)
    dense = await embedder.embed(texts)
    static = StaticEmbedder()
    static_vectors = static.word_vectors(texts)
    reader = Reader(static)
    rows = [
        (n, 1, "assistant", e.metadata["thread_id"], e.metadata["position"], e.metadata["speaker"],
         words(e.metadata["speaker"])[0], datetime.fromisoformat(e.metadata["occurred_at"]), e.content,
         bytes(4) + static_vectors[n].astype(">f2").tobytes())
        for n, e in enumerate(talk.entries)
    ]  # fmt: skip
    stream = lay_out(list(reader.read("t", static.name, rows).values()), None, reader.lexicon)
    frequency = Counter(term for text in texts for term in set(content_stems(words(text))))
    statistics, everyone = Statistics(len(texts), frequency), np.ones(len(texts), bool)
    for text, category, evidence in talk.questions:
        question = Question.read(text).naming({row.speaker_key or "" for row in stream.rows})
        counts = np.array([[one[term] for one in counted] for term in question.stems], np.float64)
        weights = np.array([Statistics(len(texts), having).weight(term) for term in question.stems])
        lexical = bm25(counts.reshape(len(weights), len(texts)), lengths, weights, b=0.75)
        near = dense @ (await embedder.embed([question.without_names], purpose="query"))[0]
        recall("BM25").add(category, order(lexical), evidence)
        recall(f"dense, {label}").add(category, order(near), evidence)
        recall(f"BM25 + {label}, by reciprocal rank").add(
            category, order(reciprocal_rank(lexical) + reciprocal_rank(near)), evidence
        )
        if label == "static":
            vectors = QueryVectors(static.word_vectors([question.without_names])[0], None)
            terms = score(question, stream, everyone, statistics, vectors, reader.lexicon).terms
            six = sum((weight * terms[name] for name, weight in SIX_TERMS.items()), np.zeros(len(texts)))
            recall("six terms, static").add(category, order(six), evidence)


async def measure(memory: LongTermMemory, talk: Conversation, recall: Recall, times: list[float]) -> None:
    """The same questions, asked of what was stored."""
    place = {entry.memory_id: n for n, entry in enumerate(talk.entries)}
    for text, category, evidence in talk.questions:
        start = time.perf_counter()
        found = await memory.search(talk.tenant_id, text, limit=TOP)
        times.append(time.perf_counter() - start)
        assert [entry.score for entry in found] == sorted((entry.score for entry in found), reverse=True)
        recall.add(category, [place.get(entry.memory_id, -1) for entry in found], evidence)


@dataclass
class Windows:
    """Of each question: whether all of its evidence is in the window, the share of it that is, and the tokens."""

    found: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)

    def add(self, category: int, window: str, evidence: list[str], tokens: int) -> None:
        held = [text in window for text in evidence]
        self.found.setdefault(category, []).append((float(all(held)), sum(held) / len(held)))
        self.tokens.append(tokens)

    def cells(self) -> list[str]:
        every = [one for values in self.found.values() for one in values]
        groups = [self.found.get(category, []) for category in CATEGORIES]
        shares = [" / ".join(f"{share:.3f}" for share in np.mean(group, axis=0)) for group in [*groups, every]]
        return [*shares, f"{np.mean(self.tokens):,.0f}"]


async def compiled(database: Database, talk: Conversation, windows: Callable[[str], Windows]) -> None:
    """Each question in a thread of its own, as an agent would ask it."""
    sessions, memory = SessionStore(database), LongTermMemory(database)
    manager = ContextManager(sessions, memory, WorkingContextCompiler())
    for number, (text, category, places) in enumerate(talk.questions):
        thread_id = f"question-{number}"
        await sessions.append(thread_id, {"role": "user", "content": text}, tenant_id=talk.tenant_id)
        window = await manager.compile_working_context(talk.tenant_id, thread_id, "Answer the user.", "")
        evidence = [talk.entries[place].content for place in places]
        windows("five passages, each with more of its conversation").add(
            category, window["context"], evidence, window["token_usage"]["memory"]
        )
        ranked = [entry.content for entry in await memory.search(talk.tenant_id, text, limit=100)]
        alone = "\n".join(ranked[:TOP_SHORT])
        windows("the five best alone").add(category, alone, evidence, count(alone))
        full = next((n for n in range(len(ranked), 0, -1) if count("\n".join(ranked[:n])) <= 2_000), 0)
        windows("the best until 2,000 tokens are full").add(
            category, "\n".join(ranked[:full]), evidence, count("\n".join(ranked[:full]))
        )


async def run_compiled(console: Console) -> None:
    found: dict[str, Windows] = {}
    talks = list(conversations(captions=False, pooled=False))
    with tempfile.TemporaryDirectory() as folder, Progress(console=console) as progress:
        task = progress.add_task("LoCoMo, compiled", total=len(talks))
        async with Database(settings=Settings(data_dir=Path(folder))) as database:
            for talk in talks:
                batch = await LongTermMemory(database).store_many(talk.entries)
                assert len(batch.stored) == len(talk.entries), batch.failed
                await compiled(database, talk, lambda way: found.setdefault(way, Windows()))
                progress.advance(task)
    table = Table("all evidence / share of it, in the window", *CATEGORIES.values(), "all", "tokens")
    for way, windows in found.items():
        table.add_row(way, *windows.cells())
    console.print(table)


async def run(console: Console, flags: set[str]) -> dict[str, Recall]:
    settings = Settings.load()
    embedders: dict[str, Embedder] = {"static": open_embedder("static", settings=settings)}
    try:
        embedders["minilm"] = open_embedder("minilm", settings=settings)
    except ClewError as error:
        console.print(f"minilm is left out: {error}")
    found: dict[str, Recall] = {}

    def recall(way: str) -> Recall:
        return found.setdefault(way, Recall())

    talks = list(conversations(captions="--captions" in flags, pooled="--pooled" in flags))
    with tempfile.TemporaryDirectory() as folder, Progress(console=console) as progress:
        task = progress.add_task("LoCoMo", total=len(talks) * len(embedders) * 2)
        for label, embedder in embedders.items():
            for talk in talks:
                # BM25 does not depend on the embedder: its figures are taken once.
                once = recall if label == "static" else lambda way: Recall() if way == "BM25" else recall(way)
                await baselines(talk, embedder, label, once)
                progress.advance(task)
            async with Database(settings=Settings(data_dir=Path(folder) / label)) as database:
                memory = LongTermMemory(database, embedder)
                for talk in talks:
                    batch = await memory.store_many(talk.entries)
                    assert len(batch.stored) == len(talk.entries), batch.failed
                times: list[float] = []
                for talk in talks:
                    await measure(memory, talk, recall(f"clew, {label}"), times)
                    progress.advance(task)
                progress.console.print(
                    f"{label}: {len(times)} searches, p50 {np.median(times) * 1e3:.1f} ms, "
                    f"p95 {np.percentile(times, 95) * 1e3:.1f} ms"
                )
    return found


async def main() -> None:
    console = Console(width=130)
    if not DATA.exists():
        console.print(f"LoCoMo is not at {DATA.resolve()}: nothing to measure")
        return
    flags = set(sys.argv[1:])
    if unknown := flags - {"--captions", "--choose", "--pooled", "--compiled"}:
        console.print(f"unknown: {', '.join(sorted(unknown))}")
        return
    if "--choose" in flags:
        candidates.RANK_ALL_MAX = 0
    if "--compiled" in flags:
        await run_compiled(console)
        return
    found = await run(console, flags)
    table = Table("recall@10 / recall@5", *CATEGORIES.values(), "all")
    for way in sorted(found, key=lambda way: float(found[way].cells()[-1].split()[0])):
        table.add_row(way, *found[way].cells())
    console.print(table)


if __name__ == "__main__":
    asyncio.run(main())

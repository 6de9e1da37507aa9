"""How well the rules read people: intents, statements, the gate, contradictions. No model is called.

    python benchmarks/recognition.py

The labelled sets of `tests/data`, by part: the rules were written looking at one, the other was held out. CLINC150 is
measured when data/clinc150.json.gz lies beside the repository. Contradictions are told to a `KnowledgeBase` on an
embedded server of their own. Sets and rules have the same authors: other people's words will do worse.
"""

import asyncio
import json
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

import clew
from clew.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.context import labelled as messages  # noqa: E402 - the sets are the tests'
from tests.unit.memory.gate import labelled as contents  # noqa: E402

PAIRS = ROOT / "tests" / "data" / "contradictions.jsonl"
PARTS = {"looked at": False, "held out": True}


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of {whole:,}" if whole else "none"


def read_people(console: Console) -> None:
    table = Table("messages", "intent right", "looks up or not", "persist: precision / recall / F1", "questions kept")
    for name, held_out in PARTS.items():
        rows = messages.labelled(held_out=held_out)
        seen = [
            (row, clew.classify_intent(messages.message_of(row), row.get("history", ())),
             clew.detect_assertion(messages.message_of(row), row.get("history", ())))
            for row in rows
        ]  # fmt: skip
        right = sum(intent == row["intent"] for row, intent, _ in seen)
        looks = sum(intent.needs_lookup == (row["intent"] in ("factual", "task")) for row, intent, _ in seen)
        both = Counter((row["assertion"] is not None, found is not None) for row, _, found in seen)
        precision = both[True, True] / max(both[True, True] + both[False, True], 1)
        recall = both[True, True] / max(both[True, True] + both[True, False], 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        asked = [found for row, _, found in seen if row["kind"] == "question" and row["assertion"] is None]
        persist = f"{precision:.3f} / {recall:.3f} / {f1:.3f}"
        kept = f"{len(asked) - asked.count(None)} of {len(asked):,}"
        table.add_row(name, share(right, len(rows)), share(looks, len(rows)), persist, kept)
    console.print(table)


def read_clinc(console: Console) -> None:
    if not messages.CLINC.exists():
        console.print(f"CLINC150 is not at {messages.CLINC}: left out")
        return
    said = [(label, clew.classify_intent(text).needs_lookup) for text, label in messages.clinc()]
    greetings = [looks for label, looks in said if label in messages.GREETINGS]
    others = [looks for label, looks in said if label not in messages.SMALL_TALK]
    table = Table("CLINC150", "look nothing up")
    table.add_row("greetings and thanks", share(greetings.count(False), len(greetings)))
    table.add_row("questions of other domains", share(others.count(False), len(others)))
    console.print(table)


def read_gate(console: Console) -> None:
    gate = clew.Gate(clew.Policy(secrets="refuse", personal="refuse"))
    table = Table("the gate, held out", "contents", "precision", "recall")
    rows = contents.labelled(held_out=True)
    said = [
        (row["expected"], gate.check(row["content"], recalled=row["recalled"], source=row["source"]).reason)
        for row in rows
    ]
    for reason in ("instruction", "secret", "junk", "personal_data", "recalled"):
        wanted = [found for expected, found in said if expected == reason]
        given = [expected for expected, found in said if found == reason]
        precision = given.count(reason) / max(len(given), 1)
        recall = wanted.count(reason) / max(len(wanted), 1)
        table.add_row(reason, f"{len(wanted)}", f"{precision:.2f}", f"{recall:.2f}")
    kept = [found for expected, found in said if expected is None]
    table.add_row("facts refused", f"{len(kept)}", f"{len(kept) - kept.count(None)}", "")
    console.print(table)


async def read_contradictions(console: Console) -> None:
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    first, second = datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 10, 2, tzinfo=UTC)
    wrong: Counter[str] = Counter()
    count: Counter[tuple[str, bool]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        async with clew.KnowledgeBase(settings=Settings(data_dir=Path(folder))) as knowledge:
            for pair in track(pairs, "contradictions", console=console):
                of = {"tenant_id": pair["id"]}
                await knowledge.add_episode("first", pair["first"], reference_time=first, **of)
                told = await knowledge.add_episode("second", pair["second"], reference_time=second, **of)
                count[pair["part"], pair["closes"]] += 1
                wrong[f"{pair['part']} {pair['closes']}"] += bool(told.invalidated) != pair["closes"]
    table = Table("contradictions", "wrongly invalidated", "missed")
    for part in ("tuning", "held out"):
        table.add_row(
            part, share(wrong[f"{part} False"], count[part, False]), share(wrong[f"{part} True"], count[part, True])
        )
    console.print(table)


if __name__ == "__main__":
    out = Console(width=130)
    read_people(out)
    read_clinc(out)
    read_gate(out)
    asyncio.run(read_contradictions(out))

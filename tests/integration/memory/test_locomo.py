"""A real conversation: the search does not fall below what docs/decisions/0007-memory-search.md reports."""

import importlib.util
from pathlib import Path

import pytest

from clew.memory import candidates

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "locomo.py"


@pytest.fixture(scope="module")
def benchmark_module():
    spec = importlib.util.spec_from_file_location("locomo", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("choosing", [False, True], ids=["everything ranked", "candidates chosen first"])
async def test_evidence_is_found_in_a_real_conversation(memory, shared_data, benchmark_module, monkeypatch, choosing):
    if choosing:
        monkeypatch.setattr(candidates, "RANK_ALL_MAX", 0)
    talk = list(benchmark_module.conversations(captions=False, pooled=False))[1]
    await memory.store_many(talk.entries)
    recall = benchmark_module.Recall()
    await benchmark_module.measure(memory, talk, recall, [])
    found = [share for shares in recall.found.values() for share in shares]
    assert sum(ten for ten, _ in found) / len(found) >= 0.82
    assert sum(five for _, five in found) / len(found) >= 0.76

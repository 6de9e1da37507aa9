"""The interface is `KnowledgeBase`'s; only the model needs a key; nothing is sent to Graphiti's makers."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.memory.graphiti import GraphitiKnowledgeBase
from clew.memory.knowledge import KnowledgeBase

from .conftest import Tell, day

# Graphiti is silent under pytest, so each of these runs in a process of its own, with a PostHog that keeps what it is
# told. The first line of the answer is what it was told.
POSTHOG = """
import asyncio, json, sys, types
told = []
posthog = types.ModuleType("posthog")
posthog.capture = lambda *args, **named: told.append(named["event"])
sys.modules["posthog"] = posthog
from graphiti_core.llm_client import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
model = OpenAIGenericClient(LLMConfig(api_key="none", base_url="http://127.0.0.1:1"))
"""
PLAIN = """
from graphiti_core import Graphiti
from clew.memory.graphiti.offline import OfflineRanker, OurEmbedder
from clew.models import StaticEmbedder
from graphiti_core.driver.neo4j_driver import Neo4jDriver
ours = {"embedder": OurEmbedder(StaticEmbedder()), "cross_encoder": OfflineRanker(StaticEmbedder())}
Graphiti(graph_driver=Neo4jDriver("bolt://127.0.0.1:1", "", ""), llm_client=model, **ours)
print(json.dumps(told))
"""
OURS = """
from clew.memory.graphiti import GraphitiKnowledgeBase
async def main():
    async with GraphitiKnowledgeBase(sys.argv[1], model) as knowledge:
        return await knowledge.search("anything", tenant_id="telemetry")
assert asyncio.run(main()) == []
print(json.dumps(told))
"""


def _told(code: str, url: str, home: Path, **environment: str) -> list[str]:
    known = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    command = [sys.executable, "-c", POSTHOG + code, url]
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_graphiti_tells_its_makers_of_every_start_but_not_of_ours(graph_url: str, tmp_path: Path):
    assert _told(PLAIN, graph_url, tmp_path) == ["graphiti_initialized"]
    assert _told(OURS, graph_url, tmp_path, GRAPHITI_TELEMETRY_ENABLED="true") == []


def test_importing_it_loads_neither_graphiti_nor_a_driver():
    code = (
        "import sys, clew.memory.graphiti; print([n for n in ('graphiti_core', 'neo4j', 'redis') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["search", "history", "undo", "forget", "fetch", "episodes", "setup", "close"])
def test_a_method_takes_what_the_knowledge_bases_own_takes(name: str):
    ours, theirs = (inspect.signature(getattr(kind, name)) for kind in (GraphitiKnowledgeBase, KnowledgeBase))
    assert [(one.name, one.kind, one.default) for one in ours.parameters.values()] == [
        (one.name, one.kind, one.default) for one in theirs.parameters.values()
    ]


def test_an_episode_is_told_alike_but_for_what_needs_a_transaction_of_postgres():
    ours, theirs = (dict(inspect.signature(k.add_episode).parameters) for k in (GraphitiKnowledgeBase, KnowledgeBase))
    del theirs["also"]
    assert [(one.name, one.default) for one in ours.values()] == [(one.name, one.default) for one in theirs.values()]


async def test_texts_are_embedded_and_ranked_offline_unless_told_otherwise(graph_url: str, llm_client: Any, tell: Tell):
    from clew.memory.graphiti.offline import OfflineRanker, OurEmbedder
    from clew.models import StaticEmbedder

    embedder, ranker = OurEmbedder(StaticEmbedder()), OfflineRanker(StaticEmbedder())
    vectors = await embedder.create_batch(["a dog", " ", "a puppy"])
    assert [len(one) for one in vectors] == [256, 256, 256]
    assert await embedder.create(["a dog"]) == await embedder.create("a dog") == vectors[0]
    ranked = await ranker.rank("a puppy", ["the tax law", "a young dog"])
    assert [text for text, _ in ranked] == ["a young dog", "the tax law"]
    assert await ranker.rank("x", []) == []


async def test_the_callers_own_embedder_and_reranker_are_used(graph_url: str, llm_client: Any, tenant_id: str):
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient

    asked: list[str] = []

    class Theirs(EmbedderClient):
        async def create(self, input_data: Any) -> list[float]:
            asked.append("embedder")
            return [1.0, 0.0, 0.5]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [await self.create(one) for one in input_data_list]

    class Backwards(CrossEncoderClient):
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            asked.append("cross_encoder")
            return [(one, float(n)) for n, one in enumerate(sorted(passages))]

    async with GraphitiKnowledgeBase(graph_url, llm_client, embedder=Theirs(), cross_encoder=Backwards()) as knowledge:
        text = "Ada likes Tea. Ada lives in Oslo. Bob likes Milk."
        await knowledge.add_episode("chat", text, tenant_id=tenant_id, reference_time=day(2024))
        found = await knowledge.search("Ada", tenant_id=tenant_id)
    assert [(fact.text, fact.score) for fact in found] == [
        ("Bob likes Milk", 2.0),
        ("Ada lives in Oslo", 1.0),
        ("Ada likes Tea", 0.0),
    ]
    assert set(asked) == {"embedder", "cross_encoder"}


async def test_what_one_process_told_another_finds(graph_url: str, llm_client: Any, tell: Tell, tenant_id: str):
    await tell("Ada lives in Oslo.", day(2024))
    async with GraphitiKnowledgeBase(graph_url, llm_client) as other:
        assert [fact.object for fact in await other.search("Ada", tenant_id=tenant_id)] == ["Oslo"]

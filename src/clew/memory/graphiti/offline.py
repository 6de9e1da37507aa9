"""What Graphiti asks of an embedder and of a reranker, done by the models that Clew brings: offline, without a key."""

import math
from collections.abc import Iterable, Sequence
from typing import cast

from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.client import EmbedderClient

from clew.errors import InvalidInput
from clew.memory.analysis import content_stems, words
from clew.models import Embedder

# Stands for a text of nothing but space, which has no vector.
_NOTHING = "-"


class OurEmbedder(EmbedderClient):
    """One of Clew's embedders, as Graphiti calls it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def create(self, input_data: str | list[str] | Iterable[int] | Iterable[Iterable[int]]) -> list[float]:
        """The vector of a text, or of the first of several."""
        texts = [input_data] if isinstance(input_data, str) else list(input_data)
        if not texts or not isinstance(texts[0], str):
            raise InvalidInput("expected text, and no tokens", where="embedder")
        return (await self.create_batch([texts[0]]))[0]

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """A vector for each text."""
        if not input_data_list:
            return []
        rows = await self._embedder.embed([text if text.strip() else _NOTHING for text in input_data_list])
        return cast("list[list[float]]", rows.tolist())


class OfflineRanker(CrossEncoderClient):
    """Ranks passages by meaning and by words: the cosine in an embedder's space, and the share of the query's words.

    A static space hardly tells one name or number from another, and words do: a word weighs more the fewer of the
    passages have it.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Each passage with its score, at most 1, the best first."""
        if not passages:
            return []
        rows = await self._embedder.embed([text if text.strip() else _NOTHING for text in [query, *passages]])
        near = cast("Sequence[float]", (rows[1:] @ rows[0]).tolist())
        shared = _shared(query, passages)
        scores = [(cosine + share) / 2 for cosine, share in zip(near, shared, strict=True)]
        return sorted(zip(passages, scores, strict=True), key=lambda one: -one[1])


def _shared(query: str, passages: Sequence[str]) -> list[float]:
    """For each passage, the share of the query's words that it has, weighed by how rare they are."""
    wanted = set(content_stems(words(query)))
    had = [wanted & set(content_stems(words(passage))) for passage in passages]
    weight = {stem: math.log1p(len(passages) / (1 + sum(stem in one for one in had))) for stem in wanted}
    total = sum(weight.values()) or 1.0
    return [sum(weight[stem] for stem in one) / total for one in had]

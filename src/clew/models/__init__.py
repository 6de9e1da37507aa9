"""Models that Clew calls. For now: what turns text into vectors.

`import clew.models` loads neither numpy nor any model library (numpy alone is 0.2 s, litellm 4 s); the first
`open_embedder` loads what its spec needs.
"""

from typing import TYPE_CHECKING, Any

from clew.models.catalog import Availability, available, open_embedder
from clew.models.minilm_pull import pull_minilm
from clew.models.protocol import Embedder, Purpose
from clew.models.rerank import Reranker, reranked
from clew.models.rerank_catalog import open_reranker

if TYPE_CHECKING:
    from clew.models.static import StaticEmbedder

__all__ = [
    "Availability",
    "Embedder",
    "Purpose",
    "Reranker",
    "StaticEmbedder",
    "available",
    "open_embedder",
    "open_reranker",
    "pull_minilm",
    "reranked",
]


def __getattr__(name: str) -> Any:
    if name == "StaticEmbedder":
        from clew.models.static import StaticEmbedder

        return StaticEmbedder
    raise AttributeError(f"module 'clew.models' has no attribute {name!r}")

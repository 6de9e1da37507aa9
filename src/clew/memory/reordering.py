"""An answer in a reranker's order."""

from typing import Final

from clew.logs import logger
from clew.memory.entry import MemoryEntry
from clew.memory.freshness import Dated, newer_than, newest_first
from clew.models.rerank import Reranker, reranked

# How many of the best a reranker reads.
RERANK_TOP: Final = 50
_log: Final = logger("clew.memory")


async def reordered(reranker: Reranker, query: str, found: list[MemoryEntry]) -> list[MemoryEntry]:
    """The answer in the reranker's order, scores falling as before; as it was, and why, when the reranker fails.

    A reranker sees no dates: of two that conflict, the newer stands above the older after it as before.
    """
    ordered, failure = await reranked(reranker, query, found, lambda entry: entry.content, RERANK_TOP)
    if failure is not None:
        _log.warning("rerank_skipped", error=failure)
    note = f"reranked by {reranker.name}" if failure is None else f"not reranked: {failure}"
    placed = newest_first([Dated.of_entry(entry, order) for order, entry in enumerate(ordered)])
    answer = []
    for now, before in zip(placed, found, strict=True):
        entry = ordered[now.index]
        told = [*(entry.reasons or []), note]
        if now.above is not None and (lifted := newer_than(ordered[now.above].content)) not in told:
            told.append(lifted)
        answer.append(entry.model_copy(update={"score": before.score, "reasons": told}))
    return answer

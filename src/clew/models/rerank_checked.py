"""The check around a reranker: what goes in can be scored, and what comes out is a score for each text."""

from collections.abc import Sequence

from clew.errors import InvalidInput
from clew.limits import check_text
from clew.models.checked import checked_texts
from clew.models.rerank import (
    RERANK_MAX_TEXTS,
    RERANK_QUERY_MAX_CHARS,
    RERANK_TEXT_MAX_CHARS,
    Reranker,
    checked_scores,
)


class CheckedReranker:
    """A reranker whose every answer is one finite score for each text, or an error."""

    def __init__(self, source: Reranker) -> None:
        self._source = source

    def __repr__(self) -> str:
        return f"<Reranker {self.name}>"

    @property
    def name(self) -> str:
        return self._source.name

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text; `InvalidInput` for what can't be scored, `Unavailable` for a bad answer.

        The model sees the beginning of a long query or text: providers refuse a request that is too long as a whole,
        and the search would then lose its reranker because of one document.
        """
        asked = check_text(query, "query").strip()
        if not asked:
            raise InvalidInput("is empty, and nothing answers it", where="query")
        wanted = checked_texts(texts)
        if len(wanted) > RERANK_MAX_TEXTS:
            raise InvalidInput(f"there are {len(wanted):,}; the limit is {RERANK_MAX_TEXTS:,}", where="texts")
        if not wanted:
            return []
        cut = [text.strip()[:RERANK_TEXT_MAX_CHARS] for text in wanted]
        answer = await self._source.rerank(asked[:RERANK_QUERY_MAX_CHARS], cut)
        return checked_scores(answer, count=len(wanted), where=self.name)

"""Rerankers: what one promises, what its answer must be, and putting a search's candidates into its order."""

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from clew.errors import ClewError, InvalidInput, Unavailable

# As many as Voyage takes in one request; Cohere advises against more.
RERANK_MAX_TEXTS: Final = 1_000
# About 1,000 and 4,000 tokens: what Cohere reads of a document, and a hundred of them within Voyage's 600,000.
RERANK_QUERY_MAX_CHARS: Final = 4_096
RERANK_TEXT_MAX_CHARS: Final = 16_384
# A search waits for its reranker, so a provider gets less time than it gets for a batch of embeddings.
RERANK_TIMEOUT_S: Final = 10.0
# Whatever the reranker is: a large local model on a busy machine is slower than a provider.
RERANK_WAIT_MAX_S: Final = 30.0
_REASON_MAX_CHARS: Final = 300

Candidate = TypeVar("Candidate")


@runtime_checkable
class Reranker(Protocol):
    """Says how well each of some texts answers a query, having read the two together."""

    @property
    def name(self) -> str:
        """What reports call it, such as `voyage:rerank-2.5`."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """One finite score for each text, in order, higher is better; a failure is a `ClewError`.

        Scores of one call may be compared, and no others: some models score texts against each other.
        """


async def reranked(
    reranker: Reranker | None,
    query: str,
    candidates: Iterable[Candidate],
    text_of: Callable[[Candidate], str],
    top_n: int,
    *,
    timeout_s: float = RERANK_WAIT_MAX_S,
) -> tuple[list[Candidate], str | None]:
    """The candidates with the first `top_n` in the reranker's order, and None; or as they were, and why in one line.

    Equal scores keep the order they had. A reranker that fails, hangs or answers nonsense never fails the search: it
    raises only for a `top_n` that is no count, and for what is not a `ClewError` or an `OSError`, which is a mistake
    in the reranker and no failure of its service.
    """
    if type(top_n) is not int or top_n < 0:
        raise InvalidInput(f"{ascii(top_n)[:40]} is not a whole number from 0 up", where="top_n")
    found = list(candidates)
    head = found[:top_n]
    # One candidate has one order: nothing to ask, and nothing to pay for.
    if reranker is None or len(head) < 2:
        return found, None
    texts = [text_of(candidate) for candidate in head]
    try:
        async with asyncio.timeout(timeout_s):
            answer = await reranker.rerank(query, texts)
        scores = checked_scores(answer, count=len(head), where=reranker.name)
    except ClewError as error:
        return found, _reason(reranker.name, str(error))
    except TimeoutError:
        return found, _reason(reranker.name, f"no answer in {timeout_s:g} s")
    except OSError as error:
        # Only its kind: its text is the system's or a library's, and may name a path or an address.
        return found, _reason(reranker.name, type(error).__name__)
    order = sorted(range(len(head)), key=lambda index: -scores[index])
    return [head[index] for index in order] + found[top_n:], None


def checked_scores(answer: Any, *, count: int, where: str) -> list[float]:
    """The answer as `count` finite numbers, or `Unavailable` that says in which way it is not."""
    # An array becomes a list by its own method, so that numpy need not be loaded for those who have none.
    scores = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(scores, Sequence):
        raise Unavailable(f"the reranker answered {type(answer).__name__}, not a list of scores", where=where)
    if len(scores) != count:
        raise Unavailable(f"the reranker answered {count} texts with {len(scores)} scores", where=where)
    return [_score(score, where) for score in scores]


def _score(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Unavailable("a score of the reranker is not a number", where=where)
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise Unavailable("a score of the reranker is NaN or infinite", where=where)
    return score


def _reason(name: str, text: str) -> str:
    line = " ".join(text.split())
    return (line if line.startswith(name) else f"{name}: {line}")[:_REASON_MAX_CHARS]

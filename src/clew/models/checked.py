"""The check between a model and everyone who would store its vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from clew.errors import InvalidInput, Unavailable
from clew.limits import check_text
from clew.models.protocol import Purpose, Source

if TYPE_CHECKING:
    from clew.models.protocol import Vectors


class Checked:
    """An embedder whose every answer is one finite row of unit length for each text, or an error.

    The check is made for each batch that the source sees: over several batches, one vector too many and one too few
    would add up and give texts each other's vectors.
    """

    def __init__(self, source: Source, *, batch_texts: int | None = None) -> None:
        self._source = source
        self._batch_texts = batch_texts

    def __repr__(self) -> str:
        return f"<Embedder {self.name}, {self.dimensions} dimensions>"

    @property
    def name(self) -> str:
        return self._source.name

    @property
    def dimensions(self) -> int:
        return self._source.dimensions

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> "Vectors":
        """One row for each text; `InvalidInput` for texts nothing can be said about, `Unavailable` for a bad answer."""
        wanted = checked_texts(texts)
        if purpose not in get_args(Purpose):
            raise InvalidInput(f"{purpose!r} is not a purpose", where="embed", fix="Write 'document' or 'query'")
        size = self._batch_texts or max(len(wanted), 1)
        parts = [np.empty((0, self.dimensions), np.float32)]
        for start in range(0, len(wanted), size):
            batch = wanted[start : start + size]
            answer = await self._source.embed(batch, purpose=purpose)
            parts.append(unit_rows(answer, count=len(batch), dimensions=self.dimensions, where=self.name))
        return np.concatenate(parts)


def checked_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list, when each of them says something."""
    if isinstance(texts, str):
        raise InvalidInput("got one text", where="texts", fix="Send a list of texts: [text]")
    for index, text in enumerate(texts):
        if not check_text(text, f"texts[{index}]").strip():
            raise InvalidInput(
                "is empty, and nothing is near to it", where=f"texts[{index}]", fix="Leave empty texts out"
            )
    return list(texts)


def unit_rows(answer: Any, *, count: int, dimensions: int, where: str) -> "Vectors":
    """The answer as unit rows, or `Unavailable` that says in which way it is not `count` vectors of `dimensions`."""
    try:
        rows = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise Unavailable("the model's vectors are not numbers of one length", where=where) from None
    got = len(rows) if rows.ndim else 0
    if got != count:
        raise Unavailable(f"the model answered {count} texts with {got} vectors", where=where)
    if rows.ndim != 2 or rows.shape[1] != dimensions:
        shape = "×".join(map(str, rows.shape[1:])) or "no"
        raise Unavailable(f"the model's vectors have {shape} dimensions, not {dimensions}", where=where)
    if not np.isfinite(rows).all():
        raise Unavailable("the model's vectors hold NaN or infinity", where=where)
    # Divided by the largest number first, so that the squares of very large or small numbers stay finite and nonzero.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise Unavailable("a vector of the model is zero", where=where)
    rows = rows / largest
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit

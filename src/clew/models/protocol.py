"""What every embedder promises, and what a source of vectors owes the check in front of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    Rows: TypeAlias = Vectors | Sequence[Sequence[float]]

Purpose: TypeAlias = Literal["document", "query"]

# A local model's vector stands for this much of the beginning of a text. Tokenising takes 0.7 s a megabyte, and no one
# vector says anything useful about more.
READ_MAX_CHARS: Final = 65_536


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one embedding space."""

    @property
    def name(self) -> str:
        """The space's stable id: vectors of equal names may be compared, and no others."""

    @property
    def dimensions(self) -> int:
        """The length of every vector."""

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> "Vectors":
        """One row of unit length for each text, in order, float32; a text of nothing but space is `InvalidInput`.

        `purpose` says whether the texts are stored or asked with; models that were trained on the difference use it.
        """


class Source(Protocol):
    """A model as its library gives it: nothing about its answer is believed until `Checked` has looked at it."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "Rows": ...

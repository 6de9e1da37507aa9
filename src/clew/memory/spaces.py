"""Embedding spaces: which model answers for a tenant. The database says; vectors of two models never meet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from psycopg import AsyncConnection

from clew.errors import InvalidInput
from clew.models import Embedder, open_embedder
from clew.settings import Settings
from clew.store.named_sql import statements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SQL: Final = statements("memory_spaces")
# pgvector stores no longer ones.
DIMENSIONS_MAX: Final = 16_000


@dataclass(frozen=True, slots=True)
class Space:
    """A space by its name, the model that opens it, and the length of its vectors."""

    name: str
    model: str
    dimensions: int


class Embedders:
    """The embedder of the settings or the caller's choice, and those that tenants' spaces need, opened once each."""

    def __init__(self, chosen: str | Embedder | None, settings: Settings) -> None:
        self._settings = settings
        self.chosen = chosen
        self._default: tuple[Embedder, Space] | None = None
        self._open: dict[str, Embedder] = {}

    def default(self) -> tuple[Embedder, Space]:
        """What a tenant without a space yet will use."""
        if self._default is None:
            self._default = self.opened(self._settings.embedding_model if self.chosen is None else self.chosen)
        return self._default

    def opened(self, chosen: str | Embedder) -> tuple[Embedder, Space]:
        """An embedder, opened if need be, with the space it writes."""
        if isinstance(chosen, str):
            model, embedder = chosen, self._opened(chosen)
        elif isinstance(chosen, Embedder):
            model, embedder = chosen.name, chosen
        else:
            raise InvalidInput(
                f"expected a spec such as 'static', got {type(chosen).__name__}", where="embedding_model"
            )
        if embedder.dimensions > DIMENSIONS_MAX:
            raise InvalidInput(
                f"{embedder.dimensions:,} dimensions; the limit is {DIMENSIONS_MAX:,}", where=embedder.name
            )
        self._open[embedder.name] = embedder
        return embedder, Space(embedder.name, model, embedder.dimensions)

    def of(self, space: Space) -> Embedder:
        """The embedder that a tenant's space was filled with."""
        if space.name not in self._open:
            self.default()
        if space.name not in self._open:
            embedder = self._opened(space.model)
            if embedder.name != space.name:
                raise InvalidInput(
                    f"{space.model} now writes {embedder.name}, and the tenant's vectors are of {space.name}",
                    where="embedding_model",
                    fix="Embed the tenant's entries again: LongTermMemory.reembed",
                )
            self._open[space.name] = embedder
        return self._open[space.name]

    def _opened(self, model: str) -> Embedder:
        return open_embedder(model, settings=self._settings)


async def hold_space(connection: AsyncConnection[Any], tenant_id: str, wanted: Space) -> Space:
    """The tenant's space, held until the transaction ends; `wanted` when the tenant has none yet."""
    row = await (await connection.execute(_SQL.held, {"tenant_id": tenant_id})).fetchone()
    if row is None:
        values = {"tenant_id": tenant_id, "space": wanted.name, "model": wanted.model, "dimensions": wanted.dimensions}
        await connection.execute(_SQL.add_active, values)
        row = await (await connection.execute(_SQL.held, {"tenant_id": tenant_id})).fetchone()
    return Space(*row) if row else wanted


async def active_space(connection: AsyncConnection[Any], tenant_id: str) -> Space | None:
    """The space that answers for a tenant; None before its first entry."""
    row = await (await connection.execute(_SQL.active, {"tenant_id": tenant_id})).fetchone()
    return Space(*row) if row else None


def as_text(vector: "Sequence[float] | NDArray[np.float32]") -> str:
    """A vector as PostgreSQL reads it, with the digits that a half-precision number has."""
    return f"[{','.join([f'{number:.6g}' for number in vector])}]"

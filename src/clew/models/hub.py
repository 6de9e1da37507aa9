"""Models that fastembed downloads and runs here, for people with a network."""

import asyncio
import threading
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from clew.errors import InvalidInput, Unavailable
from clew.models.protocol import READ_MAX_CHARS, Purpose

if TYPE_CHECKING:
    from clew.models.protocol import Rows

EXTRA: Final = "pip install 'clew[fastembed]'"
EXAMPLE: Final = "BAAI/bge-small-en-v1.5"


class FastEmbedSource:
    """The vectors of one of fastembed's models, which it downloads at first use into the data folder."""

    def __init__(self, name: str, *, model: str, cache_folder: Path) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError:
            raise InvalidInput("its library is not installed", where=name, fix=EXTRA) from None
        known = {entry["model"]: int(entry["dim"]) for entry in TextEmbedding.list_supported_models()}
        if model not in known:
            nearest = (get_close_matches(model, known, n=1, cutoff=0.0) or [EXAMPLE])[0]
            raise InvalidInput(
                f"fastembed has no model {model!r}", where=name, fix=f"Did you mean fastembed:{nearest}?"
            )
        self.name = name
        self.dimensions = known[model]
        self._model = model
        self._cache_folder = cache_folder
        self._loading = threading.Lock()
        self._loaded: Any = None

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "Rows":
        return await asyncio.to_thread(self._vectors, [text[:READ_MAX_CHARS] for text in texts], purpose)

    def _vectors(self, texts: list[str], purpose: Purpose) -> "Rows":
        model = self._load()
        embed = model.query_embed if purpose == "query" else model.passage_embed
        return list(embed(texts))

    def _load(self) -> Any:
        from fastembed import TextEmbedding

        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = TextEmbedding(self._model, cache_dir=str(self._cache_folder), threads=1)
                except (ValueError, OSError):
                    raise Unavailable(
                        "the model can't be downloaded", where=self.name, fix="Check the network, or use minilm"
                    ) from None
            return self._loaded

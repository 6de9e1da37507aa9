"""all-MiniLM-L6-v2 in int8, read from the data folder that `clew models pull minilm` filled."""

import asyncio
import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.errors import InvalidInput, Unavailable
from clew.models import installer
from clew.models.protocol import READ_MAX_CHARS, Purpose

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from clew.models.protocol import Vectors

NAME: Final = "minilm:all-MiniLM-L6-v2"
MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
MANIFEST_FILE: Final = "manifest.json"
RUNTIME: Final = ("onnxruntime", "tokenizers")
EXTRA: Final = "pip install 'clew[minilm]'"
PULL: Final = "Run `clew models pull minilm`"
# What the model's own configuration says; the tokenizer's file says 128, which its authors override.
MAX_TOKENS: Final = 256
_DIMENSIONS: Final = 384
_BATCH_TEXTS: Final = 32
# A second thread waits for a core that others use: on two busy cores it halved the throughput (194 to 82 texts/s).
_THREADS: Final = 1


class _Model(NamedTuple):
    session: Any
    tokenizer: "Tokenizer"


class MiniLmEmbedder:
    """Vectors of the pulled model; opening one checks that it is there, the first use loads it."""

    name: Final = NAME
    dimensions: Final = _DIMENSIONS

    def __init__(self, folder: Path) -> None:
        if not (folder / MANIFEST_FILE).is_file():
            raise InvalidInput("the model is not here yet", where="minilm", fix=PULL)
        if missing := installer.missing(RUNTIME):
            raise InvalidInput(f"{missing[0]} is not installed", where="minilm", fix=EXTRA)
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> "Vectors":
        """A unit row for each text, of its first 256 tokens, computed in a thread so that the event loop goes on."""
        return await asyncio.to_thread(self.vectors, [text[:READ_MAX_CHARS] for text in texts])

    def vectors(self, texts: list[str]) -> "Vectors":
        """The same, here and now."""
        import numpy as np

        session, tokenizer = self._model()
        ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
        # Sorted by length, so that a short text is not padded to a long one's length.
        order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
        rows = np.empty((len(ids), self.dimensions), np.float32)
        for start in range(0, len(order), _BATCH_TEXTS):
            batch = order[start : start + _BATCH_TEXTS]
            tokens = np.zeros((len(batch), len(ids[batch[-1]])), np.int64)
            mask = np.zeros_like(tokens)
            for row, index in enumerate(batch):
                tokens[row, : len(ids[index])] = ids[index]
                mask[row, : len(ids[index])] = 1
            rows[batch] = session.run(None, {"input_ids": tokens, "attention_mask": mask})[0]
        return rows

    def _model(self) -> _Model:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(read_verified(self._folder))
            return self._loaded


def _load(files: dict[str, bytes]) -> _Model:
    from onnxruntime import InferenceSession, SessionOptions  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

    options = SessionOptions()
    options.intra_op_num_threads = _THREADS
    session = InferenceSession(files[MODEL_FILE], options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_buffer(files[TOKENIZER_FILE])
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return _Model(session, tokenizer)


def read_verified(folder: Path) -> dict[str, bytes]:
    """The model's files, each the one its manifest names; anything else is `Unavailable`, and a pull mends it."""
    try:
        manifest: Any = json.loads((folder / MANIFEST_FILE).read_bytes())
        digests = {name: manifest["files"][name] for name in (MODEL_FILE, TOKENIZER_FILE)}
        files = {name: (folder / name).read_bytes() for name in digests}
    except (OSError, ValueError, LookupError, TypeError):
        raise Unavailable("the model's files are not all here", where="minilm", fix=PULL) from None
    for name, data in files.items():
        if hashlib.sha256(data).hexdigest() != digests[name]:
            raise Unavailable(f"{name} is not what was pulled: its sha-256 differs", where="minilm", fix=PULL)
    return files

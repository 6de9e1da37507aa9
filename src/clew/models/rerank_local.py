"""A cross-encoder that runs here: an ONNX graph and its tokenizer, read from a folder."""

import asyncio
import os
import threading
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.errors import InvalidInput, Unavailable
from clew.models import installer
from clew.models.minilm import EXTRA, MODEL_FILE, RUNTIME, TOKENIZER_FILE
from clew.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

# What encoders of this kind have positions for; a tokenizer whose file says less is believed.
MAX_TOKENS: Final = 512
_BATCH_PAIRS: Final = 16
# As for minilm: a second thread waits for a core that others use.
_THREADS: Final = 1
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class _Model(NamedTuple):
    session: Any
    tokenizer: "Tokenizer"
    inputs: frozenset[str]
    pad_id: int
    errors: tuple[type[Exception], ...]


def reranker_folder(model: str, settings: Settings) -> Path:
    """The folder that `local:…` names: a path when it looks like one, else a name in the data folder."""
    if os.sep in model or model.startswith((".", "~")):
        return Path(model).expanduser().absolute()
    return settings.data_dir / "models" / "rerankers" / model


class CrossEncoder:
    """The scores of a model in a folder; opening one checks that it is there, the first use loads it."""

    def __init__(self, name: str, folder: Path) -> None:
        if absent := _absent(folder):
            raise InvalidInput(f"there is no {' and no '.join(absent)} in {folder}", where=name, fix=_fix(folder))
        if missing := installer.missing(RUNTIME):
            raise InvalidInput(f"{missing[0]} is not installed", where=name, fix=EXTRA)
        self.name = name
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """The model's logit for each text, computed in a thread so that the event loop goes on."""
        abandoned = threading.Event()
        try:
            return await asyncio.to_thread(self._scores, query, list(texts), abandoned)
        finally:
            # A thread can't be cancelled; told that nobody waits any more, it ends after its batch.
            abandoned.set()

    def _scores(self, query: str, texts: list[str], abandoned: threading.Event) -> list[float]:
        model = self._model()
        encodings = model.tokenizer.encode_batch([(query, text) for text in texts])
        # Sorted by length, so that a short pair is not padded to a long one's length.
        order = sorted(range(len(texts)), key=lambda index: len(encodings[index].ids))
        scores = [0.0] * len(texts)
        for start in range(0, len(order), _BATCH_PAIRS):
            if abandoned.is_set():
                break
            batch = order[start : start + _BATCH_PAIRS]
            logits = self._logits(model, [encodings[index] for index in batch])
            for index, logit in zip(batch, logits.tolist(), strict=True):
                scores[index] = float(logit)
        return scores

    def _logits(self, model: _Model, batch: "list[Encoding]") -> "NDArray[np.float64]":
        import numpy as np

        shape = (len(batch), max(len(encoding.ids) for encoding in batch))
        fed = {name: np.zeros(shape, np.int64) for name in _INPUTS}
        fed["input_ids"][:] = model.pad_id
        for row, encoding in enumerate(batch):
            length = len(encoding.ids)
            fed["input_ids"][row, :length] = encoding.ids
            fed["token_type_ids"][row, :length] = encoding.type_ids
            fed["attention_mask"][row, :length] = 1
        try:
            [answer, *_] = model.session.run(None, {name: fed[name] for name in model.inputs})
            logits = np.asarray(answer, np.float64)
        except model.errors:
            raise Unavailable("the model can't score these texts", where=self.name) from None
        if logits.shape not in ((len(batch),), (len(batch), 1)):
            raise Unavailable("the model does not answer a pair with one number", where=self.name)
        return logits.reshape(-1)

    def _model(self) -> _Model:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> _Model:
        from onnxruntime import InferenceSession, SessionOptions  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        errors = _runtime_errors()
        options = SessionOptions()
        options.intra_op_num_threads = _THREADS
        try:
            # By path and not by content, because a large model keeps its weights in a file beside it.
            session = InferenceSession(str(self._folder / MODEL_FILE), options, providers=["CPUExecutionProvider"])
        except errors:
            raise Unavailable(f"{MODEL_FILE} is not a model that can be loaded", where=self.name) from None
        try:
            tokenizer = Tokenizer.from_buffer((self._folder / TOKENIZER_FILE).read_bytes())
        except (OSError, ValueError):
            raise Unavailable(f"{TOKENIZER_FILE} is not a tokenizer that can be loaded", where=self.name) from None
        pad_id = int((tokenizer.padding or {}).get("pad_id", 0))
        most = int((tokenizer.truncation or {}).get("max_length", MAX_TOKENS))
        tokenizer.no_padding()
        tokenizer.enable_truncation(min(most, MAX_TOKENS))
        inputs = frozenset(one.name for one in session.get_inputs())
        if "input_ids" not in inputs or inputs - _INPUTS:
            raise Unavailable(f"the model's inputs are not of {', '.join(sorted(_INPUTS))}", where=self.name)
        return _Model(session, tokenizer, inputs, pad_id, errors)


def _runtime_errors() -> tuple[type[Exception], ...]:
    """The errors of onnxruntime, which have no class in common but `Exception`, and numpy's for what is no number."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]

    found = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*found, ValueError, TypeError)


def _absent(folder: Path) -> list[str]:
    try:
        return [file for file in (MODEL_FILE, TOKENIZER_FILE) if not (folder / file).is_file()]
    except OSError:
        # A folder that may not be read, or a name longer than the system takes.
        return [MODEL_FILE, TOKENIZER_FILE]


def _fix(folder: Path) -> str:
    put = f"Put {MODEL_FILE} and {TOKENIZER_FILE} of a cross-encoder there"
    try:
        names = sorted(other.name for other in folder.parent.iterdir() if not _absent(other))
    except OSError:
        return put
    nearest = get_close_matches(folder.name, names, n=1, cutoff=0.0)
    return f"{put}, or did you mean {nearest[0]}?" if nearest else put

"""The default: a static model, a vector for each sub-word and their mean for a text. Offline, CPU, no torch."""

import asyncio
import importlib.util
import re
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from clew.errors import Unavailable
from clew.models.protocol import READ_MAX_CHARS, Purpose

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from clew.models.protocol import Vectors

WEIGHTS: Final = "l2_supercat_256"
_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
_loading: Final = threading.Lock()


class _Model(NamedTuple):
    tokenizer: "Tokenizer"
    table: "Vectors"


class TokenVectors(NamedTuple):
    """The words of a text in order, and a unit row for each."""

    words: list[str]
    vectors: "Vectors"


class StaticEmbedder:
    """Vectors from the weights in wordllama's wheel, and the vectors of single words.

    Every text has one: the vocabulary holds all 256 bytes, so there is no unknown character.
    """

    name: Final = f"static:{WEIGHTS}"
    dimensions: Final = 256

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> "Vectors":
        """A unit row for each text, computed in a thread so that the event loop goes on."""
        return await asyncio.to_thread(self._means, [text[:READ_MAX_CHARS] for text in texts])

    def token_vectors(self, text: str) -> TokenVectors:
        """The words of `text`, lower-cased, each with its vector: what comparing texts word by word needs."""
        words = _WORD.findall(text[:READ_MAX_CHARS].lower())
        return TokenVectors(words, self.word_vectors(words))

    def word_vectors(self, words: Sequence[str]) -> "Vectors":
        """A unit row for each word: the mean of its sub-words' vectors. Whoever has words of their own starts here."""
        distinct = list(dict.fromkeys(words))
        row_of = {word: row for row, word in enumerate(distinct)}
        return self._means(distinct)[[row_of[word] for word in words]]

    def _means(self, texts: list[str]) -> "Vectors":
        tokenizer, table = _model()
        rows = np.empty((len(texts), self.dimensions), np.float32)
        # Text by text: padding a batch to its longest text, as wordllama's own loop does, takes twice as long on
        # conversation turns, and gigabytes as soon as one text is long.
        for row, encoding in enumerate(tokenizer.encode_batch_fast(texts, add_special_tokens=False)):
            table.take(encoding.ids, axis=0).mean(axis=0, out=rows[row])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def _model() -> _Model:
    with _loading:
        return _load()


@cache
def _load() -> _Model:
    """The tokenizer and the table, read from the installed package's own files.

    Importing wordllama would take 0.4 s more, set the root logger to INFO, and bring code that downloads; its files
    are all we need.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    spec = importlib.util.find_spec("wordllama")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    weights = folder / "weights" / f"{WEIGHTS}.safetensors"
    vocabulary = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if not (weights.is_file() and vocabulary.is_file()):
        raise Unavailable(
            f"the weights {WEIGHTS} are not installed", where="static", fix="pip install 'wordllama>=0.4'"
        )
    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(tokenizer, load_file(weights)["embedding.weight"].astype(np.float32))

"""Counting, encoding and decoding plain text."""

from collections.abc import Sequence
from typing import Final

from clew.errors import InvalidInput
from clew.tokens.engine import engine

DEFAULT_ENCODING: Final = "o200k_base"


def count(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """The exact number of tokens in the text, as tiktoken counts it.

    Works without a network, in time that grows linearly with the text. Special-token text such as `<|endoftext|>` is
    counted as ordinary text, and a lone surrogate as the U+FFFD that a provider would receive.
    """
    return engine(encoding).count(checked_text(text))


def encode(text: str, encoding: str = DEFAULT_ENCODING) -> list[int]:
    """The token numbers of the text, the same as tiktoken's `encode_ordinary`."""
    chosen = engine(encoding)
    return chosen.unpack(chosen.pack(checked_text(text)))


def decode(tokens: Sequence[int], encoding: str = DEFAULT_ENCODING) -> str:
    """The text behind token numbers; bytes that are no whole character come out as U+FFFD."""
    chosen = engine(encoding)
    try:
        return chosen.decode_bytes(list(tokens)).decode("utf-8", "replace")
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInput(
            f"not token numbers of {encoding} ({error})", where="tokens", fix="Pass what `encode` returned"
        ) from None


def checked_text(text: object, where: str = "text") -> str:
    """The text itself, or `InvalidInput` that says what came instead."""
    if not isinstance(text, str):
        raise InvalidInput(f"expected text, got {type(text).__name__}", where=where, fix="Decode bytes to str first")
    return text

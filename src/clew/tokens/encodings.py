"""Which encoding a model's tokens are counted with."""

from typing import Final

from clew.tokens.text import DEFAULT_ENCODING, checked_text

# OpenAI models from before gpt-4o, and its embedding models; every later one uses o200k_base.
_CL100K_NAMES: Final = ("gpt-4", "gpt-3.5", "gpt-35", "davinci-002", "babbage-002")
_CL100K_PREFIXES: Final = ("gpt-4-", "gpt-3.5-", "gpt-35-", "text-embedding-3-", "text-embedding-ada-002")


def encoding_for(model: str) -> str:
    """The encoding to count a model's tokens with: exact for OpenAI's models, an estimate for all others.

    Takes plain names and provider strings (`gpt-4`, `openai:gpt-4o`, `azure/gpt-35-turbo`, `ft:gpt-4:acme::1`).
    Providers other than OpenAI do not publish their tokenisers; unknown models get `o200k_base`, the newest table.
    """
    name = checked_text(model, "model").strip().lower().rpartition("/")[2]
    for part in name.split(":"):
        if part in _CL100K_NAMES or part.startswith(_CL100K_PREFIXES):
            return "cl100k_base"
    return DEFAULT_ENCODING

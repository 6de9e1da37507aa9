"""tiktoken itself, fed from our table, as the judge of every count."""

import base64
import random

import pytest
import tiktoken
import tiktoken_ext.openai_public as public

from clew.tokens import ENCODINGS
from clew.tokens.table import packed_table, unpacked_table

ENGLISH = ["the", "quick", "doesn't", "over", "13", "dogs,", "it's", "We'll", "see:", "(all)", "slept\n", "token"]


def tiktoken_offline(name: str) -> tiktoken.Encoding:
    """tiktoken's own definition of an encoding, with the download replaced by the shipped table."""
    lines = unpacked_table(name, packed_table(name)).splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public, "load_tiktoken_bpe", lambda *args, **kwargs: ranks)
        definition = public.ENCODING_CONSTRUCTORS[name]()
    return tiktoken.Encoding(**definition)


@pytest.fixture(scope="session")
def reference() -> dict[str, tiktoken.Encoding]:
    return {name: tiktoken_offline(name) for name in ENCODINGS}


def prose(chars: int, seed: int = 0) -> str:
    rnd = random.Random(seed)
    return " ".join(rnd.choices(ENGLISH, k=chars // 4))[:chars]

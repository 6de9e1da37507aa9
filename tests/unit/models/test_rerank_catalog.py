"""A spec opens the reranker it names, or says what would."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import InvalidInput
from clew.models.rerank import Reranker
from clew.models.rerank_catalog import open_reranker
from clew.models.rerank_http import RERANK_PROVIDERS, retry_after_s
from clew.settings import Settings

SECRET = "key-very-secret-4711"


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in RERANK_PROVIDERS.values():
        monkeypatch.delenv(provider.key_variable, raising=False)


def refusal(spec: str, base_url: str | None = None, settings: Settings | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        open_reranker(spec, settings=settings or Settings(), base_url=base_url)
    assert SECRET not in str(caught.value)
    return str(caught.value)


def test_no_spec_is_no_reranker() -> None:
    assert open_reranker(None, settings=Settings()) is None


@pytest.mark.parametrize("kind", RERANK_PROVIDERS)
def test_every_model_of_the_catalogue_opens_and_shows_no_key(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RERANK_PROVIDERS[kind].key_variable, f" {SECRET}\n")
    for model in RERANK_PROVIDERS[kind].models:
        reranker = open_reranker(f" {kind}:{model} ", settings=Settings())
        assert isinstance(reranker, Reranker)
        assert reranker.name == f"{kind}:{model}"
        assert repr(reranker) == f"<Reranker {kind}:{model}>"


@pytest.mark.parametrize(
    ("spec", "nearest"),
    [
        ("voyage:rerank-2.6", "voyage:rerank-2.5"),
        ("voyage", "voyage:rerank-2"),
        ("cohere:rerank-3.5", "cohere:rerank-v3.5"),
        ("cohere:", "cohere:rerank"),
        ("jina:jina-reranker-v2", "jina:jina-reranker-v"),
        ("voyageai:rerank-2.5", "voyage:rerank-2.5"),
        ("locale:folder", "local:FOLDER"),
        ("local:", "local:FOLDER"),
        ("", ""),
    ],
)
def test_an_unknown_spec_is_told_the_known_ones_and_the_nearest(spec: str, nearest: str) -> None:
    text = refusal(spec)
    assert f"Did you mean {nearest}" in text
    for known in ("voyage:rerank-2.5", "cohere:rerank-v3.5", "jina:jina-reranker-v2-base-multilingual", "local:FOLDER"):
        assert known in text


def test_a_model_that_is_newer_than_the_catalogue_opens_with_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", SECRET)
    assert "pass base_url='https://api.voyageai.com/v1'" in refusal("voyage:rerank-9")
    assert open_reranker("voyage:rerank-9", settings=Settings(), base_url="https://api.voyageai.com/v1")


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("kind", RERANK_PROVIDERS)
def test_a_missing_key_names_its_variable(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, variable = f"{kind}:{RERANK_PROVIDERS[kind].models[0]}", RERANK_PROVIDERS[kind].key_variable
    assert refusal(spec) == f"{spec}: there is no key for it. Set {variable}"
    monkeypatch.setenv(variable, "  ")
    assert f"Set {variable}" in refusal(spec)
    monkeypatch.setenv(variable, f"{SECRET}\nx")
    assert f"{variable} holds characters that no key has" in refusal(spec)
    monkeypatch.setenv(variable, f"{SECRET}é")
    assert f"{variable} holds characters that no key has" in refusal(spec)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "localhost:80",
            "ftp://host/v1",
            "https://",
            "http://host:x/v1",
            "http://host:65536",
            "http://[::1",
            "http://-/\n",
        ),
        *(f"https://user:{SECRET}@host/v1", f"https://host/v1?key={SECRET}", "https://host/v1#part", "http://a b/"),
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JINA_API_KEY", SECRET)
    assert "base_url is not an address" in refusal("jina:any", base_url=url)


def test_a_local_model_has_no_address() -> None:
    assert "Leave base_url out" in refusal("local:mine", base_url="http://host/v1")


def test_a_local_folder_without_a_model_says_what_belongs_there(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    home = tmp_path / "models" / "rerankers"
    text = refusal("local:msmarco", settings=settings)
    assert f"there is no model.onnx and no tokenizer.json in {home / 'msmarco'}" in text
    assert "Put model.onnx and tokenizer.json of a cross-encoder there" in text
    (home / "ms-marco").mkdir(parents=True)
    for file in ("model.onnx", "tokenizer.json"):
        (home / "ms-marco" / file).touch()
    assert "did you mean ms-marco?" in refusal("local:msmarco", settings=settings)
    assert f"no model.onnx and no tokenizer.json in {tmp_path}" in refusal(f"local:{tmp_path}", settings=settings)
    assert "there is no" in refusal("local:" + "x" * 300, settings=settings)


def test_a_local_model_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("model.onnx", "tokenizer.json"):
        (tmp_path / file).touch()
    monkeypatch.setattr("clew.models.installer.missing", lambda modules: ["onnxruntime"])
    assert "onnxruntime is not installed. pip install 'clew[minilm]'" in refusal(f"local:{tmp_path}")


def test_importing_rerankers_loads_no_heavy_library() -> None:
    script = "import sys, clew.models.rerank_catalog; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {"numpy", "httpx", "onnxruntime", "tokenizers"} & set(loaded) == set()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("2", 2.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("inf", float("inf")),
    ],
)
def test_seconds_to_wait_are_read(header: str | None, expected: float | None) -> None:
    assert retry_after_s(header) == expected


def test_a_moment_to_wait_for_is_read() -> None:
    later = datetime.now(UTC) + timedelta(seconds=90)
    assert 80 < (retry_after_s(format_datetime(later, usegmt=True)) or 0) <= 90
    assert retry_after_s("Wed, 21 Oct 2015 07:28:00 -0000") == 0.0


@given(st.text())
def test_whatever_the_header_holds_the_wait_is_a_time_or_unknown(header: str) -> None:
    wait_s = retry_after_s(header)
    assert wait_s is None or wait_s >= 0

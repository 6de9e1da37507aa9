"""Specs: which there are, what each lacks here, and what makes it work."""

import sys
from pathlib import Path

import pytest

from clew.errors import InvalidInput, Unavailable
from clew.models import Embedder, available, installer, open_embedder
from clew.settings import Settings

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VOYAGE_API_KEY", "CO_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    return Settings(data_dir=tmp_path)


def refused(spec: str, settings: Settings) -> str:
    with pytest.raises(InvalidInput) as caught:
        open_embedder(spec, settings=settings)
    return str(caught.value)


def test_the_default_is_the_settings_model(settings: Settings) -> None:
    opened = open_embedder(None, settings=settings)
    assert isinstance(opened, Embedder)
    assert (opened.name, opened.dimensions) == ("static:l2_supercat_256", 256)


@pytest.mark.parametrize(
    ("spec", "nearest"),
    [
        ("statik", "static"),
        ("mini-lm", "minilm"),
        ("openai:text-embedding-3-smal", "openai:text-embedding-3-small"),
        ("openai:", "openai:text-embedding-"),
        ("opnai:text-embedding-3-large", "openai:text-embedding-3-large"),
        ("voyageai:voyage-3.6", "voyageai:voyage-3.5"),
        ("fastembed:", "fastembed:BAAI/bge-small-en-v1.5"),
        ("litellm", "litellm:"),
        ("", ""),
    ],
)
def test_an_unknown_spec_names_the_known_ones_and_the_nearest(spec: str, nearest: str, settings: Settings) -> None:
    text = refused(spec, settings)
    assert "static, minilm, fastembed:…, openai:…" in text
    assert f"Did you mean {nearest}" in text


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("openai:text-embedding-3-small", "OPENAI_API_KEY"),
        ("voyageai:voyage-3.5", "VOYAGE_API_KEY"),
        ("cohere:embed-v4.0", "CO_API_KEY"),
        ("google:gemini-embedding-001", "GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_names_its_variable(spec: str, variable: str, settings: Settings) -> None:
    assert variable in refused(spec, settings)


@pytest.mark.parametrize(
    ("spec", "variable", "dimensions"),
    [
        ("openai:text-embedding-3-small", "OPENAI_API_KEY", 1536),
        ("openai:text-embedding-3-large#1024", "OPENAI_API_KEY", 1024),
        ("openai:a-model-of-mine#768", "OPENAI_API_KEY", 768),
        ("voyageai:voyage-3.5", "VOYAGE_API_KEY", 1024),
        ("cohere:embed-v4.0", "CO_API_KEY", 1536),
        ("google:gemini-embedding-001", "GOOGLE_API_KEY", 3072),
    ],
)
def test_with_a_key_every_provider_opens(
    spec: str, variable: str, dimensions: int, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "sk-secret")
    opened = open_embedder(spec, settings=settings)
    assert (opened.name, opened.dimensions) == (spec, dimensions)
    assert "sk-secret" not in repr(opened)


def test_a_models_own_dimension_written_out_is_the_same_space(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert (
        open_embedder("openai:text-embedding-3-small#1536", settings=settings).name == "openai:text-embedding-3-small"
    )


@pytest.mark.parametrize("spec", ["openai:text-embedding-3-small#", "openai:x#0", "openai:x#-3", "litellm:x#²"])
def test_a_dimension_that_is_none_is_refused(spec: str, settings: Settings) -> None:
    assert "is not a dimension" in refused(spec, settings)


def test_a_model_of_unknown_dimension_says_how_to_give_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "openai:mine#768" in refused("openai:mine", settings)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "litellm:openai/mine#768" in refused("litellm:openai/mine", settings)


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("openai:text-embedding-3-small", "pydantic_ai.embeddings", "clew[openai]"),
        ("voyageai:voyage-3.5", "pydantic_ai.embeddings", "clew[voyage]"),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed", "clew[fastembed]"),
        ("litellm:openai/mine#8", "litellm", "clew[litellm]"),
    ],
)
def test_a_missing_extra_says_what_to_install(
    spec: str, module: str, extra: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in KEYS:
        monkeypatch.setenv(key, "sk-secret")
    monkeypatch.setitem(sys.modules, module, None)
    assert f"pip install '{extra}'" in refused(spec, settings)


def test_minilm_that_was_not_pulled_says_how_to_pull_it(settings: Settings) -> None:
    assert "clew models pull minilm" in refused("minilm", settings)


def test_an_unknown_fastembed_model_names_the_nearest(settings: Settings) -> None:
    assert "fastembed:BAAI/bge-small-en-v1.5" in refused("fastembed:BAAI/bge-small-en-v1.6", settings)


async def test_a_fastembed_model_that_cannot_be_downloaded_is_unavailable(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    opened = open_embedder("fastembed:BAAI/bge-small-en-v1.5", settings=settings)
    assert opened.dimensions == 384
    with pytest.raises(Unavailable, match="can't be downloaded"):
        await opened.embed(["a"])


def test_available_says_what_works_and_what_would_make_the_rest_work(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {one.spec.partition(":")[0]: one for one in available(settings)}
    assert list(found) == ["static", "minilm", "fastembed", "openai", "voyageai", "cohere", "google", "litellm"]
    assert found["static"].usable
    assert found["minilm"].fix == "clew models pull minilm"
    assert found["openai"].fix == "Set OPENAI_API_KEY"
    assert all(one.usable == (one.fix is None) for one in found.values())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert next(one for one in available(settings) if one.spec.startswith("openai")).usable


def test_what_the_installer_would_install_is_what_the_package_declares() -> None:
    wanted = installer.requirements("minilm", ["onnx", "onnxruntime"])
    assert [one.partition(">=")[0] for one in wanted] == ["onnx", "onnxruntime"]
    assert all(">=" in one for one in wanted)

"""Which embedders there are, which of them work here, and opening one by its spec."""

import importlib.util
import os
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from clew.errors import InvalidInput
from clew.limits import EMBED_BATCH_TEXTS
from clew.models import installer
from clew.models.protocol import Embedder
from clew.settings import Settings

if TYPE_CHECKING:
    from clew.models.providers import Provider

_LITELLM_EXAMPLE: Final = "litellm:mistral/mistral-embed#1024"
_FASTEMBED_EXAMPLE: Final = "fastembed:BAAI/bge-small-en-v1.5"


@dataclass(frozen=True, slots=True)
class Availability:
    """An embedder, whether it works in this environment, and what makes it work when it does not."""

    spec: str
    about: str
    usable: bool
    fix: str | None = None


def open_embedder(spec: str | None = None, *, settings: Settings) -> Embedder:
    """The embedder that `spec` names, or the settings do; what it would need and lacks is `InvalidInput` with the fix.

    `static` · `minilm` · `fastembed:MODEL` · `openai:MODEL` and the other providers · `litellm:MODEL`. A dimension
    may follow an API's model: `openai:text-embedding-3-large#1024` asks for shorter vectors, `openai:my-model#768`
    says what a model that is not in the catalogue gives. Every answer is checked before anyone sees it.
    """
    from clew.models.checked import Checked

    spec = (settings.embedding_model if spec is None else spec).strip()
    kind, _, model = spec.partition(":")
    if spec == "static":
        from clew.models.static import StaticEmbedder

        return Checked(StaticEmbedder())
    if spec == "minilm":
        from clew.models.minilm import MiniLmEmbedder
        from clew.models.minilm_pull import minilm_folder

        return Checked(MiniLmEmbedder(minilm_folder(settings)))
    if kind == "fastembed" and model:
        from clew.models.hub import FastEmbedSource

        return Checked(FastEmbedSource(spec, model=model, cache_folder=settings.data_dir / "models" / "fastembed"))
    if kind == "litellm" and model:
        from clew.models.providers import LiteLlmSource

        model, dimensions = _dimension(spec, model)
        return Checked(LiteLlmSource(model, dimensions=dimensions), batch_texts=EMBED_BATCH_TEXTS)
    return _open_provider(spec)


def available(settings: Settings) -> list[Availability]:
    """Each kind of embedder with whether it works here; nothing is loaded and no network is touched to find out."""
    from clew.models.providers import PROVIDERS

    found = [
        Availability("static", "wordllama, 256 dimensions, offline; the default", True)
        if not installer.missing(["wordllama"])
        else Availability("static", "wordllama, 256 dimensions, offline", False, "pip install 'wordllama>=0.4'"),
        _minilm(settings),
        _library(_FASTEMBED_EXAMPLE, "fastembed", "models that fastembed downloads"),
    ]
    for kind, provider in PROVIDERS.items():
        found.append(_provider(kind, provider))
    found.append(_library(_LITELLM_EXAMPLE, "litellm", "any model that litellm knows; keys as it reads them"))
    return found


def _open_provider(spec: str) -> Embedder:
    from clew.models.checked import Checked
    from clew.models.providers import PROVIDERS, PydanticAiSource

    kind, _, model = spec.partition(":")
    if kind not in PROVIDERS or not model:
        raise _unknown(spec)
    model, wanted = _dimension(spec, model)
    known = PROVIDERS[kind].dimensions.get(model)
    dimensions = wanted or known
    if dimensions is None:
        raise _unknown(spec, f"If {model} is right, add its dimension: {spec}#768")
    shortened = known is not None and dimensions != known
    # The id of the space: the same model at its own dimension is the same space, however it was written.
    name = f"{kind}:{model}" if dimensions == known else f"{kind}:{model}#{dimensions}"
    source = PydanticAiSource(name, model=f"{kind}:{model}", dimensions=dimensions, shortened=shortened)
    return Checked(source, batch_texts=EMBED_BATCH_TEXTS)


def _dimension(spec: str, model: str) -> tuple[str, int | None]:
    model, hash_mark, digits = model.partition("#")
    if not hash_mark:
        return model, None
    if not (digits.isascii() and digits.isdigit() and int(digits) > 0):
        raise InvalidInput(f"{digits!r} is not a dimension", where=spec, fix=f"Write it like {model}#768")
    return model, int(digits)


def _known_specs() -> list[str]:
    from clew.models.providers import PROVIDERS

    models = [f"{kind}:{model}" for kind, provider in PROVIDERS.items() for model in provider.dimensions]
    return ["static", "minilm", _FASTEMBED_EXAMPLE, *models, _LITELLM_EXAMPLE]


def _unknown(spec: str, more: str = "") -> InvalidInput:
    known = _known_specs()
    akin = [one for one in known if one.startswith(spec.partition(":")[0] + ":")]
    nearest = get_close_matches(spec, akin or known, n=1, cutoff=0.0)[0]
    kinds = "static, minilm, fastembed:…, openai:…, voyageai:…, cohere:…, google:…, litellm:…"
    return InvalidInput(
        f"{spec!r} is not an embedding model; there are {kinds}",
        fix=" ".join(filter(None, [f"Did you mean {nearest}?", more])),
    )


def _minilm(settings: Settings) -> Availability:
    from clew.models.minilm import MANIFEST_FILE
    from clew.models.minilm_pull import TOOLS, minilm_folder

    about = "all-MiniLM-L6-v2 in int8, 384 dimensions, offline once pulled"
    here = (minilm_folder(settings) / MANIFEST_FILE).is_file() and not installer.missing(TOOLS)
    return Availability("minilm", about, here, None if here else "clew models pull minilm")


def _library(spec: str, module: str, about: str) -> Availability:
    here = not installer.missing([module])
    return Availability(spec, about, here, None if here else f"pip install 'clew[{module}]'")


def _provider(kind: str, provider: "Provider") -> Availability:
    spec, dimensions = next(iter(provider.dimensions.items()))
    about = f"{kind}'s API, {dimensions} dimensions"
    fix = None
    if _absent("pydantic_ai") or _absent(provider.client):
        fix = f"pip install 'clew[{provider.extra}]'"
    elif not (provider.key_variable() or (kind == "openai" and os.environ.get("OPENAI_BASE_URL"))):
        fix = f"Set {' or '.join(provider.key_variables)}"
    return Availability(f"{kind}:{spec}", about, fix is None, fix)


def _absent(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:
        return True

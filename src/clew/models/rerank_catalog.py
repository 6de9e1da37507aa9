"""Opening a reranker by its spec."""

from difflib import get_close_matches

from clew.errors import InvalidInput
from clew.models.rerank import Reranker
from clew.models.rerank_http import RERANK_PROVIDERS, HttpReranker
from clew.settings import Settings


def open_reranker(spec: str | None, *, settings: Settings, base_url: str | None = None) -> Reranker | None:
    """The reranker that `spec` names, None without one; what it would need and lacks is `InvalidInput` with the fix.

    `voyage:MODEL` · `cohere:MODEL` · `jina:MODEL` · `local:FOLDER`, or `local:NAME` of a folder in the data folder's
    `models/rerankers`. `base_url` is where a server that speaks the provider's protocol answers `/rerank`; it may have
    models we don't know, and need no key. Every answer is checked before anyone sees it.
    """
    if spec is None:
        return None
    from clew.models.rerank_checked import CheckedReranker

    spec = spec.strip()
    kind, _, model = spec.partition(":")
    if kind == "local" and model:
        from clew.models.rerank_local import CrossEncoder, reranker_folder

        if base_url is not None:
            raise InvalidInput("a local model has no address", where=spec, fix="Leave base_url out")
        return CheckedReranker(CrossEncoder(spec, reranker_folder(model, settings)))
    provider = RERANK_PROVIDERS.get(kind)
    if provider is None or not model or (base_url is None and model not in provider.models):
        raise _unknown(spec)
    return CheckedReranker(HttpReranker(spec, provider=provider, model=model, base_url=base_url))


def _unknown(spec: str) -> InvalidInput:
    known = [f"{kind}:{model}" for kind, provider in RERANK_PROVIDERS.items() for model in provider.models]
    kind = spec.partition(":")[0]
    akin = [one for one in known if one.startswith(kind + ":")]
    nearest = get_close_matches(spec, akin or [*known, "local:FOLDER"], n=1, cutoff=0.0)[0]
    newer = f" For a model that is not listed, pass base_url={RERANK_PROVIDERS[kind].base_url!r}" if akin else ""
    return InvalidInput(
        f"{spec[:80]!r} is not a reranker; there are {', '.join(known)} and local:FOLDER",
        fix=f"Did you mean {nearest}?{newer}",
    )

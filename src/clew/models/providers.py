"""Embeddings over a provider's API, through Pydantic AI or litellm.

Neither library's own words reach an error's text: providers quote the key they refuse.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.limits import EMBED_TIMEOUT_S
from clew.models.protocol import Purpose
from clew.models.retrying import Transient, may_pass, persist

if TYPE_CHECKING:
    from clew.models.protocol import Rows


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the extra that brings its client, the variables that may hold its key, its models' dimensions."""

    extra: str
    client: str
    key_variables: tuple[str, ...]
    dimensions: dict[str, int]

    def key_variable(self) -> str | None:
        """The variable that holds a key in this environment, if any does."""
        return next((name for name in self.key_variables if os.environ.get(name)), None)


PROVIDERS: Final = {
    "openai": Provider(
        "openai",
        "openai",
        ("OPENAI_API_KEY",),
        {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
    ),
    "voyageai": Provider(
        "voyage",
        "voyageai",
        ("VOYAGE_API_KEY",),
        {
            **dict.fromkeys(("voyage-4", "voyage-4-large", "voyage-4-lite"), 1024),
            **dict.fromkeys(("voyage-3-large", "voyage-3.5", "voyage-3.5-lite", "voyage-code-3"), 1024),
            **dict.fromkeys(("voyage-finance-2", "voyage-law-2"), 1024),
            "voyage-code-2": 1536,
        },
    ),
    "cohere": Provider(
        "cohere",
        "cohere",
        ("CO_API_KEY",),
        {
            "embed-v4.0": 1536,
            "embed-english-v3.0": 1024,
            "embed-english-light-v3.0": 384,
            "embed-multilingual-v3.0": 1024,
            "embed-multilingual-light-v3.0": 384,
        },
    ),
    "google": Provider(
        "google",
        "google.genai",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        {"gemini-embedding-001": 3072, "gemini-embedding-2-preview": 3072, "gemini-embedding-2": 3072},
    ),
}


class PydanticAiSource:
    """A provider's vectors, by way of Pydantic AI's embedder."""

    def __init__(
        self, name: str, *, model: str, dimensions: int, shortened: bool = False, timeout_s: float = EMBED_TIMEOUT_S
    ) -> None:
        """`shortened` asks the provider for `dimensions` instead of what the model gives by itself."""
        self.name = name
        self.dimensions = dimensions
        self._timeout_s = timeout_s
        self._provider, _, model_name = model.partition(":")
        facts = PROVIDERS[self._provider]
        # A server of one's own that speaks OpenAI's protocol may want no key.
        keyless = self._provider == "openai" and os.environ.get("OPENAI_BASE_URL")
        if not (facts.key_variable() or keyless):
            raise _no_key(name, facts.key_variables)
        try:
            self._embedder = _pydantic_ai_embedder(self._provider, model_name)
        except ImportError:
            raise _no_extra(name, facts.extra) from None
        self._settings: Any = {"dimensions": dimensions} if shortened else None

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "Rows":
        return await persist(lambda: self._ask(texts, purpose), where=self.name, timeout_s=self._timeout_s)

    async def _ask(self, texts: Sequence[str], purpose: Purpose) -> "Rows":
        from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UnexpectedModelBehavior

        try:
            answer = await self._embedder.embed(list(texts), input_type=purpose, settings=self._settings)
        except ModelHTTPError as error:
            raise _refusal(error.status_code, error.retry_after, self.name, PROVIDERS[self._provider]) from None
        except ModelAPIError:
            raise Transient("the provider can't be reached") from None
        except (UnexpectedModelBehavior, ValueError, TypeError):
            raise Unavailable("the provider's answer can't be read", where=self.name) from None
        rows: Rows = answer.embeddings
        return rows


def _pydantic_ai_embedder(provider: str, model_name: str) -> Any:
    from pydantic_ai.embeddings import Embedder, infer_embedding_model

    if provider != "openai":
        return Embedder(infer_embedding_model(f"{provider}:{model_name}"))
    from openai import AsyncOpenAI
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.providers.openai import OpenAIProvider

    # This client retries by itself, which would multiply our attempts and hide its waits from our deadline.
    client = AsyncOpenAI(api_key=os.environ.get("OPENAI_API_KEY") or "none", max_retries=0)
    return Embedder(OpenAIEmbeddingModel(model_name, provider=OpenAIProvider(openai_client=client)))


class _Zero(int):
    """Zero that is true. litellm reads `max_retries or 2`, and would ask three times for each attempt of ours."""

    def __bool__(self) -> bool:
        return True


class LiteLlmSource:
    """The vectors of any model that litellm knows. It is not told the purpose: each provider names it differently."""

    def __init__(self, model: str, *, dimensions: int | None, timeout_s: float = EMBED_TIMEOUT_S) -> None:
        name = f"litellm:{model}"
        self._model = model
        self._timeout_s = timeout_s
        self._litellm = _litellm(name)
        # Some variables it names have a default, such as the address of a local server; keys have none.
        absent = [key for key in self._litellm.validate_environment(model)["missing_keys"] if key.endswith("_KEY")]
        if absent:
            raise _no_key(name, absent)
        known = self._known_dimensions()
        if dimensions is None and known is None:
            raise InvalidInput(f"the dimension of {model} is not known", where=name, fix=f"Add it: {name}#768")
        self.dimensions: int = dimensions or known or 0
        self._shortened = known is not None and known != self.dimensions
        self.name = name if known == self.dimensions else f"{name}#{self.dimensions}"

    def _known_dimensions(self) -> int | None:
        costs = self._litellm.model_cost
        facts = costs.get(self._model) or costs.get(self._model.partition("/")[2]) or {}
        size: int | None = facts.get("output_vector_size")
        return size

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "Rows":
        return await persist(lambda: self._ask(list(texts)), where=self.name, timeout_s=self._timeout_s)

    async def _ask(self, texts: list[str]) -> "Rows":
        from openai import APIConnectionError, OpenAIError

        extra = {"dimensions": self.dimensions} if self._shortened else {}
        try:
            answer = await self._litellm.aembedding(
                self._model, texts, timeout=self._timeout_s, max_retries=_Zero(), **extra
            )
            return [item["embedding"] for item in answer.data]
        except APIConnectionError:
            raise Transient("the provider can't be reached") from None
        except OpenAIError as error:
            status, headers = getattr(error, "status_code", None), getattr(error, "litellm_response_headers", None)
            if not isinstance(status, int):
                raise Unavailable("the provider's answer can't be read", where=self.name) from None
            raise _refusal(status, _seconds((headers or {}).get("retry-after")), self.name, None) from None
        except (ValueError, TypeError, LookupError):
            raise Unavailable("the provider's answer can't be read", where=self.name) from None


_LITELLM_KEYS: Final = "Set the variable that litellm reads for this provider, such as OPENAI_API_KEY"


def _litellm(name: str) -> Any:
    # Without this, importing litellm fetches a list of prices over the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError:
        raise _no_extra(name, "litellm") from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def _refusal(status: int, retry_after_s: float | None, name: str, facts: Provider | None) -> ClewError | Transient:
    """What an HTTP status means for the caller."""
    if may_pass(status):
        return Transient(f"the provider answers {status}", retry_after_s=retry_after_s)
    if status in (401, 403):
        keys = f"Check {' or '.join(facts.key_variables)}" if facts else _LITELLM_KEYS
        return InvalidInput(f"the provider refuses the key ({status})", where=name, fix=keys)
    if status == 404:
        return InvalidInput("the provider has no such model (404)", where=name)
    return InvalidInput(
        f"the provider refuses the request ({status})", where=name, fix="Is a text longer than the model takes?"
    )


def _seconds(header: str | None) -> float | None:
    try:
        return max(float(header), 0.0) if header else None
    except ValueError:
        return None


def _no_key(name: str, variables: Sequence[str]) -> InvalidInput:
    return InvalidInput("there is no key for it", where=name, fix=f"Set {' or '.join(variables)}")


def _no_extra(name: str, extra: str) -> InvalidInput:
    return InvalidInput("its library is not installed", where=name, fix=f"pip install 'clew[{extra}]'")

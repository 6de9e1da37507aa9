"""Reranking over a provider's API: Voyage, Cohere, Jina, and servers that speak like one of them.

A provider's own words reach no error's text: providers quote the key they refuse.
"""

import json
import math
import os
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from clew.errors import ClewError, InvalidInput, Unavailable
from clew.models.rerank import RERANK_TIMEOUT_S
from clew.models.retrying import Transient, may_pass, persist

if TYPE_CHECKING:
    from httpx import AsyncClient, Response

# A thousand results are 60 kB; some servers send the texts back although they are asked not to.
RERANK_ANSWER_MAX_BYTES: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RerankProvider:
    """Where a provider answers, which variable holds its key, where its results are, and the models it has."""

    base_url: str
    key_variable: str
    results_field: str
    models: tuple[str, ...]
    options: Mapping[str, bool] = field(default_factory=dict)


RERANK_PROVIDERS: Final = {
    "voyage": RerankProvider(
        "https://api.voyageai.com/v1",
        "VOYAGE_API_KEY",
        "data",
        ("rerank-2.5", "rerank-2.5-lite", "rerank-2", "rerank-2-lite"),
        {"truncation": True, "return_documents": False},
    ),
    "cohere": RerankProvider(
        "https://api.cohere.com/v2",
        "CO_API_KEY",
        "results",
        (
            "rerank-v3.5",
            *("rerank-v5.0-pro", "rerank-v5.0-fast", "rerank-v4.0-pro", "rerank-v4.0-fast"),
            *("rerank-english-v3.0", "rerank-multilingual-v3.0"),
        ),
    ),
    "jina": RerankProvider(
        "https://api.jina.ai/v1",
        "JINA_API_KEY",
        "results",
        ("jina-reranker-v2-base-multilingual", "jina-reranker-v3", "jina-reranker-m0", "jina-colbert-v2"),
        {"return_documents": False},
    ),
}


class HttpReranker:
    """A provider's scores. Its key is read when it is opened, and shown nowhere."""

    def __init__(
        self,
        name: str,
        *,
        provider: RerankProvider,
        model: str,
        base_url: str | None = None,
        timeout_s: float = RERANK_TIMEOUT_S,
    ) -> None:
        """`base_url` is the address before `/rerank`; a server of one's own may want no key."""
        self.name = name
        self._provider = provider
        self._model = model
        self._timeout_s = timeout_s
        self._url = _checked_url(provider.base_url if base_url is None else base_url, name) + "/rerank"
        key = _key(provider.key_variable, name)
        if key is None and base_url is None:
            raise InvalidInput("there is no key for it", where=name, fix=f"Set {provider.key_variable}")
        self._headers = {"content-type": "application/json", "accept": "application/json"}
        if key is not None:
            self._headers["authorization"] = f"Bearer {key}"

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """The provider's score for each text, by the index that it gives with each."""
        import httpx

        body = {"model": self._model, "query": query, "documents": list(texts), **self._provider.options}
        content = json.dumps(body).encode()
        # A client for each call: one that is kept belongs to one event loop and has to be closed. It costs 0.5 ms and
        # a handshake; the certificates, 22 ms, are read once. It has no timeout because `persist` ends the whole.
        async with httpx.AsyncClient(verify=_certificates(), timeout=None, headers=self._headers) as client:  # noqa: S113
            answer = await persist(lambda: self._ask(client, content), where=self.name, timeout_s=self._timeout_s)
        return self._scores(answer, len(texts))

    async def _ask(self, client: "AsyncClient", content: bytes) -> bytes:
        import httpx

        try:
            async with client.stream("POST", self._url, content=content) as response:
                if not response.is_success:
                    raise self._refusal(response.status_code, retry_after_s(response.headers.get("retry-after")))
                return await self._read(response)
        except httpx.TransportError:
            raise Transient("the provider can't be reached") from None
        except httpx.RequestError:
            raise self._unreadable() from None

    async def _read(self, response: "Response") -> bytes:
        answer = bytearray()
        async for part in response.aiter_bytes():
            answer += part
            if len(answer) > RERANK_ANSWER_MAX_BYTES:
                raise Unavailable(
                    f"the provider's answer is longer than {RERANK_ANSWER_MAX_BYTES:,} bytes", where=self.name
                )
        return bytes(answer)

    def _scores(self, answer: bytes, count: int) -> list[float]:
        try:
            results = json.loads(answer)[self._provider.results_field]
            found = [(result["index"], result["relevance_score"]) for result in results]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise self._unreadable() from None
        if len(found) != count:
            raise Unavailable(f"the provider answered {count} texts with {len(found)} scores", where=self.name)
        scores: dict[int, Any] = {}
        for index, score in found:
            if type(index) is not int or not 0 <= index < count or index in scores:
                raise Unavailable("the provider's scores are not one for each text", where=self.name)
            scores[index] = score
        return [scores[index] for index in range(count)]

    def _refusal(self, status: int, wait_s: float | None) -> ClewError | Transient:
        """What an HTTP status means for the caller."""
        if may_pass(status):
            return Transient(f"the provider answers {status}", retry_after_s=wait_s)
        if status in (401, 403):
            fix = f"Check {self._provider.key_variable}"
            return InvalidInput(f"the provider refuses the key ({status})", where=self.name, fix=fix)
        if status == 402:
            return InvalidInput("the provider wants to be paid (402)", where=self.name, fix="Check the account")
        if status == 404:
            return InvalidInput("the provider has no such model or address (404)", where=self.name)
        return InvalidInput(
            f"the provider refuses the request ({status})",
            where=self.name,
            fix=f"Does it have the model {self._model}, and are the texts together not too long for it?",
        )

    def _unreadable(self) -> Unavailable:
        return Unavailable("the provider's answer can't be read", where=self.name)


def retry_after_s(header: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, whether it counts them or names a moment."""
    if header is None:
        return None
    try:
        wait_s = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        # A date without a zone is Greenwich's.
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        wait_s = (moment - datetime.now(UTC)).total_seconds()
    return None if math.isnan(wait_s) else max(wait_s, 0.0)


@cache
def _certificates() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()


def _key(variable: str, name: str) -> str | None:
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InvalidInput(f"{variable} holds characters that no key has", where=name, fix="Copy the key again")
    return key or None


def _checked_url(url: str, name: str) -> str:
    """The address without its last slash; not shown when it is refused, because it may hold a password."""
    import httpx

    try:
        parsed = httpx.URL(url)
        # httpx itself takes a host with a space and a port that no socket has.
        right = parsed.scheme in ("http", "https") and parsed.host and " " not in url and (parsed.port or 1) < 65_536
    except httpx.InvalidURL:
        right = False
    if not right or parsed.userinfo or parsed.query or parsed.fragment:
        fix = "Write it like https://host/v1, with the key in its variable"
        raise InvalidInput("base_url is not an address that it can be asked at", where=name, fix=fix)
    return url.rstrip("/")

"""The one place where errors of Graphiti, its drivers and its models become ours."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from pydantic import ValidationError

from clew.errors import ClewError, InvalidInput, Unavailable

_DATABASES: Final = frozenset({"redis", "neo4j"})
_REFUSED: Final = frozenset(
    {"AuthenticationError", "AuthorizationError", "AuthError", "NoPermissionError", "Forbidden"}
)
_PROVIDERS: Final = frozenset({"openai", "anthropic", "google", "groq", "httpx", "httpcore"})
# What a request that the provider will never take is answered with.
_NEVER: Final = frozenset({400, 404, 413, 422})


@asynccontextmanager
async def graph_errors(began: Callable[[], bool] = lambda: False) -> AsyncIterator[None]:
    """Ours for theirs. `began` says whether something may have been written by then.

    What a driver says may name an address or a query, so the text is always our own; theirs is the cause.
    """
    try:
        yield
    except ClewError:
        raise
    except Exception as error:
        ours = _ours(error, began())
        if ours is None:
            raise
        raise ours from error


def _ours(error: Exception, began: bool) -> ClewError | None:
    library = type(error).__module__.partition(".")[0]
    if library in _DATABASES:
        return _of_database(error, began)
    if library in _PROVIDERS:
        return _of_provider(error)
    if library == "graphiti_core":
        return _of_graphiti(error)
    if isinstance(error, ValidationError | json.JSONDecodeError):
        return Unavailable(
            "the model's answer has not the form that Graphiti asked for", where="llm_client", fix="Retry"
        )
    if isinstance(error, OSError):
        return _unreachable(error, began)
    return None


def _of_database(error: Exception, began: bool) -> ClewError:
    name = type(error).__name__
    if name in _REFUSED or "WRONGPASS" in str(error) or "NOAUTH" in str(error):
        return InvalidInput("the graph database refuses the user or the password", where="url")
    if "unknown command" in str(error).lower():
        return InvalidInput("the server is a Redis without FalkorDB", where="url", fix="Load FalkorDB's module into it")
    if name in ("ConfigurationError", "UnsupportedServerProduct"):
        return InvalidInput(f"the driver cannot use it ({name})", where="url")
    return _unreachable(error, began)


def _unreachable(error: Exception, began: bool) -> Unavailable:
    name = type(error).__name__
    return Unavailable(f"the graph database does not answer as it should ({name})", where="url", outcome_unknown=began)


def _of_provider(error: Exception) -> ClewError:
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if status in (401, 403):
        return InvalidInput(f"the model's provider refuses the key ({status})", where="llm_client")
    if status in _NEVER:
        return InvalidInput(f"the model's provider refuses the request ({status})", where="llm_client")
    return Unavailable(f"the model's provider does not answer ({type(error).__name__})", where="llm_client")


def _of_graphiti(error: Exception) -> ClewError:
    name = type(error).__name__
    if name == "RefusalError":
        return InvalidInput("the model refuses the text", where="llm_client")
    return Unavailable(f"Graphiti could not do it ({name})", where="llm_client")

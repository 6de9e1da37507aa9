"""A typed answer from a language model of the caller's choice, or why there is none."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar, Union

from clew.errors import InvalidInput, Misconfigured
from clew.logs import logger

if TYPE_CHECKING:
    from pydantic_ai.models import Model

# A model of Pydantic AI's, or the name of one: "openai:gpt-5-mini".
ModelChoice = Union["Model", str]
Answer = TypeVar("Answer")

TIMEOUT_MAX_S: Final = 3_600.0
# Asked once more with what was wrong, when its answer is not of the type.
ANSWER_RETRIES: Final = 1

log: Final = logger("clew.models")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no answer, in words that hold nothing of what was asked."""

    why: str


class TypedQuestion(Generic[Answer]):
    """Asks a model for answers of one type. Whatever goes wrong with the model is an answer too: `Failed`."""

    def __init__(
        self,
        model: ModelChoice,
        answer_type: type[Answer],
        instructions: str,
        *,
        where: str,
        timeout_s: float,
    ) -> None:
        """`where` names the setting in errors. What is wrong with the choice of model is raised here, and not later."""
        self.timeout_s = check_timeout(timeout_s)
        resolved = _resolved(model, where)
        from pydantic_ai import Agent

        self._agent = Agent(
            resolved, output_type=answer_type, instructions=instructions, retries=ANSWER_RETRIES, name=f"clew-{where}"
        )

    async def ask(self, prompt: str) -> Answer | Failed:
        """The answer, within the timeout. The model has no tools and no history: it can do nothing but answer."""
        try:
            async with asyncio.timeout(self.timeout_s):
                run = await self._agent.run(prompt)
        except TimeoutError:
            return Failed(f"no answer within {self.timeout_s:g} s")
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return Failed("its own work was cancelled")
        except Exception as error:  # noqa: BLE001 - whatever a caller's model raises, there is an answer without it
            log.warning("model_failed", error=type(error).__name__)
            return Failed(_reason(error))
        return run.output


def check_timeout(value: object) -> float:
    """The seconds themselves, when one can wait for them."""
    # A NaN is in no range.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= TIMEOUT_MAX_S:
        raise InvalidInput(f"{ascii(value)[:40]} is not a number of seconds above 0", where="timeout_s")
    return float(value)


def _resolved(model: object, where: str) -> "Model":
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import Model, infer_model
    except ImportError:
        raise Misconfigured(
            "a model in a role needs pydantic-ai", where=where, fix="Run: pip install 'clew[pydantic-ai]'"
        ) from None
    if isinstance(model, Model):
        return model
    if not isinstance(model, str) or not model.strip():
        raise InvalidInput(
            f"expected a Pydantic AI model or its name, got {type(model).__name__}",
            where=where,
            fix='"openai:gpt-5-mini"',
        )
    try:
        return infer_model(model)
    except ImportError:
        provider = model.partition(":")[0]
        raise Misconfigured(
            f"{provider}'s library is not installed",
            where=where,
            fix=f"Run: pip install 'pydantic-ai-slim[{provider}]'",
        ) from None
    except (UserError, ValueError) as error:
        raise Misconfigured(f"{model[:80]!r} can't be used", where=where, fix=str(error).splitlines()[0]) from None


def _reason(error: Exception) -> str:
    """What went wrong, by kind: an error's own text may quote the request."""
    from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, ModelHTTPError, UnexpectedModelBehavior

    if isinstance(error, ModelHTTPError):
        return f"HTTP {error.status_code}"
    if isinstance(error, ModelAPIError):
        return "it can't be reached"
    if isinstance(error, ContentFilterError):
        return "it refused to answer"
    if isinstance(error, UnexpectedModelBehavior):
        return "its answer can't be read"
    return type(error).__name__

"""A typed answer from a model, or why there is none."""

import asyncio
import sys
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from clew.errors import InvalidInput, Misconfigured
from clew.models.asking import Failed, TypedQuestion


class Colour(BaseModel):
    name: str


def _question(answer: Any, timeout_s: float = 5.0) -> TypedQuestion[Colour]:
    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, float):
            await asyncio.sleep(answer)
        if isinstance(answer, str):
            return ModelResponse([TextPart(answer)])
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"name": "red"})])

    return TypedQuestion(FunctionModel(respond), Colour, "Name a colour.", where="speed", timeout_s=timeout_s)


async def test_an_answer_has_its_type() -> None:
    assert await _question(None).ask("?") == Colour(name="red")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ModelHTTPError(503, "m", {"secret": "sk-123"}), "HTTP 503"),
        (RuntimeError("the prompt was: my password"), "RuntimeError"),
        (asyncio.CancelledError(), "its own work was cancelled"),
        ("just talk", "its answer can't be read"),
    ],
)
async def test_whatever_a_model_raises_is_told_by_its_kind_alone(answer: Any, why: str) -> None:
    assert await _question(answer).ask("my password") == Failed(why)


async def test_a_model_is_waited_for_no_longer_than_told() -> None:
    assert await _question(30.0, timeout_s=0.05).ask("?") == Failed("no answer within 0.05 s")


async def test_who_asked_may_stop_waiting() -> None:
    task = asyncio.create_task(_question(30.0).ask("?"))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_without_pydantic_ai_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.exceptions", None)
    with pytest.raises(Misconfigured, match=r"extraction: .*pip install 'clew\[pydantic-ai\]'"):
        TypedQuestion("openai:gpt-5-mini", Colour, "", where="extraction", timeout_s=1)


@pytest.mark.parametrize("name", ["gpt-nothing", "nobody:model", "openai:gpt-5-mini"])
def test_a_model_that_can_not_be_used_is_refused_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(Misconfigured, match="speed: "):
        TypedQuestion(name, Colour, "", where="speed", timeout_s=1)


def test_the_name_of_a_model_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    TypedQuestion("openai:gpt-5-mini", Colour, "", where="speed", timeout_s=1)


@pytest.mark.parametrize("model", [None, 3, "", object()])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(InvalidInput, match="speed: expected a Pydantic AI model"):
        TypedQuestion(model, Colour, "", where="speed", timeout_s=1)


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf"), True, "5"])
def test_a_timeout_is_a_number_of_seconds(timeout_s: Any) -> None:
    with pytest.raises(InvalidInput, match="timeout_s"):
        _question(None, timeout_s=timeout_s)

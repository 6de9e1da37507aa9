"""Models in their roles, wired by `clew.open(models=…)`: asked where they help, and done without when they fail."""

import json

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import clew

from .conftest import says, window

UNCLEAR = "blorp zwirn 42 hmm okay then"


def answering(**arguments: object) -> FunctionModel:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([ToolCallPart(info.output_tools[0].name, json.dumps(arguments))])

    return FunctionModel(answer)


def failing(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    raise RuntimeError("the model is down")


async def test_a_fast_model_decides_what_the_words_leave_open_and_only_that(database, tenant):
    acme = clew.open(database, models={"speed": answering(intent="meta")}).tenant(tenant)
    thread = acme.thread("a")
    await thread.append(says("What was Q3 revenue?"))
    assert (await window(thread)).manifest.selection.intent == "factual", "the rules know this one"
    await thread.append([says("$5.2M.", "assistant"), says(UNCLEAR)])
    looked = (await window(thread)).manifest.selection
    assert clew.classify_intent(UNCLEAR).confidence < 0.7
    assert (looked.intent, looked.looked_up) == ("meta", False)
    assert "model" in looked.reason


async def test_when_it_fails_the_words_decide(database, tenant):
    acme = clew.open(database, models={"speed": FunctionModel(failing)}).tenant(tenant)
    thread = acme.thread("a")
    await thread.append(says(UNCLEAR))
    looked = (await window(thread)).manifest.selection
    assert looked.intent == clew.classify_intent(UNCLEAR)
    assert "failed" in looked.reason


async def test_a_model_that_can_t_read_facts_leaves_what_is_read_without_it(database, tenant):
    acme = clew.open(database, models={"extraction": FunctionModel(failing)}).tenant(tenant)
    told = await acme.learn("report", "Q3 revenue was $4.8M.")
    assert [fact.object for fact in told.facts] == ["$4.8M"]
    assert any("failed" in note for note in told.notes)
    await acme.thread("a").append(says("Q3 revenue was actually $5.2M, not $4.8M."))
    assert (await acme.facts("Q3 revenue"))[0].object == "$5.2M"

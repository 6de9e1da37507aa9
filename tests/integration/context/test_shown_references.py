"""A reference is shown to a model that can follow it, and to no other."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

import clew
from clew.context.window import names_of

from .conftest import engine_with, fact, facts_in, good, said, shown_texts, talk

RECALL, READ = "recall_messages", "read_artifact"


async def isolated_run(engine: clew.Clew, tenant: str, thread: Any, runs: int = 12) -> list[str]:
    """A conversation with tool results that were moved out; the ids of the artifacts."""

    def search(topic: str) -> list[dict[str, Any]]:
        return [{"title": f"{topic} {n}", "score": 0.5, "text": f"finding {n} about {topic} " * 20} for n in range(30)]

    tool = engine.tenant(tenant).isolate(search)
    for n in range(runs):
        with clew.tool_call(tool_call_id=f"c{n}", thread_id=thread.thread_id):
            text = await tool(f"pump {n}")
        assert "art_" in text
        call = {"id": f"c{n}", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        await thread.append([
            said(2 * n + 1),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": text},
        ])  # fmt: skip
    return [ref.artifact_id for ref in await engine.artifacts.list(tenant_id=tenant)]


@pytest.fixture(params=["offline", "model"])
async def run(request: Any, database: clew.Database, tenant: str) -> Any:
    engine = engine_with(database, write_summary=good if request.param == "model" else None, keep_share=0.5)
    thread = engine.tenant(tenant).thread("t")
    ids = await isolated_run(engine, tenant, thread)
    return SimpleNamespace(engine=engine, thread=thread, ids=ids)


async def test_without_tools_no_reference_is_shown_before_or_after_a_compaction(run):
    for compact in (False, True):
        if compact:
            assert await run.thread.compact() is not None
        bare = " ".join(await shown_texts(run.thread, tools=()))
        assert "art_" not in bare
        assert RECALL not in bare
        assert "[search]" in bare, "what the result said is there"
        full = " ".join(await shown_texts(run.thread, tools=run.thread.tools()))
        assert "art_" in full
    assert RECALL in full


async def test_every_tool_opens_its_own_references_only(run):
    assert await run.thread.compact() is not None
    reads = " ".join(await shown_texts(run.thread, tools=[READ, "search_artifact", "list_artifacts"]))
    assert "art_" in reads
    assert RECALL not in reads
    recalls = " ".join(await shown_texts(run.thread, tools=[RECALL]))
    assert RECALL in recalls
    assert "art_" not in recalls


async def test_the_references_of_what_was_replaced_are_in_the_summary(run):
    compaction = await run.thread.compact()
    told = " ".join(await shown_texts(run.thread, tools=run.thread.tools()))
    assert sorted(artifact for artifact in run.ids if artifact in told) == sorted(run.ids), "all are one call away"
    assert compaction.view.summary.references
    read = next(tool for tool in run.thread.tools() if tool.__name__ == READ)
    assert "pump" in await read(run.ids[-1])


async def test_references_survive_the_next_summary_too(run):
    assert await run.thread.compact() is not None
    await run.thread.append(talk(31, 60))
    assert await run.thread.compact() is not None
    told = " ".join(await shown_texts(run.thread, tools=run.thread.tools()))
    assert [artifact for artifact in run.ids if artifact not in told] == []


async def test_cleared_results_say_how_to_get_them_back_only_where_that_is_possible(database, tenant):
    thread = engine_with(database, threshold_tokens=6_000, threshold_messages=100).tenant(tenant).thread("t")
    for n in range(16):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}
        page = f"page {n}: " + "the pump ran without any trouble. " * 60
        await thread.append([
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": page},
        ])  # fmt: skip
    assert (await thread.compact()).tiers == ("clear",)
    bare = " ".join(await shown_texts(thread))
    full = " ".join(await shown_texts(thread, tools=thread.tools()))
    assert "cleared" in bare
    assert RECALL not in bare
    assert f'{RECALL}(positions="2")' in full
    (row,) = await thread.recall_messages(positions="2")
    assert row.message.text.startswith("page 0: ")


async def test_a_test_result_made_light_shows_its_references_only_to_a_model_that_reads_them(engine, tenant):
    thread = engine.tenant(tenant).thread("t")
    full = {
        "status": "failed",
        "log": "\n".join(f"step {n} ERROR nothing" for n in range(3_000)),
        "page": "<html>" * 900,
    }
    light = await engine.artifacts.store_test_result(full, tenant_id=tenant)
    call = {"id": "c", "type": "function", "function": {"name": "run_test", "arguments": "{}"}}
    await thread.append([
        {"role": "user", "content": "test it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(light)},
    ])  # fmt: skip
    assert "art_" in " ".join(await shown_texts(thread, tools=thread.tools()))
    bare = " ".join(await shown_texts(thread))
    assert "failed" in bare
    assert "art_" not in bare


async def test_what_people_say_of_a_reference_stays_as_they_said_it(thread):
    words = "look at (full result: artifact art_aaaaaaaaaaaaaaaa) please"
    await thread.append({"role": "user", "content": words})
    assert words in await shown_texts(thread)


def recall_messages() -> None: ...


def test_tools_are_known_by_name_function_schema_or_object():
    from langchain_core.tools import tool

    @tool
    def read_artifact(artifact_id: str) -> str:
        """Read."""
        return artifact_id

    known = {RECALL}
    openai = {"type": "function", "function": {"name": RECALL, "parameters": {}}}
    anthropic = {"name": RECALL, "description": "", "input_schema": {"type": "object"}}
    assert names_of([RECALL]) == names_of((recall_messages,)) == names_of({RECALL}) == known
    assert names_of([openai]) == names_of([anthropic]) == names_of(iter([openai, anthropic])) == known
    assert names_of([read_artifact]) == {READ}
    assert names_of(()) == frozenset()


@pytest.mark.parametrize(
    "tools",
    [
        RECALL,
        b"x",
        5,
        None,
        {"name": RECALL},
        [5],
        [None],
        [{}],
        [{"function": {}}],
        [{"function": "x"}],
        [{"name": 5}],
    ],
    ids=ascii,
)
async def test_what_are_no_tools_is_refused(thread, tools):
    await thread.append(said(1))
    with pytest.raises(clew.InvalidInput):
        await thread.compile("go on", tools=tools)
    with pytest.raises(clew.InvalidInput):
        names_of(tools)


async def test_the_summary_request_continues_the_last_request(database, tenant):
    """Its prefix is the one the provider has in its cache: system prompt, memories and all."""
    asked: list[list[dict[str, Any]]] = []

    async def model(messages: list[dict[str, Any]]) -> str:
        asked.append(messages)
        return "\n".join(["Key facts:", *(f"- {one}" for one in facts_in(messages[:-1]))])

    thread = engine_with(database, write_summary=model).tenant(tenant).thread("t")
    await thread.append(talk(1, 21))
    context = await thread.compile("go on", "You tend pumps.", tools=thread.tools())
    assert await thread.compact() is not None
    (request,) = asked
    assert request[:-1] == context.messages
    assert "Messages 1 to 11" in request[-1]["content"]
    assert fact(11) in str(request)


@pytest.mark.parametrize("form", ["openai", "anthropic", "langchain", "pydantic_ai"])
async def test_a_compacted_thread_can_be_sent_in_every_form(run, form):
    assert await run.thread.compact() is not None
    context = await run.thread.compile("go on", tools=run.thread.tools())
    assert "recall_messages" in str(context.to(form))

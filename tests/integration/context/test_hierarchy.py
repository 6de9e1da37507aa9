"""`HierarchicalMemory`: the last messages in full, then session summaries, then past experience."""

from typing import Any

import pytest

import clew
from clew import HierarchicalMemory

from .conftest import TALK, jobs_of, said, talk

SESSIONS = {
    "invoices": "The invoice of Meyer was paid twice, and the bank sent 4200 EUR back",
    "turbines": "The turbine in hall 9 vibrates above 3000 rpm, and its bearing was ordered",
    "gardens": "The garden needs 40 roses, and the gardener plants them in April",
    "kitchens": "The kitchen oven reaches 250 degrees, and its door was mended",
}


@pytest.fixture
def past(engine: clew.Clew, tenant: str) -> HierarchicalMemory:
    return engine.tenant(tenant).thread("now").hierarchical_memory()


def call(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": f"seen by {id}"}


async def sessions(engine: clew.Clew, tenant: str, names: Any = SESSIONS) -> None:
    """A compacted thread about each of these."""
    for name in names:
        thread = engine.tenant(tenant).thread(name)
        await thread.append([{"role": "user", "content": f"{SESSIONS[name]}, {n} {TALK}."} for n in range(21)])
        assert await thread.compact() is not None


def kinds(context: list[dict[str, Any]]) -> list[str]:
    found = []
    for message in context:
        text = str(message.get("content"))
        summary, experience = text.startswith("[Summary of the session"), text.startswith("[Past experience]")
        found.append("summary" if summary else "experience" if experience else "working")
    return found


async def test_the_last_five_messages_then_three_summaries_then_two_experiences(engine, past, tenant):
    await sessions(engine, tenant)
    for failure in ("the invoice was paid twice", "the turbine vibrates", "the garden is dry"):
        await past.add_experience(failure, f"look at what was done about: {failure}")
    for message in talk(1, 8):
        await past.add_message(message)
    query = "invoice turbine garden oven: what was paid, what vibrates, what is planted, how hot?"
    context = await past.get_context(query)
    assert kinds(context) == ["working"] * 5 + ["summary"] * 3 + ["experience"] * 2
    assert context[:5] == talk(4, 8)
    assert all(set(message) >= {"role", "content"} for message in context)


async def test_a_new_thread_has_nothing_and_a_short_one_what_it_has(past):
    assert await past.get_context("anything") == []
    await past.add_message(said(1))
    assert await past.get_context("anything") == [said(1)]


@pytest.mark.parametrize(("query", "best"), [
    ("what was the matter with the turbine's bearing?", "turbines"),
    ("did Meyer get the money from the bank?", "invoices"),
    ("how many roses?", "gardens"),
    ("oven temperature in degrees", "kitchens"),
    ("the turbine that vibrates beside the garden, and its bearing", "turbines"),
    ("the gardener of the kitchen: roses in April?", "gardens"),
])  # fmt: skip
async def test_the_summary_that_answers_comes_first(engine, past, tenant, query, best):
    await sessions(engine, tenant)
    context = await past.get_context(query)
    told = [message["content"] for message in context if "[Summary" in message["content"]]
    assert told[0].startswith(f"[Summary of the session {best}]")
    assert len(told) <= 3


async def test_a_query_that_no_summary_answers_gets_the_most_recent_ones(engine, past, tenant):
    await sessions(engine, tenant)
    assert len(await past.get_context("zebra")) == 3


async def test_the_experience_that_is_similar_comes_first(past):
    fixes = {
        "button #pay not found on the checkout page": "look it up by its text: Pay now",
        "login times out after thirty seconds": "wait for the spinner to go",
        "the upload of a picture is refused as too large": "scale it down first",
        "the cookie banner covers the menu": "accept it before anything else",
    }
    for failure, fix in fixes.items():
        await past.add_experience(failure, fix, {"app": "shop"})
    for query, failure in (
        ("the pay button of the checkout cannot be found", "button #pay not found on the checkout page"),
        ("uploading the picture failed: too large", "the upload of a picture is refused as too large"),
    ):
        found = await past.experiences(query)
        assert len(found) == 2
        assert found[0].metadata["failure"] == failure
        assert (found[0].metadata["fix"], found[0].metadata["app"]) == (fixes[failure], "shop")
        context = await past.get_context(query)
        assert failure in context[0]["content"]
        assert fixes[failure] in context[0]["content"]
    assert len(await past.experiences("anything that failed", 4)) == 4


async def test_only_experience_counts_as_experience(engine, past, tenant):
    await engine.tenant(tenant).remember("the pay button is blue")
    await past.add_experience("the pay button is missing", "scroll down")
    found = await past.experiences("pay button", 5)
    assert [entry.metadata["fix"] for entry in found] == ["scroll down"]


async def test_what_the_caller_says_of_an_experience_cannot_make_it_something_else(past):
    await past.add_experience("a failure", "a fix", {"kind": "note", "fix": "another"})
    (found,) = await past.experiences("failure")
    assert (found.metadata["kind"], found.metadata["fix"]) == ("experience", "a fix")


@pytest.mark.parametrize("many", [2, 6, 30])
async def test_a_result_is_never_shown_without_its_call(past, many):
    ids = [f"c{n}" for n in range(many)]
    for message in [*talk(1, 4), call(*ids), *(result(one) for one in ids), said(5)]:
        await past.add_message(message)
    context = await past.get_context("anything")
    assert context[0] == call(*ids) if many > 3 else call(*ids) in context
    called = {one["id"] for message in context for one in message.get("tool_calls", ())}
    answered = [message["tool_call_id"] for message in context if message["role"] == "tool"]
    assert called == set(answered) == set(ids)
    assert context[-1] == said(5)


async def test_a_damaged_log_gives_no_orphan(past):
    for message in [*talk(1, 3), result("nobody"), call("lost"), said(4), said(5)]:
        await past.add_message(message)
    context = await past.get_context("anything")
    called = {one["id"] for message in context for one in message.get("tool_calls", ())}
    answered = {message["tool_call_id"] for message in context if message["role"] == "tool"}
    assert called == answered


async def test_tenants_see_their_own_past_only(engine, past, tenant, other_tenant):
    await sessions(engine, tenant)
    await past.add_message(said(1))
    await past.add_experience("the turbine vibrates", "change its bearing")
    theirs = engine.tenant(other_tenant).thread("now").hierarchical_memory()
    query = "turbine bearing vibrates"
    assert await theirs.get_context(query) == []
    assert await theirs.experiences(query) == []
    assert len(await past.get_context(query)) >= 3


async def test_another_thread_of_the_tenant_has_its_own_working_messages_and_the_same_past(engine, past, tenant):
    await past.add_message(said(1))
    await past.add_experience("the turbine vibrates", "change its bearing")
    other = engine.tenant(tenant).thread("other").hierarchical_memory()
    context = await other.get_context("turbine")
    assert kinds(context) == ["experience"]


async def test_a_thread_that_grows_long_is_queued_for_compaction(past, database, tenant):
    for message in talk(1, 20):
        await past.add_message(message)
    assert await jobs_of(database, tenant) == 0
    await past.add_message(said(21))
    assert await jobs_of(database, tenant) == 1


async def test_it_works_by_itself_on_a_database(database, tenant):
    async with HierarchicalMemory(database, thread_id="t", tenant_id=tenant) as past:
        await past.add_message(said(1))
        assert await past.get_context("anything") == [said(1)]


@pytest.mark.parametrize("query", ["", 5, None, "\0", "\ud800", b"x"], ids=ascii)
async def test_a_query_that_is_none_is_refused(past, query):
    await past.add_message(said(1))
    with pytest.raises(clew.InvalidInput):
        await past.get_context(query)
    with pytest.raises(clew.InvalidInput):
        await past.experiences(query)


async def test_a_message_or_an_experience_that_is_none_is_refused(past):
    for message in ("hello", 5, None, {"role": "nobody", "content": "x"}, {}, [5]):
        with pytest.raises(clew.InvalidInput):
            await past.add_message(message)
    for words in (("", "x"), ("x", ""), (5, "x"), ("x", None), ("\0", "x"), ("x", "\ud800")):
        with pytest.raises(clew.InvalidInput):
            await past.add_experience(*words)
    for metadata in ("x", 5, [1], {"n": float("nan")}, {5: "x"}, {"x": "\0"}):
        with pytest.raises(clew.InvalidInput):
            await past.add_experience("x", "y", metadata)
    for limit in (0, -1, "2", True, 10**9):
        with pytest.raises(clew.InvalidInput):
            await past.experiences("x", limit)
    assert await past.get_context("x") == []


@pytest.mark.parametrize(
    "named", [{"thread_id": ""}, {"thread_id": 5}, {"tenant_id": "a/b"}, {"agent_id": ""}], ids=str
)
async def test_bad_names_are_refused_before_anything_is_stored(database, tenant, named):
    with pytest.raises(clew.InvalidInput):
        past = HierarchicalMemory(database, **{"tenant_id": tenant, **named})
        await past.add_message(said(1))
        await past.add_experience("x", "y")

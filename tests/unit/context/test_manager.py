"""`ContextManager`: what it reads, what it looks up, and what it does when memory is not there."""

from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from clew.context import ContextManager, WorkingContextCompiler
from clew.errors import InvalidInput, Unavailable
from clew.messages import from_openai
from clew.tokens import count_messages


class Sessions:
    """A log of OpenAI-form messages."""

    def __init__(self, messages):
        self.messages = messages
        self.asked = []

    async def get_session_messages(self, thread_id, limit=50, *, tenant_id="default"):
        self.asked.append((tenant_id, thread_id, limit))
        return self.messages[-limit:]


class Rows(Sessions):
    """The same, with rows that know their ids."""

    async def read(self, thread_id, limit=50, *, before=None, tenant_id="default"):
        self.asked.append((tenant_id, thread_id, limit))
        messages = from_openai(self.messages)
        rows = [SimpleNamespace(message=m, message_id=f"id{i}", tokens=99) for i, m in enumerate(messages)]
        return rows[-limit:]


class Memory:
    def __init__(self, found=(), error=None):
        self.found, self.error, self.asked, self.stored = list(found), error, [], []

    async def search(self, tenant_id, query, limit=10, agent_id=None):
        self.asked.append((tenant_id, query, limit))
        if self.error:
            raise self.error
        return self.found[:limit]

    async def store(self, entry):
        self.stored.append(entry)
        return entry.memory_id


def turns(number, words=10):
    return [
        {"role": role, "content": f"{role} {n} " + "word " * words}
        for n in range(number)
        for role in ("user", "assistant")
    ]


def manager(messages=(), memory=None, store=Sessions):
    sessions = store(list(messages))
    return ContextManager(sessions, memory or Memory(), WorkingContextCompiler("fast")), sessions


async def test_a_thread_and_a_task_become_what_a_model_should_see():
    memory = Memory([{"memory_id": "m1", "content": "The board meets on Friday", "score": 0.9}])
    context, sessions = manager(turns(3), memory)
    made = await context.compile_working_context("acme", "t1", {"description": "Draft the note"}, "Be brief.")
    assert made["messages"] == turns(3)
    assert "Friday" in made["context"]
    assert made["manifest"]["budget"] == 32_000, "the tier is the call's"
    assert made["token_usage"]["total"] == count_messages(made["sent_messages"])
    assert memory.asked == [("acme", "Draft the note\nuser 2" + " word" * 10, 50)]
    assert sessions.asked == [("acme", "t1", 175)]
    assert context.session is sessions


async def test_only_as_much_of_a_long_log_is_read_as_the_budget_could_hold():
    context, sessions = manager(turns(5_000))
    made = await context.compile_working_context("acme", "t1", "Go", "", "fast")
    assert sessions.asked == [("acme", "t1", 43), ("acme", "t1", 172)]
    everything = WorkingContextCompiler("fast").compiled("", turns(5_000)[-2_000:], [], "Go")
    assert made["messages"] == everything.messages


async def test_reading_ends_where_no_more_can_fit_or_be_read():
    context, sessions = manager([{"role": "user", "content": ""}] * 20_000)
    made = await context.compile_working_context("acme", "t1", "Go", "", "fast")
    assert [limit for _, _, limit in sessions.asked] == [43, 172, 688, 2_001]
    assert made["token_usage"]["session"] <= 2_800
    wide = ContextManager(sessions, Memory(), WorkingContextCompiler(budgets={"wide": 1_000_000}))
    sessions.asked.clear()
    await wide.compile_working_context("acme", "t1", "Go", "", "wide")
    assert [limit for _, _, limit in sessions.asked] == [5_468, 10_000]


async def test_a_store_with_rows_gives_every_message_its_id():
    context, _ = manager(turns(200), store=Rows)
    made = await context.compile_working_context("acme", "t1", "Go", "", "fast")
    said = [item for item in made["manifest"]["items"] if item["section"] == "session"]
    assert said[-1]["source_id"] == "id399"
    assert {item["tokens"] for item in said if not item["kept"]} == {99}


async def test_memory_that_is_not_reachable_is_told_in_the_manifest_and_the_log():
    context, _ = manager(turns(1), Memory(error=Unavailable("no connection")))
    with capture_logs() as lines:
        made = await context.compile_working_context("acme", "t1", "Go", "s")
    assert made["context"] == ""
    assert made["manifest"]["notes"] == ["compiled without memories: the search failed (no connection)"]
    assert [line["event"] for line in lines] == ["memory_search_failed", "context_compiled"]
    assert lines[1]["tenant_id"] == "acme"
    assert lines[1]["notes"] == 1


async def test_any_other_error_of_the_search_is_the_callers_to_see():
    context, _ = manager(turns(1), Memory(error=InvalidInput("bad question")))
    with pytest.raises(InvalidInput, match="bad question"):
        await context.compile_working_context("acme", "t1", "Go", "s")


async def test_a_question_with_no_words_is_not_asked_and_a_long_one_is_cut():
    memory = Memory()
    context, _ = manager([], memory)
    await context.compile_working_context("acme", "t1", {}, "s")
    assert memory.asked == []
    context, _ = manager([{"role": "user", "content": "word " * 50_000}], memory)
    await context.compile_working_context("acme", "t1", "Go", "s")
    assert len(memory.asked[0][1]) < 2_000


@pytest.mark.parametrize(
    ("change", "place"),
    [({"tenant_id": "a b"}, "tenant_id"), ({"model_tier": "slow"}, "model_tier"), ({"task": 5}, "task")],
)
async def test_bad_arguments_are_refused_before_anything_is_read(change, place):
    context, sessions = manager(turns(1))
    arguments = {"tenant_id": "acme", "thread_id": "t", "task": "Go", "system_prompt": "s", **change}
    with pytest.raises(InvalidInput, match=place):
        await context.compile_working_context(**arguments)
    assert sessions.asked == []


async def test_memories_are_stored_and_searched_through_it():
    memory = Memory(["x"])
    context, _ = manager((), memory)
    stored = await context.store_memory("acme", "agent-1", "The board meets on Friday", {"speaker": "Ana"})
    (entry,) = memory.stored
    assert (entry.memory_id, entry.tenant_id, entry.agent_id) == (stored, "acme", "agent-1")
    assert (entry.content, entry.metadata) == ("The board meets on Friday", {"speaker": "Ana"})
    assert entry.created_at.tzinfo is not None
    assert await context.search_memory("acme", "board", 3) == ["x"]
    assert memory.asked == [("acme", "board", 3)]
    for bad in ({"tenant_id": ""}, {"content": ""}, {"content": "\0"}, {"agent_id": ""}):
        with pytest.raises(InvalidInput):
            await context.store_memory(**{"tenant_id": "acme", "agent_id": "a", "content": "c", **bad})

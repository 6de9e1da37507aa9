"""Whatever is to be compiled, the answer is a context within its budget or a ClewError."""

import pytest

import clew

from .conftest import assistant, entry, user
from .hostile import (
    BAD_TENANTS,
    BAD_THREADS,
    NOT_TEXTS,
    UNSTORABLE_TEXTS,
    Rude,
    answered_or_refused,
    endless,
    ids,
    nested,
    refused,
)
from .windows import check_window, tool_turn

TASK = {"description": "Answer"}
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 400_000}"}}
BAD_HISTORIES = {
    "None": None,
    "a number": 5,
    "text": "hello",
    "a list of text": ["hello"],
    "a list of None": [None],
    "no role": [{"content": "x"}],
    "an unknown role": [{"role": "king", "content": "x"}],
    "content that is a number": [user(5)],
    "a rude object": [Rude()],
    "endless": [{**user("x"), "y": endless()}],
    "too deep": [{**user("x"), "y": nested(50_000)}],
    "NaN": [{**user("x"), "y": float("nan")}],
}
BAD_MEMORIES = {
    "a number": 5,
    "a list of numbers": [5],
    "a list of None": [None],
    "no content": [{"memory_id": "m"}],
    "content that is a number": [{"memory_id": "m", "content": 5}],
    "a score that is text": [{"memory_id": "m", "content": "x", "score": "high"}],
    "a score that is NaN": [{"memory_id": "m", "content": "x", "score": float("nan")}],
    "rude": [Rude()],
}
BAD_TASKS = {
    "None": None,
    "a number": 5,
    "a list": ["x"],
    "NaN": {"description": "x", "y": float("nan")},
    "1e400": {"description": "x", "y": 1e400},
    "an object": {"description": "x", "y": object()},
    "rude": {"description": "x", "y": Rude()},
    "endless": {"description": "x", "y": endless()},
    "too deep": {"description": "x", "y": nested(50_000)},
    "a huge integer": {"description": "x", "y": 10**6_000},
    "a description that is a number": {"description": 5},
    "a key that is no text": {"description": "x", 5: 5},
}
ODD_TASKS = {"empty": "", "an empty dict": {}, "no description": {"goal": "x"}, "None inside": {"description": None}}


async def _compile(*arguments):
    return await clew.WorkingContextCompiler("fast").compile(*arguments)


@pytest.mark.parametrize("history", **ids(BAD_HISTORIES))
async def test_a_history_that_cannot_be_is_refused(history):
    await refused(lambda: _compile("", history, [], TASK))


@pytest.mark.parametrize("memories", **ids(BAD_MEMORIES))
async def test_memories_that_cannot_be_are_refused(memories):
    await refused(lambda: _compile("", [], memories, TASK))


@pytest.mark.parametrize("task", **ids(BAD_TASKS))
async def test_a_task_that_cannot_be_is_refused(task):
    await refused(lambda: _compile("", [], [], task))


@pytest.mark.parametrize("task", **ids(ODD_TASKS))
async def test_a_task_that_says_little_is_compiled_or_refused(task):
    made = await answered_or_refused(lambda: _compile("", [user("hi")], [], task))
    if isinstance(made, dict):
        check_window(made, 8_000)


@pytest.mark.parametrize("prompt", **ids({name: value for name, value in NOT_TEXTS.items() if name != "None"}))
async def test_a_system_prompt_that_is_no_text_is_refused(prompt):
    await refused(lambda: _compile(prompt, [], [], TASK))


@pytest.mark.parametrize("text", **ids(UNSTORABLE_TEXTS))
@pytest.mark.parametrize("place", ["system_prompt", "history", "memory", "task"])
async def test_nul_and_half_characters_are_refused_or_fit_and_can_be_sent(place, text):
    arguments = {
        "system_prompt": (text, [], [], TASK),
        "history": ("", [user(text)], [], TASK),
        "memory": ("", [], [entry("acme", "x").model_copy(update={"content": text})], TASK),
        "task": ("", [], [], {"description": text}),
    }[place]
    made = await answered_or_refused(lambda: _compile(*arguments))
    if isinstance(made, dict):
        check_window(made, 8_000)
        assert str(made["sent_messages"]).encode()


@pytest.mark.parametrize(
    "history",
    **ids(
        {
            "one message of 5 MB": [user("word " * 1_000_000)],
            "a result of 5 MB": [
                user("look"),
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "a", "content": "row " * 1_250_000},
            ],
            "empty texts": [user(""), assistant(""), user("")],
            "no user": [assistant("hello"), assistant("anyone?")],
            "an open call": [
                user("x"),
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}],
                },
            ],
            "an orphan result": [user("x"), {"role": "tool", "tool_call_id": "zzz", "content": "y"}],
            "three images": [user([{"type": "text", "text": "look"}, IMAGE, IMAGE, IMAGE])],
            "an image beside a long text": [user([{"type": "text", "text": "word " * 50_000}, IMAGE])],
            "a hundred groups after the question": [
                user("look"),
                *(message for number in range(100) for message in tool_turn(number)[1:-1]),
            ],
            "emoji without end": [user("👩‍👩‍👧‍👦" * 50_000)],
            "system messages inside": [
                {"role": "system", "content": "a"},
                user("x"),
                {"role": "system", "content": "b"},
            ],
        }
    ),
)
async def test_odd_histories_fit(history):
    check_window(await _compile("Be brief", history, [], TASK), 8_000)


async def test_what_is_not_counted_is_not_sent():
    """A field that no provider knows may come with a message; its size is nobody's tokens, and it has to stay here."""
    blob = "word " * 50_000
    for message in (user("q"), assistant("a")):
        made = await answered_or_refused(lambda message=message: _compile("", [{**message, "blob": blob}], [], TASK))
        assert isinstance(made, clew.ClewError) or blob not in str(made["sent_messages"])


async def test_five_megabytes_of_everything_fit():
    large = "word " * 1_000_000
    memories = [entry("acme", large), entry("acme", "small")]
    check_window(await _compile(large, [user(large)], memories, TASK), 8_000)


@pytest.mark.parametrize("tenant_id", **ids(BAD_TENANTS))
async def test_a_tenant_that_cannot_be_is_refused(manager, engine, tenant_id):
    await refused(lambda: manager.compile_working_context(tenant_id, "t", TASK, ""))

    async def by_handle():
        await engine.tenant(tenant_id).thread("t").append(user("x"))

    await refused(by_handle)


@pytest.mark.parametrize("name", **ids(BAD_THREADS))
async def test_a_thread_that_cannot_be_is_refused(manager, engine, tenant, name):
    await refused(lambda: manager.compile_working_context(tenant, name, TASK, ""))

    async def by_handle():
        await engine.tenant(tenant).thread(name).compile(task=TASK, system_prompt="")

    await refused(by_handle)


@pytest.mark.parametrize("task", **ids(BAD_TASKS))
async def test_a_task_that_cannot_be_is_refused_by_the_manager_and_the_handle(manager, engine, tenant, task):
    await refused(lambda: manager.compile_working_context(tenant, "t", task, ""))
    await refused(lambda: engine.tenant(tenant).thread("t").compile(task=task, system_prompt=""))


@pytest.mark.parametrize("tier", ["slow", "", None, 5, ["fast"], {}])
async def test_a_tier_that_cannot_be_is_refused_by_the_manager_and_the_handle(manager, engine, tenant, tier):
    await refused(lambda: manager.compile_working_context(tenant, "t", TASK, "", tier))
    await refused(lambda: engine.tenant(tenant).thread("t").compile(task=TASK, system_prompt="", model_tier=tier))


@pytest.mark.parametrize("message", [None, 5, "text", {"role": "king", "content": "x"}, user("a\0")])
async def test_a_message_that_cannot_be_is_refused_by_the_handle(engine, tenant, message):
    await refused(lambda: engine.tenant(tenant).thread("t").append(message))


@pytest.mark.parametrize("content", **ids({**UNSTORABLE_TEXTS, **NOT_TEXTS, "empty": ""}))
async def test_a_memory_that_cannot_be_is_refused_by_the_manager(manager, tenant, content):
    await refused(lambda: manager.store_memory(tenant, "helper", content))
